//go:build unix

package driver_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
	"github.com/git-agentxchain/git-agentxchain/runner/driver"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes"
	"github.com/git-agentxchain/git-agentxchain/runner/trust"
)

func TestDispatchStagesAndCleansUp(t *testing.T) {
	p := newProject(t,
		shell(`cat .agentxchain/dispatch-progress-$AGENTXCHAIN_TURN_ID.json > progress; echo "said $AGENTXCHAIN_TURN_ID"; `+stage), runner.Options{Trust: true})
	turn := p.assign()
	var seen []runtimes.Activity
	d := driver.New(p.r, driver.Options{New: newRuntime, Activity: func(id string, a runtimes.Activity) {
		if id == turn.TurnID && a.Stream == "stdout" {
			seen = append(seen, a)
		}
	}})
	out := d.Dispatch(context.Background(), driver.Job{TurnID: turn.TurnID})
	if out.Kind != runtimes.Staged || out.Exit == nil || *out.Exit != 0 {
		t.Fatalf("%+v", out)
	}
	if len(seen) == 0 || !strings.Contains(seen[0].Line, "said "+turn.TurnID) {
		t.Errorf("activity %+v", seen)
	}
	log := p.read(wire.BundleDir(turn.TurnID) + "/stdout.log")
	if !strings.Contains(log, "said "+turn.TurnID+"\n") {
		t.Errorf("log %q", log)
	}
	doc, err := ojson.DecodeObject([]byte(p.read("progress")))
	p.must(err)
	var prog runtimes.Progress
	if bad := ojson.Unmarshal(doc, &prog); len(bad) > 0 || prog.TurnID != turn.TurnID ||
		prog.AdapterType != "local_cli" || prog.DriverPID != os.Getpid() || prog.FirstOutputAt != nil {
		t.Errorf("%v %+v", bad, prog)
	}
	for _, gone := range []string{runtimes.ProgressPath(turn.TurnID),
		".agentxchain/locks/dispatch-" + turn.TurnID + ".lock"} {
		if p.exists(gone) {
			t.Errorf("%s is left", gone)
		}
	}
	v, err := p.r.View(context.Background())
	p.must(err)
	if b, err := p.r.VerifyBundle(context.Background(), v, turn); err != nil || len(b.Problems) > 0 {
		t.Errorf("the bundle does not hold any more: %v %v", err, b.Problems)
	}
}

func TestDispatchRefusals(t *testing.T) {
	ctx := context.Background()
	t.Run("no such turn", func(t *testing.T) {
		p := newProject(t, shell(stage), runner.Options{Trust: true})
		p.assign()
		if out := newDriver(p.r).Dispatch(ctx, driver.Job{TurnID: "turn_none"}); out.Kind != runtimes.Aborted ||
			out.Class != wire.CodeTurnNotActive {
			t.Errorf("%+v", out)
		}
	})
	t.Run("not trusted", func(t *testing.T) {
		p := newProject(t, shell("touch ran; "+stage), runner.Options{Getenv: func(string) string { return "" }})
		turn := p.assign()
		out := newDriver(p.r).Dispatch(ctx, driver.Job{TurnID: turn.TurnID})
		if out.Kind != runtimes.Aborted || out.Class != trust.CodeHooksUntrusted || p.exists("ran") {
			t.Errorf("%+v", out)
		}
		st, err := p.r.TrustState(ctx)
		p.must(err)
		if st.Trusted() || len(st.Scope.Runtimes) != 1 {
			t.Errorf("%+v", st.Scope)
		}
		p.must(p.r.Trust(ctx, st.Scope.Digest))
		if out := newDriver(p.r).Dispatch(ctx, driver.Job{TurnID: turn.TurnID}); out.Kind != runtimes.Staged {
			t.Errorf("once trusted: %+v", out)
		}
	})
	t.Run("bundle changed", func(t *testing.T) {
		p := newProject(t, shell("touch ran; "+stage), runner.Options{Trust: true})
		turn := p.assign()
		p.write(wire.BundleDir(turn.TurnID)+"/PROMPT.md", "do something else\n")
		if out := newDriver(p.r).Dispatch(ctx, driver.Job{TurnID: turn.TurnID}); out.Kind != runtimes.Blocked ||
			out.Class != "bundle_invalid" || p.exists("ran") {
			t.Errorf("%+v", out)
		}
	})
	t.Run("no time left", func(t *testing.T) {
		p := newProject(t, shell("touch ran; "+stage), runner.Options{Trust: true})
		turn := p.assign()
		if out := newDriver(p.r).Dispatch(ctx, driver.Job{
			TurnID:   turn.TurnID,
			Deadline: time.Now().Add(-time.Second),
		}); out.Kind != runtimes.TimedOut || p.exists("ran") {
			t.Errorf("%+v", out)
		}
	})
	t.Run("manual is nobody's program", func(t *testing.T) {
		p := newProject(t, ojson.NewObject("type", "manual"), runner.Options{})
		turn := p.assign()
		if out := newDriver(p.r).Dispatch(ctx, driver.Job{TurnID: turn.TurnID}); out.Kind != runtimes.Pending ||
			out.Err != nil {
			t.Errorf("%+v", out)
		}
		p.write(wire.StagingPath(turn.TurnID), `{"schema_version":"1.0"}`)
		if out := newDriver(p.r).Dispatch(ctx, driver.Job{TurnID: turn.TurnID}); out.Kind != runtimes.Staged {
			t.Errorf("%+v", out)
		}
	})
}

