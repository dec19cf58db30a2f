// Tests of who may approve: people, votes, sign-offs, stale documents.

package protocol

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/agreement"
	"github.com/git-agentxchain/git-agentxchain/protocol/attest"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/external"
	"github.com/git-agentxchain/git-agentxchain/protocol/gates"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

func people(text string) func(*ojson.Object) { return sets("authority", obj(text)) }

const threeOfFour = `{"approvers":{"team":{"principals":["a@x","b@x","c@x","d@x"],"threshold":3}},
	"gates":{"plan_ok":{"by":"team"}}}`

// A gate passes with as many different people as it needs, and not before; until then each can take back their own
// vote.
func TestVotesProperty(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := paused(rt, people(threeOfFour))
		agreed, given := map[string]bool{}, map[string]bool{} // given: also for what has changed since
		for range rapid.IntRange(1, 12).Draw(rt, "tries") {
			who := rapid.SampledFrom([]string{"a@x", "A@X", "b@x", "c@x", "d@x", "e@x", ""}).Draw(rt, "who")
			if rapid.Bool().Draw(rt, "edited") {
				// What was approved differs from the present.
				w.write("docs/plan.md", fmt.Sprintf("plan %d", rapid.IntRange(0, 1000000).Draw(rt, "text")))
				w.commit()
				agreed = map[string]bool{}
			}
			w.actor = evidence.Actor{Name: "Someone", Email: who}
			person := strings.ToLower(who)
			if rapid.Bool().Draw(rt, "withdrawn") {
				if !given[person] {
					w.fails(wire.CodeNothingToWithdraw, w.withdrawal("no"))
					continue
				}
				w.fails(wire.CodeNothingToWithdraw, &WithdrawApproval{})
				tr := w.must(w.withdrawal("no"))
				w.wantEntries(tr, "approval_withdrawn")
				w.wantEvents(tr, "gate_vote")
				w.wantStatus(wire.StatusPaused, "human_approval:plan_ok")
				delete(agreed, person)
				delete(given, person)
				continue
			}
			switch {
			case who == "" || who == "e@x":
				w.fails(agreement.CodeApproverNotAllowed, w.approval())
				continue
			case agreed[person]:
				w.fails(agreement.CodeAlreadyApproved, w.approval())
				continue
			}
			tr := w.must(w.approval())
			if len(agreed) == 0 {
				clear(given) // votes for other contents are dropped with the next vote
			}
			agreed[person], given[person] = true, true
			res := tr.Result.(*ApproveResult)
			if res.Passed != (len(agreed) == 3) || len(res.Votes) != len(agreed) || res.Needed != 3 {
				rt.Fatalf("%d agreed: %+v", len(agreed), res)
			}
			if res.Passed {
				w.fails(wire.CodeNothingToWithdraw, &WithdrawApproval{Vote: true})
				w.wantEntries(tr, "human_approval")
				if w.state.Phase != "build" || w.state.GateVotes != nil {
					rt.Fatalf("state %s", w.state.Encode())
				}
				return
			}
			w.wantEntries(tr, "human_approval_vote")
			w.wantStatus(wire.StatusPaused, "human_approval:plan_ok")
		}
	})
}

// No policy opens a gate whose approvers the configuration names.
func TestAuthorityOutranksPolicy(t *testing.T) {
	policy := obj(`{"phase_transitions":{"default":"auto_approve"},"run_completion":{"action":"auto_approve"}}`)
	w := startedWorld(t, sets("approval_policy", policy, "gates.plan_ok.requires_human_approval", false,
		"authority", obj(threeOfFour)))
	w.write("docs/plan.md", "plan")
	w.commit()
	w.accept(w.assign("pm").TurnID, "phase_transition_request", "build")
	w.wantStatus(wire.StatusPaused, "human_approval:plan_ok")
}

