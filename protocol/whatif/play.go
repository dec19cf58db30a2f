// A run played in memory: the engine with a work tree that is given, not observed.

package whatif

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/agreement"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/gates"
	"github.com/git-agentxchain/git-agentxchain/protocol/limits"
	"github.com/git-agentxchain/git-agentxchain/protocol/result"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Play is a run in memory. A copy of it continues independently: the engine changes neither a state nor an index in
// place.
type Play struct {
	Config *config.Config
	State  *run.State
	Index  *run.Index
	Files  map[string][]byte // of the project, by path; replaced, never modified
	Now    time.Time

	step   int
	replay *result.ReplayOutcome // replay of the next result's verification; nil: not run again

	last protocol.Operation // the last operation that was decided on, in env
	env  protocol.Env
}

// began is the start time of a play.
var began = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// NewPlay starts a run in the first phase.
func NewPlay(cfg *config.Config, files map[string][]byte) (*Play, *protocol.Decided) {
	p := &Play{Config: cfg, State: run.FreshState(cfg, ""), Index: &run.Index{}, Files: files, Now: began}
	d := p.Do(&protocol.InitRun{Prior: evidence.NewBlob(p.State.Encode()), Documents: p.documents()})
	return p, d
}

// Do decides on an operation and applies its result to the play.
func (p *Play) Do(op protocol.Operation) *protocol.Decided {
	p.step++
	p.Now = p.Now.Add(time.Second)
	env := protocol.Env{
		Now:   p.Now,
		Seed:  fmt.Sprintf("%032x", p.step),
		Git:   evidence.GitFacts{Head: fmt.Sprintf("%040x", 1), Branch: "main"},
		Actor: evidence.Actor{Name: "person", Email: p.person(), Terminal: true},
	}
	p.last, p.env = op, env
	d := protocol.Judge(&protocol.Snapshot{Config: p.Config, State: p.State, Index: p.Index}, op, env)
	if d.Transition != nil {
		p.State, p.Index = d.Transition.State, d.Transition.Index
	}
	return d
}

// person returns a person whose approval counts at the waiting gate, where the configuration names people.
func (p *Play) person() string {
	if r := p.Config.GateRule(run.PendingGate(p.State)); r != nil {
		// Where all are heard and it is not enough, the refusal says that of one of them.
		if people := slices.Concat(agreement.Unheard(r, p.State.GateVotes), r.Principals); len(people) > 0 {
			return people[0]
		}
	}
	return "person@example.org"
}

func (p *Play) documents() []gates.DocumentFact {
	var out []gates.DocumentFact
	for _, path := range gates.Documents(p.Config) {
		data, ok := p.Files[path]
		if !ok {
			data = nil
		}
		out = append(out, gates.LookDocument(p.Config, path, data))
	}
	return out
}

// gateFiles returns the present documents of the phase's gate.
func (p *Play) gateFiles() []evidence.FileBlob {
	out := []evidence.FileBlob{}
	for _, path := range gates.Files(p.Config, p.State.Phase) {
		f := evidence.FileBlob{Path: path}
		if data, ok := p.Files[path]; ok {
			f.Blob = evidence.NewBlob(data)
		}
		out = append(out, f)
	}
	return out
}

// Assign gives the role its turn.
func (p *Play) Assign(role string) *protocol.Decided {
	return p.Do(&protocol.AssignTurn{
		Role: role,
		Baseline: &run.Baseline{Kind: "git_worktree", HeadRef: new(fmt.Sprintf("%040x", 1)), Clean: true,
			CapturedAt: wire.FormatTime(p.Now)},
		Documents: p.documents(),
	})
}

// Result returns a neutral result of the turn, with some members replaced.
func (p *Play) Result(turn *run.Turn, members *ojson.Object) *ojson.Object {
	role := p.Config.Role(turn.AssignedRole)
	doc := ojson.NewObject("schema_version", "1.0", "run_id", p.State.Run(), "turn_id", turn.TurnID,
		"role", turn.AssignedRole,
		"runtime_id", turn.RuntimeID, "status", "completed", "summary", "did the work", "decisions", []any{},
		"objections", []any{},
		"files_changed", []any{},
		"verification", ojson.NewObject("status", "pass", "evidence_summary", "looked at it"),
		"artifact", ojson.NewObject("type", "review"), "proposed_next_role", "human", "run_completion_request", false)
	if role != nil && role.WriteAuthority == wire.ReviewOnly {
		doc.Set("objections",
			[]any{ojson.NewObject("id", "OBJ-001", "severity", "low", "statement", "a doubt", "status", "raised")})
	}
	for k, v := range members.All() {
		doc.Set(k, v)
	}
	if len(doc.Array("files_changed")) > 0 && role != nil && role.WriteAuthority == wire.Authoritative &&
		!members.Has("artifact") {
		doc.Set("artifact", ojson.NewObject("type", "workspace"))
	}
	return doc
}

// Accept requests the acceptance of a result. changed are the paths that the turn changed.
func (p *Play) Accept(turn *run.Turn, doc *ojson.Object, changed []string) *protocol.Decided {
	path := wire.StagingPath(turn.TurnID)
	op := &protocol.AcceptTurn{
		TurnID:     turn.TurnID,
		StagedPath: path,
		Staged:     evidence.NewBlob(ojson.Pretty(doc)),
		Files:      p.gateFiles(),
		Proposed:   []evidence.FileBlob{},
		Documents:  p.documents(),
	}
	op.Seen = result.Observation{
		Available:    true,
		HeadRef:      new(fmt.Sprintf("%040x", 1)),
		DiffSummary:  new(""),
		FilesChanged: slices.Clone(changed),
	}
	for _, c := range changed {
		op.Seen.Markers.Set(c, wire.Digest(fmt.Appendf(p.Files[c], "%d", p.step)))
		op.Seen.Dirty = append(op.Seen.Dirty, c)
	}
	for _, c := range doc.Objects("proposed_changes") {
		if data, ok := p.Files[c.String("path")]; ok {
			op.Proposed = append(op.Proposed, evidence.FileBlob{Path: c.String("path"), Blob: evidence.NewBlob(data)})
		}
	}
	op.Protected = protocol.ProtectedPaths(p.Config, path, op.Staged.Data, &op.Seen)
	if limits.PoliciesNeedReplay(p.Config, p.State.Phase, turn.AssignedRole) {
		op.Replay = p.replay
	}
	return p.Do(op)
}

// Approve lets a person pass the waiting gate. Its actions count as successful.
func (p *Play) Approve() *protocol.Decided {
	a := protocol.Approval{
		Files:     p.gateFiles(),
		Actions:   []protocol.ActionRun{},
		Documents: p.documents(),
		Undoable:  true,
	}
	if g := p.Config.Gate(run.PendingGate(p.State)); g != nil {
		for i, act := range g.Actions {
			a.Actions = append(a.Actions, protocol.ActionRun{
				AttemptID: fmt.Sprintf("ga_1_%08x", i),
				Index:     i + 1,
				Label:     act.Label,
				Command:   act.Run,
				TimeoutMS: act.TimeoutMS,
				OK:        true,
				ExitCode:  new(0),
			})
		}
	}
	if p.State.PendingRunCompletion != nil {
		return p.Do(&protocol.ApproveCompletion{Approval: a})
	}
	return p.Do(&protocol.ApprovePhase{Approval: a})
}

// Write sets files of the project.
func (p *Play) Write(files map[string][]byte) {
	next := maps.Clone(p.Files)
	if next == nil {
		next = make(map[string][]byte)
	}
	maps.Copy(next, files)
	p.Files = next
}
