// Running the git program: environment, cancellation, bounded output, errors.

package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/gitconfig"
	"github.com/git-agentxchain/git-agentxchain/internal/failures"
)

// maxGitOutput bounds the output of one git process, in bytes. The largest legitimate output is a status of
// millions of paths.
const maxGitOutput = 256 << 20

// MaxGitStderr is how much of a failing git's stderr is kept.
const MaxGitStderr = 64 << 10

// KillGrace is how long a cancelled git gets between SIGTERM, on which it removes its lock files, and SIGKILL,
// which leaves them behind.
const KillGrace = 2 * time.Second

// Git runs git in one directory with a fixed environment. It is safe for
// concurrent use.
type Git struct {
	Dir       string // working directory of every process
	MaxOutput int64  // bytes of standard output; 0 means 256 MiB

	Bin    string
	BinErr error
	Env    []string
	given  []gitconfig.Entry // settings from the person's environment
	Scope  *LocalScope       // the repository whose own configuration starts nothing; nil until it is found

	hooksPath string // the directory of hooks; "" for none
	guarded   bool   // see disarm
	maxFile   int64  // how large a file it may write, see writing

	versionMu sync.Mutex // guards version and partial
	version   Version
	partial   *bool // nil until asked for
}

// GitError is a git process that ended with a failure.
type GitError struct {
	Args     []string // arguments after "git"
	ExitCode int      // -1 when a signal ended it
	Stderr   string   // its stderr, at most 64 KiB, in the C locale
}

func (e *GitError) Error() string {
	what := strings.TrimSpace("git " + name(e.Args))
	msg := strings.TrimSpace(e.Stderr)
	if i := strings.IndexByte(msg, '\n'); i >= 0 {
		msg = msg[:i]
	}
	msg = strings.TrimPrefix(msg, "fatal: ")
	if msg == "" {
		return fmt.Sprintf("%s ended with status %d", what, e.ExitCode)
	}
	return fmt.Sprintf("%s ended with status %d: %s", what, e.ExitCode, msg)
}

// NewGit returns a runner for the repository our own process works in: what the caller's environment says about its
// location (GIT_INDEX_FILE of a partial commit, GIT_DIR of a hook) stays in force, see KeptVars.
func NewGit(dir string) *Git { return newGit(dir, os.Environ()) }

// NewForeignGit returns a runner for a repository other than the one this process was started in: it drops the
// variables that tie git to the starting one, else a hook's GIT_DIR would make us write into the wrong repository.
func NewForeignGit(dir string) *Git { return newGit(dir, dropVars(os.Environ(), LocalEnvVars)) }

func newGit(dir string, env []string) *Git {
	p := findGit(dir)
	return &Git{Dir: dir, Bin: p.bin, BinErr: p.err, Env: newEnv(env, p.path), given: givenSettings(env)}
}

// In returns a runner with the same environment in another directory.
func (g *Git) In(dir string) *Git {
	return &Git{
		Dir:       dir,
		MaxOutput: g.MaxOutput,
		Bin:       g.Bin,
		BinErr:    g.BinErr,
		Env:       g.Env,
		given:     g.given,
		Scope:     g.Scope,
		hooksPath: g.hooksPath,
		guarded:   g.guarded,
		maxFile:   g.maxFile,
	}
}

// WithIndex returns a runner that uses another index file instead of the repository's.
func (g *Git) WithIndex(name string) *Git {
	out := g.In(g.Dir)
	out.Env = append(dropVars(g.Env, []string{"GIT_INDEX_FILE"}), "GIT_INDEX_FILE="+name)
	return out
}

