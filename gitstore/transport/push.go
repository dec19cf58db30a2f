// Pushing to a remote: each ref with the value that it is expected to have there.

package transport

import (
	"bytes"
	"cmp"
	"context"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
)

const (
	// pushBatch is how many refs one push names, some 250 bytes each: argument lists are limited, on Windows to 32
	// KB.
	pushBatch        = 800
	pushBatchWindows = 100
)

// RefPush is a ref to push, if the remote still has it at Old.
type RefPush struct {
	Name string
	New  object.OID
	Old  object.OID // "" for none
	Ops  int        // number of operations pushed, for runs
}

// Outcomes for a pushed ref.
const (
	PushOK      = "ok"
	PushStale   = "stale"   // the remote has moved: fetch and decide again
	PushRefused = "refused" // a rule of the remote
)

// PushResult is the remote's answer for a ref.
type PushResult struct {
	State string
	Why   string
	Made  bool // the remote did not have the ref
}

// Push pushes refs, each by compare-and-swap on the server, and extra ones as they are. An error says that nothing
// was pushed at all; else each ref has its own answer.
func Push(ctx context.Context, r *git.Repository, remote string, refs []RefPush,
	extra ...string) (map[string]PushResult, error) {
	out := make(map[string]PushResult, len(refs))
	n := pushBatch
	if runtime.GOOS == "windows" {
		n = pushBatchWindows
	}
	if len(extra) > 0 {
		if err := askPrePush(ctx, r, remote, extra); err != nil {
			return out, err
		}
	}
	if len(refs) == 0 { // only the branch: the records got there before it
		return out, pushSome(ctx, r, remote, nil, extra, out)
	}
	for batch := range slices.Chunk(refs, n) {
		if err := pushSome(ctx, r, remote, batch, extra, out); err != nil {
			return out, err
		}
	}
	return out, nil
}

// askPrePush runs the person's own pre-push hook for branches, as their git push does; git-lfs's hook uploads the
// files that the commits name. git runs it even for a push that sends nothing. It may take some time.
func askPrePush(ctx context.Context, r *git.Repository, remote string, branches []string) error {
	hooks, err := r.HooksDir(ctx)
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(hooks, "pre-push")); err != nil {
		return nil // there is none
	}
	// The runs follow in a moment, and not through our guard among the hooks.
	args := []string{"-c", "agentxchain.pushRuns=false", "push", "--dry-run", "--porcelain", "--no-follow-tags",
		"--recurse-submodules=no", "--signed=no", "--", remote}
	answer, err := r.Git.Transport().WithHooks(hooks).Run(ctx, nil, append(args, branches...)...)
	switch {
	case Interrupted(ctx, err):
		return err
	case git.ExitCode(err) != 1 || len(readPorcelain(answer)) > 0:
		return nil // the push will find out what the remote's objection is
	}
	return fail.Errorf(CodePrePush, nil, "the pre-push hook of this repository refuses %s: %s",
		strings.TrimPrefix(branches[0], "refs/heads/"), hookWords(git.ComplaintOf(err))).
		WithHint("git push --dry-run %s shows all that it says; fix it, then: git agentxchain sync %s --branch. Nothing was pushed",
			remote, remote)
}

// hookWords returns the last line that a hook printed before git gave up.
func hookWords(said string) string {
	last := ""
	for line := range strings.Lines(said) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "error: failed to push some refs") &&
			!strings.HasPrefix(line, "hint:") {
			last = line
		}
	}
	return cmp.Or(text.OneLine(last), "it gives no reason")
}

