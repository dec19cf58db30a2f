// Tests of a workspace on disk: file formats, bad lines, other writers, kills between the files of a change.

package coordinator

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/lockfile"
	"github.com/git-agentxchain/git-agentxchain/internal/faults"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/initiative"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// workspaceDir makes a workspace with its repositories and files.
func workspaceDir(t testing.TB) string {
	t.Helper()
	dir := tree(t, "repos/web/", "repos/api/", "repos/docs/", ".agentxchain/multirepo/")
	cfg := decoded(t, shop)
	write(t, dir, initiative.ConfigFile, shop)
	write(t, dir, initiative.StatePath,
		`{"super_run_id":"srun_1","status":"active","phase":"design","repo_runs":{"api":{"run_id":"run_api","status":"linked"},"web":{"run_id":"run_web"}},"mine":[1]}`)
	write(t, dir, initiative.BarriersPath, string(ojson.Pretty(initiative.NewBarriers(cfg, "t0").Object())))
	return dir
}

func write(t testing.TB, dir, name, data string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), []byte(data), 0o644); err != nil {
		t.Fatal(err)
	}
}

func contents(t testing.TB, dir, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return string(data)
}

func open(t testing.TB, dir string) *Store {
	t.Helper()
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// project projects on disk.
func project(s *Store, in initiative.Acceptance, seed string) (*initiative.Change, error) {
	_, c, err := s.Update(context.Background(), "test", 10*time.Second,
		func(d *Documents) (*initiative.Change, *wire.Error) {
			return initiative.Project(&d.Workspace, in, at(seed))
		})
	return c, err
}

func code(err error) string {
	var c interface{ ErrorCode() string }
	if errors.As(err, &c) {
		return c.ErrorCode()
	}
	return fmt.Sprint(err)
}

func TestUpdateWritesTheProtocolsFiles(t *testing.T) {
	dir := workspaceDir(t)
	s := open(t, dir)
	in := handedIn("api", "contract", "t1", "src/a")
	in.Decisions = []any{"DEC-1"}
	first, err := project(s, in, "s1")
	if err != nil {
		t.Fatal(err)
	}
	if again, err := project(s, in, "s2"); err != nil || again.ProjectionRef != first.ProjectionRef || !again.Empty() {
		t.Errorf("%+v %v", again, err)
	}
	in = handedIn("web", "contract", "t1")
	in.Decisions = []any{ojson.NewObject("id", "DEC-2"), "DEC-3"}
	if _, err := project(s, in, "s3"); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(contents(t, dir, initiative.HistoryPath), "\n"); n != 2 {
		t.Errorf("%d rows of history", n)
	}
	if n := strings.Count(contents(t, dir, initiative.BarrierLedgerPath), "\n"); n != 2 {
		t.Errorf("%d rows in the barrier ledger", n)
	}
	d, err := s.Read()
	if err != nil || len(d.Findings)+len(d.RepoProblems) > 0 {
		t.Fatalf("%v %+v", err, d)
	}
	if b := d.Barriers.Get("contract_completion"); b.Status != initiative.Satisfied ||
		strings.Join(b.Satisfied, " ") != "api web" {
		t.Errorf("%+v", b)
	}
	if !strings.Contains(contents(t, dir, initiative.BarriersPath),
		"{\n  \"contract_completion\": {\n    \"workstream_id\"") {
		t.Errorf("%s", contents(t, dir, initiative.BarriersPath))
	}
	if _, err := os.Lstat(filepath.Join(dir, pendingPath)); err == nil {
		t.Error("the record of a change that is done is left")
	}
	// A refusal writes nothing.
	before := contents(t, dir, initiative.HistoryPath)
	if _, err := project(s, handedIn("api", "build", "t2", "../web/x"),
		"s"); code(err) != initiative.CodeCrossRepoWrite || contents(t, dir, initiative.HistoryPath) != before {
		t.Errorf("%v", err)
	}
	// state.json keeps unknown members.
	d.State.Phase = "make"
	if got := string(ojson.Compact(d.State.Object())); !strings.Contains(got, `"mine":[1]`) ||
		!strings.HasPrefix(got, `{"super_run_id"`) {
		t.Errorf("%s", got)
	}
}

func TestBadLinesCostThemselvesOnly(t *testing.T) {
	dir := workspaceDir(t)
	s := open(t, dir)
	if _, err := project(s, handedIn("web", "polish", "t1"), "s"); err != nil {
		t.Fatal(err)
	}
	good := contents(t, dir, initiative.HistoryPath)
	write(t, dir, initiative.HistoryPath, "{torn\n\n"+good+"[1]\n{\"a\":1,\"a\":2}\n{\"type\":\"acceptance_proj")
	write(t, dir, initiative.DecisionsPath,
		`{"id":"DEC-COORD-041"}`+"\nx\n"+`{"id":"DEC-COORD-7"}{`+"\n"+`{"id":"DEC-COORD-x"}`)
	d, err := s.Read()
	if err != nil || len(d.Findings) != 6 || d.Findings[0].Field != initiative.HistoryPath+":1" ||
		d.NextDecision != 42 {
		t.Fatalf("%v %+v", err, d)
	}
	if got := d.History.Accepted("polish"); len(got) != 1 {
		t.Errorf("%v", got)
	}
	// The next row is not appended to the torn one.
	if _, err := project(s, handedIn("api", "polish", "t2"), "s"); err != nil {
		t.Fatal(err)
	}
	if d, err = s.Read(); err != nil || len(d.History.Accepted("polish")) != 2 {
		t.Errorf("%v", err)
	}
}

func TestReadRefuses(t *testing.T) {
	for _, c := range []struct {
		name, file, data, code string
	}{
		{"no configuration", initiative.ConfigFile, "", initiative.CodeConfigMissing},
		{"a bad configuration", initiative.ConfigFile, `{}`, initiative.CodeInvalidConfig},
		{"no JSON", initiative.ConfigFile, `{`, wire.CodeInvalidJSON},
		{"no state", initiative.StatePath, "", initiative.CodeNoCoordinator},
		{"a bad status", initiative.StatePath, `{"super_run_id":"s","status":"done"}`, wire.CodeInvalidState},
		{"a wrong member", initiative.StatePath, `{"super_run_id":7,"status":"active"}`, wire.CodeInvalidState},
		{"barriers that are none", initiative.BarriersPath, `[]`, wire.CodeInvalidState},
		{"a large state", initiative.StatePath, strings.Repeat(" ", maxDocumentBytes+1), "unreadable_file"},
	} {
		dir := workspaceDir(t)
		if c.data == "" {
			os.Remove(filepath.Join(dir, c.file))
		} else {
			write(t, dir, c.file, c.data)
		}
		s := open(t, dir)
		if _, err := s.Read(); code(err) != c.code {
			t.Errorf("%s: %v", c.name, err)
		}
		if _, err := project(s, handedIn("api", "build", "t"), "s"); code(err) != c.code {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if _, err := Open(filepath.Join(t.TempDir(), "none")); code(err) != "unreadable_file" {
		t.Error(err)
	}
}

// Files that are not regular are neither followed nor waited for.
func TestHostileFiles(t *testing.T) {
	outside := tree(t, "state.json")
	for name, prepare := range map[string]func(dir string){
		"a link out of the workspace": func(dir string) {
			os.Remove(filepath.Join(dir, initiative.StatePath))
			os.Symlink(filepath.Join(outside, "state.json"), filepath.Join(dir, initiative.StatePath))
		},
		"a directory in place of a ledger": func(dir string) {
			os.Mkdir(filepath.Join(dir, initiative.HistoryPath), 0o755)
		},
		"a directory of links": func(dir string) {
			os.RemoveAll(filepath.Join(dir, ".agentxchain"))
			os.Symlink(outside, filepath.Join(dir, ".agentxchain"))
		},
	} {
		dir := workspaceDir(t)
		prepare(dir)
		s := open(t, dir)
		if _, err := s.Read(); code(err) != "unreadable_file" {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := project(s, handedIn("api", "build", "t"), "s"); code(err) != "unreadable_file" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if entries, _ := os.ReadDir(outside); len(entries) != 1 {
		t.Errorf("something was written outside: %v", entries)
	}
}

// TestKilledBetweenTheFiles kills a projection at every point and lets the next one find the workspace: the turn
// counts once, and the barriers agree.
func TestKilledBetweenTheFiles(t *testing.T) {
	if dir := os.Getenv("COORDINATOR_KILLED"); dir != "" {
		s, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		_, err = project(s, handedIn("web", "polish", "t1"), "child")
		fmt.Println(err)
		return
	}
	points := []string{"lock.acquired", "coordinator.change.begun", "durable.write.after:1", "durable.write.after:2"}
	for i := 1; i <= 3; i++ {
		points = append(points, fmt.Sprint("coordinator.change.step:", i))
	}
	for i := 1; i <= 2; i++ {
		points = append(points, fmt.Sprint("durable.append.before:", i), fmt.Sprint("durable.append.written:", i),
			fmt.Sprint("durable.append.after:", i))
	}
	for _, point := range points {
		dir := workspaceDir(t)
		write(t, dir, initiative.BarrierLedgerPath, "{}\n") // so that the second append continues a file
		cmd := exec.Command(os.Args[0], "-test.run=^TestKilledBetweenTheFiles$")
		cmd.Env = append(os.Environ(), "COORDINATOR_KILLED="+dir, faults.Env+"="+point)
		if out, err := cmd.CombinedOutput(); err == nil {
			t.Fatalf("%s: the child lived: %s", point, out)
		}
		s := open(t, dir)
		c, err := project(s, handedIn("web", "polish", "t1"), "parent")
		if err != nil || c.ProjectionRef == "" {
			t.Fatalf("%s: %v", point, err)
		}
		d, err := s.Read()
		if err != nil || len(d.Findings) > 0 {
			t.Fatalf("%s: %v %v", point, err, d.Findings)
		}
		if n := strings.Count(contents(t, dir, initiative.HistoryPath), "acceptance_projection"); n != 1 {
			t.Errorf("%s: the turn counts %d times", point, n)
		}
		if n := strings.Count(contents(t, dir, initiative.BarrierLedgerPath), "barrier_transition"); n != 1 {
			t.Errorf("%s: %d transitions", point, n)
		}
		if b := d.Barriers.Get("polish_completion"); b.Status != initiative.PartiallySatisfied {
			t.Errorf("%s: %s", point, b.Status)
		}
	}
}

// If another program has written after a crash, its content stays and ours is reported; the barriers are derived
// from the actual history.
func TestInterruptedChangeAndAnotherWriter(t *testing.T) {
	dir := workspaceDir(t)
	write(t, dir, initiative.HistoryPath, "{\"type\":\"other\"}\n{\"type\":\"more\"}\n")
	row := `{"type":"acceptance_projection","super_run_id":"srun_1","projection_ref":"proj_x","workstream_id":"polish","repo_id":"web","repo_turn_id":"t"}` +
		"\n"
	record := func(steps ...step) {
		write(t, dir, pendingPath,
			string(ojson.Pretty(ojson.Marshal(&pendingChange{SchemaVersion: initiative.Schema, Steps: steps}))))
	}
	record(step{File: initiative.HistoryPath, Data: row, Append: true, Size: 17},
		step{File: initiative.BarriersPath, Data: "{}\n", Before: "0000"}, step{File: "../../evil", Data: "x"},
		step{File: initiative.StatePath, Data: "x", Append: true})
	s := open(t, dir)
	d, c, err := s.Update(context.Background(), "test", time.Second,
		func(d *Documents) (*initiative.Change, *wire.Error) {
			return initiative.Evaluate(&d.Workspace, at("s")), nil
		})
	if err != nil || !c.Empty() || len(d.Findings) != 4 {
		t.Fatalf("%v %+v %+v", err, c, d)
	}
	if contents(t, dir, pendingPath) != "" || len(d.History.Accepted("polish")) != 0 ||
		d.Barriers.Get("polish_completion") == nil {
		t.Error("an abandoned change left its traces")
	}
	write(t, dir, pendingPath, "{")
	if d, _, err = s.Update(context.Background(), "test", time.Second,
		func(*Documents) (*initiative.Change, *wire.Error) { return &initiative.Change{}, nil }); err != nil ||
		len(d.Findings) != 1 || contents(t, dir, pendingPath) != "" {
		t.Errorf("%v %+v", err, d)
	}
	// What a power cut left of a row is completed.
	zeros := strings.Repeat("\x00", len(row)-20)
	for _, left := range []string{row[:20], row[:20] + zeros, zeros, zeros[:20] + row[20:]} {
		write(t, dir, initiative.HistoryPath, "{}\n"+left)
		record(step{File: initiative.HistoryPath, Data: row, Append: true, Size: 3})
		if d, _, err = s.Update(context.Background(), "test", time.Second,
			func(*Documents) (*initiative.Change, *wire.Error) { return &initiative.Change{}, nil }); err != nil ||
			len(d.Findings) != 0 || contents(t, dir, initiative.HistoryPath) != "{}\n"+row {
			t.Errorf("of %q: %v %+v", left, err, d)
		}
	}
}

// TestOneRowIsWrittenDownFirst interrupts a change of a single row in the middle.
func TestOneRowIsWrittenDownFirst(t *testing.T) {
	row := ojson.NewObject("type", "context_generated", "text", strings.Repeat("x", 100))
	add := func(s *Store) error {
		_, _, err := s.Update(context.Background(), "test", time.Second, func(*Documents) (*initiative.Change, *wire.Error) {
			return &initiative.Change{History: []*ojson.Object{row}}, nil
		})
		return err
	}
	if dir := os.Getenv("COORDINATOR_KILLED"); dir != "" {
		s, err := Open(dir)
		if err == nil {
			err = add(s)
		}
		fmt.Println(err)
		return
	}
	dir := workspaceDir(t)
	cmd := exec.Command(os.Args[0], "-test.run=^TestOneRowIsWrittenDownFirst$")
	cmd.Env = append(os.Environ(), "COORDINATOR_KILLED="+dir, faults.Env+"=durable.append.written")
	if out, err := cmd.CombinedOutput(); err == nil {
		t.Fatalf("the child lived: %s", out)
	}
	whole := string(ojson.Compact(row)) + "\n"
	write(t, dir, initiative.HistoryPath, whole[:50]) // what a power cut leaves of it
	if err := add(open(t, dir)); err != nil {
		t.Fatal(err)
	}
	if got := contents(t, dir, initiative.HistoryPath); got != whole+whole {
		t.Errorf("%q", got)
	}
}

func TestOneWriterAtATime(t *testing.T) {
	dir := workspaceDir(t)
	lock, err := lockfile.Acquire(context.Background(), filepath.Join(dir, lockPath), "other", 0)
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, dir)
	_, _, err = s.Update(context.Background(), "test", 0, func(*Documents) (*initiative.Change, *wire.Error) {
		return &initiative.Change{}, nil
	})
	if code(err) != "locked" {
		t.Errorf("%v", err)
	}
	if _, err := s.Read(); err != nil {
		t.Errorf("reading must not wait for a lock: %v", err)
	}
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
	// Eight at once: every turn counts, none twice.
	done := make(chan error)
	for i := range 8 {
		go func() {
			_, err := project(s, handedIn("web", "polish", fmt.Sprint("t", i%4)), fmt.Sprint("s", i))
			done <- err
		}()
	}
	for range 8 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if n := strings.Count(contents(t, dir, initiative.HistoryPath), "\n"); n != 4 {
		t.Errorf("%d rows", n)
	}
}

// shop is an initiative of three repositories, one of them optional.
const shop = `{
  "schema_version": "0.1",
  "project": {"id": " shop ", "name": "Shop", "extra": 1},
  "repos": {
    "web": {"path": "./repos/web"},
    "api": {"path": " repos/api ", "default_branch": "trunk", "required": true},
    "docs": {"path": "repos/docs", "required": false}
  },
  "workstreams": {
    "contract": {"phase": "design", "repos": ["api", "web"], "entry_repo": "api", "depends_on": [], "completion_barrier": "interface_alignment",
      "interface_alignment": {"decision_ids_by_repo": {"api": ["DEC-1"], "web": ["DEC-2", "DEC-3"]}}},
    "names": {"phase": "design", "repos": ["docs"], "entry_repo": "docs", "depends_on": ["contract", "contract"], "completion_barrier": "named_decisions",
      "named_decisions": {"decision_ids_by_repo": {"docs": ["DEC-007"]}}},
    "build": {"phase": "make", "repos": ["api", "web"], "entry_repo": "web", "depends_on": ["contract"], "completion_barrier": "ordered_repo_sequence"},
    "polish": {"phase": "make", "repos": ["web", "api"], "entry_repo": "web", "depends_on": ["build"], "completion_barrier": "all_repos_accepted"},
    "launch": {"phase": "ship", "repos": ["api"], "entry_repo": "api", "depends_on": ["polish"], "completion_barrier": "shared_human_gate"}
  },
  "routing": {"design": {"entry_workstream": "names"}, "make": {}, "ship": {"entry_workstream": "launch"}},
  "gates": {"initiative_ship": {"requires_human_approval": true, "requires_repos": ["api", "web"]}},
  "hooks": {"before_gate": [{"name": "look", "type": "process", "command": ["true"], "timeout_ms": 500, "mode": "blocking"}]},
  "note": "kept"
}`

// decoded returns a configuration without findings.
func decoded(t testing.TB, text string) *initiative.Config {
	t.Helper()
	c, p, e := initiative.Decode([]byte(text))
	if e != nil || len(p) > 0 {
		t.Fatalf("%v %v", e, p)
	}
	return c
}

// at returns the environment of a change at a fixed time.
func at(seed string) protocol.Env {
	return protocol.Env{Now: time.Date(2026, 1, 2, 3, 4, 5, 678e6, time.UTC), Seed: seed}
}

// handedIn returns an accepted turn of a repository.
func handedIn(repo, stream, turn string, files ...string) initiative.Acceptance {
	return initiative.Acceptance{Repo: repo, Workstream: stream, TurnID: turn, FilesChanged: files}
}

// TestWarningsOfARetryAreFound: each line of the events counts, not only one that is last and has no end.
func TestWarningsOfARetryAreFound(t *testing.T) {
	dir := workspaceDir(t)
	const row = `{"event_type":"coordinator_retry_projection_warning","run_id":"srun_1",` +
		`"payload":{"repo_id":"web","warning_message":"m"}}` + "\n"
	write(t, dir, ".agentxchain/events.jsonl", row+`{"event_type":"turn_accepted"}`+"\n"+row)
	s, err := StandingOfFiles(dir)
	if err != nil {
		t.Fatal(err)
	}
	if n, _ := s.Warnings.Int("count"); n != 2 || !s.Warnings.Bool("reconciliation_required") {
		t.Errorf("%s", ojson.Compact(s.Warnings))
	}
}