// Run starts git with args, feeds it stdin and returns its output, also for a push that failed in part. The error
// is an *Error: code git_failed wrapping a *GitError when git failed, git_missing when there is no git,
// git_output_too_large. When ctx ends first the error wraps ctx's cause.
func (g *Git) Run(ctx context.Context, stdin []byte, args ...string) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, interrupted(ctx, args)
	}
	runCtx, stop := context.WithCancel(ctx)
	defer stop()
	cmd, err := g.Command(runCtx, args)
	if err != nil {
		return nil, err
	}
	out := &BoundedBuffer{Limit: g.MaxOutput, full: stop}
	if out.Limit <= 0 {
		out.Limit = maxGitOutput
	}
	complaint := &BoundedBuffer{Limit: MaxGitStderr}
	cmd.Stdout, cmd.Stderr = out, complaint
	if stdin != nil {
		cmd.Stdin = bytes.NewReader(stdin)
	}
	waited := false // blocked on the other end of a pipe
	if err = cmd.Start(); err == nil {
		if g.maxFile > 0 {
			limitFiles(cmd.Process.Pid, g.maxFile)
		}
		done := endAtPipe(cmd.Process.Pid, stop)
		err = cmd.Wait()
		waited = done()
	}
	if errors.Is(err, exec.ErrWaitDelay) {
		err = nil // git has succeeded; a leftover filter holds its pipes, and has had long enough
	}
	if runCtx.Err() != nil {
		SweepGroup(cmd)
	}
	switch {
	case out.overflow:
		return nil, fail.Errorf(fail.CodeOutputTooLarge, nil, "git %s printed more than %d bytes", name(args),
			out.Limit)
	case waited && ctx.Err() == nil:
		return nil, waitedAtPipe(args)
	case ctx.Err() != nil, err != nil && signalled(ctx, cmd):
		return nil, interrupted(ctx, args)
	case err != nil:
		return out.Buf.Bytes(), g.Failure(args, err, complaint.Buf.String())
	}
	return out.Buf.Bytes(), nil
}

func waitedAtPipe(args []string) error {
	return fail.Errorf(fail.CodeUnreadable, nil,
		"git %s waited for the other end of a pipe, which is in the place of a file that it reads", name(args)).
		WithHint("find . -type p lists the pipes here; remove it, or bring the file back")
}

// signalMoment is how long the signal that ended git may take to reach ctx.
const signalMoment = 250 * time.Millisecond

// signalled reports whether the signal that cancels ctx ended a git. A signal to our whole group reaches a git that
// is just being started and is still in the group, and its end may be seen before the signal arrives here.
func signalled(ctx context.Context, cmd *exec.Cmd) bool {
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() >= 0 {
		return false
	}
	select {
	case <-ctx.Done():
		return true
	case <-time.After(signalMoment):
		return false
	}
}

// Command prepares a process in its own group.
func (g *Git) Command(ctx context.Context, args []string) (*exec.Cmd, error) {
	if g.BinErr != nil {
		return nil, fail.Errorf(fail.CodeGitMissing, g.BinErr, "the git program was not found").
			WithHint("install git and make sure it is on PATH, outside of the work tree")
	}
	pins, first, err := g.pins(ctx, args)
	if err != nil {
		return nil, err
	}
	args, env := overruled(args, g.Env, first)
	cmd := exec.CommandContext(ctx, g.Bin, args...)
	cmd.Dir, cmd.Env = g.Dir, configured(env, pins)
	// A helper that git left running may hold the pipes open forever.
	cmd.WaitDelay = KillGrace
	ownGroup(cmd)
	return cmd, nil
}

// deniedFile reports whether git complained about permissions of a file; ssh's message continues on the same line.
func deniedFile(complaint string) bool {
	for line := range strings.Lines(complaint) {
		if strings.HasSuffix(strings.TrimRight(line, "\r\n"), ": Permission denied") {
			return true
		}
	}
	return strings.Contains(complaint, "insufficient permission for adding an object")
}

// Failure converts the end of a git process into an Error with a stable code; complaint is its stderr.
func (g *Git) Failure(args []string, err error, complaint string) error {
	if ee, ok := errors.AsType[*exec.ExitError](err); ok {
		failed := &GitError{Args: args, ExitCode: ee.ExitCode(), Stderr: complaint}
		if (strings.Contains(complaint, noRepository) || gitfileAstray(complaint)) && g.Dir != "" {
			return gone(g.Dir, failed)
		}
		e := fail.Errorf(fail.CodeGitFailed, failed, "git failed")
		if badPackedRefs(complaint) {
			e = e.WithHint("keep a copy of that file and take the line out of it; git agentxchain fsck then says which runs lack " +
				"their ref, and git reflog where a branch was")
		}
		if filterFailed(complaint) {
			e = e.WithHint("see where that filter is configured: git config --show-origin --get-regexp '^filter\\.'")
		}
		if deniedFile(complaint) {
			e = e.WithHint("%s", failures.Remedy("", fs.ErrPermission))
		}
		if full := diskFull(g.Dir, complaint); full != nil {
			e = e.WithHint("%s", fail.WritableHint(g.Dir, full))
		}
		if hint := objectsElsewhere(); hint != "" &&
			(strings.Contains(complaint, "bad object") || strings.Contains(complaint, "bad ref")) {
			e = e.WithHint("%s", hint)
		}
		return e
	}
	if errors.Is(err, os.ErrNotExist) {
		if _, serr := os.Stat(g.Dir); serr != nil { // err would claim that git is missing
			return fail.Errorf(fail.CodeNotRepository, serr, "the directory %s cannot be entered", g.Dir).
				WithHint("bring it back, or start again where it is now")
		}
		return fail.Errorf(fail.CodeGitMissing, err,
			"git could not be started").WithHint("install git and make sure it is on PATH")
	}
	return fail.Errorf(fail.CodeGitFailed, err, "git %s could not be run", name(args))
}

