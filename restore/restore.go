// Restoring a run artifact into a checkout: the options, the preconditions in order, and the outcome
// (docs/restore.md).

package restore

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/bundle"
	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/incoming"
	"github.com/git-agentxchain/git-agentxchain/gitstore/transport"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Codes of what prevents a restore of an artifact.
const (
	CodeUnverified      = "artifact_unverified"   // a claim of the artifact is false
	CodeKind            = "artifact_kind"         // it is not the artifact of a run
	CodeNoWorkspace     = "workspace_missing"     // it does not say which commit it belongs to
	CodeUnsupported     = "restore_unsupported"   // its exporter marked it as not restorable
	CodeUnsafePath      = "unsafe_path"           // a file in it may not be written
	CodeContentMissing  = "content_missing"       // the bytes of a file are missing
	CodeNothing         = "nothing_to_restore"    // it holds no files
	CodeProjectMismatch = "project_mismatch"      // it belongs to another project
	CodeHeadMismatch    = "head_mismatch"         // the checkout is at another commit
	CodeContradicted    = "baseline_contradicted" // what was committed since contradicts it
)

// Options are the options of Restore.
type Options struct {
	// Into calls use with the project to restore into, with nothing else at work on it. It is called once the
	// artifact was found good, and returns what use returns.
	Into func(ctx context.Context, use func(*gitstore.Store) error) error

	Repo   string // restore the run of this repository from the artifact of an initiative; "" for none
	Bundle string // a git bundle with the run's history, to be restored too; "" for none
	// NoRecord ignores the history in the artifact itself.
	NoRecord bool
	Onto     bool // accept a HEAD that has moved on if nothing contradicts the artifact
	DryRun   bool // check only and change nothing
	Plan     bool // like DryRun, but list obstacles instead of refusing

	// GiveUp is asked, in words for a person, whether to give up active turns here that the artifact does not know.
	// If it is nil they are not given up.
	GiveUp func(question string) (bool, error)
	// Work is asked, in words for a person, whether to write the work in progress in the artifact; decided is false
	// if no person answered.
	Work     func(question string) (yes, decided bool, err error)
	LockWait time.Duration
	// Reindex makes dispatch/index.json of operations that are decided again, when two records are joined.
	Reindex  gitstore.Reindex
	Verify   VerifyOptions
	Progress func(done, total int) // files staged
}

// Outcome is what a restore did, or would do.
type Outcome struct {
	Done      bool // false for a dry run
	Dir       string
	Run       string // "" for none
	Status    string // of the run, "" when unknown
	Files     int    // number of files from the artifact
	Plan      *gitstore.RestorePlan
	Head      *Onto
	Bundle    *bundle.Bundle // closed; only its fields are of use
	Notices   []string
	Keep      []Kept         // changes of the checkout that stay
	Obstacles []*wire.Error  // for a plan: what prevents the restore
	SameTree  bool           // the checkout is at another commit with the same files
	Work      []RestoredWork // work in progress in the artifact
	WithWork  bool           // it is part of the plan
	Unwritten []string       // files in the artifact that belong to the exporting machine
	Joined    *Joined        // of a run with new operations on both sides, nil for none
}

// Restore makes the governed files of a project those of the run artifact in r, and records them as an operation of
// the run, so that work continues from there. It writes nothing before everything has been checked, and then takes
// effect completely or not at all (gitstore.Store.Restore). r may be nil when Bundle is set: then the files are
// those recorded by the newest operation in the bundle.
//
// Errors: an *InputError when there is no artifact, the Code constants above in that order, dirty_tree, and those
// of the store.
func Restore(ctx context.Context, r io.Reader, opt Options) (*Outcome, error) {
	var a *taken
	if r != nil {
		var err error
		if a, err = receive(ctx, r, opt.Repo, opt.Verify); err != nil {
			return nil, err
		}
		defer a.Close()
		if err := a.restorable(); err != nil {
			return nil, err
		}
	} else if opt.Bundle == "" {
		return nil, &wire.Error{
			Code:    wire.CodeInvalidArgument,
			Field:   "input",
			Message: "There is neither an artifact nor a bundle to restore.",
		}
	}
	var out *Outcome
	err := opt.Into(ctx, func(store *gitstore.Store) (err error) {
		out, err = restoreInto(ctx, store, a, opt)
		return err
	})
	return out, err
}

