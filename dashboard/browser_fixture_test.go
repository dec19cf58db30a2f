// What the browser and load tests look at: projects made by the program itself, long runs, an
// initiative, an artifact.

package dashboard

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/testleak"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
)

// made is the directory for what several tests use, removed when they have ended.
var made string

var workshop = sync.OnceValues(func() (dir string, err error) {
	made, err = os.MkdirTemp("", "dashboard-*")
	return made, err
})

// TestMain looks for goroutines that the tests left.
func TestMain(m *testing.M) { testleak.Main(tests{m}) }

type tests struct{ *testing.M }

func (t tests) Run() int {
	code := t.M.Run()
	http.DefaultClient.CloseIdleConnections()
	if made != "" {
		_ = os.RemoveAll(made)
	}
	return code
}

// program is git-agentxchain, built once.
var program = sync.OnceValues(func() (string, error) {
	dir, err := workshop()
	if err != nil {
		return "", err
	}
	return testrepo.Program(dir)
})

// command returns the program in dir, without the machine's configuration.
func command(t testing.TB, dir string, args ...string) *exec.Cmd {
	t.Helper()
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull)
	return cmd
}

// run runs the program to its end, in another process, and decodes what it printed.
func run(t testing.TB, dir string, args ...string) map[string]any {
	t.Helper()
	cmd := command(t, dir, append([]string{"--json"}, args...)...)
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %v\n%s%s", args, err, out.Bytes(), complaint.Bytes())
	}
	var answer map[string]any
	if err := json.Unmarshal(out.Bytes(), &answer); err != nil {
		t.Fatalf("%v: %v: %s", args, err, out.Bytes())
	}
	return answer
}

// begin starts a program that runs until the test ends, and returns the line of JSON that it prints
// when it listens.
func begin(t testing.TB, dir string, args ...string) (session map[string]any, cmd *exec.Cmd) {
	t.Helper()
	cmd = command(t, dir, append([]string{"--json"}, args...)...)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
	})
	if err := json.NewDecoder(io.LimitReader(out, 1<<20)).Decode(&session); err != nil {
		t.Fatalf("%v: %v: %s", args, err, complaint.Bytes())
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	return session, cmd
}

// stage fills in the result of the turn under way.
func stage(t testing.TB, dir string, assigned map[string]any, summary string) {
	t.Helper()
	result := assigned["result_template"].(map[string]any)
	maps.Copy(result, map[string]any{
		"summary":            summary,
		"files_changed":      []any{},
		"proposed_next_role": "human",
		"artifact":           map[string]any{"type": "review", "ref": nil},
		"decisions":          []any{},
		"objections": []any{map[string]any{
			"id":        "OBJ-001",
			"severity":  "low",
			"statement": "A doubt.",
			"status":    "raised",
		}},
		"verification": map[string]any{
			"status":           "skipped",
			"commands":         []any{},
			"evidence_summary": "Read only.",
			"machine_evidence": []any{},
		},
	})
	data, err := json.Marshal(result)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, ".agentxchain", "staging", assigned["turn_id"].(string), "turn-result.json")
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
}

// longTurns is how many turns were accepted in the long run.
const longTurns = 10_000

var long sync.Once

// longRun returns a project with a run of longTurns accepted turns and a turn with a staged result.
// The tests share it.
func longRun(t testing.TB) string { return longProject(t, "long") }

// longChain is longRun with the operations that so many turns have, two a turn. They are forged:
// they can be listed and looked at, but are not believed.
func longChain(t testing.TB) string { return longProject(t, "chain") }

func longProject(t testing.TB, name string) string {
	t.Helper()
	testrepo.Isolate()
	top, err := workshop()
	if err != nil {
		t.Fatal(err)
	}
	long.Do(func() {
		makeLongRun(t, filepath.Join(top, "long"))
		chain := filepath.Join(top, "chain")
		if err := os.CopyFS(chain, os.DirFS(filepath.Join(top, "long"))); err != nil {
			t.Fatal(err)
		}
		lengthen(t, chain, 2*longTurns)
	})
	dir := filepath.Join(top, name)
	if _, err := os.Stat(filepath.Join(dir, ".git")); err != nil {
		t.Fatal("the long run could not be made: ", err)
	}
	return dir
}

