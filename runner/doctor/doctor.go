// Whether this machine, this repository and this checkout let a run go on.

package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes"
)

// Levels of a Finding. Only LevelError keeps a run from going on.
const (
	LevelOK      = "ok"
	LevelNote    = "note"
	LevelWarning = "warning"
	LevelError   = "error"
)

// Finding is the result of one check.
type Finding struct {
	// git, repository, identity, config, signing, hooks, runtimes, ignore, lock, state, bundle, lease, guards,
	// leftover
	Area    string
	Level   string
	Message string        // one sentence, without a period
	Fix     string        // what to do, usually a command; "" only for ok and note
	Mended  bool          // this examination carried out Fix
	Runtime *RuntimeProbe // the runtime it is about, nil for other areas
}

// Examination is the outcome of Examine.
type Examination struct {
	Findings []Finding
	View     *gitstore.View // nil when the run could not be read
}

// Worst returns the gravest level among findings that were not mended.
func (e *Examination) Worst() string {
	rank := []string{LevelOK, LevelNote, LevelWarning, LevelError}
	worst := 0
	for _, f := range e.Findings {
		if !f.Mended {
			worst = max(worst, slices.Index(rank, f.Level))
		}
	}
	return rank[worst]
}

// doctor holds one examination.
type doctor struct {
	r   *runner.Runner
	rec runner.Record // of r
	fix bool
	opt Options
	out Examination
	bad bool // agentxchain.json cannot be read: nothing can be said about the run
}

// Options says how far an examination goes.
type Options struct {
	Fix bool // fix what is safe to fix

	// Runtime makes the runtimes that are probed (builtin.New); without it only
	// their configuration is looked at.
	Runtime func(*config.Runtime) (runtimes.Runtime, error)
	Online  bool // probes may contact servers and start the programs of trusted runtimes
}

// Examine checks everything a run depends on. It changes nothing unless fix is set, and then only what is safe:
// it removes a lock (of ours, or of a git of ours) whose owner is proven dead, adds missing lines to
// .gitignore, and does what every changing command does first: it completes working files that are behind the
// recorded run and records permitted changes of another tool. Findings are in a fixed order; the error is only
// for an interruption.
func Examine(ctx context.Context, r *runner.Runner, opt Options) (*Examination, error) {
	d := &doctor{r: r, rec: r.Record(), fix: opt.Fix, opt: opt}
	for _, look := range []func(context.Context){
		d.git, d.identity, d.lock, d.gitLocks, d.settings, d.worktree, d.config, d.run, d.onBranch, d.guards, d.told,
		d.ignored, d.tracked, d.hidden, d.leftovers, d.proposals, d.signedOff, d.caller,
	} {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		look(ctx)
	}
	return &d.out, nil
}

func (d *doctor) add(area, level, fix, format string, args ...any) *Finding {
	d.out.Findings = append(d.out.Findings, Finding{
		Area:    area,
		Level:   level,
		Fix:     fix,
		Message: fmt.Sprintf(format, args...),
	})
	return &d.out.Findings[len(d.out.Findings)-1]
}

func (d *doctor) ok(area, format string, args ...any) { d.add(area, LevelOK, "", format, args...) }

// failed reports an error of another package with its own advice.
func (d *doctor) failed(area string, err error, fallback string) {
	fix := fallback
	var hinted interface{ ErrorHint() string }
	if errors.As(err, &hinted) && hinted.ErrorHint() != "" {
		fix = hinted.ErrorHint()
	}
	d.add(area, LevelError, fix, "%s", strings.TrimSuffix(err.Error(), "."))
}

