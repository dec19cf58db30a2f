// The remote that runs travel over: its settings here, fetching from it into tracking
// names, pushing to it with the value it is expected to have.

package transport

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/archive"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Codes of synchronising with a remote.
const (
	CodeNoRemote      = "no_remote"        // there is no remote of that name, or none at all
	CodeRemoteFailed  = "remote_failed"    // the remote could not be reached or read
	CodeRemoteRefused = "remote_refused"   // the remote takes no runs
	CodeRemoteBack    = "remote_rewound"   // the remote no longer has operations it once had
	CodeRemoteForked  = "remote_forked"    // the remote tells another story than it once did
	CodeBranchApart   = "branch_diverged"  // the branch here and there went on separately
	CodePrePush       = "pre_push_refused" // the person's own hook does not let the branch go
	CodeRemoteBusy    = "remote_contended" // others pushed first, again and again
)

const (
	// TrackingRefs is where git sees the refs of remotes: below it <remote>/.
	TrackingRefs = "refs/remotes/"

	// TransferLimit bounds one fetch or push.
	TransferLimit = 10 * time.Minute

	// DecideLimit bounds each of them while an operation waits for it.
	DecideLimit = 2 * time.Minute

	// AskLimit bounds asking remotes while an operation is decided.
	AskLimit = 30 * time.Second

	// pushBatch is how many refs one push names, some 250 bytes each: an argument list has
	// an end. It is at 32 KB on Windows.
	pushBatch        = 800
	pushBatchWindows = 100
)

// errTooLong ends a git whose remote neither answers nor hangs up.
var errTooLong = errors.New("it took too long")

// Within bounds what is asked of a remote. When its time is over that is a failure of the remote.
func Within(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, limit, errTooLong)
}

// hurried is the key of a context in which an operation waits for what is asked of a remote.
type hurried struct{}

// Hurried returns a context in which a fetch or push may take DecideLimit and no more.
func Hurried(ctx context.Context) context.Context { return context.WithValue(ctx, hurried{}, true) }

// transferring bounds one fetch or push.
func transferring(ctx context.Context) (context.Context, context.CancelFunc) {
	if ctx.Value(hurried{}) != nil {
		return Within(ctx, DecideLimit)
	}
	return Within(ctx, TransferLimit)
}

// orPatience is a hint, or the one for an operation that would not wait longer.
func orPatience(ctx context.Context, err error, remote, hint string) string {
	if ctx.Value(hurried{}) == nil || !errors.Is(err, errTooLong) {
		return hint
	}
	return fmt.Sprintf("an operation waits for its remote no longer than %d minutes (agentxchain.sync=strict): git agentxchain sync %s "+
		"waits longer, and with git config agentxchain.sync auto operations do not wait", DecideLimit/time.Minute, remote)
}

// Interrupted reports that a git was ended by who waits for it, which is no matter of the remote.
func Interrupted(ctx context.Context, err error) bool {
	return ctx.Err() != nil && git.ExitCode(err) < 0 && !errors.Is(err, errTooLong)
}

// TrackingPrefix is where the runs of a remote are seen, ending in a slash.
func TrackingPrefix(remote string) string { return TrackingRefs + remote + "/agentxchain/runs/" }

// IsTracking reports a name below the TrackingSpace of a remote.
func IsTracking(ref string) bool {
	return strings.HasPrefix(ref, TrackingRefs) && strings.Contains(ref, "/agentxchain/")
}

// TrackingSpace is where all is seen that a remote has of ours, ending in a slash.
func TrackingSpace(remote string) string { return TrackingRefs + remote + "/agentxchain/" }

// TrackingConflicts is the same for conflicts.
func TrackingConflicts(remote string) string {
	return TrackingRefs + remote + "/agentxchain/conflicts/"
}

// TrackingWitnesses is the same for what witnesses said.
func TrackingWitnesses(remote string) string {
	return TrackingRefs + remote + "/agentxchain/witnesses/"
}

// TrackingArchive is the same for the lists of archived runs.
func TrackingArchive(remote string) string {
	return TrackingRefs + remote + "/agentxchain/archive-list/"
}

// RunRefspecs are the lines of remote.<name>.fetch that bring records into tracking names.
// They are forced: a tracking name says where the remote is, also when it went back.
func RunRefspecs(remote string) []string {
	return []string{
		"+" + git.RunRefPrefix + "*:" + TrackingPrefix(remote) + "*",
		"+" + record.ConflictRefPrefix + "*:" + TrackingConflicts(remote) + "*",
		"+" + archive.ListPrefix + "*:" + TrackingArchive(remote) + "*",
		"+" + record.WitnessRefPrefix + "*:" + TrackingWitnesses(remote) + "*",
		"+" + record.InitiativeRefPrefix + "*:" + TrackingInitiatives(remote) + "*",
	}
}

