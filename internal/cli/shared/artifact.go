// Artifacts that commands read and write.

package shared

import (
	"io"
	"os"

	"github.com/klauspost/compress/zstd"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/restore"
)

// OpenArtifact opens the file that an artifact is read from, standard input for -. size is 0 when
// it is not known.
func OpenArtifact(f *term.Factory, input string) (name string, src io.ReadCloser, size int64, err error) {
	if input == "-" {
		if f.Env.IsTerminal(f.Env.Stdin) {
			return "stdin", nil, 0, term.Errorf("unreadable_input",
				"No artifact was given: name a file that git agentxchain export wrote, or send one to standard input")
		}
		return "stdin", io.NopCloser(f.Env.Stdin), 0, nil
	}
	path, err := f.Path(input)
	if err != nil {
		return input, nil, 0, err
	}
	file, err := term.Interruptible(f, func() (*os.File, error) { return os.Open(path) })
	if err != nil {
		return path, nil, 0, term.Errorf("unreadable_input", "The artifact cannot be opened: %w", err)
	}
	if fi, err := file.Stat(); err == nil {
		if fi.IsDir() {
			_ = file.Close()
			return path, nil, 0, term.Errorf("unreadable_input", "%s is a directory, not an artifact", path)
		}
		size = fi.Size()
	}
	return path, file, size, nil
}

// WriteArtifact writes the artifact, compressed on request, and returns the number of bytes
// written.
func WriteArtifact(w io.Writer, e *restore.Export, compress bool) (n int64, err error) {
	if !compress {
		n, err = e.WriteTo(w)
	} else {
		c := &countedWriter{w: w}
		var z *zstd.Encoder
		if z, err = zstd.NewWriter(c, zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true)); err == nil {
			_, err = e.WriteTo(z)
			if cerr := z.Close(); err == nil {
				err = cerr
			}
		}
		n = c.n
	}
	if err != nil {
		return n, term.Errorf("io_failed", "cannot write the artifact: %w", err)
	}
	return n, nil
}

type countedWriter struct {
	w io.Writer
	n int64
}

func (c *countedWriter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

// Verifying returns the options that show how far the verification of an artifact has come, and what ends that.
func Verifying(f *term.Factory, size int64) (opt restore.VerifyOptions, done func()) {
	const unit = 1 << 20
	progress, usual := f.Out.Progress("verifying, MiB", int(size/unit)), Frugal()
	opt.Progress = func(n int64) { progress.Step(int(n / unit)) }
	return opt, func() {
		usual()
		progress.Done()
	}
}
