// Tests of artifacts of real projects: exported, verified, exported again; helpers for the other tests of the
// package.

package restore

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/lockfile"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/testproject"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

func TestMain(m *testing.M) {
	testrepo.Isolate()
	os.Exit(m.Run())
}

// project makes a governed project with a run in it.
func project(t *testing.T, dir string) {
	t.Helper()
	if _, err := testproject.Init(t.Context(), dir, runner.ProjectOptions{ID: "proj"}); err != nil {
		t.Fatal(err)
	}
	r, err := runner.Open(t.Context(), dir, runner.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	if _, err := r.InitRun(t.Context(), runner.InitRunOptions{}); err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, dir, name, content string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
}

// exported returns the export of dir.
func exported(t *testing.T, dir string, opt ExportOptions) (*Export, []byte) {
	t.Helper()
	opt.TempDir = t.TempDir()
	e, err := Prepare(t.Context(), dir, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	var b bytes.Buffer
	if _, err := e.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	return e, b.Bytes()
}

func verified(t *testing.T, data []byte) *Report {
	t.Helper()
	r, err := Verify(t.Context(), bytes.NewReader(data), VerifyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func passes(t *testing.T, data []byte) *ojson.Object {
	t.Helper()
	if r := verified(t, data); !r.Passed() {
		t.Fatalf("findings: %v", r.Findings)
	}
	o, err := ojson.DecodeObject(data)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestExportedRunsVerify(t *testing.T) {
	testrepo.Matrix(t, func(t *testing.T, repo *testrepo.Repo) {
		dir := repo.Dir
		project(t, dir)
		// As in projects with ignore rules from before the dashboard.
		ignore, err := os.ReadFile(filepath.Join(dir, ".gitignore"))
		if err != nil {
			t.Fatal(err)
		}
		write(t, dir, ".gitignore", string(ignore)+"!"+dashboardFile+"\n")
		repo.CommitAll("governed")
		write(t, dir, ".planning/binary.dat", "a\xff\xe2\x82\x00b")
		write(t, dir, ".planning/été 😀.md", "one\r\n\ttwo\u2028 \"three\" \\")
		write(t, dir, ".planning/empty.jsonl", "")
		write(t, dir, ".planning/broken.json", "{")
		write(t, dir, ".planning/twice.json", `{"a":1,"a":-0,"b":[1e3, 12345678901234567890]}`)
		write(t, dir, ".planning/lines.jsonl", "\n{\"n\": 1}\r\n \u00a0\n[2]\nnull\n")
		write(t, dir, ".planning/long.md", strings.Repeat("long é ", 60000))
		write(t, dir, ".agentxchain/reports/export-run.json", "{}")
		write(t, dir, ".agentxchain-dashboard.json", `{"pid":77,"url":"http://localhost:1"}`)
		e, data := exported(t, dir, ExportOptions{})
		o := passes(t, data)
		if o.String("schema_version") != "0.3" || o.String("export_kind") != KindRun ||
			o.String("project_root") != "." {
			t.Errorf("the head is %s", data[:200])
		}
		files := o.Object("files")
		for name, format := range map[string]string{
			".planning/broken.json": "text",
			".planning/twice.json":  "json",
			".planning/lines.jsonl": "jsonl",
			".planning/été 😀.md":    "text",
			"agentxchain.json":      "json",
		} {
			if have := files.Object(name).String("format"); have != format {
				t.Errorf("%s is exported as %q", name, have)
			}
		}
		if files.Has(".agentxchain/reports/export-run.json") || files.Has(dashboardFile) {
			t.Error("reports and what a dashboard left are in the artifact")
		}
		if n, _ := o.Object("summary").Int("included_files"); n != files.Len() || e.Files != n {
			t.Errorf("included_files is %d of %d", n, files.Len())
		}
		if s := o.Object("summary").Object("dashboard_session").String("status"); s != "stale" {
			t.Errorf("the dashboard is %s", s)
		}
		git := o.Object("workspace").Object("git")
		if git.Strings("restore_blockers")[0] != blockerDirty+dashboardFile {
			t.Errorf("the checkout is %s", ojson.Compact(git))
		}
		if err := os.Remove(filepath.Join(dir, dashboardFile)); err != nil {
			t.Fatal(err)
		}
		if e, data := exported(t, dir, ExportOptions{}); len(e.Blockers) > 0 {
			t.Errorf("governed changes keep it from being restored: %v\n%.300s", e.Blockers, data)
		}

		// The same moment gives the same bytes, and compression changes nothing.
		now := func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }
		e, one := exported(t, dir, ExportOptions{Now: now})
		if _, two := exported(t, dir, ExportOptions{Now: now}); !bytes.Equal(one, two) {
			t.Error("two exports of one state differ")
		}
		var packed bytes.Buffer
		z, _ := zstd.NewWriter(&packed)
		if _, err := e.WriteTo(z); err != nil {
			t.Fatal(err)
		}
		_ = z.Close()
		if r := verified(t, packed.Bytes()); !r.Passed() || r.FileCount != e.Files {
			t.Errorf("compressed: %+v", r)
		}
	})
}

func TestExportLeavesOutWhatIsAsked(t *testing.T) {
	repo := testrepo.New(t, testrepo.Options{})
	project(t, repo.Dir)
	repo.CommitAll("governed")
	write(t, repo.Dir, ".planning/lines.jsonl", strings.Repeat("{}\n", 30))
	e, data := exported(t, repo.Dir, ExportOptions{MaxJSONLEntries: 10})
	r := verified(t, data)
	if !r.Passed() || len(r.Unproven) != 1 || r.Unproven[0] != "files..planning/lines.jsonl" || len(e.Cut) != 1 ||
		len(e.Blockers) != 1 {
		t.Errorf("%+v %v %v", r, e.Cut, e.Blockers)
	}
	_, data = exported(t, repo.Dir, ExportOptions{MaxFiles: 1})
	o := passes(t, data)
	if s := o.Object("summary"); !s.Bool("export_files_truncated") ||
		o.Object("workspace").Object("git").Bool("restore_supported") {
		t.Errorf("the summary is %s", ojson.Compact(s))
	}
	for _, name := range []string{"agentxchain.json", statePath, wire.LedgerEvents.Path()} {
		if !o.Object("files").Has(name) {
			t.Errorf("%s was left out", name)
		}
	}
}

func TestExportRefuses(t *testing.T) {
	repo := testrepo.New(t, testrepo.Options{})
	code := func(dir string) string {
		_, err := Prepare(t.Context(), dir, ExportOptions{LockWait: time.Millisecond})
		return wire.ErrorCode(err)
	}
	if c := code(repo.Dir); c != CodeNoExport {
		t.Errorf("nothing here: %q", c)
	}
	project(t, repo.Dir)
	write(t, repo.Dir, ".agentxchain/schedule-state.json", "{")
	if c := code(repo.Dir); c != CodeContent {
		t.Errorf("a governed document that is not JSON: %q", c)
	}
	repo.Remove(".agentxchain/schedule-state.json")
	lock, err := lockfile.Acquire(context.Background(), filepath.Join(repo.Dir, wire.LockPath), "test", 0)
	if err != nil {
		t.Fatal(err)
	}
	if c := code(repo.Dir); c != fail.CodeLocked {
		t.Errorf("while an operation runs: %q", c)
	}
	_ = lock.Release()
	if err := os.Symlink("/etc/hostname", repo.Path(".agentxchain/session-link")); err != nil {
		t.Skip(err)
	}
	_ = os.Symlink("/etc/hostname", repo.Path(".agentxchain/lock.json"))
	e, data := exported(t, repo.Dir, ExportOptions{})
	if passes(t, data).Object("files").Has(".agentxchain/lock.json") || len(e.Notices) == 0 {
		t.Errorf("a link out of the project was followed: %v", e.Notices)
	}
}

func TestExportInitiative(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"api", "web"} {
		r := testrepo.New(t, testrepo.Options{})
		project(t, r.Dir)
		if err := os.Rename(r.Dir, filepath.Join(dir, name)); err != nil {
			t.Skip(err)
		}
	}
	write(t, dir, coordinatorFile,
		`{"schema_version":"0.1","project":{"id":"co","name":"Co"},"repos":{"web":{"path":"web"},"api":{"path":"./api"},"gone":{"path":"gone"}},"workstreams":{"core":{}},"routing":{"planning":{}}}`)
	write(t, dir, multiDir+"/state.json",
		`{"super_run_id":"srun_1","status":"active","phase":"planning","repo_runs":{"api":{"status":"linked"},"web":{}}}`)
	write(t, dir, multiDir+"/barriers.json", `{"b":{}}`)
	write(t, dir, multiDir+"/history.jsonl", "{}\n{}\n")
	e, data := exported(t, dir, ExportOptions{})
	o := passes(t, data)
	if e.Repos != 3 || e.Failed != 1 || e.Run != "srun_1" || o.Object("repos").Object("gone").Bool("ok") {
		t.Errorf("%+v", e)
	}
	events := o.Object("summary").Object("aggregated_events")
	if n, _ := events.Int("total_events"); n == 0 || len(events.Array("events")) != n ||
		len(events.Strings("repos_with_events")) != 2 {
		t.Errorf("events: %.300s", ojson.Compact(events))
	}
	if root := o.Object("repos").Object("api").Object("export").String("project_root"); root != "api" {
		t.Errorf("the repository is at %q", root)
	}
	mutants(t, data)
}

// TestExportSaysWhatCannotBeRestored checks that a file whose name a restore refuses is in the artifact, which then
// does not claim to be restorable.
func TestExportSaysWhatCannotBeRestored(t *testing.T) {
	repo := testrepo.New(t, testrepo.Options{})
	project(t, repo.Dir)
	write(t, repo.Dir, `.planning/a\b.md`, "x\n")
	write(t, repo.Dir, ".planning/Notes.md", "x\n")
	write(t, repo.Dir, ".planning/notes.md", "y\n")
	repo.CommitAll("governed")
	e, data := exported(t, repo.Dir, ExportOptions{})
	o := passes(t, data)
	if len(e.Blockers) != 2 || !strings.Contains(e.Blockers[0]+e.Blockers[1], "backslash") ||
		!strings.Contains(e.Blockers[0]+e.Blockers[1], "the same file") {
		t.Errorf("%q", e.Blockers)
	}
	if o.Object("workspace").Object("git").Bool("restore_supported") || !o.Object("files").Has(`.planning/a\b.md`) {
		t.Error("it promises to be restorable, or a file is missing")
	}
}
