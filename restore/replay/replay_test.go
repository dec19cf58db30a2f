// Tests of workspaces from real and from hostile artifacts: their content, refusals, and that nothing is left
// behind.

package replay

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/testproject"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/restore"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

func TestMain(m *testing.M) {
	testrepo.Isolate()
	os.Exit(m.Run())
}

// project makes a governed project with a run in it, in dir or in its own repository.
func project(t *testing.T, dir string) string {
	t.Helper()
	if dir == "" {
		dir = testrepo.New(t, testrepo.Options{}).Dir
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
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
	return dir
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

func exported(t *testing.T, dir string, opt restore.ExportOptions) []byte {
	t.Helper()
	opt.TempDir = t.TempDir()
	e, err := restore.Prepare(t.Context(), dir, opt)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	var b bytes.Buffer
	if _, err := e.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// alone gives the test its own directory for temporary files, which must be empty at the end.
func alone(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	t.Cleanup(func() {
		left, err := os.ReadDir(dir)
		if err != nil || len(left) > 0 {
			t.Errorf("left behind: %v %v", left, err)
		}
	})
}

func open(t *testing.T, data []byte) *Workspace {
	t.Helper()
	w, err := Open(t.Context(), bytes.NewReader(data), restore.VerifyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestRun(t *testing.T) {
	dir := project(t, "")
	write(t, dir, ".planning/böse Namen.bin", "\x00\xff\xfe")
	write(t, dir, ".planning/empty.md", "")
	data := exported(t, dir, restore.ExportOptions{})
	alone(t)
	w := open(t, data)
	if w.Kind != restore.KindRun || w.Schema != "0.3" || !strings.HasPrefix(w.Run, "run_") || len(w.Partial) != 0 {
		t.Errorf("%+v", w)
	}
	n := 0
	err := filepath.WalkDir(w.Dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if info, _ := d.Info(); info.Mode().Perm()&0o222 != 0 {
			t.Errorf("%s can be written to", path)
		}
		if d.IsDir() {
			return nil
		}
		n++
		rel, _ := filepath.Rel(w.Dir, path)
		if read(t, dir, rel) != read(t, w.Dir, rel) {
			t.Errorf("%s is not what was exported", rel)
		}
		return nil
	})
	if err != nil || n != w.Files || n < 5 {
		t.Errorf("%d files, %v; the session says %d", n, err, w.Files)
	}
	s := w.Session("x.json", 0, "")
	if s.String("temp_dir") != w.Dir || s.String("run_id") != w.Run || !s.Has("port") || !s.Has("url") {
		t.Errorf("session %s", ojson.Compact(s))
	}
}

// TestPartial lays out the data of files whose bytes are not in the artifact.
func TestPartial(t *testing.T) {
	const notes = ".agentxchain/reviews/notes.jsonl"
	dir := project(t, "")
	write(t, dir, notes, "{\"n\":1}\n{\"n\":2}\n{\"n\":3}\n")
	data := exported(t, dir, restore.ExportOptions{MaxJSONLEntries: 1})
	alone(t)
	w := open(t, data)
	if len(w.Partial) != 1 || w.Partial[0] != notes {
		t.Fatalf("partial: %v", w.Partial)
	}
	if got := read(t, w.Dir, notes); got != "{\"n\":3}\n" {
		t.Errorf("%s", got)
	}
}

func TestInitiative(t *testing.T) {
	top := testrepo.New(t, testrepo.Options{}).Dir
	project(t, filepath.Join(top, "api"))
	project(t, filepath.Join(top, "web"))
	write(t, top, "agentxchain-multi.json",
		`{"schema_version":"0.1","project":{"id":"suite","name":"Suite"},"repos":{"api":{"path":"./api","keep":1},"web":{"path":"../`+
			filepath.Base(top)+`/web"}},
		"workstreams":{"w":{"phase":"planning","repos":["api","web"],"entry_repo":"api","depends_on":[],"completion_barrier":"all_repos_accepted"}},"routing":{"planning":{},"ship":{}}}`)
	write(t, top, ".agentxchain/multirepo/state.json",
		`{"schema_version":"0.1","super_run_id":"srun_1","status":"active","phase":"planning","repo_runs":{"web":{"run_id":"run_9","status":"active","phase":"ship"}}}`)
	write(t, filepath.Join(top, "web"), ".agentxchain/history.jsonl", "{bad\n")
	data := exported(t, top, restore.ExportOptions{})
	alone(t)
	w := open(t, data)
	if w.Run != "srun_1" || len(w.Repos) != 2 || w.Repos[0].Placeholder != "" || w.Repos[1].Placeholder == "" {
		t.Fatalf("%+v", w)
	}
	cfg, err := ojson.DecodeObject([]byte(read(t, w.Dir, "agentxchain-multi.json")))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range w.Repos {
		if got := cfg.Object("repos").Object(r.ID).String("path"); got != "./"+r.Path {
			t.Errorf("%s is said to be at %s and is at %s", r.ID, got, r.Path)
		}
	}
	if n, _ := cfg.Object("repos").Object("api").Int("keep"); n != 1 {
		t.Error("the rest of the configuration is not kept")
	}
	if a, b := read(t, filepath.Join(top, "api"), ".agentxchain/state.json"),
		read(t, w.Dir, w.Repos[0].Path+"/.agentxchain/state.json"); a != b {
		t.Error("the state of api is not what was exported")
	}
	web := filepath.Join(w.Dir, filepath.FromSlash(w.Repos[1].Path))
	n := 0
	for _, f := range []string{"agentxchain.json", ".agentxchain/state.json", ".agentxchain/history.jsonl",
		".agentxchain/events.jsonl", ".agentxchain/decision-ledger.jsonl", ".agentxchain/prompts/replay.md"} {
		read(t, web, f)
		n++
	}
	state, err := ojson.DecodeObject([]byte(read(t, web, ".agentxchain/state.json")))
	if err != nil || state.String("run_id") != "run_9" || state.String("phase") != "ship" {
		t.Errorf("the placeholder's state: %v %s", err, ojson.Compact(state))
	}
	if _, problem := run.DecodeState([]byte(read(t, web, ".agentxchain/state.json"))); problem != nil {
		t.Errorf("the placeholder's state cannot be read: %v", problem)
	}
	if _, problems, err := config.Decode([]byte(read(t, web, "agentxchain.json"))); err != nil || len(problems) > 0 {
		t.Errorf("the placeholder's configuration cannot be read: %v %v", problems, err)
	}
}

// with adds files to an artifact so that it still verifies.
func with(t *testing.T, data []byte, files map[string]string) []byte {
	t.Helper()
	v, err := ojson.DecodeLimited(data, ojson.Limits{Bytes: 1 << 28, Depth: 200})
	if err != nil {
		t.Fatal(err)
	}
	doc := v.(*ojson.Object)
	for name, content := range files {
		sum := sha256.Sum256([]byte(content))
		doc.Object("files").Set(name,
			ojson.NewObject("format", "text", "bytes", len(content), "sha256", hex.EncodeToString(sum[:]),
				"content_base64", base64.StdEncoding.EncodeToString([]byte(content)), "data", content))
	}
	s := doc.Object("summary")
	for _, k := range []string{"total_collected_files", "included_files"} {
		n, _ := s.Int(k)
		s.Set(k, n+len(files))
	}
	return ojson.Compact(doc)
}

func TestHostileNames(t *testing.T) {
	data := exported(t, project(t, ""), restore.ExportOptions{})
	alone(t)
	open(t, with(t, data, map[string]string{".planning/fine.md": "x"})) // the test's tool works
	long := ".planning/" + strings.Repeat("x", 300)
	for _, name := range []string{"../x", "/abs", "..", ".", "", ".agentxchain/reviews/../../x", ".planning/./x",
		`a\b`, `.planning\..\..\x`, ".planning//x", ".planning/.git/config", ".planning/.GIT/config",
		".planning/.g\u200cit/config", ".planning/git~1/config", "C:/x", "C:x", ".planning/a\x00b", ".git/config",
		"README.md", long, ".agentxchain/state.json/x", ".planning/..", ".planning/x/", ".Planning/y"} {
		_, err := Open(t.Context(), bytes.NewReader(with(t, data, map[string]string{name: "x"})),
			restore.VerifyOptions{})
		var e *wire.Error
		if !errors.As(err, &e) || e.Code != restore.CodeUnsafePath && e.Code != restore.CodeUnverified {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, pair := range [][2]string{
		{".planning/a", ".planning/A"},
		{".planning/b", ".planning/b/c"},
		{".planning/\u00e9", ".planning/e\u0301"},
	} {
		_, err := Open(t.Context(), bytes.NewReader(with(t, data, map[string]string{pair[0]: "x", pair[1]: "y"})),
			restore.VerifyOptions{})
		var e *wire.Error
		if !errors.As(err, &e) || e.Code != restore.CodeUnsafePath {
			t.Errorf("%q and %q: %v", pair[0], pair[1], err)
		}
	}
}

func TestRefused(t *testing.T) {
	data := exported(t, project(t, ""), restore.ExportOptions{})
	alone(t)
	_, err := Open(t.Context(),
		bytes.NewReader(bytes.Replace(data, []byte(`"history_entries":0`), []byte(`"history_entries":1`), 1)),
		restore.VerifyOptions{})
	var e *wire.Error
	if !errors.As(err, &e) || e.Code != restore.CodeUnverified || !strings.Contains(e.Message, "history_entries") {
		t.Errorf("%v", err)
	}
	for _, text := range []string{"", "{", "null", "[]", string(data) + "{}"} {
		if w, err := Open(t.Context(), strings.NewReader(text), restore.VerifyOptions{}); err == nil {
			t.Errorf("%.20q gave a workspace %s", text, w.Dir)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Open(ctx, bytes.NewReader(data), restore.VerifyOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}

// cutting cancels a context after reading a number of bytes.
type cutting struct {
	data   []byte
	n, at  int
	cancel context.CancelFunc
}

func (c *cutting) Read(p []byte) (int, error) {
	if c.n >= c.at {
		c.cancel()
	}
	n := copy(p[:min(len(p), 512)], c.data[c.n:])
	c.n += n
	if n == 0 {
		return 0, errors.New("end")
	}
	return n, nil
}

// TestInterrupted stops in the middle of reading: nothing is left behind, see alone.
func TestInterrupted(t *testing.T) {
	data := exported(t, project(t, ""), restore.ExportOptions{})
	alone(t)
	for at := 0; at < len(data); at += len(data)/7 + 1 {
		ctx, cancel := context.WithCancel(t.Context())
		if w, err := Open(ctx, &cutting{data: data, at: at, cancel: cancel}, restore.VerifyOptions{}); err == nil {
			t.Errorf("a workspace %s at %d", w.Dir, at)
		}
		cancel()
	}
}

// A kept workspace has a name that no sweep removes.
func TestKeptWorkspace(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	w, err := Open(t.Context(), bytes.NewReader(exported(t, project(t, ""), restore.ExportOptions{})),
		restore.VerifyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	before := filepath.Base(w.Dir)
	if err := w.Keep(); err != nil {
		t.Fatal(err)
	}
	if now := filepath.Base(w.Dir); !strings.HasPrefix(before, prefix) || !strings.HasPrefix(now, keptPrefix) {
		t.Errorf("%s became %s", before, now)
	}
	if _, err := os.Stat(filepath.Join(w.Dir, wire.ConfigPath)); err != nil {
		t.Error(err)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(w.Dir); err == nil {
		t.Error("it is still there")
	}
}