// config checks agentxchain.json alone, then what it names on this machine.
func (d *doctor) config(ctx context.Context) {
	docs := d.r.CheckDocuments()
	switch {
	case docs.ConfigErr != nil:
		d.failed("config", docs.ConfigErr, "correct "+wire.ConfigPath)
		d.bad = true
		return
	case len(docs.ConfigProblems) > 0:
		for _, p := range docs.ConfigProblems {
			d.add("config", LevelError, "correct "+wire.ConfigPath+", then run: git agentxchain validate", "%s",
				p.Message)
		}
	default:
		d.ok("config", "%s is valid: %s, %s, %s", wire.ConfigPath, text.Count(len(docs.Config.Phases()), "phase", "phases"),
			text.Count(docs.Config.Roles.Len(), "role", "roles"), text.Count(docs.Config.Gates.Len(), "gate", "gates"))
	}
	for _, a := range docs.Admission {
		level := LevelWarning
		switch {
		case a.Severity == config.SeverityError:
			level = LevelError
		case a.Code == config.AdmissionNoApprover: // agents work and a person says yes: what init sets up
			d.add("config", LevelNote, "", "%s: %s", a.Code, a.Message)
			continue
		}
		d.add("config", level, "change routing, gates or runtimes in "+wire.ConfigPath, "%s: %s", a.Code, a.Message)
	}
	for _, p := range docs.ConfigWarnings {
		d.add("config", LevelWarning, "change "+p.Field+" in "+wire.ConfigPath, "%s", p.Message)
	}
	_ = d.r.Alone(func(s *gitstore.Store) error {
		if n := s.SameIDNotice(ctx); n != "" {
			d.add("config", LevelWarning, "change project.id in "+wire.ConfigPath+", of the copy if one is; if a run is under "+
				"way: git agentxchain config adopt", "%s", n)
		}
		return nil
	})
	d.authority(docs.Config)
	d.signing(ctx, docs.Config)
	d.prompts(ctx, docs.Config)
	d.hooks(docs.Config)
	d.webhooks(docs.Config)
	d.trust(ctx)
	d.runtimes(ctx, docs.Config)
	d.isolation(ctx, docs.Config)
}

// run compares state, ledgers and bundles with what is recorded.
func (d *doctor) run(ctx context.Context) {
	if d.bad {
		return
	}
	v, err := d.view(ctx)
	if err != nil {
		d.failed("state", err, "git agentxchain fsck")
		return
	}
	if !v.Begun() && (len(v.Notices) > 0 || len(d.journals()) > 0) && d.mendFiles(ctx, v) {
		if v, err = d.view(ctx); err != nil {
			d.failed("state", err, "git agentxchain fsck")
			return
		}
	}
	d.out.View = v
	for _, n := range v.Notices {
		switch {
		case v.Lost != nil && n == v.Lost.Notice():
			d.add("state", LevelError, v.Lost.Hint(), "%s", v.Lost.Message())
		case v.Begun():
			d.add("state", LevelWarning, "git agentxchain repair --adopt", "%s", n)
		default:
			d.add("state", LevelNote, "nothing to do; or at once: git agentxchain doctor --fix", "%s", n)
		}
	}
	if n := runner.RulesNotice(v); n != "" && len(v.ConfigProblems) == 0 { // problems of the file were reported before
		fix := "undo the change of " + wire.ConfigPath
		if len(v.RuleChanges) > 0 {
			fix = "git agentxchain config adopt, or " + fix
		}
		d.add("config", LevelWarning, fix, "%s", n)
	}
	d.signersSince(ctx, v)
	for _, n := range v.StateNotes {
		d.add("state", LevelNote, "", "%s is read as if corrected: %s", wire.DocState, n)
	}
	switch {
	case v.State == nil, v.State.Run() == "":
		d.fresh(ctx, v.State != nil)
		return
	case len(v.Notices) > 0: // reported above
	case v.Op == "":
		d.add("state", LevelNote, "",
			"run %s is not recorded under refs/agentxchain yet; the next changing command does that", v.State.Run())
	default:
		d.ok("state", "the working files match run %s at %s", v.Run, v.Op.Short())
	}
	d.clock(ctx, v)
	for _, t := range v.State.ActiveTurns.All() {
		d.bundle(ctx, v, t)
		d.lease(ctx, v, t)
	}
}

