// Sync: runs travel between machines over any git server (docs/teams.md).

package runner

import (
	"context"
	"errors"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/dispatch"
	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/decision"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/transport"
	"github.com/git-agentxchain/git-agentxchain/gitstore/travel"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/commits"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/join"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner/turnfiles"
)

// Names from the packages of travelling runs (docs/teams.md).
type (
	SyncOptions = travel.SyncOptions
	Synced      = travel.Synced
	SyncedRun   = travel.SyncedRun
	Joined      = gitstore.Joined
	Conflict    = join.Conflict
	// RemoteStanding compares a run with what was last seen of a remote.
	RemoteStanding = transport.Standing
)

// States of a run after a sync.
const (
	SyncSame    = travel.SyncSame
	SyncWaits   = travel.SyncWaits
	SyncRefused = travel.SyncRefused
	SyncArchive = travel.SyncArchive
)

// Sync brings the runs of this repository and of a remote together. It is refused to agents: what
// it gives up or takes over would be a person's decision.
//
// Errors: inside_dispatched_turn, no_remote, remote_failed, remote_contended, locked.
func (r *Runner) Sync(ctx context.Context, opt SyncOptions) (*Synced, error) {
	if err := r.personOnly("synchronise runs", "git agentxchain sync"); err != nil {
		return nil, err
	}
	r.serial.Lock()
	y, err := r.sync(ctx, opt)
	r.serial.Unlock()
	if err == nil {
		for _, x := range y.Runs {
			y.Notices = append(y.Notices, r.SignJoined(ctx, x.Joined)...)
		}
		y.Notices = append(y.Notices, r.revoked(ctx, y)...)
		if lacks := travel.BranchLacks(ctx, r.store.Repository(), y.Remote); lacks != "" {
			y.Notices = append(y.Notices, lacks)
		}
	}
	return y, err
}

// SignJoined writes the sign-off of an approval of this clone that passed its gate only when a join decided it again:
// at first the gate waited for others. It returns notices; j may be nil.
func (r *Runner) SignJoined(ctx context.Context, j *Joined) []string {
	if j == nil || !slices.ContainsFunc(j.Landed, func(o gitstore.JoinedOp) bool {
		return o.Name == "approve_transition" || o.Name == "approve_completion"
	}) {
		return nil
	}
	docs, err := r.SignDocuments(ctx)
	switch {
	case err != nil:
		return []string{"the gate is open, but its sign-off documents could not be signed: " +
			text.OneLine(err.Error()) + " (git agentxchain doctor --fix)"}
	case len(docs) > 0:
		return []string{"the gate is open: " + wire.ListSome(docs, 1) + " says yes now, in a commit of this branch"}
	}
	return nil
}

// sync is Sync for the runner itself; the caller holds the runner.
func (r *Runner) sync(ctx context.Context, opt SyncOptions) (*Synced, error) {
	r.after = nil
	opt.Wait, opt.Reindex = r.opt.LockWait, Reindex
	if err := r.archiveOld(ctx, opt.Wait); err != nil {
		return nil, err
	}
	y, err := travel.Sync(ctx, r.store, opt)
	if err == nil {
		r.noteClaims(ctx)
	}
	return y, err
}

// remoteDecides is the key of a context whose operations are decided on the remote's state,
// whatever agentxchain.sync says. The value says whether the branch is pushed along.
type remoteDecides struct{}

func onRemote(ctx context.Context, branch bool) context.Context {
	return context.WithValue(ctx, remoteDecides{}, branch)
}

// OnRemote returns a context in which every operation is decided on the remote's state and done
// once the remote has taken it, as with agentxchain.sync=strict. The branch that is checked out is
// pushed along.
func OnRemote(ctx context.Context) context.Context {
	return onRemote(ctx, true)
}

// RemoteDecides reports whether this repository has agentxchain.sync=strict.
func (r *Runner) RemoteDecides() bool {
	return transport.SyncMode(r.store.Repository()) == transport.SyncStrict
}

