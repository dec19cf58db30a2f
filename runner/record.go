// The read side: the recorded runs of a project, and the names a reader needs for it.

package runner

import (
	"context"
	"io"
	"iter"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/history"
	"github.com/git-agentxchain/git-agentxchain/gitstore/proof"
	"github.com/git-agentxchain/git-agentxchain/gitstore/travel"
	"github.com/git-agentxchain/git-agentxchain/hooks"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/verdict"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// What the record is made of (docs/storage.md).
type (
	OpInfo       = chain.OpInfo       // one operation of a run's chain
	RunTip       = chain.RunTip       // a run with its newest operation
	OpDetail     = chain.OpDetail     // with what it recorded
	LedgerChange = chain.LedgerChange // what one operation changed in a ledger
	Ref          = git.Ref
	Repository   = git.Repository
	LineRange    = history.LineRange // of a file; zero bounds are open
	Hook         = hooks.Hook        // a lifecycle hook as configured

	FsckOptions = proof.Options
	FsckReport  = proof.Report
	FsckFinding = proof.Finding
	Against     = travel.Against    // this clone compared with another side
	AgainstRun  = travel.AgainstRun // one run of it

	RepairMode    = gitstore.RepairMode
	RepairOptions = gitstore.RepairOptions
	RepairPlan    = gitstore.RepairPlan
)

const (
	RunRefPrefix = git.RunRefPrefix // of the ref that holds a run's chain

	FromRef       = gitstore.FromRef       // repair: back to the recorded run
	AcceptWorking = gitstore.AcceptWorking // repair: the working files are right

	AgainstRemote = travel.AgainstRemote // fsck --against: a remote, a bundle, an export
	AgainstBundle = travel.AgainstBundle
	AgainstExport = travel.AgainstExport

	RunEqual        = travel.RunEqual // how a run compares with the other side
	RunAhead        = travel.RunAhead
	RunBehind       = travel.RunBehind
	RunDiverged     = travel.RunDiverged
	RunMissingHere  = travel.RunMissingHere
	RunMissingThere = travel.RunMissingThere
	RunDamaged      = travel.RunDamaged

	FindRecord = proof.FindRecord // fsck: an operation's record cannot be read
	FindReplay = proof.FindReplay // replaying it gives another result
)

// Record is the readable part of the recorded runs. Nothing in it takes the lock or changes a file.
type Record interface {
	// Repository is the git repository that contains the project.
	Repository() *Repository
	// Runs returns the refs of all recorded runs.
	Runs(ctx context.Context) ([]Ref, error)
	// OwnRuns returns those of this project, and the newest: a repository may have other projects beside it.
	OwnRuns(ctx context.Context) (refs []Ref, newest string, err error)
	// Elsewhere returns a run of this project that a remote is known to have, or a remote that was never asked.
	Elsewhere(ctx context.Context) (run, remote string, err error)
	// RunTips lists the recorded runs, each with its newest operation, newest first, at
	// most limit (0: all).
	RunTips(ctx context.Context, limit int) ([]RunTip, error)
	// Log lists the newest operations of a run, "" for the present one; all when
	// limit is 0.
	Log(ctx context.Context, run string, limit int) ([]OpInfo, error)
	// Back yields the operations of a run, "" for the present one, newest first, and reads no further than they are taken.
	Back(ctx context.Context, run string) iter.Seq2[OpInfo, error]
	// Chain is Log with the oldest first, up to an operation or to the newest when op is "".
	Chain(ctx context.Context, run string, op OpID) ([]OpInfo, error)
	// Newest returns the newest operation of a run, "" for the present one, and that run's id.
	Newest(ctx context.Context, run string) (string, OpID, error)
	// Has reports whether a run has an operation still: a join decides some of them again.
	Has(ctx context.Context, run string, op OpID) (bool, error)
	// Refusal returns what led to the newest refusal with a code that left no trace in a run, nil without one.
	Refusal(code string) (*verdict.Chain, error)
	// Show reads one operation by commit id or unique prefix.
	Show(ctx context.Context, name string) (*OpDetail, error)
	// LastRow returns the newest row of a ledger whose member key has that value, nil when there is
	// none.
	LastRow(ctx context.Context, l wire.Ledger, key, value string) (*run.Line, error)
	// TailRows returns the newest n rows of a ledger that keep wants, all of them for 0.
	TailRows(ctx context.Context, l wire.Ledger, n int, keep func(*ojson.Object) bool) ([]run.Line, error)
	// ViewRows is TailRows of the run as a view shows it, which may be ahead of the working files.
	ViewRows(ctx context.Context, v *View, l wire.Ledger, n int, keep func(*ojson.Object) bool) ([]run.Line, error)
	Checks
}

// Checks lists the checks of the recorded runs that also work in a repository without a work tree.
type Checks interface {
	// Dir is the absolute project directory, "" without a work tree.
	Dir() string
	// Fsck compares working files, objects and records with each other.
	Fsck(ctx context.Context, opt FsckOptions) (*FsckReport, error)
	// AgainstKind says what a name means: a remote, else the kind of the file.
	AgainstKind(ctx context.Context, name, file string) (string, error)
	// AgainstRemote and AgainstBundle compare the runs here, or one of them, with those of another
	// side. They take over nothing.
	AgainstRemote(ctx context.Context, remote, run string) (*Against, error)
	AgainstBundle(ctx context.Context, file, run string) (*Against, error)
}

// Record returns the read side of this project.
func (r *Runner) Record() Record { return recorded{r.store} }

// recorded is the store as a reader sees it.
type recorded struct{ *gitstore.Store }

func (r recorded) AgainstKind(ctx context.Context, name, file string) (string, error) {
	return travel.AgainstKind(ctx, r.Repository(), name, file)
}

func (r recorded) AgainstRemote(ctx context.Context, remote, run string) (*Against, error) {
	return travel.CompareRemote(ctx, r.Store, remote, run)
}

func (r recorded) AgainstBundle(ctx context.Context, file, run string) (*Against, error) {
	return travel.CompareBundle(ctx, r.Store, file, run)
}

func (r recorded) Has(ctx context.Context, run string, op OpID) (bool, error) {
	_, tip, err := r.Newest(ctx, run)
	if err != nil {
		return false, err
	}
	return history.Ancestor(ctx, r.Repository(), op, tip) // a run is one line
}

func (r recorded) Runs(ctx context.Context) ([]Ref, error) { return chain.Runs(ctx, r.Repository()) }

func (r recorded) RunTips(ctx context.Context, limit int) ([]RunTip, error) {
	return chain.RunTips(ctx, r.Repository(), limit)
}

func (r recorded) Show(ctx context.Context, name string) (*OpDetail, error) {
	return chain.Show(ctx, r.Repository(), name)
}

// RunIDs lists the recorded runs of the repository.
func (r *Runner) RunIDs(ctx context.Context) ([]string, error) {
	refs, err := chain.Runs(ctx, r.store.Repository())
	if err != nil {
		return nil, err
	}
	out := make([]string, len(refs))
	for i, ref := range refs {
		out[i] = strings.TrimPrefix(ref.Name, git.RunRefPrefix)
	}
	return out, nil
}

// DiscoverRepository opens the git repository around dir, governed or not, bare or
// not; the caller closes it.
func DiscoverRepository(ctx context.Context, dir string) (*Repository, error) {
	return git.DiscoverBare(ctx, dir)
}

// DiscoverProject opens the repository around dir, bare or not, and finds the governed project in it: that of dir or of
// a directory above it, else the only one there is; there may be several. The caller closes it.
func DiscoverProject(ctx context.Context, dir string) (*Repository, error) {
	return gitstore.Around(ctx, dir)
}

// IsBare reports the refusal of a repository that has no work tree.
func IsBare(err error) bool { return fail.CodeOf(err) == fail.CodeBareRepository }

// BareRuns are the runs of a repository without a work tree. Close it after use.
type BareRuns interface {
	io.Closer
	Checks
}

// OpenBare opens the runs of the repository around dir.
func OpenBare(ctx context.Context, dir string) (BareRuns, error) {
	s, err := gitstore.OpenBare(ctx, dir)
	if err != nil {
		return nil, err
	}
	return recorded{s}, nil
}

// LeaveRepository makes this process forget the repository that its environment names (GIT_DIR and
// the like), for commands that work in another one.
func LeaveRepository() error { return gitstore.LeaveRepository() }

// GitConfig returns git's own settings whose names match a regular expression, as seen from dir: the
// output of git config --null, nil when nothing is set or git cannot say.
func GitConfig(ctx context.Context, dir, pattern string) []byte {
	return git.Variables(ctx, dir, pattern)
}
