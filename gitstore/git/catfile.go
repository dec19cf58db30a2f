// A long-lived `git cat-file --batch`, started at the first request.

package git

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
)

// catFile requests objects from one git process, one after another.
type catFile struct {
	git *Git

	mu        sync.Mutex
	cmd       *exec.Cmd
	in        io.WriteCloser
	out       *bufio.Reader
	complaint *BoundedBuffer
	stop      context.CancelFunc
	closed    bool
}

// read returns an object whose hash is not checked yet.
func (c *catFile) read(ctx context.Context, oid object.OID) (kind string, data []byte, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return "", nil, context.Cause(ctx)
	}
	if c.closed {
		return "", nil, os.ErrClosed
	}
	if c.cmd == nil {
		if err := c.start(); err != nil {
			return "", nil, err
		}
	}
	// A request cannot be withdrawn: when ctx ends, so does the process, and the next request starts a new one.
	release := context.AfterFunc(ctx, c.stop)
	defer release()
	done := endAtPipe(c.cmd.Process.Pid, c.stop)
	kind, data, err = c.ask(oid)
	waited := done()
	if err == nil {
		return kind, data, nil
	}
	missing := fail.CodeOf(err) == fail.CodeObjectMissing
	if missing && !c.git.Partial(ctx) {
		return "", nil, err
	}
	exit := c.end()
	said := c.complaint.Buf.String()
	switch {
	case ctx.Err() != nil:
		return "", nil, interrupted(ctx, []string{"cat-file"})
	case waited:
		return "", nil, waitedAtPipe([]string{"cat-file"})
	case missing && said != "": // where a newer git exits, 2.34 answers "missing" and complains on stderr
		return "", nil, unfetched(oid, said, &GitError{Args: []string{"cat-file"}, Stderr: said})
	case fail.CodeOf(err) != "":
		return "", nil, err
	case errors.As(exit, new(*exec.ExitError)):
		cause := c.git.Failure([]string{"cat-file"}, exit, said)
		if strings.Contains(said, "promisor") || strings.Contains(said, "could not fetch") {
			return "", nil, unfetched(oid, said, cause)
		}
		return "", nil, object.Corrupt(oid, cause)
	}
	return "", nil, fail.Errorf(fail.CodeGitFailed, err, "git cat-file gave no answer for %s", oid)
}

// unfetched explains why git could not fetch an object that a partial clone lacks.
func unfetched(oid object.OID, said string, cause error) error {
	if strings.Contains(said, "not our ref") {
		return fail.Errorf(fail.CodeObjectMissing, cause,
			"object %s is not here, and the remote of this partial clone does not have it", oid)
	}
	return fail.Errorf(fail.CodeGitFailed, cause,
		"object %s could not be fetched from the remote of this partial clone", oid).
		WithHint("try again once the remote can be reached")
}

func (c *catFile) start() error {
	ctx, stop := context.WithCancel(context.Background())
	cmd, err := c.git.Command(ctx, []string{"cat-file", "--batch"})
	if err != nil {
		stop()
		return err
	}
	in, err := cmd.StdinPipe()
	if err == nil {
		var out io.ReadCloser
		if out, err = cmd.StdoutPipe(); err == nil {
			c.out = bufio.NewReaderSize(out, 32<<10)
			c.complaint = &BoundedBuffer{Limit: MaxGitStderr}
			cmd.Stderr = c.complaint
			err = cmd.Start()
		}
	}
	if err != nil {
		stop()
		return c.git.Failure([]string{"cat-file"}, err, "")
	}
	c.cmd, c.in, c.stop = cmd, in, stop
	return nil
}

func (c *catFile) ask(oid object.OID) (kind string, data []byte, err error) {
	if _, err := io.WriteString(c.in, string(oid)+"\n"); err != nil {
		return "", nil, err
	}
	line, err := c.out.ReadSlice('\n')
	if err != nil {
		return "", nil, err
	}
	f := strings.Fields(string(line))
	if len(f) == 2 && f[1] == "missing" {
		return "", nil, object.Missing(oid)
	}
	if len(f) != 3 || f[0] != string(oid) || !object.IsKind(f[1]) {
		return "", nil, fmt.Errorf("answer %q not understood", strings.TrimSpace(string(line)))
	}
	size, err := strconv.ParseInt(f[2], 10, 64)
	if err != nil || size < 0 {
		return "", nil, fmt.Errorf("answer %q not understood", strings.TrimSpace(string(line)))
	}
	if size > object.MaxSize {
		return "", nil, object.TooLarge(oid, size)
	}
	data = make([]byte, size)
	if _, err := io.ReadFull(c.out, data); err != nil {
		return "", nil, err
	}
	if end, err := c.out.ReadByte(); err != nil || end != '\n' {
		return "", nil, errors.New("answer without an end")
	}
	return f[1], data, nil
}

// end stops the process and returns how it ended.
func (c *catFile) end() error {
	if c.cmd == nil {
		return nil
	}
	_ = c.in.Close()
	// Unread output would keep git from exiting by itself and is of no use, so do not wait for it. When git has
	// already died this is a no-op and Wait still reports its own status.
	if _, err := c.out.Peek(1); err == nil {
		c.stop()
	}
	err := c.cmd.Wait()
	c.stop()
	c.cmd = nil
	return err
}

func (c *catFile) close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	if c.cmd == nil {
		return nil
	}
	_ = c.in.Close()
	err := c.cmd.Wait()
	c.stop()
	c.cmd = nil
	if err != nil {
		return fail.Errorf(fail.CodeGitFailed, err, "git cat-file did not end cleanly")
	}
	return nil
}