// A vote is for the waiting gate: denying or leaving the gate ends it.
func TestVotesEndWithTheRequest(t *testing.T) {
	for name, leave := range map[string]func(w *opsWorld) Operation{
		"deny":   func(*opsWorld) Operation { return &DenyGate{Reason: "no"} },
		"assign": func(w *opsWorld) Operation { return w.leaving("pm") },
	} {
		t.Run(name, func(t *testing.T) {
			w := paused(t, people(threeOfFour))
			w.actor = evidence.Actor{Name: "A", Email: "a@x"}
			w.must(w.approval())
			w.must(leave(w))
			if w.state.GateVotes != nil {
				t.Errorf("state %s", w.state.Encode())
			}
		})
	}
}

const signs = `{"signoff_documents":"person"}`

// signoffWorld has a gate over one sign-off document; every operation gets the documents' contents.
func signoffWorld(t testingT, policy string) *opsWorld {
	return newOpsWorld(t, sets("authority", obj(signs), "approval_policy", obj(policy),
		"gates.plan_ok", obj(`{"requires_files":[".planning/PM_SIGNOFF.md"]}`)))
}

func (w *opsWorld) facts() []gates.DocumentFact {
	var out []gates.DocumentFact
	for _, p := range gates.Documents(w.cfg) {
		var data []byte
		if text, ok := w.work[p]; ok {
			data = []byte(text)
		}
		out = append(out, gates.LookDocument(w.cfg, p, data))
	}
	return out
}

// Whatever a turn writes, only a person opens the gate, and a turn that changes the sign-off is refused.
func TestSignoffProperty(t *testing.T) {
	const doc = ".planning/PM_SIGNOFF.md"
	text := rapid.SampledFrom([]string{"Approved: YES\n", "Approved: NO\n", "# S\n\napproved :  yes \n", "nothing\n",
		"Approved:\n\nYES\n", "Approved: NO\nApproved: YES\n"})
	rapid.Check(t, func(rt *rapid.T) {
		w := signoffWorld(rt, `{"phase_transitions":{"default":"auto_approve"}}`)
		before := text.Draw(rt, "before")
		w.write(doc, before)
		w.commit()
		w.must(&InitRun{Prior: evidence.NewBlob(w.state.Encode()), Documents: w.facts()})
		as := w.assignment("pm")
		as.Documents = w.facts()
		turn := w.must(as).Result.(*AssignResult).Turn.TurnID
		after := text.Draw(rt, "after")
		w.write(doc, after)
		yes := func(s string) bool { return gates.Affirmative(config.SemanticsPMSignoff, []byte(s)) }
		changed := []string{}
		if after != before {
			changed = []string{doc}
		}
		w.stage(turn, "phase_transition_request", "build", "files_changed", changed)
		op := w.acceptance(turn)
		w.fails(wire.CodeInvalidArgument, op) // it lacks the contents of the documents
		op.Documents = w.facts()
		if yes(before) != yes(after) {
			w.fails(CodeSignoffByAgent, op)
			return
		}
		w.must(op)
		w.wantStatus(wire.StatusPaused, "human_approval:plan_ok")
	})
}

