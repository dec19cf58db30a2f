// Fsck against another side: how the runs here relate to those of a remote or of a bundle. Nothing is adopted and
// no ref moves (docs/teams.md#look-without-following).

package travel

import (
	"bytes"
	"context"
	"maps"
	"os"
	"slices"
	"syscall"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/archive"
	"github.com/git-agentxchain/git-agentxchain/gitstore/bundle"
	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/history"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/proof"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/gitstore/transport"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Kinds of another side.
const (
	AgainstRemote = "remote"
	AgainstBundle = "bundle"
	AgainstExport = "export"
)

// How a run here relates to the other side.
const (
	RunEqual        = "equal"
	RunAhead        = "ahead"         // the other side lacks operations
	RunBehind       = "behind"        // operations are missing here
	RunDiverged     = "diverged"      // both continued from Base
	RunMissingHere  = "missing_here"  // only the other side has the run
	RunMissingThere = "missing_there" // only this clone has it
	RunDamaged      = "damaged"       // Code says why: what is there contradicts what it was
)

// CodeExportDiffers means that no operation here recorded a run as an export shows it.
const CodeExportDiffers = "export_differs"

// Against is the result of a comparison with another side.
type Against struct {
	Kind string
	Name string
	Runs []*AgainstRun
	// Files says that the other side has files but no record: an export without one.
	Files bool
	// Lost lists archive lists that went back, one sentence each.
	Lost []string
}

// Damaged reports whether something that was recorded is gone, rewritten or not believed.
func (a *Against) Damaged() bool {
	return len(a.Lost) > 0 || slices.ContainsFunc(a.Runs, func(r *AgainstRun) bool { return r.State == RunDamaged })
}

// AgainstRun is one run of the comparison.
type AgainstRun struct {
	Run   string
	State string
	Here  object.OID // newest operation, "" for none
	There object.OID
	Seen  object.OID // newest operation this clone has seen there
	Base  object.OID // newest operation both sides have
	Ahead int        // operations after it here
	// Behind counts operations there; when files are compared, the rows of history and events.
	Behind int
	Since  time.Time // time of Base, when both continued
	Code   string    // for damage
	Why    string
	Lost   []chain.OpInfo // operations seen there that are gone, oldest first
}

// LostTurns returns the turns whose acceptance was lost.
func (r *AgainstRun) LostTurns() []string {
	turns := []string{}
	for _, op := range r.Lost {
		if op.Name == protocol.OpAccept && op.Turn != "" && !slices.Contains(turns, op.Turn) {
			turns = append(turns, op.Turn)
		}
	}
	return turns
}

// damage notes a problem.
func (r *AgainstRun) damage(code, why string) { r.State, r.Code, r.Why = RunDamaged, code, why }

// against compares two sides. q reads the objects of both.
type against struct {
	out  *Against
	q    *git.Repository
	mine string // project id

	// trust judges new parts that do not belong to runs.
	trust func(context.Context, *AgainstRun) error

	here, there, seen map[string]object.OID
}

// CompareRemote compares the runs here with those of a remote, only the named one when run is not "". It fetches
// into a temporary place, which is removed.
//
// Errors: no_remote, remote_failed.
func CompareRemote(ctx context.Context, s *gitstore.Store, remote, run string) (*Against, error) {
	f, err := lookAt(ctx, s.Repository(), remote)
	if err != nil {
		return nil, err
	}
	defer f.quarantine.Close()
	if err := f.ask(ctx); err != nil {
		return nil, err
	}
	c, err := newAgainst(ctx, s, AgainstRemote, f.remote, f.quarantine.Repo)
	if err != nil {
		return nil, err
	}
	if c.seen, err = s.Repository().Tips(ctx, record.SeenRefPrefix+f.remote+"/"); err != nil {
		return nil, err
	}
	maps.DeleteFunc(c.seen, func(name string, _ object.OID) bool { return git.BadRunID(name) != "" }) // of the archive
	if err := f.archived(ctx, c); err != nil {
		return nil, err
	}
	c.there = f.tips
	return c.out, c.all(ctx, run, c.here, c.there, c.seen)
}

// CompareBundle compares the runs of a git bundle with those here.
//
// Errors: history_invalid for a file that is not a complete bundle of runs; no_run.
func CompareBundle(ctx context.Context, s *gitstore.Store, file, run string) (*Against, error) {
	repo, done, err := bundle.Open(ctx, file)
	if err != nil {
		return nil, err
	}
	defer done()
	return CompareOpened(ctx, s, AgainstBundle, file, repo, run)
}

// CompareOpened is CompareBundle for a bundle that bundle.Open unpacked; kind says where it came from.
func CompareOpened(ctx context.Context, s *gitstore.Store, kind, name string, repo *git.Repository,
	run string) (*Against, error) {
	if repo.ObjectFormat != s.Repository().ObjectFormat {
		return nil, bundle.Bad(nil, "the bundle has %s objects, this repository %s", repo.ObjectFormat,
			s.Repository().ObjectFormat)
	}
	if err := s.Repository().LendObjects(repo.ObjectsDir); err != nil { // it was complete without them
		return nil, err
	}
	c, err := newAgainst(ctx, s, kind, name, repo)
	if err != nil {
		return nil, err
	}
	if c.there, err = c.q.Tips(ctx, git.RunRefPrefix); err != nil {
		return nil, err
	}
	if len(c.there) == 0 {
		return nil, bundle.Bad(nil, "the bundle holds no run")
	}
	if run != "" && c.there[run] == "" {
		return nil, fail.Errorf(chain.CodeNoRun, nil, "the bundle does not hold run %s", run)
	}
	return c.out, c.all(ctx, run, c.there)
}

func newAgainst(ctx context.Context, s *gitstore.Store, kind, name string, q *git.Repository) (*against, error) {
	c := &against{out: &Against{Kind: kind, Name: name}, q: q, mine: s.ProjectID(ctx)}
	list, err := archive.ReadAll(ctx, s.Repository(), archive.ListPrefix)
	if err != nil {
		return nil, err
	}
	past, err := s.Repository().Tips(ctx, archive.PastPrefix)
	if err != nil {
		return nil, err
	}
	if c.here, err = s.Repository().Tips(ctx, git.RunRefPrefix); err != nil {
		return nil, err
	}
	for name := range list {
		// A pruned run is here only by its list entry, which names its newest operation.
		if e := list.Archived(name); e != nil && past[name] == "" {
			past[name] = object.OID(e.Op)
		}
	}
	for name, op := range past {
		if c.here[name] == "" {
			c.here[name] = op
		}
	}
	return c, nil
}

// all compares every run that one of the sides names, or one of them.
func (c *against) all(ctx context.Context, only string, sides ...map[string]object.OID) error {
	names := []string{}
	for _, m := range sides {
		names = slices.AppendSeq(names, maps.Keys(m))
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if only != "" {
		if !slices.Contains(names, only) {
			return chain.NoRun(only)
		}
		names = []string{only}
	}
	for _, name := range names {
		r := &AgainstRun{Run: name, Here: c.here[name], There: c.there[name], Seen: c.seen[name]}
		c.out.Runs = append(c.out.Runs, r)
		if git.BadRunID(name) != "" {
			r.damage(record.CodeForeignRun, "the name is not that of a run")
			continue
		}
		if err := c.compare(ctx, r); err != nil {
			return err
		}
	}
	return c.count(ctx)
}

// compare determines how one run relates to the other side; count counts the differences.
func (c *against) compare(ctx context.Context, r *AgainstRun) error {
	side := "the " + c.out.Kind
	back, err := setBack(ctx, c.q, side, r.There, r.Seen)
	if err != nil {
		return err
	}
	if back != nil {
		r.Base, r.Lost = back.Base, back.Lost
		r.damage(back.Code, back.Why)
		return nil
	}
	switch {
	case r.Here == r.There:
		r.State, r.Base = RunEqual, r.Here
		return nil
	case r.There == "":
		r.State = RunMissingThere
		return nil
	case r.Here == "":
		r.State = RunMissingHere
	default:
		if r.Base, err = history.MergeBase(ctx, c.q, r.Here, r.There); err != nil {
			return err
		}
		switch r.Base {
		case r.There:
			r.State = RunAhead
			return nil // it is part of what is here
		case r.Here:
			r.State = RunBehind
		case "":
			r.damage(record.CodeForeignRun, "the run there shares no operation with the one here")
			return nil
		default:
			r.State = RunDiverged
			b, err := record.NewReader(ctx, c.q).Commit(r.Base)
			if err != nil {
				return err
			}
			r.Since = b.Author.When
		}
	}
	return c.believe(ctx, r)
}

// believe verifies what is new there.
func (c *against) believe(ctx context.Context, r *AgainstRun) error {
	if c.trust != nil {
		err := c.trust(ctx, r)
		if err != nil && ctx.Err() == nil {
			code := fail.CodeOf(err)
			if code == "" {
				code = record.CodeUnproven
			}
			r.damage(code, text.OneLine(err.Error()))
			err = nil
		}
		return err
	}
	if id, err := chain.ProjectAt(ctx, c.q, r.There); err == nil && id != "" && c.mine != "" && id != c.mine {
		r.damage(record.CodeForeignRun,
			"the run there belongs to project "+text.OneLine(id)+", this is "+text.OneLine(c.mine))
		return nil
	}
	v, err := proof.Verify(ctx, c.q, r.Run, r.There)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		r.damage(record.CodeUnproven, text.OneLine(err.Error()))
	case !v.Sound():
		f := v.Findings[0]
		r.damage(record.CodeUnproven, "operation "+f.Op.Short()+" there is not believed: "+text.OneLine(f.Message))
	}
	return nil
}

// count counts the operations that only one side has.
func (c *against) count(ctx context.Context) error {
	var ours, theirs []chain.Range
	for _, r := range c.out.Runs {
		if r.State == RunDamaged {
			continue
		}
		if r.Here != "" && r.Here != r.Base && c.q.HasCommit(ctx, r.Here) {
			ours = append(ours, chain.Range{Run: r.Run, After: r.Base, To: r.Here})
		}
		if r.There != "" && r.There != r.Base {
			theirs = append(theirs, chain.Range{Run: r.Run, After: r.Base, To: r.There})
		}
	}
	ahead, err := chain.Ranges(ctx, c.q, ours)
	if err != nil {
		return err
	}
	behind, err := chain.Ranges(ctx, c.q, theirs)
	if err != nil {
		return err
	}
	for _, r := range c.out.Runs {
		r.Ahead, r.Behind = len(ahead[r.Run]), len(behind[r.Run])
	}
	return nil
}

// AgainstKind returns what a name given to fsck --against means: a remote, a bundle, or otherwise a file that
// should be an export.
//
// Errors: not_found for a name that is neither a remote nor a file.
func AgainstKind(ctx context.Context, repo *git.Repository, name, file string) (string, error) {
	all, err := transport.Remotes(ctx, repo)
	if err != nil {
		return "", err
	}
	if slices.Contains(all, name) {
		return AgainstRemote, nil
	}
	f, err := os.OpenFile(file, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", fail.Errorf(wire.CodeNotFound, nil,
			"%q is neither a remote of this repository nor a file that can be read", text.OneLine(name)).
			WithHint("git remote -v lists the remotes")
	}
	defer func() { _ = f.Close() }()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return AgainstExport, nil // a pipe cannot be read twice
	}
	head := make([]byte, len("# v2 git bundle"))
	_, _ = f.Read(head)
	if bytes.HasPrefix(head, []byte("# v")) && bytes.HasSuffix(head, []byte(" git bundle")) {
		return AgainstBundle, nil
	}
	return AgainstExport, nil
}