func restoreInto(ctx context.Context, store *gitstore.Store, a *taken, opt Options) (*Outcome, error) {
	t := &restoring{opt: opt, store: store, a: a, out: &Outcome{Dir: store.Dir()}}
	settled, err := store.SettleRestore(ctx)
	if err != nil {
		return nil, err
	}
	if settled != "" {
		t.out.Notices = append(t.out.Notices, settled)
	}
	done, err := t.openHistory(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	if err := t.prepare(ctx); err != nil {
		return nil, err
	}
	if joins, err := t.joins(); err != nil || joins {
		if err == nil {
			err = t.join(ctx)
		}
		return t.out, err
	}
	if err := t.takeWork(); err != nil {
		return nil, err
	}
	if err := t.check(ctx); err != nil {
		return nil, err
	}
	if err := t.ownTurns(ctx); err != nil {
		return nil, err
	}
	return t.out, t.carryOut(ctx)
}

// restoring is a restore in progress.
type restoring struct {
	opt   Options
	store *gitstore.Store
	a     *taken // nil if there is only a bundle
	in    *incoming.Set
	out   *Outcome
	head  object.OID // HEAD of the checkout

	inside bool              // the history came in the artifact
	more   map[string][]byte // incoming files that are not among the governed ones of the artifact
}

// open returns the contents of an incoming file of an artifact.
func (t *restoring) open(p string) (io.Reader, error) {
	if data, ok := t.more[p]; ok {
		return bytes.NewReader(data), nil
	}
	return t.a.open(p)
}

// prepare determines what will be restored.
func (t *restoring) prepare(ctx context.Context) error {
	b := t.out.Bundle
	if t.a == nil {
		return t.fromBundle(ctx, b)
	}
	a := t.a
	t.out.Run, t.out.Status, t.out.Files, t.out.Unwritten = a.run(), a.status(), len(a.files), a.skipped
	t.more = make(map[string][]byte)
	t.in = &incoming.Set{
		Files:  slices.Clip(a.files),
		Open:   t.open,
		Roots:  restoreRoots(),
		Spare:  wire.GeneratedReport,
		Bundle: b,
		Detail: ojson.NewObject("exported_at", a.exportedAt(), "head", a.head(), "files", len(a.files)),
		Reason: "an export artifact",
	}
	if b == nil {
		return nil
	}
	for _, ref := range b.Refs {
		if ref.Name == git.RunRefPrefix+t.out.Run {
			return t.agrees(ctx)
		}
	}
	return &wire.Error{
		Code:  bundle.CodeHistoryInvalid,
		Field: "bundle",
		Message: fmt.Sprintf("The bundle holds nothing of run %s, which the artifact is about.",
			or(t.out.Run, "(none)")),
		Hint: "name the bundle that was made together with the artifact",
	}
}

// fromBundle restores the governed files of the newest operation in a bundle.
func (t *restoring) fromBundle(ctx context.Context, b *bundle.Bundle) error {
	files, err := b.Files(ctx)
	if err != nil {
		return err
	}
	delete(files.Files, wire.ConfigPath)
	roots := make([]string, 0, len(files.Files))
	for _, l := range wire.Ledgers() {
		roots = append(roots, l.Path())
	}
	for _, d := range wire.Documents() {
		roots = append(roots, string(d))
	}
	t.in = &incoming.Set{
		Bundle: b,
		Detail: ojson.NewObject("bundle", string(files.Op)),
		Reason: "a bundle of its history",
	}
	for _, p := range files.Paths() {
		data := files.Files[p]
		t.in.Files = append(t.in.Files, incoming.File{Path: p, Size: int64(len(data)), SHA256: wire.SHA256(data)})
		roots = append(roots, p)
	}
	t.in.Roots = roots
	t.in.Open = func(p string) (io.Reader, error) { return strings.NewReader(string(files.Files[p])), nil }
	t.out.Run, t.out.Files = b.Run, len(t.in.Files)
	if o, err := ojson.DecodeObject(files.State); err == nil {
		t.out.Status = o.String("status")
	}
	return nil
}

// check checks everything that depends on the checkout, in the order of
// docs/restore.md#what-is-checked-in-this-order.
func (t *restoring) check(ctx context.Context) error {
	if err := t.sameProject(ctx); err != nil {
		return err
	}
	if err := t.sameHead(ctx); err != nil {
		return err
	}
	return t.clean(ctx)
}

// carryOut plans, and makes the restore unless only a plan was requested.
func (t *restoring) carryOut(ctx context.Context) (err error) {
	if t.opt.DryRun || t.opt.Plan {
		if t.out.Plan, err = t.store.PlanRestore(ctx, t.in); err == nil {
			t.unasked(ctx, "it would begin with the restore. Where %s has one, bring it first: git agentxchain sync %s")
		}
		return err
	}
	t.out.Plan, err = t.store.Restore(ctx, t.in, gitstore.RestoreOptions{
		Wait:     t.opt.LockWait,
		Check:    t.check,
		Progress: t.opt.Progress,
	})
	if t.out.Done = err == nil; t.out.Done {
		t.unasked(ctx, "it begins with this restore. Whether %s has another one was not asked: git agentxchain sync %s")
	}
	if t.out.Done && t.configIsNew(ctx) {
		t.out.Notices = append(t.out.Notices, wire.ConfigPath+
			" in the artifact is not the one that is committed here; what it names to run needs your trust again")
	}
	return err
}

// unasked reports a run whose record is neither here nor in the artifact, while a remote may have it: records that
// began separately cannot be joined.
func (t *restoring) unasked(ctx context.Context, how string) {
	if t.out.Plan == nil || t.out.Plan.Relation != gitstore.RestoreAdopts {
		return
	}
	remote, err := transport.PickRemote(ctx, t.store.Repository(), "")
	if err != nil {
		return
	}
	t.out.Notices = append(t.out.Notices, "The record of run "+t.out.Run+" is neither here nor in the artifact, and "+
		fmt.Sprintf(how, wire.OneLine(remote), wire.ShellWord(remote)))
}

// configIsNew reports whether the restore brought a configuration other than the committed one. A difference in the
// line ends of a checkout does not count.
func (t *restoring) configIsNew(ctx context.Context) bool {
	if !slices.ContainsFunc(t.out.Plan.Actions,
		func(a incoming.Action) bool { return a.Path == wire.ConfigPath }) {
		return false
	}
	repo := t.store.Repository()
	committed, _, err := chain.FileAt(ctx, repo, t.head, repo.Prefix+wire.ConfigPath)
	return err != nil || !slices.ContainsFunc(t.in.Files, func(f incoming.File) bool {
		return f.Path == wire.ConfigPath && f.SHA256 == wire.SHA256(committed)
	})
}
