// The run of the demonstration, step by step.

package demo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/gitcommit"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/gates"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

// Options are the options of Run.
type Options struct {
	Dir  string // an empty directory for the scratch repository
	Now  func() time.Time
	Seed func() string // for ids, as in runner.Options; random when nil
	Tell func(Moment)  // called as things happen
}

// Moment is one thing that happened.
type Moment struct {
	Who    string // pm, dev, qa, person, agentxchain
	What   string // one line
	Detail string // why, or ""
	Kind   Kind
}

// Kind sorts moments for display.
type Kind int

const (
	Did     Kind = iota // a participant did something
	Passed              // the rules allowed it
	Refused             // the rules refused it
)

// Outcome is how the demo ended.
type Outcome struct {
	Run      string
	Ops      int
	Replayed int
	Accepted int
	State    *run.State
}

type play struct {
	ctx  context.Context
	dir  string
	r    *runner.Runner
	tell func(Moment)
}

// Run plays the demo. An error means that a step did not go as it must in a governed run; the demo is a check as
// much as a show.
func Run(ctx context.Context, o Options) (*Outcome, error) {
	p := &play{ctx: ctx, dir: o.Dir, tell: o.Tell}
	if err := p.setUp(o); err != nil {
		return nil, err
	}
	defer func() { _ = p.r.Close() }()
	for _, act := range []func() error{p.planning, p.implementation, p.shipping} {
		if err := act(); err != nil {
			return nil, err
		}
	}
	return p.audit()
}

func (p *play) say(kind Kind, who, what, detail string) {
	if p.tell != nil {
		p.tell(Moment{Who: who, What: what, Detail: detail, Kind: kind})
	}
}

func (p *play) setUp(o Options) error {
	repo, err := gitstore.Create(p.ctx, p.dir, "Demo Person", "person@example.org")
	if err != nil {
		return err
	}
	defer func() { _ = repo.Close() }()
	project, err := runner.InitProject(p.ctx, p.dir, runner.ProjectOptions{
		ID:   "greeter",
		Name: "Greeter",
		Goal: "A script that greets people by name.",
	})
	if err != nil {
		return err
	}
	if _, err := gitcommit.Paths(p.ctx, repo, []string{"."}, "governed project"); err != nil {
		return err
	}
	p.say(Did, "person", fmt.Sprintf("sets up project greeter: %d files, phases planning, implementation, qa",
		len(project.Created)), "")
	p.r, err = runner.Open(p.ctx, p.dir, runner.Options{Now: o.Now, Seed: o.Seed, Getenv: scratchEnv})
	return err
}

// scratchEnv hides dispatch markers: the demo's person is a person even when an
// agent has started the demo.
func scratchEnv(key string) string {
	if key == runner.TurnMarker {
		return ""
	}
	return os.Getenv(key)
}

func (p *play) write(path, content string) error {
	full := filepath.Join(p.dir, filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(full), 0o777); err != nil {
		return err
	}
	return os.WriteFile(full, []byte(content), 0o666)
}

// assign assigns the next turn and tells to whom.
func (p *play) assign(role string) (*runner.Assigned, error) {
	a, err := p.r.AssignTurn(p.ctx, runner.AssignOptions{Role: role})
	if err != nil {
		return nil, err
	}
	if a.Started {
		p.say(Did, "agentxchain", "starts "+a.Run, "")
	}
	p.say(Did, "agentxchain", fmt.Sprintf("assigns %s to %s", a.Turn.TurnID, a.Turn.AssignedRole), "")
	return a, nil
}

// stage writes a turn result: the template of the turn with the given members set.
func (p *play) stage(a *runner.Assigned, members ...any) error {
	doc := a.Template.Clone()
	doc.Set("decisions", []any{})
	changes := ojson.NewObject(members...)
	for k, v := range changes.All() {
		doc.Set(k, v)
	}
	return p.write(wire.StagingPath(a.Turn.TurnID), string(ojson.Pretty(doc)))
}

// accept accepts a turn and commits its files.
func (p *play) accept(a *runner.Assigned) (*runner.Accepted, error) {
	out, err := p.r.AcceptTurn(p.ctx, runner.AcceptOptions{TurnID: a.Turn.TurnID})
	if err != nil {
		return out, err
	}
	p.say(Passed, "agentxchain", fmt.Sprintf("accepts the turn of %s", a.Turn.AssignedRole),
		out.Result.Entry.String("summary"))
	if g := out.Result.Gate; g != nil && g.GateID != nil {
		switch g.Action {
		case gates.ActionGateFailed:
			for _, reason := range g.Reasons {
				p.say(Refused, "gate", *g.GateID+" stays shut", reason)
			}
		case gates.ActionAwaitHuman:
			p.say(Passed, "gate", *g.GateID+" is in order and waits for a person", "")
		default:
			p.say(Passed, "gate", *g.GateID+" opens", "")
		}
	}
	saved, err := p.r.Checkpoint(p.ctx, a.Turn.TurnID)
	if err != nil {
		return out, err
	}
	if saved.Commit != "" {
		p.say(Did, "agentxchain",
			fmt.Sprintf("commits the turn at %.10s: %s", saved.Commit, strings.Join(saved.Files, ", ")), "")
	}
	return out, nil
}

// refused checks that an error is the expected refusal.
func (p *play) refused(err error, code string) error {
	if got := runner.ErrorCode(err); got != code {
		return fmt.Errorf("the demo expected the refusal %s, got %q: %w", code, got, errors.Join(err))
	}
	return nil
}

func (p *play) approve() error {
	out, err := p.r.Approve(p.ctx, runner.ApproveOptions{})
	if err != nil {
		return err
	}
	where := "the run completes"
	if out.Result.To != "" {
		where = out.Result.From + " -> " + out.Result.To
	}
	p.say(Did, "person", fmt.Sprintf("approves %s: %s", out.Result.Gate, where), "")
	for _, path := range out.Signed {
		p.say(Did, "agentxchain", fmt.Sprintf("signs %s for the person and commits it at %.10s", path, out.Commit), "")
	}
	return nil
}

func (p *play) audit() (*Outcome, error) {
	v, err := p.r.View(p.ctx)
	if err != nil {
		return nil, err
	}
	if v.State.Status != wire.StatusCompleted {
		return nil, fmt.Errorf("the demo ended with the run %s", v.State.Status)
	}
	report, err := p.r.Record().Fsck(p.ctx, runner.FsckOptions{Replay: true})
	if err != nil {
		return nil, err
	}
	if !report.Clean() {
		return nil, fmt.Errorf("fsck found problems in the demo's run: %+v", report.Findings)
	}
	p.say(Passed, "agentxchain",
		fmt.Sprintf("fsck: %d operations checked, %d replayed, nothing wrong", report.Ops, report.Replayed), "")
	return &Outcome{
		Run:      v.Run,
		Ops:      report.Ops,
		Replayed: report.Replayed,
		Accepted: v.Index.Accepted,
		State:    v.State,
	}, nil
}
