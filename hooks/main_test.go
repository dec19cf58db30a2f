//go:build unix

// Helpers of the tests: a project on disk and hooks as shell text.

package hooks

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
)

const (
	stateText   = `{"run_id":"run_1"}` + "\n"
	historyText = `{"turn_id":"turn_0"}` + "\n"
)

// project makes a governed project with two dispatched turns.
func project(t testing.TB) *Runner {
	testrepo.InMemory()
	t.Helper()
	root := t.TempDir()
	for p, text := range map[string]string{
		"agentxchain.json":                                      "{}",
		".agentxchain/state.json":                               stateText,
		".agentxchain/history.jsonl":                            historyText,
		".agentxchain/decision-ledger.jsonl":                    "",
		".agentxchain/events.jsonl":                             "{}\n",
		".agentxchain/dispatch/turns/turn_a/ASSIGNMENT.json":    "{}",
		".agentxchain/dispatch/turns/turn_a/MANIFEST.json":      "{}",
		".agentxchain/dispatch/turns/turn_b/ASSIGNMENT.json":    "{}",
		".agentxchain/dispatch/turns/turn_b/extra/deep/note.md": "note",
		".agentxchain/staging/turn_a/turn-result.json":          `{"summary":"x"}`,
		"TALK.md": "talk",
	} {
		put(t, root, p, text)
	}
	return &Runner{Root: root, Grace: 200 * time.Millisecond, Scratch: t.TempDir()}
}

func put(t testing.TB, root, p, text string) {
	t.Helper()
	full := filepath.Join(root, filepath.FromSlash(p))
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// tree returns everything below root as text: kind, permission bits, contents.
func tree(t testing.TB, root string) map[string]string {
	t.Helper()
	out := make(map[string]string)
	err := filepath.WalkDir(root, func(p string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, p)
		info, err := d.Info()
		if err != nil {
			return err
		}
		text := info.Mode().String()
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			text += " " + string(data)
		} else if info.Mode()&os.ModeSymlink != 0 {
			link, _ := os.Readlink(p)
			text += " -> " + link
		}
		out[rel] = text
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

const allow = `echo '{"verdict":"allow"}'`

func shell(name, script string, blocking bool) Hook {
	return Hook{
		Phase:     "before_gate",
		Name:      name,
		Type:      "process",
		Command:   []string{"/bin/sh", "-c", script},
		TimeoutMS: 20000,
		Blocking:  blocking,
	}
}

func call() Call {
	return Call{
		Phase:   "before_gate",
		RunID:   "run_1",
		TurnID:  "turn_a",
		Payload: ojson.NewObject("gate_type", "phase_transition"),
	}
}

func run(t *testing.T, r *Runner, c Call, hooks ...Hook) *Outcome {
	t.Helper()
	out, err := r.Run(context.Background(), hooks, c)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