func makeLongRun(t testing.TB, dir string) {
	t.Helper()
	bin, err := program()
	if err != nil {
		t.Fatal(err)
	}
	seed := exec.Command("go", "run", "../bench/seed", "-bin", bin, "-turns", fmt.Sprint(longTurns), dir)
	seed.Env = append(os.Environ(), "GOFLAGS="+strings.ReplaceAll(os.Getenv("GOFLAGS"), "-race", ""))
	if out, err := seed.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// lengthen puts operations below the newest one of a recorded run, as git sees them: commits with
// their messages. They have the tree of the newest.
func lengthen(t testing.TB, dir string, n int) {
	t.Helper()
	git := func(stdin string, args ...string) string {
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Stdin = dir, strings.NewReader(stdin)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	ref := git("", "for-each-ref", "--format=%(refname)", "refs/agentxchain/runs/")
	tip, message := git("", "rev-parse", ref), git("", "log", "-1", "--format=%B", ref)
	turn := message[strings.Index(message, "turn_"):][:21]
	accepted := strings.NewReplacer("assign "+turn+" to dev (building)", "accept "+turn+" (dev, building): completed",
		"assign_turn", "accept_turn").Replace(message)
	var b strings.Builder
	for i := range n {
		said := strings.ReplaceAll([]string{message, accepted}[i%2], turn,
			fmt.Sprintf("turn_%08x%08x", i/2*0x9e3779b1&0xffffffff, i/2))
		fmt.Fprintf(&b,
			"commit refs/lengthened\nmark :%d\ncommitter Bench <bench@example.org> %d +0000\ndata %d\n%s\n", i+1,
			1_790_000_000+60*i, len(said), said)
		if i == 0 {
			fmt.Fprintf(&b, "from %s~1\n\n", tip)
		} else {
			fmt.Fprintf(&b, "from :%d\n\n", i)
		}
	}
	git(b.String(), "fast-import", "--quiet", "--force")
	made := git(message+"\n", "commit-tree", tip+"^{tree}", "-p", "refs/lengthened")
	git("", "update-ref", ref, made, tip)
	git("", "update-ref", "-d", "refs/lengthened")
	// The work tree remembers where the run was, and that the new tip does not follow
	// from it; a clone does not.
	if err := os.RemoveAll(filepath.Join(dir, ".git", "agentxchain")); err != nil {
		t.Fatal(err)
	}
}

// initiative makes a workspace over three repositories of which the first is active.
func initiative(t testing.TB) (workspace string) {
	t.Helper()
	testrepo.Isolate()
	top := t.TempDir()
	for _, id := range []string{"api", "web", "cli"} {
		dir := filepath.Join(top, id)
		commit(t, dir, "init", "-q", "-b", "main")
		run(t, dir, "init")
		commit(t, dir, "add", "-A")
		commit(t, dir, "commit", "-q", "-m", "project")
	}
	workspace = filepath.Join(top, "ws")
	commit(t, workspace, "init", "-q", "-b", "main")
	const config = `{"schema_version":"0.1","project":{"id":"shop","name":"Shop"},
"repos":{"api":{"path":"../api"},"web":{"path":"../web"},"cli":{"path":"../cli"}},
"workstreams":{"plan":{"phase":"planning","repos":["api","web","cli"],"entry_repo":"api","depends_on":[],"completion_barrier":"all_repos_accepted"},
"contract":{"phase":"implementation","repos":["api","web"],"entry_repo":"api","depends_on":["plan"],"completion_barrier":"interface_alignment","interface_alignment":{"decision_ids_by_repo":{"api":["DEC-101"],"web":["DEC-201"]}}},
"rollout":{"phase":"implementation","repos":["api","cli"],"entry_repo":"api","depends_on":["contract"],"completion_barrier":"ordered_repo_sequence"},
"ship":{"phase":"qa","repos":["api","web","cli"],"entry_repo":"api","depends_on":["rollout"],"completion_barrier":"shared_human_gate"}},
"routing":{"planning":{"entry_workstream":"plan"},"implementation":{"entry_workstream":"contract"},"qa":{"entry_workstream":"ship"}},
"gates":{"initiative_ship":{"requires_human_approval":true}}}`
	if err := os.WriteFile(filepath.Join(workspace, "agentxchain-multi.json"), []byte(config), 0o666); err != nil {
		t.Fatal(err)
	}
	run(t, workspace, "multi", "init")
	run(t, workspace, "multi", "step")
	return workspace
}

// commit runs git with an author, in a directory that it makes if necessary.
func commit(t testing.TB, dir string, args ...string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), "git",
		append([]string{"-c", "user.name=Ann", "-c", "user.email=ann@example.org"}, args...)...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v: %s", args, err, out)
	}
}
