//go:build unix

// What hooks need and a machine lacks.

package hooks

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
)

func TestProblems(t *testing.T) {
	root := t.TempDir()
	put(t, root, "plain.sh", "#!/bin/sh\n")
	put(t, root, "checks/run.sh", "#!/bin/sh\n")
	if err := os.Chmod(filepath.Join(root, "checks/run.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	raw, err := ojson.DecodeObject([]byte(`{
		"on_escalation":[{"name":"page","type":"http","url":"http://x","headers":{"A":"${SET} ${UNSET}","B":"${EMPTY}${UNSET}","C":"${OWN}"},"env":{"OWN":"x"}}],
		"before_gate":[
			{"name":"ok","type":"process","command":["./checks/run.sh"],"mode":"blocking"},
			{"name":"path","type":"process","command":["sh","-c","x"]},
			{"name":"plain","type":"process","command":["plain.sh/../plain.sh"],"mode":"blocking"},
			{"name":"none","type":"process","command":["./none"]},
			{"name":"bare","type":"process","command":["no-such-program-anywhere"]},
			{"name":"dir","type":"process","command":["./checks"]},
			{"name":"empty","type":"process","command":[]},
			{"name":"odd","type":"grpc","command":["true"],"mode":"odd"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	got := Problems(&config.Config{Hooks: raw}, root, func(name string) (string, bool) {
		v, ok := map[string]string{"SET": "x", "EMPTY": ""}[name]
		return v, ok
	})
	want := []Problem{
		{"before_gate", "plain", true, "plain.sh/../plain.sh is not executable"},
		{"before_gate", "none", false, "./none does not exist"},
		{"before_gate", "bare", false, "no-such-program-anywhere is not on PATH"},
		{"before_gate", "dir", false, "./checks is not a program"},
		{"before_gate", "empty", false, "it names no command"},
		{"before_gate", "odd", true, `its type "grpc" is none of process, http`},
		{"on_escalation", "page", false, "the environment variables UNSET, EMPTY are not set"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