// badPackedRefs reports whether git complained about a packed-refs file that was truncated (unterminated line in …)
// or overwritten (unexpected line in …); no git command repairs it.
func badPackedRefs(complaint string) bool {
	return strings.Contains(complaint, " line in ") && strings.Contains(complaint, "packed-refs: ")
}

// diskFull returns the system error of a git without disk space, nil for any other complaint. git gives no reason
// for some files that it could not write; where dir has no room, that is the reason.
func diskFull(dir, complaint string) error {
	complaint = strings.ToLower(complaint)
	for _, err := range []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT} {
		if strings.Contains(complaint, err.Error()) {
			return err
		}
	}
	for _, words := range []string{"couldn't write", "could not write", "unable to write"} {
		if strings.Contains(complaint, words) && noRoom(dir) {
			return syscall.ENOSPC
		}
	}
	return nil
}

// filterFailed reports whether git complained about a filter, which only a person's own configuration can name:
// others do not run.
func filterFailed(complaint string) bool {
	at := strings.Index(complaint, " filter '")
	return at >= 0 && strings.Contains(complaint[at:], "' failed")
}

// stopped is the error of a git that was still running when its context ended.
type stopped struct {
	what  string
	cause error
}

func (e *stopped) Error() string { return e.what + " was interrupted: " + e.cause.Error() }
func (e *stopped) Unwrap() error { return e.cause }

// InterruptedAt returns what was running: a git that waits for a filter says nothing by itself.
func (e *stopped) InterruptedAt() string { return e.what }

func interrupted(ctx context.Context, args []string) error {
	return &stopped{strings.TrimSpace("git " + name(args)), context.Cause(ctx)}
}

func name(args []string) string {
	if at := subcommand(args); at < len(args) {
		return args[at]
	}
	return ""
}

// subcommand returns the index of git's command in the arguments, after the settings.
func subcommand(args []string) (at int) {
	for len(args) > at+2 && args[at] == "-c" {
		at += 2
	}
	return at
}

// ExitCode returns the exit status of a failed git, -1 for every other error.
func ExitCode(err error) int {
	if ge, ok := errors.AsType[*GitError](err); ok {
		return ge.ExitCode
	}
	return -1
}

// ComplaintOf returns the stderr of a failed git, "" when err is another error.
func ComplaintOf(err error) string {
	if ge, ok := errors.AsType[*GitError](err); ok {
		return ge.Stderr
	}
	return ""
}

// BoundedBuffer keeps the first limit bytes; it calls full at the first byte beyond, so that a flood ends the
// process instead of filling our memory.
type BoundedBuffer struct {
	Buf      bytes.Buffer
	Limit    int64
	full     func()
	overflow bool
}

func (b *BoundedBuffer) Write(p []byte) (int, error) {
	room := b.Limit - int64(b.Buf.Len())
	if int64(len(p)) <= room {
		return b.Buf.Write(p)
	}
	b.Buf.Write(p[:room])
	if b.full == nil {
		return len(p), nil // stderr is truncated, not refused
	}
	if !b.overflow {
		b.overflow = true
		b.full()
	}
	return 0, io.ErrShortWrite
}

// Disarm isolates git from every other repository: it fetches nothing, and examines no submodule.
func (g *Git) Disarm() {
	g.guarded = true
	g.Env = append(dropVars(g.Env, []string{"GIT_ALLOW_PROTOCOL"}), "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=")
}

// Submodules returns how far git looks into submodules: for a status it would start its own git in each, with the
// submodule's configuration.
func (g *Git) Submodules() string {
	if g.guarded {
		return "--ignore-submodules=dirty"
	}
	return "--ignore-submodules=none"
}
