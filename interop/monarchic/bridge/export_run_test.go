// Runs that the export tests are made from: real repositories, real turns.

package bridge_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/testproject"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/mail"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

// project is a governed scratch project whose one or two phases require nothing.
type project struct {
	t    testing.TB
	ctx  context.Context
	repo *testrepo.Repo
	r    *runner.Runner
}

const onePhase = `{"planning":{"entry_role":"pm","allowed_next_roles":["pm","dev","qa","eng_director","human"],"max_concurrent_turns":3}}`

const twoPhases = `{"planning":{"entry_role":"pm","allowed_next_roles":["pm","dev","human"],"exit_gate":"sign"},"qa":{"entry_role":"qa","allowed_next_roles":["qa","human"],"exit_gate":"ship"}}`

func newProject(t testing.TB, members ...any) *project {
	t.Helper()
	testrepo.Isolate()
	p := &project{t: t, ctx: context.Background(), repo: testrepo.New(t, testrepo.Options{})}
	_, err := testproject.Init(p.ctx, p.repo.Dir, runner.ProjectOptions{ID: "proj"})
	p.must(err)
	cfg := p.read(wire.ConfigPath)
	cfg.Delete("approval_policy")
	cfg.Set("gates", ojson.NewObject())
	cfg.Set("workflow_kit", ojson.NewObject())
	cfg.Set("routing", p.json(onePhase))
	for k, v := range ojson.NewObject(members...).All() {
		cfg.Set(k, v)
	}
	p.repo.Write(wire.ConfigPath, string(ojson.Pretty(cfg)))
	p.repo.CommitAll("governed project")
	p.r, err = runner.Open(p.ctx, p.repo.Dir, runner.Options{})
	p.must(err)
	t.Cleanup(func() { _ = p.r.Close() })
	return p
}

func (p *project) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *project) json(text string) *ojson.Object {
	p.t.Helper()
	o, err := ojson.DecodeObject([]byte(text))
	p.must(err)
	return o
}

func (p *project) read(name string) *ojson.Object {
	p.t.Helper()
	data, err := os.ReadFile(filepath.Join(p.repo.Dir, filepath.FromSlash(name)))
	p.must(err)
	return p.json(string(data))
}

func (p *project) assign(role string) *run.Turn {
	p.t.Helper()
	a, err := p.r.AssignTurn(p.ctx, runner.AssignOptions{Role: role})
	p.must(err)
	return a.Turn
}

// stage writes a turn's result: its template with members replaced.
func (p *project) stage(turn *run.Turn, members ...any) {
	p.t.Helper()
	tmpl, err := p.r.Template(p.ctx, turn.TurnID)
	p.must(err)
	doc := tmpl.Clone()
	doc.Set("decisions", []any{})
	doc.Set("verification", ojson.NewObject("status", "skipped"))
	doc.Set("objections", p.objection("OBJ-001", "low", "a doubt"))
	doc.Set("proposed_next_role", "human")
	doc.Set("run_completion_request", false)
	doc.Set("phase_transition_request", nil)
	doc.Set("summary", "done by "+turn.AssignedRole)
	doc.Set("files_changed", []any{})
	for k, v := range ojson.NewObject(members...).All() {
		doc.Set(k, v)
	}
	p.repo.Write(wire.StagingPath(turn.TurnID), string(ojson.Pretty(doc)))
}

func (p *project) objection(id, severity, statement string) []*ojson.Object {
	return []*ojson.Object{ojson.NewObject("id", id, "severity", severity, "statement", statement, "status", "raised")}
}

func (p *project) accept(turn *run.Turn, members ...any) {
	p.t.Helper()
	p.stage(turn, members...)
	_, err := p.r.AcceptTurn(p.ctx, runner.AcceptOptions{TurnID: turn.TurnID})
	p.must(err)
}

