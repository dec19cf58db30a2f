//go:build unix

// Files that must remain although their contents may change: the command's lock.

package hooks

import (
	"os"
	"path/filepath"
	"testing"
)

func TestKept(t *testing.T) {
	const lock = ".agentxchain/locks/accept-turn.lock"
	for _, tc := range []struct {
		name, script string
		tamper       string // the reported file, "" for none
	}{
		{"renewed", "echo later > " + lock, ""},
		{"removed", "rm " + lock, lock},
		{"link", "mv " + lock + " x; ln -s ../../x " + lock, lock},
		{"all of it", "rm -rf .agentxchain", ".agentxchain/state.json"},
		{"moved away", "mv .agentxchain x; ln -s x .agentxchain", ".agentxchain/state.json"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := project(t)
			put(t, r.Root, lock, "mine")
			r.Kept = []string{lock}
			out := run(t, r, call(), shell("h", tc.script+"; "+allow, true))
			if tc.tamper == "" {
				if !out.OK || out.Tamper != nil {
					t.Fatalf("%+v", out)
				}
				return
			}
			if out.Tamper == nil || out.Tamper.File != tc.tamper {
				t.Fatalf("%+v", out)
			}
			if got, err := os.ReadFile(filepath.Join(r.Root, lock)); err != nil || string(got) != "mine" {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
	// A file that did not exist is not kept.
	r := project(t)
	r.Kept = []string{lock}
	if out := run(t, r, call(), shell("h", "mkdir -p .agentxchain/locks; echo > "+lock+"; "+allow, true)); !out.OK {
		t.Errorf("%+v", out)
	}
}
