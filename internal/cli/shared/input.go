// Input of a command: a file, or standard input.

package shared

import (
	"errors"
	"io"
	"os"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
)

// ReadInput reads a file that a person names, or standard input for "-". what describes the file in
// messages. Codes: unreadable_input, also for more than limit bytes.
func ReadInput(f *term.Factory, what, name string, limit int) ([]byte, error) {
	data, err := ReadStart(f, name, limit)
	switch {
	case err != nil:
		return nil, term.Errorf("unreadable_input", "%s %s cannot be read: %w", what, term.OneLine(name), err)
	case len(data) > limit:
		return nil, term.Errorf("unreadable_input", "%s %s has more than %d bytes", what, term.OneLine(name), limit)
	}
	return data, nil
}

// ReadStart is ReadInput for a caller that judges the length itself: it reads at most limit bytes
// and one more.
func ReadStart(f *term.Factory, name string, limit int) ([]byte, error) {
	return term.Interruptible(f, func() ([]byte, error) {
		if name == "-" {
			if f.Env.IsTerminal(f.Env.Stdin) {
				return nil, errors.New("nothing was given: name a file, or send it to standard input")
			}
			return io.ReadAll(io.LimitReader(f.Env.Stdin, int64(limit)+1))
		}
		path, err := f.Path(name)
		if err != nil {
			return nil, err
		}
		file, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer func() { _ = file.Close() }()
		if fi, err := file.Stat(); err == nil && fi.IsDir() {
			return nil, errors.New("it is a directory")
		}
		return io.ReadAll(io.LimitReader(file, int64(limit)+1))
	})
}