// view reads the run in this work tree: a project without a state is not taken for an idle one.
func (d *doctor) view(ctx context.Context) (v *gitstore.View, err error) {
	err = d.r.Alone(func(s *gitstore.Store) error {
		v, err = s.View(ctx)
		return err
	})
	return v, err
}

// mendFiles lets a transaction bring working files and record into agreement,
// which every changing command begins with anyway.
func (d *doctor) mendFiles(ctx context.Context, v *gitstore.View) bool {
	if !d.fix {
		return false
	}
	prepared := len(d.journals())
	done, err := d.r.CompleteFiles(ctx, "doctor")
	if err != nil {
		d.failed("state", err, "git agentxchain fsck")
		return false
	}
	for _, n := range v.Notices {
		d.add("state", LevelNote, "brought files and record into agreement", "%s", n).Mended = true
	}
	if len(d.journals()) < prepared {
		d.add("state", LevelWarning, strings.Join(done, "; "),
			"another tool was interrupted in an acceptance").Mended = true
	}
	return true
}

// fresh reports a project without a run: most likely a new clone. When it is idle, a recorded run may be in another
// work tree of the repository, or have been in one that was removed.
func (d *doctor) fresh(ctx context.Context, idle bool) {
	refs, run, err := d.rec.OwnRuns(ctx)
	if err != nil {
		d.failed("state", err, "git fsck")
		return
	}
	if len(refs) == 0 {
		known, remote, err := d.rec.Elsewhere(ctx)
		bring := "git agentxchain sync " + wire.ShellWord(remote)
		switch {
		case err != nil:
			d.failed("state", err, "git fsck")
		case known != "":
			d.add("state", LevelNote, bring, "this clone holds no run; %s has %s", remote, known)
		case remote != "":
			d.add("state", LevelNote, bring, "no run has started here; one of another clone may be on %s", remote)
		default:
			d.ok("state", "no run has started")
		}
		return
	}
	if idle {
		d.add("state", LevelNote, "", "no run has started in this work tree; the repository records %s: git agentxchain runs",
			text.Count(len(refs), "run", "runs"))
		return
	}
	others := ""
	if n := len(refs) - 1; n > 0 {
		others = fmt.Sprintf(" and %d more", n)
	}
	d.add("state", LevelWarning, "git agentxchain repair --from-ref "+run,
		"this work tree holds no run, but the repository records %s%s", run, others)
}

// bundle compares an active turn's bundle with its seal.
func (d *doctor) bundle(ctx context.Context, v *gitstore.View, t *run.Turn) {
	if t == nil || t.Status == wire.TurnAssigned {
		return // not dispatched yet, so it has no bundle
	}
	b, err := d.r.VerifyBundle(ctx, v, t)
	if err != nil {
		d.add("bundle", LevelWarning, "git agentxchain fsck", "the recorded seal of turn %s cannot be read: %v",
			t.TurnID, err)
		return
	}
	if len(b.Problems) == 0 {
		d.ok("bundle", "the bundle of turn %s matches its seal", t.TurnID)
		return
	}
	seen := map[string]bool{}
	for _, p := range b.Problems {
		if seen[p.Path] {
			continue // its size and its digest differ: one finding is enough
		}
		seen[p.Path] = true
		d.add("bundle", LevelWarning,
			"git agentxchain repair --from-ref puts the recorded bundle back; git agentxchain reissue "+t.TurnID+
				" makes a new one",
			"bundle of turn %s: %s", t.TurnID, p.Detail)
	}
}

// caller warns an agent that looks around from inside its turn.
func (d *doctor) caller(context.Context) {
	switch in := d.r.Asker(); {
	case in.Why != "":
		d.add("identity", LevelNote, "",
			"this process counts as inside the dispatched turn %s, because %s: approvals and unblocking are refused here", in.Turn, in.Why)
	case in.Turn != "":
		d.add("identity", LevelNote, "",
			"this process belongs to the dispatched turn %s: approvals and unblocking are refused here", in.Turn)
	}
}
