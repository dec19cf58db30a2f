// A chain of verdicts says how the decision came about and does not affect it, and an equal configuration gives an
// equal chain.

package protocol

import (
	"bytes"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/agreement"
	"github.com/git-agentxchain/git-agentxchain/protocol/change"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/verdict"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// judged checks the chain of an operation against its outcome, for every operation in the engine's tests.
func (w *opsWorld) judged(snap *change.Snapshot, op Operation, env change.Env, tr *change.Transition,
	err *wire.Error) {
	w.t.Helper()
	d := Judge(snap, op, env)
	if a, b := decisionText(tr, err), decisionText(d.Transition, d.Refusal); a != b {
		w.t.Fatalf("%s is decided otherwise while it is explained:\n%s", op.Name(),
			cmp.Diff(strings.Split(a, "\n"), strings.Split(b, "\n")))
	}
	c := d.Chain
	if len(c.Steps) == 0 {
		w.t.Fatalf("%s: the chain is empty", op.Name())
	}
	if f := d.Failure(); (f != nil) != (c.Outcome == verdict.Refused) {
		w.t.Fatalf("%s: the outcome is %s, the failure %v", op.Name(), c.Outcome, f)
	} else if f != nil && (c.Code != f.Code || c.Decisive() == nil && c.Undecided() == nil) {
		w.t.Fatalf("%s: no step accounts for %s:\n%s", op.Name(), f.Code, ojson.Pretty(c.Object()))
	}
	for l := range c.All() {
		if l.Rule == "" || l.Verdict == "" || l.Spec == "" {
			w.t.Fatalf("%s: a step lacks its rule, verdict or section:\n%s", op.Name(), ojson.Pretty(c.Object()))
		}
	}
	same := w.equal(snap.Config)
	if same == nil {
		return
	}
	change := Between(snap.Config, same)
	again := Judge(change.Snapshot(snap), change.Operation(op), env)
	if a, b := ojson.Pretty(c.Object()), ojson.Pretty(again.Chain.Object()); !bytes.Equal(a, b) {
		w.t.Fatalf("%s: an equal configuration changes the chain:\n%s", op.Name(),
			cmp.Diff(strings.Split(string(a), "\n"), strings.Split(string(b), "\n")))
	}
}

// equal returns the configuration decoded again from its document, nil when the test changed only the decoded one.
// Each configuration is decoded once.
func (w *opsWorld) equal(cfg *config.Config) *config.Config {
	if w.same == nil || w.sameOf != cfg {
		same, problems, err := config.Decode(ojson.Pretty(cfg.Raw))
		if err != nil || len(problems) > 0 {
			return nil // it could not govern
		}
		w.same, w.sameOf = same, cfg
	}
	was := *cfg
	was.Raw = w.same.Raw
	if !reflect.DeepEqual(&was, w.same) {
		return nil
	}
	return w.same
}

// Every section that a rule or a code names exists.
func TestSectionsOfRulesExist(t *testing.T) {
	anchors := map[string]bool{}
	for _, page := range []string{"approvals", "configuration", "gates", "lifecycle", "observation", "results",
		"state", "README"} {
		data, err := os.ReadFile("../docs/spec/" + page + ".md")
		if err != nil {
			t.Fatal(err)
		}
		anchors[verdict.SpecDir+page+".md"] = true
		for line := range strings.Lines(string(data)) {
			if title, ok := strings.CutPrefix(strings.TrimLeft(line, "#"), " "); ok && strings.HasPrefix(line, "#") {
				slug := strings.NewReplacer(" ", "-", ",", "", "`", "", ".",
					"").Replace(strings.ToLower(strings.TrimSpace(title)))
				anchors[verdict.SpecDir+page+".md#"+slug] = true
			}
		}
	}
	anchors["docs/hooks.md"] = true
	rules := []string{verdict.RuleStatus, verdict.RuleTurn, verdict.RuleBundle, verdict.RuleStages,
		verdict.RuleStage + "schema", verdict.RuleStage + "assignment", verdict.RuleStage + "artifact",
		verdict.RuleStage + "verification", verdict.RuleStage + "protocol", verdict.RuleWait, verdict.RuleProtected,
		verdict.RuleProposal, verdict.RuleOverride, verdict.RuleObserved, verdict.RuleSignoff,
		verdict.RuleIntent, verdict.RuleCoverage, verdict.RuleEmpty, verdict.RuleReplay, verdict.RulePolicies,
		verdict.RulePolicy + config.RuleMaxTotalTurns, verdict.RuleConflict, verdict.RuleDrift,
		verdict.RuleGate, verdict.RuleGateRequest, verdict.RuleGateFile, verdict.RuleGateVerify,
		verdict.RuleGatePerson, verdict.RuleGateActions, verdict.RuleApproval, verdict.RulePending, verdict.RulePeople,
		verdict.RuleTimeout + "phase", verdict.RuleBudgetRun, verdict.RuleBudgetTurn, verdict.RuleNonProgress,
		verdict.RuleRole, verdict.RuleCapacity, verdict.RuleClean, verdict.RuleAttempts,
		verdict.RuleHook + "before_gate", verdict.RuleGate + "." + verdict.FindingSemantics,
		verdict.RuleGate + "." + verdict.FindingDocumentStale, verdict.RuleGate + "." + verdict.FindingOwnership}
	for _, r := range rules {
		if s := verdict.SpecOf(r); !anchors[s] || s == verdict.SpecDir+"README.md" {
			t.Errorf("rule %s names %s, which is no section", r, s)
		}
	}
	for name := range operations() {
		if s := specOfOperation(name); !anchors[s] {
			t.Errorf("operation %s names %s", name, s)
		}
	}
	for _, code := range []string{wire.CodeInvalidConfig, wire.CodeBudgetExhausted, wire.CodeDirtyTree,
		wire.CodeRunBlocked, wire.CodeValidationFailed,
		wire.CodeOverrideFailed, wire.CodeArtifactMismatch, wire.CodeGateCoverage, wire.CodePolicyViolation,
		wire.CodeConflict, wire.CodeGateFailed,
		wire.CodeGateActionFailed, wire.CodeDelegationOpen, agreement.CodeSignatureRequired,
		agreement.CodeApproverNotAllowed, wire.CodeTurnNotActive, wire.CodeInvalidState} {
		if s := SpecOfCode(code); !anchors[s] || s == verdict.SpecDir+"README.md" {
			t.Errorf("code %s names %s, which is no section", code, s)
		}
	}
}
