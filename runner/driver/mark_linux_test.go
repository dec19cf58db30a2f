// Marking of child processes: an agent is recognised however it calls.

package driver_test

import (
	"context"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
	"github.com/git-agentxchain/git-agentxchain/runner/driver"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes"
)

// approveAs returns shell code in which an agent approves its own gate; $B is the program.
func approveAs(form string) string {
	return "B='" + os.Args[0] + "'; A=\"$B act approve $PWD\"; " + form +
		"; while [ ! -s answer ]; do sleep 0.02; done; " + stage
}

func TestAgentsCannotApprove(t *testing.T) {
	for name, form := range map[string]string{
		"directly":                     `exec_() { $A > answer.tmp; mv answer.tmp answer; }; exec_`,
		"through a shell":              `sh -c "$A > answer"`,
		"marker unset":                 `env -u AGENTXCHAIN_TURN_ID $A > answer`,
		"cleaned environment":          `env -i PATH=$PATH $A > answer`,
		"own session":                  `setsid $A > answer`,
		"background":                   `{ $A > answer & }`,
		"nohup":                        `{ nohup $A > answer 2>/dev/null & }`,
		"double fork":                  `(sh -c "$A > answer" &)`,
		"detached":                     `(setsid sh -c "sleep 0.2; $A > answer" >/dev/null 2>&1 &)`,
		"detached, cleaned":            `(env -i PATH=$PATH setsid sh -c "sleep 0.2; $A > answer" >/dev/null 2>&1 &)`,
		"detached, cleaned, closed":    `(env -i PATH=$PATH setsid sh -c "exec 3>&- 4>&-; sleep 0.2; $A > answer" >/dev/null 2>&1 &)`,
		"detached twice, cleaned":      `(env -i PATH=$PATH setsid sh -c "(env -i PATH=$PATH setsid sh -c 'exec 3>&-; sleep 0.3; $A > answer' &) ; exit" >/dev/null 2>&1 &)`,
		"cleaned, then detached":       `env -i PATH=$PATH sh -c "exec 3>&-; (setsid sh -c 'sleep 0.2; $A > answer' >/dev/null 2>&1 &)"`,
		"its descriptors closed first": `exec 3>&-; env -i PATH=$PATH $A > answer`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t, shell(approveAs(form)), runner.Options{Trust: true})
			turn := p.assign()
			out := newDriver(p.r).Dispatch(context.Background(), driver.Job{
				TurnID:   turn.TurnID,
				Deadline: time.Now().Add(20 * time.Second),
			})
			if out.Kind != runtimes.Staged {
				t.Fatalf("%+v\n%s", out, p.read(wire.BundleDir(turn.TurnID)+"/stdout.log"))
			}
			if got := p.read("answer"); got != "approve: "+wire.CodeInsideTurn+"\n" {
				t.Errorf("the agent got %q", got)
			}
		})
	}
}

// TestPeopleCanApprove asks from outside while an agent is at work.
func TestPeopleCanApprove(t *testing.T) {
	p := newProject(t, shell(`echo x > started; while [ ! -e go ]; do sleep 0.02; done; `+stage),
		runner.Options{Trust: true})
	turn := p.assign()
	done := make(chan *runtimes.Outcome, 1)
	// The loop is a separate process, as in another terminal.
	loop := exec.Command(os.Args[0], "act", "drive", p.dir, turn.TurnID)
	go func() { _ = loop.Run(); done <- nil }()
	p.await("started")
	for name, cmd := range map[string]*exec.Cmd{
		"as they are":   exec.Command(os.Args[0], "act", "approve", p.dir),
		"own session":   exec.Command("setsid", "-w", os.Args[0], "act", "approve", p.dir),
		"clean":         exec.Command("env", "-i", "PATH="+os.Getenv("PATH"), os.Args[0], "act", "approve", p.dir),
		"by their make": exec.Command("sh", "-c", os.Args[0]+" act approve "+p.dir+" | cat"),
	} {
		if out, err := cmd.Output(); err != nil || strings.Contains(string(out), wire.CodeInsideTurn) ||
			!strings.HasPrefix(string(out), "approve:") {
			t.Errorf("%s: %q %v", name, out, err)
		}
	}
	p.write("go", "")
	<-done
}

// TestLateCallersAreGone leaves behind a process that would approve once the turn is over.
func TestLateCallersAreGone(t *testing.T) {
	testrepo.Serving(t)
	p := newProject(t,
		shell(`(env -i PATH=$PATH setsid sh -c "exec 3>&-; sleep 0.4; touch $PWD/late" >/dev/null 2>&1 &); echo hi; `+
			stage), runner.Options{Trust: true})
	turn := p.assign()
	if out := newDriver(p.r).Dispatch(context.Background(),
		driver.Job{TurnID: turn.TurnID}); out.Kind != runtimes.Staged {
		t.Fatalf("%+v", out)
	}
	time.Sleep(700 * time.Millisecond)
	if p.exists("late") {
		t.Error("a process of the agent outlived the turn")
	}
}

type resources struct{ goroutines, descriptors, children int }

// usage returns what this process holds, once it has settled.
func usage(t *testing.T) resources {
	t.Helper()
	var u resources
	for range 50 {
		runtime.GC()
		time.Sleep(20 * time.Millisecond)
		now := resources{
			goroutines:  runtime.NumGoroutine(),
			descriptors: entries(t, "/proc/self/fd"),
			children:    children(t),
		}
		if now == u {
			return u
		}
		u = now
	}
	return u
}

func entries(t *testing.T, dir string) int {
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

// children counts the children of this process, dead ones included.
func children(t *testing.T) int {
	t.Helper()
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, task := range tasks {
		data, err := os.ReadFile("/proc/self/task/" + task.Name() + "/children")
		if err == nil {
			n += len(strings.Fields(string(data)))
		}
	}
	return n
}

// TestNothingLeaks carries out many turns in one process.
func TestNothingLeaks(t *testing.T) {
	testrepo.Serving(t)
	n := 60
	if os.Getenv("AGENTXCHAIN_LONG_TESTS") != "" {
		n = 1000
	}
	p := newProject(t, shell(`(env -i setsid sleep 60 >/dev/null 2>&1 &) ; echo hi; `+stage),
		runner.Options{Trust: true})
	turn := p.assign()
	d := newDriver(p.r)
	v, err := p.r.View(context.Background())
	p.must(err)
	dispatch := func() {
		if out := d.Dispatch(context.Background(), driver.Job{
			TurnID: turn.TurnID,
			View:   v,
		}); out.Kind != runtimes.Staged {
			t.Fatalf("%+v", out)
		}
	}
	dispatch()
	before := usage(t)
	for range n {
		dispatch()
	}
	if after := usage(t); after != before {
		t.Errorf("before %+v, after %d dispatches %+v", before, n, after)
	}
}
