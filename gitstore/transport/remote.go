// The remote over which runs travel: choosing it, timeouts, and its complaints.

package transport

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Codes of syncing with a remote.
const (
	CodeNoRemote      = "no_remote"        // there is no remote of that name, or none at all
	CodeRemoteFailed  = "remote_failed"    // the remote could not be reached or read
	CodeRemoteRefused = "remote_refused"   // the remote takes no runs
	CodeRemoteBack    = "remote_rewound"   // the remote no longer has operations it once had
	CodeRemoteForked  = "remote_forked"    // the remote's history differs from what it once had
	CodeBranchApart   = "branch_diverged"  // the branch here and the remote's have diverged
	CodePrePush       = "pre_push_refused" // the person's own hook rejects the branch
	CodeRemoteBusy    = "remote_contended" // others pushed first, repeatedly
)

const (
	// TransferLimit bounds one fetch or push.
	TransferLimit = 10 * time.Minute

	// DecideLimit bounds each of them while an operation waits for it.
	DecideLimit = 2 * time.Minute

	// AskLimit bounds queries of remotes while an operation is decided.
	AskLimit = 30 * time.Second
)

// errTooLong ends a git whose remote neither answers nor disconnects.
var errTooLong = errors.New("it took too long")

// Within limits the time for a remote. When the time is over, that counts as a failure of the remote.
func Within(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, limit, errTooLong)
}

// hurried is the key of a context in which an operation waits for a remote.
type hurried struct{}

// Hurried returns a context in which a fetch or push may take at most DecideLimit.
func Hurried(ctx context.Context) context.Context { return context.WithValue(ctx, hurried{}, true) }

// transferring bounds one fetch or push.
func transferring(ctx context.Context) (context.Context, context.CancelFunc) {
	if ctx.Value(hurried{}) != nil {
		return Within(ctx, DecideLimit)
	}
	return Within(ctx, TransferLimit)
}

// orPatience returns hint, or the hint for an operation that would not wait longer.
func orPatience(ctx context.Context, err error, remote, hint string) string {
	if ctx.Value(hurried{}) == nil || !errors.Is(err, errTooLong) {
		return hint
	}
	return fmt.Sprintf("an operation waits for its remote no longer than %d minutes (agentxchain.sync=strict): git agentxchain sync %s "+
		"waits longer, and with git config agentxchain.sync auto operations do not wait", DecideLimit/time.Minute, remote)
}

// Interrupted reports whether a git was ended by the process that waits for it, which is not the remote's fault.
func Interrupted(ctx context.Context, err error) bool {
	return ctx.Err() != nil && git.ExitCode(err) < 0 && !errors.Is(err, errTooLong)
}

// Remotes lists the configured remotes.
func Remotes(ctx context.Context, r *git.Repository) ([]string, error) {
	out, err := r.Git.Run(ctx, nil, "remote")
	return strings.Fields(string(out)), err
}

// PickRemote returns the remote to use: the named one, else agentxchain.remote, else the branch's, else origin,
// else the only one. Errors: no_remote.
func PickRemote(ctx context.Context, r *git.Repository, name string) (string, error) {
	all, err := Remotes(ctx, r)
	if err != nil {
		return "", err
	}
	set := ""
	if name == "" {
		set = r.Setting(ctx, "agentxchain.remote")
		name = set
	}
	if name != "" {
		switch {
		case slices.Contains(all, name):
		case set != "" && len(all) > 0:
			return "", fail.Errorf(CodeNoRemote, nil, "%q, which agentxchain.remote names, is not a remote of this repository",
				name).WithHint("git remote -v lists them; git config agentxchain.remote %s, if that is the one", likely(ctx, r, all))
		default:
			return "", fail.Errorf(CodeNoRemote, nil, "%q is not a remote of this repository", name).
				WithHint("git remote -v lists them; git remote add NAME URL adds one")
		}
		return name, nil
	}
	if branch, err := r.Git.Run(ctx, nil, "symbolic-ref", "--quiet", "--short", "HEAD"); err == nil {
		up := r.Setting(ctx, "branch."+strings.TrimSpace(string(branch))+".remote")
		if slices.Contains(all, up) {
			return up, nil
		}
	}
	switch {
	case slices.Contains(all, "origin"):
		return "origin", nil
	case len(all) == 1:
		return all[0], nil
	case len(all) == 0:
		return "", fail.Errorf(CodeNoRemote, nil, "this repository has no remote, so its runs stay here").
			WithHint("git remote add origin URL")
	}
	first := likely(ctx, r, all)
	return "", fail.Errorf(CodeNoRemote, nil, "there are %d remotes and none was named", len(all)).
		WithHint("git agentxchain sync %s, or git config agentxchain.remote %s", first, first)
}

// likely returns the one of all from which records were fetched before, which survives git remote rename; else the
// first.
func likely(ctx context.Context, r *git.Repository, all []string) string {
	for _, remote := range all {
		out, err := r.Git.Run(ctx, nil, "config", "--get-all", "remote."+remote+".fetch")
		if err == nil && strings.Contains(string(out), git.RunRefPrefix) {
			return remote
		}
	}
	return all[0]
}

// Complaint returns git's message, without its first line when that only names the address.
func Complaint(err error) string {
	var lines []string
	for line := range strings.SplitSeq(git.ComplaintOf(err), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "To ") || strings.HasPrefix(line, "hint:") ||
			strings.HasPrefix(line, "Pushing to ") {
			continue
		}
		lines = append(lines, strings.TrimPrefix(strings.TrimPrefix(line, "fatal: "), "error: "))
		if len(lines) == 3 {
			break
		}
	}
	if errors.Is(err, errTooLong) {
		return errTooLong.Error()
	}
	if len(lines) == 0 {
		return text.OneLine(err.Error())
	}
	return text.OneLine(strings.Join(lines, "; "))
}

// Ref asks a remote for the value of one of its refs, "" for a ref it does not have.
func Ref(ctx context.Context, r *git.Repository, remote, name string) (object.OID, error) {
	there, err := Heads(ctx, r, remote, name)
	return there[name], err
}

// Heads asks a remote for the values of refs; it leaves out those that the remote does not have.
func Heads(ctx context.Context, r *git.Repository, remote string, names ...string) (map[string]object.OID, error) {
	refs, err := List(ctx, r.Git.Transport(), r.ObjectFormat, remote, names...)
	there := make(map[string]object.OID, len(refs))
	for _, ref := range refs {
		there[ref.Name] = ref.OID
	}
	return there, err
}

// ValidName refuses names that cannot be part of a ref.
func ValidName(remote string) error {
	if !git.SafeRefName(TrackingPrefix(remote) + "x") {
		return fail.Errorf(wire.CodeInvalidArgument, nil, "the remote %q cannot be part of a ref's name", remote)
	}
	return nil
}

// Backoff waits a random time that grows with the tries: processes that collided must not collide again.
func Backoff(ctx context.Context, tries int) error {
	t := time.NewTimer(time.Duration(rand.Int64N(int64(50*time.Millisecond) << min(tries, 6))))
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}
