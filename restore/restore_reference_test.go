// Tests of restoring back and forth with both implementations in every combination: who exports, who restores, who
// continues. Skipped unless AGENTXCHAIN_REFERENCE names the reference CLI's program (agentxchain.js).

package restore

import (
	"bytes"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

// hand is one implementation at work in a checkout.
type hand interface {
	export(t *testing.T, dir string) []byte
	restore(t *testing.T, dir string, artifact []byte)
	goOn(t *testing.T, dir string)
}

type ourHand struct{}

func (ourHand) export(t *testing.T, dir string) []byte {
	_, data := exported(t, dir, ExportOptions{Record: true})
	return data
}

func (ourHand) restore(t *testing.T, dir string, artifact []byte) {
	restoreOK(t, dir, artifact, Options{})
	sound(t, dir)
}

func (ourHand) goOn(t *testing.T, dir string) { goOn(t, dir); sound(t, dir) }

type referenceHand struct{ program string }

func (r referenceHand) run(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("node", append([]string{r.program}, args...)...)
	cmd.Dir = dir
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	if err := cmd.Run(); err != nil {
		t.Fatalf("reference %s: %v\n%s%s", strings.Join(args, " "), err, out.String(), complaint.String())
	}
	return out.String()
}

func (r referenceHand) export(t *testing.T, dir string) []byte {
	file := filepath.Join(t.TempDir(), "artifact.json")
	r.run(t, dir, "export", "--output", file)
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func (r referenceHand) restore(t *testing.T, dir string, artifact []byte) {
	file := filepath.Join(t.TempDir(), "artifact.json")
	if err := os.WriteFile(file, artifact, 0o666); err != nil {
		t.Fatal(err)
	}
	r.run(t, dir, "restore", "--input", file)
}

// goOn accepts the active turn and assigns the next one.
func (r referenceHand) goOn(t *testing.T, dir string) {
	data, err := os.ReadFile(filepath.Join(dir, string(wire.DocState)))
	if err != nil {
		t.Fatal(err)
	}
	state, err := ojson.DecodeObject(data)
	if err != nil {
		t.Fatal(err)
	}
	turns := state.Object("active_turns")
	if turns.Len() != 1 {
		t.Fatalf("%d active turns", turns.Len())
	}
	turn := turns.Object(turns.Keys()[0])
	result := ojson.NewObject("schema_version", "1.0", "run_id", state.String("run_id"),
		"turn_id", turn.String("turn_id"), "role", turn.String("assigned_role"),
		"runtime_id", turn.String("runtime_id"), "status", "completed", "summary", "done as asked",
		"decisions", []any{},
		"objections", []*ojson.Object{ojson.NewObject("id", "OBJ-001", "severity", "low",
			"statement", "the scope is not settled yet", "status", "raised")},
		"files_changed", []any{}, "artifacts_created", []any{},
		"verification", ojson.NewObject("status", "skipped", "commands", []any{}, "evidence_summary", "none",
			"machine_evidence", []any{}),
		"artifact", ojson.NewObject("type", "review", "ref", nil), "proposed_next_role", "human",
		"phase_transition_request", nil, "run_completion_request", false, "needs_human_reason", nil,
		"cost", ojson.NewObject("input_tokens", 1, "output_tokens", 1, "usd", 0))
	result.Set("proposed_next_role", "pm")
	write(t, dir, wire.StagingPath(turn.String("turn_id")), string(ojson.Pretty(result)))
	r.run(t, dir, "accept-turn")
	r.run(t, dir, "resume", "--role", "pm")
}

// adopt adopts, as a person does, a run of which another program has brought only the files.
func adopt(t *testing.T, dir string) {
	t.Helper()
	withRunner(t, dir, func(r *runner.Runner) {
		if _, err := r.Adopt(t.Context(), runner.ConfirmOptions{}); err != nil {
			t.Fatal(err)
		}
	})
}

func TestThereAndBackWithTheReference(t *testing.T) {
	program := os.Getenv("AGENTXCHAIN_REFERENCE")
	if program == "" {
		t.Skip("AGENTXCHAIN_REFERENCE does not name the reference CLI")
	}
	hands := map[string]hand{"ours": ourHand{}, "reference": referenceHand{program}}
	for a, onA := range hands {
		for b, onB := range hands {
			for c, goesOn := range hands {
				t.Run(a+" exports, "+b+" restores, "+c+" goes on", func(t *testing.T) {
					s := newSource(t)
					onB.restore(t, s.clone, onA.export(t, s.dir))
					if x, y := governedBytes(t, s.dir), governedBytes(t, s.clone); !maps.Equal(x, y) {
						t.Fatalf("on the way: %v", changedNames(x, y))
					}
					if b == "reference" && c == "ours" {
						adopt(t, s.clone)
					}
					goesOn.goOn(t, s.clone)
					// Back with the roles exchanged: now the restoring side exports.
					onA.restore(t, s.dir, onB.export(t, s.clone))
					if x, y := governedBytes(t, s.dir), governedBytes(t, s.clone); !maps.Equal(x, y) {
						t.Fatalf("on the way back: %v", changedNames(x, y))
					}
					goesOn.goOn(t, s.dir)
					// After either program, our next command finds everything in order.
					_, last := exported(t, s.dir, ExportOptions{})
					if r := verified(t, last); !r.Passed() {
						t.Errorf("%v", r.Findings)
					}
					sound(t, s.dir)
				})
			}
		}
	}
}
