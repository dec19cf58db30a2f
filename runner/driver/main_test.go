//go:build unix

package driver_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/testproject"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/runner"
	"github.com/git-agentxchain/git-agentxchain/runner/driver"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes/localcli"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes/manual"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes/remote"
)

// TestMain also runs the programs of the people and agents in these tests. Its arguments say what
// to do: an agent may have emptied its environment.
func TestMain(m *testing.M) {
	runner.AgentHelper(os.Args)
	if len(os.Args) > 3 && os.Args[1] == "act" {
		os.Exit(act(os.Args[2], os.Args[3]))
	}
	testrepo.Isolate()
	_ = os.Unsetenv(runner.TurnMarker)
	os.Exit(m.Run())
}

// act approves the pending gate of a project, or carries out its turn, as a separate process would.
func act(what, dir string) int {
	if what == "reap" {
		return reap(os.Args[4])
	}
	ctx := context.Background()
	r, err := runner.Open(ctx, dir, runner.Options{Trust: true})
	if err != nil {
		fmt.Println(err)
		return 2
	}
	defer func() { _ = r.Close() }()
	switch what {
	case "approve":
		_, err = r.Approve(ctx, runner.ApproveOptions{DryRun: true})
		fmt.Println("approve:", runner.ErrorCode(err))
	case "within":
		fmt.Println("within:", r.InsideTurn())
	case "note":
		_, err = r.BeginDispatch(ctx, os.Args[4], false)
		fmt.Println("note:", err)
	case "drive":
		out := newDriver(r).Dispatch(ctx, driver.Job{TurnID: os.Args[4]})
		fmt.Println("drive:", out.Kind, out.Class)
	}
	return 0
}

func newRuntime(rt *config.Runtime) (runtimes.Runtime, error) {
	switch rt.Type {
	case "local_cli":
		return localcli.New(), nil
	case "remote_agent":
		return remote.New(), nil
	}
	return manual.New(), nil
}

func newDriver(r *runner.Runner) *driver.Driver {
	return driver.New(r, driver.Options{New: newRuntime, Sole: true})
}

type project struct {
	t   testing.TB
	dir string
	r   *runner.Runner
}

// newProject makes a governed project whose developer is the given runtime and has the first phase
// to itself.
func newProject(t testing.TB, runtime *ojson.Object, opt runner.Options, edit ...func(*ojson.Object)) *project {
	t.Helper()
	p := &project{t: t, dir: testproject.New(t, func(cfg *ojson.Object) {
		cfg.Object("runtimes").Set("agent", runtime)
		cfg.Object("roles").Object("dev").Set("runtime", "agent")
		planning := cfg.Object("routing").Object("planning")
		planning.Set("entry_role", "dev")
		planning.Set("allowed_next_roles", []string{"dev", "human"})
		for _, e := range edit {
			e(cfg)
		}
	})}
	var err error
	p.r, err = runner.Open(context.Background(), p.dir, opt)
	p.must(err)
	t.Cleanup(func() { _ = p.r.Close() })
	return p
}

func (p *project) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *project) write(name, content string) {
	p.t.Helper()
	full := filepath.Join(p.dir, filepath.FromSlash(name))
	p.must(os.MkdirAll(filepath.Dir(full), 0o777))
	p.must(os.WriteFile(full, []byte(content), 0o666))
}

func (p *project) read(name string) string {
	p.t.Helper()
	data, err := os.ReadFile(filepath.Join(p.dir, filepath.FromSlash(name)))
	p.must(err)
	return string(data)
}

func (p *project) exists(name string) bool {
	_, err := os.Lstat(filepath.Join(p.dir, filepath.FromSlash(name)))
	return err == nil
}

func (p *project) assign() *run.Turn {
	p.t.Helper()
	a, err := p.r.AssignTurn(context.Background(), runner.AssignOptions{Role: "dev"})
	p.must(err)
	return a.Turn
}

func shell(script string) *ojson.Object {
	return ojson.NewObject("type", "local_cli", "command", []string{"/bin/sh", "-c", script})
}

// stage is shell code that stages a result that counts.
const stage = `echo '{"schema_version":"1.0"}' > .agentxchain/staging/$AGENTXCHAIN_TURN_ID/turn-result.json; `

// await waits until a file has contents.
func (p *project) await(name string) string {
	p.t.Helper()
	for range 1000 {
		if data, err := os.ReadFile(filepath.Join(p.dir, name)); err == nil && strings.HasSuffix(string(data), "\n") {
			return string(data)
		}
		time.Sleep(10 * time.Millisecond)
	}
	p.t.Fatalf("%s was not written", name)
	return ""
}