// Signing yields a document that says yes, once, and leaves an already signed one as it is.
func TestSign(t *testing.T) {
	cfg := opsConfig(t, sets("authority", obj(signs),
		"gates.plan_ok.requires_files", arr(`[".planning/PM_SIGNOFF.md"]`),
		"gates.ship_ok.requires_files", arr(`[".planning/ship-verdict.md"]`)))
	line := rapid.SampledFrom(
		[]string{"Approved: NO", "approved:", "Approved", "## Verdict: PENDING", "##  verdict :", "## V",
			"text", "", " ", "Approved: later", "\u2028", "Approved:\r"})
	rapid.Check(t, func(rt *rapid.T) {
		lines := rapid.SliceOfN(line, 0, 6).Draw(rt, "lines")
		data := []byte(strings.Join(lines, rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(rt, "end")))
		for _, path := range []string{".planning/PM_SIGNOFF.md", ".planning/ship-verdict.md"} {
			files := []evidence.FileBlob{{
				Path: path,
				Blob: evidence.NewBlob(slices.Clone(data)),
			}, {Path: "docs/other.md", Blob: evidence.NewBlob(data)}}
			signed, changed, refusal := Sign(cfg, files)
			if refusal != nil {
				rt.Fatalf("%q: %v", data, refusal)
			}
			if !gates.LookDocument(cfg, path, signed[0].Blob.Data).Signed {
				rt.Fatalf("%q became %q", data, signed[0].Blob.Data)
			}
			was := gates.LookDocument(cfg, path, data).Signed
			if was == slices.Contains(changed, path) || signed[1].Blob.Digest != files[1].Blob.Digest {
				rt.Fatalf("%q: changed %v", data, changed)
			}
			if again, more, _ := Sign(cfg, signed); len(more) > 0 || again[0].Blob.Digest != signed[0].Blob.Digest {
				rt.Fatalf("signed twice: %q", again[0].Blob.Data)
			}
		}
	})
	if _, _, refusal := Sign(cfg, []evidence.FileBlob{{
		Path: ".planning/PM_SIGNOFF.md",
		Blob: evidence.NewBlob([]byte("Approved: \xff")),
	}}); refusal == nil {
		t.Error("a document that is not text was signed")
	}
}

// A document from before the phase does not open a gate by itself; a touched one does.
func TestStaleDocuments(t *testing.T) {
	w := newOpsWorld(t, sets("authority", obj(signs)))
	w.write("docs/plan.md", "plan")
	w.write("docs/build.md", "of another run")
	w.commit()
	w.must(&InitRun{Prior: evidence.NewBlob(w.state.Encode()), Documents: w.facts()})
	w.inPhaseOf("build")
	as := w.assignment("dev")
	as.Documents = w.facts()
	turn := w.must(as).Result.(*AssignResult).Turn.TurnID
	w.write("src/x.go", "x")
	w.stage(turn, "phase_transition_request", "ship", "files_changed", []string{"src/x.go"})
	op := w.acceptance(turn)
	op.Documents = w.facts()
	w.fails(wire.CodeGateCoverage, op)
	w.write("docs/build.md", "of this run")
	w.stage(turn, "phase_transition_request", "ship", "files_changed", []string{"src/x.go", "docs/build.md"})
	op = w.acceptance(turn)
	op.Documents = w.facts()
	w.must(op)
	if w.state.Phase != "ship" {
		t.Errorf("state %s", w.state.Encode())
	}
}

// inPhaseOf is like inPhase for a project that asks people, one step from planning.
func (w *opsWorld) inPhaseOf(phase string) {
	as := w.assignment("pm")
	as.Documents = w.facts()
	turn := w.must(as).Result.(*AssignResult).Turn.TurnID
	w.stage(turn, "phase_transition_request", phase)
	op := w.acceptance(turn)
	op.Documents = w.facts()
	w.must(op)
	approval := w.approval().(*ApprovePhase)
	approval.Approval.Documents = w.facts()
	w.must(approval)
}

// Only operations change what decides who has approved what.
func TestAuthorityClaims(t *testing.T) {
	w := paused(t, people(threeOfFour))
	w.actor = evidence.Actor{Name: "A", Email: "a@x"}
	before := w.state.Copy(run.SharedObjects)
	w.must(w.approval())
	if got := external.Claims(w.cfg, before, w.state); !slices.Contains(got,
		external.Claim{Kind: external.ClaimAuthority}) {
		t.Errorf("claims %v", got)
	}
	if got := external.Claims(w.cfg, w.state, w.state.Copy(run.SharedObjects)); len(got) > 0 {
		t.Errorf("claims %v", got)
	}
}

