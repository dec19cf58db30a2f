// repair asks the person at a terminal, and takes no for an answer.

package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/testproject"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

// tamperedProject makes a project with a run whose history lost its last line.
func tamperedProject(t *testing.T) (dir, events string) {
	t.Helper()
	for k, v := range map[string]string{
		"GIT_CONFIG_GLOBAL": os.DevNull,
		"GIT_CONFIG_SYSTEM": os.DevNull,
		runner.TurnMarker:   "",
	} {
		t.Setenv(k, v)
	}
	ctx, dir := context.Background(), t.TempDir()
	repo, err := gitstore.Create(ctx, dir, "Ada", "ada@example.org")
	if err != nil {
		t.Fatal(err)
	}
	if err := repo.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := testproject.Init(ctx, dir, runner.ProjectOptions{ID: "p"}); err != nil {
		t.Fatal(err)
	}
	r, err := runner.Open(ctx, dir, runner.Options{Getenv: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.AssignTurn(ctx, runner.AssignOptions{Role: "pm"}); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	events = filepath.Join(dir, filepath.FromSlash(wire.LedgerEvents.Path()))
	if err := os.WriteFile(events, []byte("{}\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	return dir, events
}

func TestRepairAsks(t *testing.T) {
	dir, events := tamperedProject(t)
	for _, tt := range []struct {
		answer string
		done   bool
	}{{"n\n", false}, {"\n", false}, {"what?\ny\n", true}} {
		var out, errs bytes.Buffer
		f := factoryOver(term.Env{
			Stdin:      strings.NewReader(tt.answer),
			Stdout:     &out,
			Stderr:     &errs,
			Dir:        dir,
			IsTerminal: func(any) bool { return true },
		}, false)
		if err := runRepair(context.Background(), f, &repairOptions{Mode: gitstore.FromRef}); err != nil {
			t.Fatalf("%q: %v", tt.answer, err)
		}
		if !strings.Contains(errs.String(), "replace  .agentxchain/events.jsonl") ||
			!strings.Contains(errs.String(), "Do this? [y/N]") {
			t.Errorf("%q: asked %q", tt.answer, errs.String())
		}
		data, err := os.ReadFile(events)
		if err != nil {
			t.Fatal(err)
		}
		if restored := string(data) != "{}\n"; restored != tt.done {
			t.Errorf("%q: restored is %t", tt.answer, restored)
		}
	}
	// Without a person to answer, the question ends the command and the files stay.
	if err := os.WriteFile(events, []byte("{}\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	f := factoryOver(term.Env{Dir: dir, IsTerminal: func(any) bool { return true }}, false)
	err := runRepair(context.Background(), f, &repairOptions{Mode: gitstore.FromRef})
	if err == nil || term.Describe(err).Code != "prompt_unavailable" {
		t.Errorf("err = %v", err)
	}
	// --yes and --json do not ask.
	f = factoryOver(term.Env{Dir: dir}, true)
	if err := runRepair(context.Background(), f, &repairOptions{Mode: gitstore.FromRef}); err != nil {
		t.Error(err)
	}
}
