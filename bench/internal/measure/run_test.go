package measure_test

import (
	"os"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/bench/internal/measure"
)

func TestMain(m *testing.M) {
	measure.Launched()
	os.Exit(m.Run())
}

// TestGitProcesses: every git that a program starts is counted, and nothing else.
func TestGitProcesses(t *testing.T) {
	for script, want := range map[string]int{
		"true":          0,
		"git --version": 1,
		"git --version; env -i PATH=\"$PATH\" git --version; ls": 2,
	} {
		got, _, err := measure.GitProcesses(measure.Spec{
			Argv: []string{"sh", "-c", script},
			Dir:  t.TempDir(),
		}, t.TempDir())
		if err != nil || got != want {
			t.Errorf("%s: expected %d, got %d, %v", script, want, got, err)
		}
	}
}
