// Reading many objects at once, by names that git resolves.

package git

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
)

// Named is the answer to one name of ReadNamed.
type Named struct {
	Found bool
	OID   object.OID
	Kind  string
	Data  []byte
}

// ReadNamed reads objects by names that git resolves, such as "<commit>:<path>" or "<commit>^1", in one git
// process, and passes them to each in the order of the names. For a name that git cannot resolve, and for an object
// over 256 MiB, Found is false. A name with a line feed costs its own git process; beyond maxApart such names are
// not found.
func (r *Repository) ReadNamed(ctx context.Context, names []string, each func(i int, o Named)) error {
	if len(names) == 0 {
		return nil
	}
	names = r.askedApart(ctx, names)
	args := []string{"cat-file", "--batch"}
	runCtx, stop := context.WithCancel(ctx)
	defer stop()
	cmd, err := r.Git.Command(runCtx, args)
	if err != nil {
		return err
	}
	var in bytes.Buffer
	for _, n := range names {
		if askable(n) {
			in.WriteString(n)
			in.WriteByte('\n')
		}
	}
	complaint := &BoundedBuffer{Limit: MaxGitStderr}
	cmd.Stdin, cmd.Stderr = &in, complaint
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return r.Git.Failure(args, err, "")
	}
	if err := cmd.Start(); err != nil {
		return r.Git.Failure(args, err, "")
	}
	out := bufio.NewReaderSize(pipe, 256<<10)
	rerr := func() error {
		for i, n := range names {
			if !askable(n) {
				each(i, Named{})
				continue
			}
			o, err := readNamed(out)
			if err != nil {
				return err
			}
			each(i, o)
		}
		return nil
	}()
	if rerr != nil {
		stop()
	}
	werr := cmd.Wait()
	switch {
	case ctx.Err() != nil:
		return interrupted(ctx, args)
	case rerr != nil && errors.As(rerr, new(*fail.Error)):
		return rerr
	case rerr != nil:
		return fail.Errorf(fail.CodeGitFailed, &GitError{
			Args:     args,
			ExitCode: cmd.ProcessState.ExitCode(),
			Stderr:   complaint.Buf.String(),
		}, "git failed")
	case werr != nil:
		return r.Git.Failure(args, werr, complaint.Buf.String())
	}
	return nil
}

// Committed returns what a commit of data under a path would hold: attributes may make git convert its encoding,
// its line ends or anything else. Data that cannot be converted is returned as it is. It starts one git process
// where nothing is converted.
func (r *Repository) Committed(ctx context.Context, path string, data []byte) ([]byte, error) {
	at, args := r.Git.In(r.TopLevel), []string{"hash-object", "--stdin", "--path=" + r.Prefix + path}
	out, err := at.Run(ctx, data, args...)
	if err != nil {
		return nil, err
	}
	id := strings.TrimSpace(string(out))
	if object.OID(id) == object.Hash(r.ObjectFormat, object.KindBlob, data) {
		return data, nil
	}
	if _, err := at.Run(ctx, data, append(args, "-w")...); err != nil {
		return nil, err
	}
	return at.Run(ctx, nil, "cat-file", "blob", id)
}

// maxApart bounds the names that are looked up one by one: the author of a commit chooses the names in it.
const maxApart = 100

// askedApart replaces names that contain a line feed with object ids: cat-file reads one name per line.
func (r *Repository) askedApart(ctx context.Context, names []string) []string {
	asked := 0
	for i, n := range names {
		if !strings.Contains(n, "\n") || strings.HasPrefix(n, "-") || strings.Contains(n, "\x00") || asked == maxApart {
			continue
		}
		if asked == 0 {
			names = slices.Clone(names)
		}
		asked++
		if out, err := r.Git.Run(ctx, nil, "rev-parse", "--verify", "--quiet", n); err == nil {
			names[i] = strings.TrimSpace(string(out))
		}
	}
	return names
}

func askable(name string) bool { return name != "" && !strings.ContainsAny(name, "\n\x00") }

func readNamed(out *bufio.Reader) (Named, error) {
	line, err := out.ReadString('\n')
	if err != nil {
		return Named{}, err
	}
	line = strings.TrimSuffix(line, "\n")
	f := strings.Fields(line)
	for _, none := range []string{" missing", " ambiguous", " submodule"} {
		if strings.HasSuffix(line, none) {
			return Named{}, nil
		}
	}
	if len(f) != 3 || !object.IsKind(f[1]) {
		return Named{}, fail.Errorf(fail.CodeGitFailed, nil, "git cat-file answered %q", ClipBytes([]byte(line)))
	}
	size, err := strconv.ParseInt(f[2], 10, 64)
	if err != nil || size < 0 {
		return Named{}, fail.Errorf(fail.CodeGitFailed, nil, "git cat-file answered %q", ClipBytes([]byte(line)))
	}
	if size > object.MaxSize {
		_, err := io.CopyN(io.Discard, out, size+1)
		return Named{}, err
	}
	o := Named{Found: true, OID: object.OID(f[0]), Kind: f[1], Data: make([]byte, size)}
	if _, err := io.ReadFull(out, o.Data); err != nil {
		return Named{}, err
	}
	_, err = out.Discard(1)
	return o, err
}
