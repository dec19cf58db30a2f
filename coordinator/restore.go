// Continuing an initiative here: from its record, from a remote's record if both sides continued, or from an export
// artifact (docs/coordinator.md#on-another-machine).

package coordinator

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"path"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/gitstore/transport"
	"github.com/git-agentxchain/git-agentxchain/gitstore/travel"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/initiative"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// RestoreOptions are the options of Restore.
type RestoreOptions struct {
	Name   string            // super run; "" is the newest unfinished one
	Theirs string            // remote whose record wins if both sides continued; "" for none
	Files  map[string][]byte // files of a verified artifact, by path; nil for none
	DryRun bool
}

// Restored is what Restore did, or would do.
type Restored struct {
	Name   string
	Status initiative.Status
	Phase  string
	Op     object.OID // the recorded change, "" for an artifact that is not recorded yet
	From   string     // in words
	Kept   string     // directory of displaced files, "" for none
	Lost   string     // ref of changes that were given up, "" for none
	Same   bool       // the files were in place
	Done   bool
	Next   []initiative.Action
}

// Restore brings an initiative into this workspace. It verifies what comes, and each acceptance in it must be in a
// repository's own record.
//
// Errors: no_initiative, run_exists for another unfinished initiative, record_unproven, run_foreign,
// acceptance_forged, initiative_diverged, not_a_git_repository, repo_unresolved.
func (c *Coordinator) Restore(ctx context.Context, opt RestoreOptions) (*Restored, error) {
	tx, home, err := c.arriving(ctx, "multi restore")
	if err != nil {
		return nil, err
	}
	defer c.end(ctx, tx)
	r := &restoring{c: c, tx: tx, home: home, opt: opt, out: &Restored{}}
	if err := c.catchUpRecord(ctx, tx); err != nil {
		if e := refusalOf(err); e == nil || e.Code != CodeUnapproved && e.Code != record.CodeUnproven || opt.Files != nil {
			return nil, err
		}
		r.forged = true
		r.opt.Name = cmp.Or(opt.Name, tx.Docs.State.SuperRunID)
	}
	switch {
	case opt.Files != nil:
		err = r.artifact(ctx)
	case opt.Theirs != "":
		err = r.theirs(ctx)
	default:
		err = r.record(ctx)
	}
	if err != nil {
		return nil, err
	}
	if opt.DryRun {
		return r.out, nil
	}
	r.out.Done = true
	s := c.see(ctx, tx.Docs, true)
	r.out.Next = initiative.NextActions(&s.Workspace, s.Children)
	return r.out, nil
}

// restoring is a restore in progress.
type restoring struct {
	c    *Coordinator
	tx   *Tx
	home *gitstore.Store
	opt  RestoreOptions
	out  *Restored

	forged bool // the files here pass a gate without its people, and are replaced by what is recorded
}

// describe says what comes, and refuses to replace another unfinished initiative.
func (r *restoring) describe(files map[string][]byte, from string) error {
	st, err := stateOf(files)
	if err != nil {
		return err
	}
	r.out.Name, r.out.Status, r.out.Phase, r.out.From = st.SuperRunID, st.Status, st.Phase, from
	if here := r.tx.Docs.State; here != nil && here.SuperRunID != st.SuperRunID && !here.Over() {
		return &wire.Error{
			Code:  wire.CodeRunExists,
			Field: initiative.StatePath,
			Message: fmt.Sprintf("Initiative %s is %s in this workspace; %s can take its place when it has ended.",
				here.SuperRunID, here.Status, st.SuperRunID),
			Hint: "use another clone of the workspace, or bring this one to its end: " + Program + " multi status",
		}
	}
	return nil
}

// record restores from a ref here, or from what was fetched from a remote.
func (r *restoring) record(ctx context.Context) error {
	tip, err := r.choose(ctx)
	if err != nil {
		return err
	}
	repo, project := r.home.Repository(), r.tx.Docs.Config.ProjectID
	if err := record.VerifyInitiative(ctx, repo, tip.Name, tip.Op, "", project); err != nil {
		return err
	}
	files, err := record.InitiativeFiles(ctx, repo, tip.Op)
	if err != nil {
		return err
	}
	from := "the record here"
	if tip.Remote != "" {
		from = "what was fetched of " + tip.Remote
	}
	if err := r.describe(files, from); err != nil {
		return err
	}
	if r.out.Op = tip.Op; !r.forged && r.tx.Docs.State != nil && r.tx.Docs.State.SuperRunID == tip.Name &&
		tip.Remote == "" {
		r.out.Same = true // catchUpRecord has brought files and record together
		return nil
	}
	if err := r.c.vouch(ctx, r.tx, files, nil, tip.Op, true); err != nil {
		return err
	}
	if r.opt.DryRun {
		return nil
	}
	if tip.Remote != "" {
		if _, _, err := travel.TakeTheirs(ctx, r.home.Repository(), tip.Name, tip.Remote, project,
			r.judge); err != nil {
			return err
		}
	}
	return r.place(ctx, tip.Op)
}

func (r *restoring) judge(ctx context.Context, _ string, from, to object.OID) error {
	if r.forged {
		from = "" // what is here is invalid, so it proves nothing
	}
	return r.c.vouched(ctx, r.tx, from, to)
}

func (r *restoring) place(ctx context.Context, op object.OID) (err error) {
	if err = r.c.enterRepos(ctx, r.tx, op); err != nil {
		return err
	}
	r.out.Kept, err = r.c.place(ctx, r.tx, op)
	return err
}