// Remotes lists the configured remotes.
func Remotes(ctx context.Context, r *git.Repository) ([]string, error) {
	out, err := r.Git.Run(ctx, nil, "remote")
	return strings.Fields(string(out)), err
}

// PickRemote returns the remote to speak to: the named one, else agentxchain.remote, else
// that of the branch, else origin, else the only one. Errors: no_remote.
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
				name).WithHint("git remote -v lists them; git config agentxchain.remote %s, where that is the one", likely(ctx, r, all))
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

// likely is the remote of all that records were brought from before, which git remote rename keeps on; else the first.
func likely(ctx context.Context, r *git.Repository, all []string) string {
	for _, remote := range all {
		out, err := r.Git.Run(ctx, nil, "config", "--get-all", "remote."+remote+".fetch")
		if err == nil && strings.Contains(string(out), git.RunRefPrefix) {
			return remote
		}
	}
	return all[0]
}

// TrackRuns adds the refspecs of runs to a remote, so that a plain git fetch brings
// records, and reports whether it had to. others are the remote's refspecs that are not
// of runs.
func TrackRuns(ctx context.Context, r *git.Repository, remote string) (added bool, others []string, err error) {
	key := "remote." + remote + ".fetch"
	out, err := r.Git.Run(ctx, nil, "config", "--get-all", key)
	if err != nil && git.ExitCode(err) != 1 {
		return false, nil, err
	}
	others = slices.DeleteFunc(strings.Split(string(out), "\n"), func(spec string) bool { return spec == "" })
	for _, spec := range RunRefspecs(remote) {
		if i := slices.Index(others, spec); i >= 0 {
			others = slices.Delete(others, i, i+1)
			continue
		}
		if err := r.Configure(ctx, "--add", key, spec); err != nil {
			return added, nil, err
		}
		added = true
	}
	return added, others, nil
}

// FetchRuns fetches records, then what the other refspecs of the remote name: the commits that
// records name were pushed before them, and the many records are not asked for again.
// Everything goes into tracking names, and git checks every object. Names of records that
// are gone there go here as well.
func FetchRuns(ctx context.Context, r *git.Repository, remote string, others []string) error {
	ctx, stop := transferring(ctx)
	defer stop()
	defer r.ForgetRefs()
	if fetchListed(ctx, r, remote, others) {
		return nil
	}
	fetches := [][]string{append(append(fetchWhole(ctx, r, remote), "--prune", "--", remote), RunRefspecs(remote)...)}
	if len(others) > 0 {
		fetches = append(fetches, append(append(FetchArgs(), "--", remote), others...))
	}
	var err error
	for range 4 {
		if err = r.Fetch(ctx, r.Git.Transport(), remote, nil, fetches...); err == nil {
			return nil
		}
		// A git of the person's fetches at the same time.
		if !strings.Contains(git.ComplaintOf(err), "cannot lock ref") || Backoff(ctx, 3) != nil {
			break
		}
	}
	return unreachable(ctx, r, remote, err)
}

// FetchArgs are those of a fetch that moves only what it names and checks every object.
func FetchArgs() []string {
	return []string{"-c", "fetch.fsckObjects=true", "-c", "gc.auto=0", "-c", "maintenance.auto=false",
		"fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-gc", "--no-recurse-submodules"}
}

// fetchWhole is FetchArgs for records. A partial clone would ask for their objects one by one later.
func fetchWhole(ctx context.Context, r *git.Repository, remote string) []string {
	args := FetchArgs()
	if partial(ctx, r, remote) {
		args = append(args, "--no-filter")
	}
	return args
}

// partial reports a remote that a partial clone has its objects from.
func partial(ctx context.Context, r *git.Repository, remote string) bool {
	return r.Setting(ctx, "remote."+remote+".promisor") == "true"
}

// FetchKept is Fetch of what is kept of records.
func FetchKept(ctx context.Context, r *git.Repository, remote, prune, what string) error {
	return fetch(ctx, r, remote, append(fetchWhole(ctx, r, remote), prune), what)
}

// Fetch fetches what a refspec or an object id names, and nothing else. With --prune
// the names go that the remote no longer has.
func Fetch(ctx context.Context, r *git.Repository, remote, prune, what string) error {
	return fetch(ctx, r, remote, append(FetchArgs(), prune), what)
}

