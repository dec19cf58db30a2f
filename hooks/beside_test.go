//go:build unix

// Hooks that reach into sibling projects.

package hooks

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

func TestSiblingsAreGuarded(t *testing.T) {
	for _, tc := range []struct{ name, script, file, code string }{
		{"state", "echo x >> $SIB/.agentxchain/state.json", "../api/.agentxchain/state.json", CodeStateTamper},
		{"history", "rm $SIB/.agentxchain/history.jsonl", "../api/.agentxchain/history.jsonl", CodeHistoryTamper},
		{"ledger", "echo '{}' > $SIB/.agentxchain/decision-ledger.jsonl", "../api/.agentxchain/decision-ledger.jsonl",
			CodeLedgerTamper},
		{"bundle", "echo x > $SIB/" + bundles + "turn_a/ASSIGNMENT.json",
			"../api/" + bundles + "turn_a/ASSIGNMENT.json", CodeBundleTamper},
		{"new in a bundle", "echo x > $SIB/" + bundles + "turn_b/new", "../api/" + bundles + "turn_b/new",
			CodeBundleTamper},
		{"directory for a link", "mv $SIB/.agentxchain/dispatch $SIB/d; ln -s d $SIB/.agentxchain/dispatch",
			"../api/.agentxchain/dispatch/index.json", CodeBundleTamper},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r, sibling := project(t), project(t).Root
			r.Beside = []Sibling{{Name: "../api", Root: sibling}}
			before := tree(t, sibling)
			h := shell("h", tc.script+"; "+allow, true)
			h.Env = ojson.NewObject("SIB", sibling)
			out := run(t, r, call(), h, shell("later", allow, true))
			if out.Tamper == nil || out.OK || out.Tamper.File != tc.file || out.Tamper.Code != tc.code ||
				len(out.Entries) != 1 {
				t.Fatalf("%+v %+v", out, out.Tamper)
			}
			after := tree(t, sibling)
			for name := range after {
				if name == "d" || strings.HasPrefix(name, "d"+string(filepath.Separator)) {
					delete(after, name) // its new location is not guarded
				}
			}
			if diff := cmp.Diff(before, after); diff != "" {
				t.Errorf("not put back (-before +after):\n%s", diff)
			}
		})
	}
}

func TestSiblingsLeftAlonePass(t *testing.T) {
	r, sibling := project(t), project(t).Root
	r.Beside = []Sibling{{Name: "../api", Root: sibling}}
	h := shell("h", "echo work > $SIB/src.txt; "+allow, true)
	h.Env = ojson.NewObject("SIB", sibling)
	if out := run(t, r, call(), h); !out.OK {
		t.Fatalf("%+v", out)
	}
	if _, err := os.Stat(filepath.Join(sibling, "src.txt")); err != nil {
		t.Error("an unguarded file was removed")
	}
}
