// One ref, locked at its old place and ready to move: a git update-ref process held between prepare and commit, so
// that refs of several repositories move together.

package decision

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/internal/process"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Pending is a git process that will move one ref, or not. It has no context, because a decided move is not
// interrupted. End it with Commit or Abort.
type Pending struct {
	Move Move

	repo  *git.Repository
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   *bufio.Reader
	errs  *git.BoundedBuffer
	start string // see process.Started
	once  sync.Once
	exit  error
}

// maxPrepare bounds the time of one step of git, which may include a hook of the repository.
const maxPrepare = time.Minute

// StartMove starts git for a move without locking the ref yet. A move that changes nothing (New equals Old) is
// refused with invalid_argument.
func StartMove(ctx context.Context, r *git.Repository, m Move) (*Pending, error) {
	u := m.Ref
	switch {
	case !git.SafeRefName(u.Name):
		return nil, fail.Errorf(fail.CodeBadRefName, nil, "%q is not a ref name", u.Name)
	case !u.New.Valid(r.ObjectFormat) || u.New.IsZero() || u.New == u.Old ||
		!u.Old.IsZero() && !u.Old.Valid(r.ObjectFormat):
		return nil, fail.Errorf(wire.CodeInvalidArgument, nil, "the move of %s from %q to %q changes nothing", u.Name, u.Old,
			u.New)
	case len(m.Also) > 0:
		return nil, fail.Errorf(wire.CodeInvalidArgument, nil,
			"%s moves together with other refs, which is not for a decision over several repositories", u.Name)
	}
	if err := r.RefuseSymbolic(ctx, u.Name); err != nil {
		return nil, err
	}
	cmd, err := r.Git.Command(context.WithoutCancel(ctx), git.MovingRefs(m.Reflog))
	if err != nil {
		return nil, err
	}
	p := &Pending{Move: m, repo: r, cmd: cmd, errs: &git.BoundedBuffer{Limit: git.MaxGitStderr}}
	cmd.Stderr = p.errs
	if p.in, err = cmd.StdinPipe(); err != nil {
		return nil, fail.Errorf(fail.CodeGitFailed, err, "git could not be started")
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fail.Errorf(fail.CodeGitFailed, err, "git could not be started")
	}
	p.out = bufio.NewReader(out)
	if err := cmd.Start(); err != nil {
		return nil, r.Git.Failure([]string{"update-ref"}, err, "")
	}
	p.start = process.Started(cmd.Process.Pid)
	if err := p.say("start", "start\x00"); err != nil {
		p.Abort()
		return nil, err
	}
	return p, nil
}

// Prepare locks the ref at Old and writes its new value. Errors: ref_moved, ref_locked, git_failed; after an error
// the Pending is over.
func (p *Pending) Prepare(ctx context.Context) error {
	u := p.Move.Ref
	old := u.Old
	if old.IsZero() {
		old = object.ZeroOID(p.repo.ObjectFormat)
	}
	err := p.say("prepare", fmt.Sprintf("update %s\x00%s\x00%s\x00prepare\x00", u.Name, u.New, old))
	if err == nil {
		return nil
	}
	p.end()
	return p.repo.ExplainUpdate(ctx, []git.RefUpdate{u}, err)
}

// Commit moves the ref and makes the move durable. After an error the ref may have moved.
func (p *Pending) Commit() error {
	err := p.say("commit", "commit\x00")
	p.end()
	if err != nil {
		return err
	}
	return p.repo.AfterMove([]git.RefUpdate{p.Move.Ref})
}

// Abort unlocks the ref where it is. It may be called at any time.
func (p *Pending) Abort() {
	_, _ = io.WriteString(p.in, "abort\x00")
	p.end()
}

// say sends git a command and waits until it is done.
func (p *Pending) say(what, command string) error {
	stop := time.AfterFunc(maxPrepare, func() { _ = p.cmd.Cancel() })
	defer stop.Stop()
	_, err := io.WriteString(p.in, command)
	var line string
	if err == nil {
		line, err = p.out.ReadString('\n')
	}
	switch {
	case err == nil && line == what+": ok\n":
		return nil
	case err == nil:
		err = fmt.Errorf("git update-ref answered %q to %s", git.ClipBytes([]byte(line)), what)
	}
	p.end()
	complaint := p.errs.Buf.String()
	if p.exit == nil || complaint == "" && !errors.As(p.exit, new(*exec.ExitError)) {
		return fail.Errorf(fail.CodeGitFailed, err, "git failed")
	}
	return p.repo.Git.Failure([]string{"update-ref"}, p.exit, complaint)
}

// end closes git's input, which makes git abandon what is not committed, and waits for it.
func (p *Pending) end() {
	p.once.Do(func() {
		_ = p.in.Close()
		stop := time.AfterFunc(git.KillGrace, func() { _ = p.cmd.Cancel() })
		kill := time.AfterFunc(2*git.KillGrace, func() { git.SweepGroup(p.cmd) })
		_, _ = io.Copy(io.Discard, p.out)
		p.exit = p.cmd.Wait()
		stop.Stop()
		kill.Stop()
	})
}

// Owner describes the git process for the record of a decision.
func (p *Pending) Owner() git.Owner {
	return git.Owner{PID: p.cmd.Process.Pid, Started: p.start, Host: git.HostName(), Space: process.Space()}
}

// Participant describes the move for the record of a decision.
func (p *Pending) Participant(repo string) Participant {
	return Participant{
		Repo:    repo,
		GitDir:  p.repo.CommonDir,
		Ref:     p.Move.Ref.Name,
		Old:     string(p.Move.Ref.Old),
		New:     string(p.Move.Ref.New),
		Reflog:  git.ReflogLine(p.Move.Reflog),
		Objects: p.repo.ObjectFormat,
		Refs:    p.repo.RefFormat,
		Owner:   p.Owner(),
	}
}