func pushSome(ctx context.Context, r *git.Repository, remote string, refs []RefPush, extra []string,
	out map[string]PushResult) error {
	ctx, stop := transferring(ctx)
	defer stop()
	// --no-verify: the guards of pre-push would check again what was just proven.
	args := []string{"push", "--porcelain", "--no-verify", "--no-follow-tags", "--recurse-submodules=no",
		"--signed=no"}
	if len(extra) > 0 {
		args = append(args, "--atomic")
	}
	for _, p := range refs {
		args = append(args, "--force-with-lease="+p.Name+":"+string(p.Old))
	}
	args = append(args, "--", remote)
	for _, p := range refs {
		args = append(args, string(p.New)+":"+p.Name)
	}
	defer r.ForgetRefs() // git moves the tracking refs
	answer, err := r.Push(ctx, r.Git.Transport(), remote, append(args, extra...)...)
	said := readPorcelain(answer)
	if words := serverWords(git.ComplaintOf(err)); words != "" {
		for name, a := range said {
			if a.State != PushOK {
				a.Why += ": " + words
				said[name] = a
			}
		}
	}
	for _, p := range refs {
		if a, ok := said[p.Name]; ok {
			out[p.Name] = a
		} else if err == nil {
			out[p.Name] = PushResult{State: PushOK}
		}
	}
	for _, name := range extra {
		if a, ok := said[name]; ok && !out[name].Made {
			out[name] = a
		}
		if a := said[name]; a.State != "" && a.State != PushOK && !strings.Contains(a.Why, "atomic ") {
			branch := strings.TrimPrefix(name, "refs/heads/")
			if a.State == PushRefused {
				return fail.Errorf(CodeRemoteRefused, nil, "%s does not take branch %s: %s", remote, branch, a.Why).
					WithHint("ask its administrator about its rules, or push the commits to a branch that it takes, then git agentxchain sync %s", remote)
			}
			return fail.Errorf(CodeBranchApart, nil, "branch %s was not pushed to %s: %s", branch, remote, a.Why).
				WithHint("git pull %s %s joins the two branches; nothing was recorded there", remote, branch)
		}
	}
	if err == nil || len(said) > 0 {
		return nil
	}
	if Interrupted(ctx, err) {
		return err
	}
	return fail.Errorf(CodeRemoteFailed, nil, "%s took nothing: %s", remote, Complaint(err)).
		WithHint("%s", orPatience(ctx, err, remote, "the operations stay here and go with the next git agentxchain sync "+remote))
}

// readPorcelain parses the lines "<flag> TAB <from>:<to> TAB <summary>" of a push.
func readPorcelain(answer []byte) map[string]PushResult {
	out := make(map[string]PushResult)
	for line := range bytes.Lines(answer) {
		f := strings.SplitN(strings.TrimRight(string(line), "\n"), "\t", 3)
		if len(f) != 3 || len(f[0]) != 1 {
			continue
		}
		i := strings.LastIndexByte(f[1], ':')
		if i < 0 {
			continue
		}
		name := f[1][i+1:]
		if f[0] != "!" {
			out[name] = PushResult{State: PushOK, Made: f[0] == "*"}
			continue
		}
		out[name] = judgeRejection(f[2])
	}
	return out
}

// judgeRejection distinguishes a remote that has moved from one that rejects the ref. Servers lock a ref before
// they examine it: a push that finds it locked was beaten. In an atomic push another ref may be the reason, and the
// answer for that ref says so.
func judgeRejection(summary string) PushResult {
	for _, race := range []string{"stale info", "fetch first", "non-fast-forward", "cannot lock ref",
		"failed to update ref",
		"incorrect old value", "failed to lock", "reference already exists", "remote ref updated", "atomic push fail",
		"atomic transaction failed"} {
		if strings.Contains(summary, race) {
			return PushResult{State: PushStale, Why: text.OneLine(summary)}
		}
	}
	return PushResult{State: PushRefused, Why: text.OneLine(summary)}
}

// serverWords returns the first lines that the server and its hooks printed during a push: git's own answer only
// says that a hook declined.
func serverWords(complaint string) string {
	var lines []string
	for line := range strings.SplitSeq(complaint, "\n") {
		if words, ok := strings.CutPrefix(line, "remote:"); ok && strings.TrimSpace(words) != "" {
			lines = append(lines, strings.TrimSpace(words))
		}
	}
	return text.Brief(strings.Join(lines[:min(len(lines), 6)], " "), 600)
}