func TestScriptsOfRuntimesAreTrustedByContent(t *testing.T) {
	ctx := context.Background()
	p := newProject(t, ojson.NewObject("type", "local_cli", "command", []string{"sh", "agent.sh"}, "cwd", "tools"),
		runner.Options{Getenv: func(string) string { return "" }})
	p.write("tools/agent.sh", "true")
	st, err := p.r.TrustState(ctx)
	p.must(err)
	if len(st.Scope.Files) != 1 || st.Scope.Files[0].Path != "tools/agent.sh" {
		t.Fatalf("%+v", st.Scope.Files)
	}
	p.must(p.r.Trust(ctx, st.Scope.Digest))
	p.write("tools/agent.sh", "rm -rf /")
	if st, err = p.r.TrustState(ctx); err != nil || st.Trusted() {
		t.Errorf("a changed script is still trusted: %v", err)
	}
}

// TestRateLimitIsTriedAgain turns an agent away twice.
func TestRateLimitIsTriedAgain(t *testing.T) {
	testrepo.Serving(t)
	p := newProject(t,
		shell(`echo x >> tries; if [ $(wc -l < tries) -lt 2 ]; then echo 'Error: rate limited, resets in 1s'; exit 1; fi; echo done; `+stage), runner.Options{Trust: true})
	turn := p.assign()
	if out := newDriver(p.r).Dispatch(context.Background(),
		driver.Job{TurnID: turn.TurnID}); out.Class != runtimes.ClassRateLimited {
		t.Errorf("without retries: %+v", out)
	}
	p.must(os.Remove(filepath.Join(p.dir, "tries")))
	d := driver.New(p.r, driver.Options{New: newRuntime, Retries: 2})
	if out := d.Dispatch(context.Background(), driver.Job{TurnID: turn.TurnID}); out.Kind != runtimes.Staged ||
		p.read("tries") != "x\nx\n" {
		t.Errorf("%+v after %q", out, p.read("tries"))
	}
}

// TestOneAtATime runs two drivers on one turn.
func TestOneAtATime(t *testing.T) {
	p := newProject(t, shell(`echo $$ > started; while [ ! -e go ]; do sleep 0.02; done; `+stage),
		runner.Options{Trust: true})
	turn := p.assign()
	first := make(chan *runtimes.Outcome, 1)
	go func() { first <- newDriver(p.r).Dispatch(context.Background(), driver.Job{TurnID: turn.TurnID}) }()
	p.await("started")
	cmd := exec.Command(os.Args[0], "act", "drive", p.dir, turn.TurnID)
	if out, err := cmd.Output(); err != nil || string(out) != "drive: aborted turn_busy\n" {
		t.Errorf("%q %v", out, err)
	}
	p.write("go", "")
	if out := <-first; out.Kind != runtimes.Staged {
		t.Errorf("%+v", out)
	}
}

// TestSurvivorsOfAKilledLoopAreEnded kills the process that drives a turn and
// dispatches the turn again.
func TestSurvivorsOfAKilledLoopAreEnded(t *testing.T) {
	for name, script := range map[string]string{
		"plain":             `echo $$ > pid; exec sleep 60`,
		"cleaned, detached": `env -i setsid sh -c 'echo $$ > pid; exec sleep 60' & wait`,
	} {
		t.Run(name, func(t *testing.T) {
			p := newProject(t, shell(`if [ -e pid ]; then echo again; `+stage+`exit; fi; `+script),
				runner.Options{Trust: true})
			turn := p.assign()
			cmd := exec.Command(os.Args[0], "act", "drive", p.dir, turn.TurnID)
			p.must(cmd.Start())
			pid, err := strconv.Atoi(strings.TrimSpace(p.await("pid")))
			p.must(err)
			p.must(cmd.Process.Kill())
			_ = cmd.Wait()
			if syscall.Kill(pid, 0) != nil {
				t.Fatal("the agent died with its loop; nothing is shown here")
			}
			if out := newDriver(p.r).Dispatch(context.Background(),
				driver.Job{TurnID: turn.TurnID}); out.Kind != runtimes.Staged {
				t.Errorf("%+v", out)
			}
			if alive(pid) {
				t.Error("the old agent is still at work")
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		})
	}
}

func alive(pid int) bool {
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	return err == nil && !strings.Contains(string(stat[strings.LastIndexByte(string(stat), ')'):]), " Z ")
}

func TestLogIsBounded(t *testing.T) {
	p := newProject(t, shell(`echo first; yes 0123456789abcdef | head -c 40000000; echo last; `+stage),
		runner.Options{Trust: true})
	turn := p.assign()
	if out := newDriver(p.r).Dispatch(context.Background(),
		driver.Job{TurnID: turn.TurnID}); out.Kind != runtimes.Staged {
		t.Fatalf("%+v", out)
	}
	log := p.read(wire.BundleDir(turn.TurnID) + "/stdout.log")
	if len(log) > 9<<20 || !strings.Contains(log[:4096], "first\n") ||
		!strings.Contains(log[len(log)-4096:], "last\n") || !strings.Contains(log, "log_shortened") {
		t.Errorf("%d bytes", len(log))
	}
}
