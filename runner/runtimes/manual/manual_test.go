package manual_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes/manual"
)

func write(t *testing.T, root, text string) {
	t.Helper()
	full := filepath.Join(root, filepath.FromSlash(wire.StagingPath("turn_1")))
	if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestDispatchNeverWaits(t *testing.T) {
	root := t.TempDir()
	req := &runtimes.Request{Root: root, TurnID: "turn_1", StagingPath: wire.StagingPath("turn_1")}
	for _, tc := range []struct{ text, kind string }{
		{"-", runtimes.Pending}, {"", runtimes.Pending}, {" {} \n", runtimes.Pending}, {`{"half`, runtimes.Pending},
		{`{"status":"completed"}`, runtimes.Staged},
	} {
		if tc.text != "-" {
			write(t, root, tc.text)
		}
		if out := manual.New().Dispatch(context.Background(), req); out.Kind != tc.kind {
			t.Errorf("%q: %+v", tc.text, out)
		}
	}
}

func TestWait(t *testing.T) {
	root := t.TempDir()
	if out := manual.Wait(context.Background(), root, "turn_1", time.Millisecond,
		20*time.Millisecond); out.Kind != runtimes.TimedOut || out.Reason == "" {
		t.Errorf("nothing comes: %+v", out)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if out := manual.Wait(ctx, root, "turn_1", time.Millisecond, time.Minute); out.Kind != runtimes.Aborted {
		t.Errorf("given up: %+v", out)
	}
	done := make(chan *runtimes.Outcome)
	go func() { done <- manual.Wait(context.Background(), root, "turn_1", time.Millisecond, time.Minute) }()
	write(t, root, "{}")
	write(t, root, `{"status":`)
	write(t, root, `{"status":"completed"}`)
	if out := <-done; out.Kind != runtimes.Staged {
		t.Errorf("%+v", out)
	}
}

// TestWaitEndsOnRubbish passes on a finished file that is not JSON: acceptance says what is wrong
// with it.
func TestWaitEndsOnRubbish(t *testing.T) {
	root := t.TempDir()
	write(t, root, "done, see the diff")
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(root, filepath.FromSlash(wire.StagingPath("turn_1"))), old, old); err != nil {
		t.Fatal(err)
	}
	if out := manual.Wait(context.Background(), root, "turn_1", time.Millisecond,
		time.Minute); out.Kind != runtimes.Staged {
		t.Errorf("%+v", out)
	}
}