// work lets a turn change a file, accepts and checkpoints it.
func (p *project) work(turn *run.Turn, file, content string, members ...any) {
	p.t.Helper()
	p.repo.Write(file, content)
	p.accept(turn, append([]any{"files_changed", []string{file}, "artifact", ojson.NewObject("type", "workspace",
		"ref", "git:dirty"), "verification",
		ojson.NewObject("status", "pass", "commands", []string{"true"}, "evidence_summary", "fine",
			"machine_evidence", []*ojson.Object{ojson.NewObject("command", "true", "exit_code", 0)})}, members...)...)
	_, err := p.r.Checkpoint(p.ctx, turn.TurnID)
	p.must(err)
}

func (p *project) send(op mail.SendMessage) string {
	p.t.Helper()
	out, err := p.r.SendMessage(p.ctx, op)
	p.must(err)
	return out.Message.String("message_id")
}

// eventful makes a run with everything that an export covers: a rejection and its retry, a block
// and its release, a delegation carried out, one that failed and their review, a reissued turn,
// messages with and without answers, objections, and the end.
func eventful(t testing.TB) *project {
	p := newProject(t, "budget", ojson.NewObject("per_run_max_usd", 10, "per_turn_max_usd", 1))
	pm := p.assign("pm")
	p.send(mail.SendMessage{
		ID:          "ask-1",
		To:          pm.TurnID,
		Kind:        "clarification_request",
		Subject:     "Which licence?",
		RequiresAck: true,
	})
	p.send(mail.SendMessage{
		To:          "qa",
		Kind:        "handoff",
		Body:        "try hard\n## not a heading\n\x1b[31m",
		RequiresAck: true,
	})
	p.send(mail.SendMessage{From: pm.TurnID, To: run.Human, Kind: "blocker", Body: "who decides?"})
	p.stage(pm)
	_, err := p.r.RejectTurn(p.ctx, runner.RejectOptions{TurnID: pm.TurnID, Reason: "say more"})
	p.must(err)
	_, err = p.r.AckMessage(p.ctx, "ask-1", run.AckAccepted, "on it")
	p.must(err)
	_, err = p.r.Escalate(p.ctx, protocol.Escalate{Reason: "which licence?", Detail: "legal must say"})
	p.must(err)
	_, err = p.r.ReactivateRun(p.ctx, runner.ReactivateOptions{})
	p.must(err)
	delegations := []*ojson.Object{
		ojson.NewObject("id", "del-001", "to_role", "dev", "charter", "Write the parser",
			"acceptance_contract", []string{"it parses", "it is tested"}),
		ojson.NewObject("id", "del-002", "to_role", "qa", "charter", "Try the parser",
			"acceptance_contract", []string{"it was tried"}),
	}
	p.accept(pm, "delegations", delegations, "proposed_next_role", "dev", "decisions",
		[]*ojson.Object{ojson.NewObject("id", "DEC-001", "category", "scope", "statement", "MIT", "rationale",
			"agreed")})
	dev := p.assign("dev")
	re, err := p.r.ReissueTurn(p.ctx, runner.ReissueOptions{TurnID: dev.TurnID, Reason: "start over"})
	p.must(err)
	p.work(re.Result.Turn, "src/parser.txt", "parser\n")
	qa := p.assign("qa")
	p.accept(qa, "status", "failed", "summary", "it does not parse",
		"objections", p.objection("OBJ-001", "blocking", "it does not parse"),
		"verification", ojson.NewObject("status", "fail", "commands", []string{"true"}, "evidence_summary", "no",
			"machine_evidence", []*ojson.Object{ojson.NewObject("command", "true", "exit_code", 0)}))
	review := p.assign("pm")
	p.send(mail.SendMessage{
		ID:          "late-1",
		To:          "eng_director",
		Kind:        "artifact_ready",
		Artifacts:   []string{"src/parser.txt"},
		RequiresAck: true,
	})
	p.accept(review, "run_completion_request", true)
	return p
}