// choose finds the requested record.
func (r *restoring) choose(ctx context.Context) (travel.InitiativeTip, error) {
	tips, err := travel.InitiativeTips(ctx, r.home.Repository())
	if err != nil {
		return travel.InitiativeTip{}, err
	}
	var best *travel.InitiativeTip
	for i, t := range tips {
		if r.opt.Name != "" {
			if t.Name == r.opt.Name {
				return t, nil
			}
			continue
		}
		files, err := record.InitiativeFiles(ctx, r.home.Repository(), t.Op)
		if err != nil {
			continue
		}
		st, err := stateOf(files)
		if err != nil {
			continue
		}
		if !st.Over() {
			return t, nil
		}
		if best == nil {
			best = &tips[i]
		}
	}
	if best != nil {
		return *best, nil
	}
	e := &wire.Error{
		Code:    travel.CodeNoInitiative,
		Field:   "super_run_id",
		Message: "No initiative is recorded in this workspace's repository, and none was fetched.",
		Hint:    Program + " sync brings those of a remote; " + Program + " multi init starts one",
	}
	if r.opt.Name != "" {
		e.Message = fmt.Sprintf("There is no record of initiative %s here, and none was fetched.",
			ojson.Shown(r.opt.Name))
	}
	return travel.InitiativeTip{}, e
}

// theirs continues from the remote's record if both sides continued.
func (r *restoring) theirs(ctx context.Context) error {
	name := r.opt.Name
	if name == "" && r.tx.Docs.State != nil {
		name = r.tx.Docs.State.SuperRunID
	}
	if name == "" {
		return &wire.Error{
			Code:    wire.CodeTargetRequired,
			Field:   "super_run_id",
			Message: "There is no initiative in this workspace, so --theirs has to name one.",
			Hint:    Program + " multi restore brings the newest one",
		}
	}
	repo := r.home.Repository()
	op, err := repo.ReadRef(ctx, transport.TrackingInitiatives(r.opt.Theirs)+name)
	if err == nil && op != "" {
		var files map[string][]byte
		if files, err = record.InitiativeFiles(ctx, repo, op); err == nil {
			err = r.describe(files, "what was fetched of "+r.opt.Theirs)
		}
	}
	if err != nil {
		return err
	}
	if r.out.Op = op; r.opt.DryRun && op != "" {
		return nil
	}
	to, lost, err := travel.TakeTheirs(ctx, r.home.Repository(), name, r.opt.Theirs, r.tx.Docs.Config.ProjectID,
		r.judge)
	if err != nil {
		return err
	}
	r.out.Lost = lost
	return r.place(ctx, to)
}

// artifact restores the files of an export. If the initiative is recorded here they must continue the record.
func (r *restoring) artifact(ctx context.Context) error {
	files := r.opt.Files
	if err := r.describe(files, "an export artifact"); err != nil {
		return err
	}
	cfg, _, e := initiative.Decode(files[initiative.ConfigFile])
	if e != nil {
		return e
	}
	if cfg.ProjectID != r.tx.Docs.Config.ProjectID {
		return &wire.Error{
			Code:  record.CodeForeignRun,
			Field: "project.id",
			Message: fmt.Sprintf("The artifact is of project %s, this workspace of %s.", ojson.Shown(cfg.ProjectID),
				ojson.Shown(r.tx.Docs.Config.ProjectID)),
			Hint: "restore it in a workspace of its project",
		}
	}
	if why := initiative.Unfounded(files, r.out.Name); why != "" {
		return &wire.Error{
			Code:    record.CodeUnproven,
			Field:   "input",
			Message: "The artifact is not believed: " + why + ".",
			Hint:    "export the initiative again where it is",
		}
	}
	tip, err := r.home.Repository().ReadRef(ctx, record.InitiativeRefPrefix+r.out.Name)
	if err != nil {
		return err
	}
	var before []byte
	if tip != "" {
		recorded, err := record.InitiativeFiles(ctx, r.home.Repository(), tip)
		if err != nil {
			return err
		}
		if err := goesOnFrom(recorded, files); err != nil {
			return err
		}
		before = recorded[initiative.HistoryPath]
	}
	if err := r.c.vouch(ctx, r.tx, files, before, "", tip == ""); err != nil {
		return err
	}
	if r.opt.DryRun {
		return nil
	}
	if r.out.Kept, err = r.c.placeFiles(r.tx, files, false); err != nil {
		return err
	}
	r.c.record(ctx, r.tx.Docs, "restore", "Restored the initiative from an export artifact")
	r.out.Op, err = r.home.Repository().ReadRef(ctx, record.InitiativeRefPrefix+r.out.Name)
	return err
}

// goesOnFrom refuses files of an initiative whose ledgers do not continue the recorded ones.
func goesOnFrom(recorded, files map[string][]byte) error {
	older := false
	for _, name := range travelFiles() {
		if !strings.HasSuffix(name, ".jsonl") || files[name] == nil {
			continue
		}
		was, now := recorded[name], files[name]
		switch {
		case bytes.HasPrefix(now, was):
		case bytes.HasPrefix(was, now):
			older = true
		default:
			return &wire.Error{
				Code:    travel.CodeInitiativeApart,
				Field:   name,
				Message: path.Base(name) + " of the artifact does not continue the record here; both have new changes.",
				Hint:    "bring the two records together over a remote: " + Program + " sync",
			}
		}
	}
	if older {
		return &wire.Error{
			Code:    travel.CodeInitiativeApart,
			Field:   initiative.HistoryPath,
			Message: "The artifact is older than the record here.",
			Hint:    Program + " multi restore brings the files that are recorded",
		}
	}
	return nil
}