// strict reports whether the remote decides, and whether the branch is pushed along.
func (r *Runner) strict(ctx context.Context) (remote, branch bool) {
	branch, remote = ctx.Value(remoteDecides{}).(bool)
	return remote || r.RemoteDecides(), branch
}

// maxTries bounds how often an operation is decided again because another work tree, or another machine
// (agentxchain.sync=strict), was faster.
const maxTries = 5

// decided carries out the steps, in strict mode on the remote's state. A step that others overtook is repeated
// on the new state.
func (r *Runner) decided(ctx context.Context, purpose string, done *Done, steps []step) error {
	remote, branch := r.strict(ctx)
	var then *protocol.Snapshot
	if remote {
		ctx = transport.Hurried(ctx)
		if v, err := r.View(ctx); err == nil && v.Run != "" {
			then = v.Snapshot()
		}
	}
	for try := 1; ; try++ {
		if remote {
			if err := r.upToDate(ctx, branch); err != nil {
				return err
			}
		}
		taken, err := r.locked(ctx, purpose, done, then, steps)
		if try == maxTries || fail.CodeOf(err) != fail.CodeRefMoved {
			return err
		}
		if taken > 0 {
			then = nil
		}
		steps = steps[taken:]
	}
}

// sameAsThen refuses an operation that would concern something else than when the command began: the remote decides,
// and other machines have gone on. A person who approves, denies or unblocks means what they saw.
func (c *change) sameAsThen(op protocol.Operation) error {
	if c.then == nil {
		return nil
	}
	was, now := join.About(op, c.then, nil), join.About(op, c.view.Snapshot(), nil)
	if was == "" || now == "" || was == now {
		return nil
	}
	return &wire.Error{
		Code:    gitstore.CodeStateMoved,
		Field:   string(wire.DocState),
		Message: "The run has gone on elsewhere. This was about " + was + "; now it would be about " + now + ".",
		Hint:    "git agentxchain status",
	}
}

// upToDate brings this clone and the remote together before an operation is decided.
func (r *Runner) upToDate(ctx context.Context, branch bool) error {
	r.serial.Lock()
	defer r.serial.Unlock()
	y, err := r.sync(ctx, SyncOptions{Branch: branch})
	if err != nil {
		return err
	}
	for _, x := range y.Runs {
		if x.Code != "" {
			return &wire.Error{Code: x.Code, Message: "The remote decides here: " + x.Why + ".", Hint: x.Hint}
		}
	}
	return nil
}

// CatchUp brings the records of this clone and the remote together and leaves their branches alone, so it may be
// called while an agent works. It waits for the remote no longer than an operation does.
func (r *Runner) CatchUp(ctx context.Context) error { return r.upToDate(transport.Hurried(ctx), false) }

// Follow brings this clone and the remote together as an operation in the context of OnRemote does,
// then takes over the commits of the remote's branch when that is a fast-forward. Do not call it
// while an agent works.
func (r *Runner) Follow(ctx context.Context) error {
	if err := r.upToDate(ctx, true); err != nil {
		return err
	}
	remote, err := transport.PickRemote(ctx, r.store.Repository(), "")
	if err != nil {
		return err
	}
	r.serial.Lock()
	defer r.serial.Unlock()
	return travel.FollowBranch(ctx, r.store.Repository(), remote)
}

// publish moves the ref of an operation: here, or in strict mode on the remote first.
func (r *Runner) publish(ctx context.Context, m decision.Move) error {
	repo := r.store.Repository()
	decides, branch := r.strict(ctx)
	if !decides {
		return repo.UpdateRefs(ctx, append([]git.RefUpdate{m.Ref}, m.Also...), m.Reflog)
	}
	remote, err := transport.PickRemote(ctx, repo, "")
	if err != nil {
		return err
	}
	return travel.PublishStrict(ctx, r.store.Repository(), remote, m, branch)
}