func fetch(ctx context.Context, r *git.Repository, remote string, args []string, what string) error {
	ctx, stop := transferring(ctx)
	defer stop()
	defer r.ForgetRefs()
	return r.Fetch(ctx, r.Git.Transport(), remote, nil, append(args, "--", remote, what))
}

// Complaint is what git said, without its first line when that only names the address.
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

// RefPush is a ref to push, if the remote still has it at Old.
type RefPush struct {
	Name string
	New  object.OID
	Old  object.OID // "" for none
	Ops  int        // how many operations go, for runs
}

// What became of a pushed ref.
const (
	PushOK      = "ok"
	PushStale   = "stale"   // the remote has moved: fetch and decide again
	PushRefused = "refused" // a rule of the remote
)

// PushResult is what the remote said of a ref.
type PushResult struct {
	State string
	Why   string
	Made  bool // the remote did not have the ref
}

// Push pushes refs, each by compare-and-swap on the server, and extra ones as they are. The error says that
// nothing was pushed at all; else each ref has its own answer.
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
	if len(refs) == 0 { // the branch alone: the records got there before it
		return out, pushSome(ctx, r, remote, nil, extra, out)
	}
	for batch := range slices.Chunk(refs, n) {
		if err := pushSome(ctx, r, remote, batch, extra, out); err != nil {
			return out, err
		}
	}
	return out, nil
}

// askPrePush lets the person's own pre-push hook have its say on branches, as their git push does; that of git-lfs brings
// the server what the commits name. git calls it for a push that sends nothing, too. It may take its time.
func askPrePush(ctx context.Context, r *git.Repository, remote string, branches []string) error {
	hooks, err := r.HooksDir(ctx)
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(hooks, "pre-push")); err != nil {
		return nil // there is none
	}
	// The runs go in a moment, and not by our guard among the hooks.
	args := []string{"-c", "agentxchain.pushRuns=false", "push", "--dry-run", "--porcelain", "--no-follow-tags",
		"--recurse-submodules=no", "--signed=no", "--", remote}
	answer, err := r.Git.Transport().WithHooks(hooks).Run(ctx, nil, append(args, branches...)...)
	switch {
	case Interrupted(ctx, err):
		return err
	case git.ExitCode(err) != 1 || len(readPorcelain(answer)) > 0:
		return nil // the push finds out what the remote has against it
	}
	return fail.Errorf(CodePrePush, nil, "the pre-push hook of this repository refuses %s: %s",
		strings.TrimPrefix(branches[0], "refs/heads/"), hookWords(git.ComplaintOf(err))).
		WithHint("git push --dry-run %s shows all that it says; mend that, then: git agentxchain sync %s --branch. Nothing was pushed",
			remote, remote)
}

// hookWords is the last thing that a hook said before git gave up.
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
	// --no-verify: the guards of pre-push ask what was proven a moment ago.
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
					WithHint("its rules are its administrator's; push the commits to a branch it takes, then git agentxchain sync %s", remote)
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

// Ref asks a remote where one of its refs is, "" for a ref it does not have.
func Ref(ctx context.Context, r *git.Repository, remote, name string) (object.OID, error) {
	there, err := Heads(ctx, r, remote, name)
	return there[name], err
}

// Heads asks a remote where some of its refs are; those it does not have are left out.
func Heads(ctx context.Context, r *git.Repository, remote string, names ...string) (map[string]object.OID, error) {
	refs, err := List(ctx, r.Git.Transport(), r.ObjectFormat, remote, names...)
	there := make(map[string]object.OID, len(refs))
	for _, ref := range refs {
		there[ref.Name] = ref.OID
	}
	return there, err
}

// readPorcelain reads the lines "<flag> TAB <from>:<to> TAB <summary>" of a push.
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

// judgeRejection tells a remote that has moved from one that does not want the ref.
// Servers lock a ref before they look at it: who finds it locked was beaten to it. In an
// atomic push another ref may be the reason, and the answer for that one tells it.
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

// serverWords is what the server and its hooks said during a push, the first lines of it: git's own answer only
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

// ValidName keeps names out that cannot be part of a ref.
func ValidName(remote string) error {
	if !git.SafeRefName(TrackingPrefix(remote) + "x") {
		return fail.Errorf(wire.CodeInvalidArgument, nil, "the remote %q cannot be part of a ref's name", remote)
	}
	return nil
}

// Backoff waits a random time that grows with the tries: those who collided must not meet
// again.
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

// TrackingInitiatives is where the initiatives of a remote are seen, ending in a slash.
func TrackingInitiatives(remote string) string {
	return TrackingRefs + remote + "/agentxchain/" + record.InitiativeNames
}