// Leading a phase around a gate with approvers needs their approval.
func TestUnguards(t *testing.T) {
	was := opsConfig(t, people(threeOfFour))
	gate := was.Route(was.Phases()[0]).ExitGate
	if gate != "plan_ok" {
		t.Fatalf("gate %s", gate)
	}
	around := func(key string, v any) *config.Config {
		return opsConfig(t, func(doc *ojson.Object) {
			people(threeOfFour)(doc)
			set(doc, key, v)
		})
	}
	for _, c := range []struct {
		now  *config.Config
		want bool
	}{
		{was, false},
		{around("rules.max_turn_retries", 9), false},
		{around("routing."+was.Phases()[0]+".exit_gate", "ship_ok"), true},
	} {
		if got := agreement.Unguards(was, c.now); got != c.want {
			t.Errorf("unguards: %v, want %v", got, c.want)
		}
	}
	if rules := agreement.AdoptionRules(was, was, nil, true); len(rules) != 1 {
		t.Errorf("%d rules", len(rules))
	}
}

// A record that omits that its adoption leads a phase around such a gate is refused: omitting the word must not
// avoid the approvers. A record of an earlier rule set is replayed, and does not hold today.
func TestUnguardsIsSaid(t *testing.T) {
	w := startedWorld(t, people(threeOfFour))
	was := w.cfg
	w.cfg = opsConfig(t, func(doc *ojson.Object) {
		people(threeOfFour)(doc)
		set(doc, "routing."+was.Phases()[0]+".exit_gate", "ship_ok")
	})
	op := w.adopting(was)
	w.fails(wire.CodeInvalidArgument, op)
	snap := w.snapshot()
	rec := &Record{Op: op, Env: w.env().Under(4)}
	then, refusal := Apply(snap, op, rec.Env)
	if refusal != nil {
		t.Fatalf("rule set 4: %v", refusal)
	}
	if rec.HoldsToday(snap, then) {
		t.Error("it holds today")
	}
	op.Unguards = true
	w.fails(agreement.CodeApproverNotAllowed, op)
}

// A change of the approvers needs the previous approvers.
func TestAdoptionRules(t *testing.T) {
	was := opsConfig(t, people(`{"approvers":{"team":{"principals":["a@x"]},"ops":{"principals":["o@x"]}},
		"gates":{"plan_ok":{"by":"team"},"ship_ok":{"by":"ops","signed":true}}}`))
	other := opsConfig(t, people(`{"approvers":{"team":{"principals":["e@x"]}},"gates":{"plan_ok":{"by":"team"}}}`))
	if rules := agreement.AdoptionRules(was, other, nil, false); len(rules) != 2 {
		t.Errorf("%d rules", len(rules))
	}
	same := opsConfig(t, func(doc *ojson.Object) {
		people(`{"approvers":{"team":{"principals":["a@x"]},"ops":{"principals":["o@x"]}},
			"gates":{"plan_ok":{"by":"team"},"ship_ok":{"by":"ops","signed":true}}}`)(doc)
		set(doc, "rules.max_turn_retries", 9)
	})
	if rules := agreement.AdoptionRules(was, same, nil, false); len(rules) != 0 {
		t.Errorf("%d rules", len(rules))
	}
	if rules := agreement.AdoptionRules(was, was, nil, true); len(rules) != 2 {
		t.Errorf("%d rules", len(rules))
	}
}

// A request does not open a gate that is another by then: its approvers would not be asked. A record of an earlier rule
// set is replayed, and does not hold today.
func TestRequestForAnotherGate(t *testing.T) {
	w := paused(t, nil)
	w.cfg = opsConfig(t, sets("routing.planning.exit_gate", "ship_ok"))
	op := w.approval()
	w.fails(wire.CodeGateFailed, op)
	snap := w.snapshot()
	rec := &Record{Op: op, Env: w.env().Under(5)}
	then, refusal := Apply(snap, op, rec.Env)
	if refusal != nil {
		t.Fatalf("rule set 5: %v", refusal)
	}
	if rec.HoldsToday(snap, then) {
		t.Error("it holds today")
	}
	w.must(&DenyGate{Reason: "another gate"})
}