// pushAfter starts a background push of what was recorded (agentxchain.sync=auto). It neither waits
// nor fails.
func (r *Runner) pushAfter(ctx context.Context, done *Done) {
	if remote, _ := r.strict(ctx); remote || r.opt.Background == nil || len(done.made) == 0 {
		return
	}
	if remote := transport.BackgroundRemote(ctx, r.store.Repository()); remote != "" {
		r.opt.Background(r.store.Dir(), remote)
	}
}

// elsewhere refuses to treat a clone as one without a run when a remote is known to have one, and
// adds a notice when no remote was asked.
func (r *Runner) elsewhere(ctx context.Context, v *gitstore.View) error {
	run, remote, err := r.store.Elsewhere(ctx)
	if err != nil {
		return err
	}
	if run != "" {
		return runThere(remote, run)
	}
	if v.State != nil {
		return nil // the project was set up here; remotes are asked when a run begins
	}
	v.Unasked = remote
	if n := unaskedNotice(remote); remote != "" && !slices.Contains(v.Notices, n) {
		v.Notices = append(v.Notices, n)
	}
	return nil
}

// unasked adds to a refusal for want of a run the command that fetches the runs of a remote that was never
// asked.
func unasked(v *gitstore.View, err error) error {
	var refusal *wire.Error
	if v.Unasked == "" || !errors.As(err, &refusal) {
		return err
	}
	switch refusal.Code {
	case wire.CodeNotFound, wire.CodeTurnNotActive, wire.CodeInvalidStateTransition, commits.CodeMissingBaseline:
		refusal.Hint = v.Onwards()
	}
	return err
}

func unaskedNotice(remote string) string {
	return "the runs of " + remote + " were not fetched yet; git agentxchain sync " + remote + " brings them"
}

func runThere(remote string, runs ...string) error {
	return &wire.Error{
		Code:    chain.CodeNoRun,
		Field:   string(wire.DocState),
		Details: ojson.NewObject("runs", runs, "remote", remote),
		Message: "This clone holds no run; " + remote + " has " + wire.ListSome(runs, 3) + ".",
		Hint:    bringsHere("sync " + remote),
	}
}

// askElsewhere keeps the first run of a clone from being a second one of the project: it asks the remotes for
// their runs. An unreachable remote does not keep a person from working.
func (c *change) askElsewhere(ctx context.Context) error {
	if c.r.opt.fresh || c.view.State.Status != wire.StatusIdle || c.view.State.Run() != "" {
		return nil
	}
	if refs, _, err := c.r.store.OwnRuns(ctx); err != nil || len(refs) > 0 {
		return err
	}
	runs, remote, silent, err := c.r.store.AskElsewhere(ctx)
	if err != nil {
		return err
	}
	c.view.Notices = slices.DeleteFunc(c.view.Notices, func(n string) bool {
		return n == unaskedNotice(c.view.Unasked)
	})
	if len(runs) > 0 {
		return runThere(remote, runs...)
	}
	for _, remote := range silent {
		c.view.Notices = append(c.view.Notices, "whether "+remote+
			" has a run could not be asked; git agentxchain sync "+remote+" brings what is there")
	}
	return nil
}

// Reindex builds dispatch/index.json for an operation that is decided again.
func Reindex(cfg *config.Config, before *run.State, after *protocol.Transition, was []byte, now string) []byte {
	if !turnfiles.TurnsMoved(before, after.State) {
		return nil
	}
	return dispatch.Index(dispatch.Input{
		Config:        cfg,
		State:         after.State,
		Index:         after.Index,
		PreviousIndex: was,
		Now:           now,
	})
}

// HasRemote reports whether the repository has a remote that records can be pushed to.
func (r *Runner) HasRemote(ctx context.Context) bool {
	all, err := transport.Remotes(ctx, r.store.Repository())
	return err == nil && len(all) > 0
}

// TrackRuns makes a plain git fetch of every remote bring the records of runs.
func TrackRuns(ctx context.Context, repo *Repository) error {
	all, err := transport.Remotes(ctx, repo)
	if err != nil {
		return err
	}
	for _, remote := range all {
		if _, _, err := transport.TrackRuns(ctx, repo, remote); err != nil {
			return err
		}
	}
	return nil
}
