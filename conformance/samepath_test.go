// One path: validate_turn_result and the acceptance say the same of a result, whether results are repaired or
// strict.

package conformance

import (
	"slices"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/result"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// inMode returns a workspace of the fixture whose project treats results according to mode.
func inMode(t *testing.T, data []byte, mode string) *workspace {
	t.Helper()
	o, err := ojson.DecodeObject(data)
	if err != nil {
		t.Fatal(err)
	}
	setup := o.Object("setup")
	cfg := setup.Object("config")
	if cfg == nil {
		cfg = ojson.NewObject()
		setup.Set("config", cfg)
	}
	if cfg.Object("rules") == nil {
		cfg.Set("rules", ojson.NewObject())
	}
	cfg.Object("rules").Set("result_repair", mode)
	f, err := ReadFixture(ojson.Pretty(o))
	if err != nil {
		t.Fatal(err)
	}
	w, err := newWorkspace(f, testClock(), "00000000000000000000000000000001")
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestValidationAndAcceptanceAgree(t *testing.T) {
	files := ownFixtures()
	for name, data := range corpusOrNone(t) {
		files["upstream/"+name] = data
	}
	compared, repaired, strictly := 0, 0, 0
	for name, data := range files {
		f, err := ReadFixture(data)
		if err != nil || f.Operation != "validate_turn_result" {
			continue
		}
		refusedIn := map[string]bool{}
		for _, mode := range []string{"reference", "strict"} {
			w := inMode(t, data, mode)
			said, err := validateTurnResult(w)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			refusedIn[mode] = said.String("result") == "error"
			turn := w.resultTurn()
			if turn == nil {
				if !refusedIn[mode] {
					t.Errorf("%s: a result without a turn passes", name)
				}
				continue // nothing to accept
			}
			if w.state.Status != wire.StatusActive {
				w.state.Status = wire.StatusActive // a waiting run is another question
			}
			op := &protocol.AcceptTurn{
				TurnID:     turn.TurnID,
				StagedPath: wire.StagingPath(turn.TurnID),
				Files:      w.files,
				Proposed:   w.files,
			}
			if w.isStaged {
				op.Staged = evidence.NewBlob(ojson.Compact(w.staged))
			}
			tr, refused := w.propose(op)
			if tr == nil {
				// Nothing here could be a result; the engine says so before it validates.
				if refused.Stage != result.StageSchema || said.String("failed_stage") != result.StageSchema {
					t.Errorf("%s (%s): %v, the adapter says %s", name, mode, refused, ojson.Compact(said))
				}
				continue
			}
			compared++
			got := validated(tr.Result.(*protocol.AcceptResult).Validation)
			if tr.Failure != nil && tr.Failure.Code == wire.CodeValidationFailed && got.String("result") != "error" {
				t.Errorf("%s (%s): refused by nothing", name, mode)
			}
			if !ojson.Equal(got, said) {
				t.Errorf("%s (%s)\naccept   %s\nvalidate %s", name, mode, ojson.Compact(got), ojson.Compact(said))
			}
			if n := len(tr.Result.(*protocol.AcceptResult).Repairs); mode == "strict" && n > 0 {
				for _, r := range tr.Result.(*protocol.AcceptResult).Repairs {
					if !slices.Contains([]string{"path_spelling_normalized",
						"idle_expansion_result_loaded_from_sidecar", "gate_transition_request_auto_stripped"},
						r.Rationale) {
						t.Errorf("%s: strict repairs %s", name, r.Note())
					}
				}
			} else if n > 0 {
				repaired++
			}
		}
		if refusedIn["reference"] && !refusedIn["strict"] {
			t.Errorf("%s: strict lets pass what is refused otherwise", name)
		}
		if !refusedIn["reference"] && refusedIn["strict"] {
			strictly++
		}
	}
	if compared < 200 || repaired < 30 || strictly < 20 {
		t.Errorf("only %d compared, %d repaired, %d refused by strict alone", compared, repaired, strictly)
	}
}