// Phases or a gate that were adopted while a request waits are named, and so is the way out.
func TestOvertaken(t *testing.T) {
	w := paused(t, nil)
	completion := w.state.Copy(run.SharedObjects)
	completion.PendingPhaseTransition = nil
	completion.PendingRunCompletion = &run.PendingCompletion{Gate: "plan_ok"}
	route := obj(`{"entry_role":"pm","allowed_next_roles":["pm"],"exit_gate":"plan_ok"}`)
	only := func(phases ...string) *config.Config {
		return opsConfig(t, func(doc *ojson.Object) {
			routing := ojson.NewObject()
			for _, phase := range phases {
				routing.Set(phase, route)
			}
			doc.Set("routing", routing)
		})
	}
	for _, c := range []struct {
		state *run.State
		cfg   *config.Config
		want  string
	}{
		{w.state, w.cfg, ""},
		{w.state, only("planning", "build"), ""},
		{w.state, only("planning", "draw", "build"), `it asks for phase "build", and after "planning" comes "draw" now`},
		{w.state, only("planning"), `it asks for phase "build", and phase "planning" is the last one now`},
		{w.state, opsConfig(t, sets("routing.planning.exit_gate", "ship_ok")), `phase "planning" ends at gate "ship_ok" now`},
		{completion, only("planning"), ""},
		{completion, w.cfg, `it asks to complete the run, and after phase "planning" comes "build" now`},
	} {
		if got := Overtaken(c.state, c.cfg); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
		if c.want == "" {
			continue
		}
		if n := NextStep(c.state, c.cfg, ""); n.Command != cmdDeny {
			t.Errorf("next is %s", n.Command)
		}
	}
}

// A gate does not open with an earlier yes that would be refused by now. A record of an earlier rule set is replayed, and
// does not hold today.
func TestLapsedYes(t *testing.T) {
	const key = "SHA256:dGhlIGtleSBvZiBhIHBlcnNvbiB3aG8gc2FpZCB5ZXM"
	team := obj(`{"approvers":{"team":{"principals":["a@x","b@x"],"threshold":2}},"gates":{"plan_ok":{"by":"team"}}}`)
	w := paused(t, sets("authority", team))
	w.actor = evidence.Actor{Name: "A", Email: "a@x"}
	w.must(w.approval())
	signed := *w.state.GateVotes[0]
	signed.Statement, signed.KeyID, signed.Key = "sha256:00", key, key
	w.state.GateVotes = []*run.Vote{&signed}
	w.actor = evidence.Actor{Name: "B", Email: "b@x"}

	others := opsConfig(t, sets("authority", obj(
		`{"approvers":{"team":{"principals":["b@x","c@x"],"threshold":2}},"gates":{"plan_ok":{"by":"team"}}}`)))
	for name, c := range map[string]struct {
		base *agreement.Base
		code string
	}{
		"its key was revoked": {
			&agreement.Base{Commit: "c", Signers: []evidence.FileBlob{
				{Path: attest.RevokedSignersPath, Blob: evidence.NewBlob([]byte(key + "\n"))}}},
			wire.CodeSignerRevoked,
		},
		"the branch names others": {
			&agreement.Base{Commit: "c", Config: evidence.NewBlob(ojson.Compact(others.Raw))},
			agreement.CodeApproverNotAllowed,
		},
		"no signers are named": {nil, wire.CodeInvalidArgument},
	} {
		t.Run(name, func(t *testing.T) {
			op := w.approval().(*ApprovePhase)
			op.Approval.Consent = &agreement.Consent{Base: c.base}
			snap := w.snapshot()
			rec := &Record{Op: op, Env: w.env().Under(6)}
			then, refusal := Apply(snap, op, rec.Env)
			if refusal != nil || !then.Result.(*ApproveResult).Passed {
				t.Fatalf("rule set 6: %v", refusal)
			}
			if rec.HoldsToday(snap, then) {
				t.Error("it holds today")
			}
			if _, refusal = Apply(snap, op, w.env()); refusal == nil || refusal.Code != c.code {
				t.Errorf("got %v, want %s", refusal, c.code)
			}
		})
	}
	op := w.approval().(*ApprovePhase)
	op.Approval.Consent = &agreement.Consent{Base: &agreement.Base{Commit: "c"}}
	w.must(op)
}
