// Tests of artifacts that must not be restored: every one is refused with its code, and not a byte of the checkout
// or its repository changes.

package restore

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
)

// digestTree hashes every file, link and directory below dir, including .git.
func digestTree(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := make(map[string]string)
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, p)
		fi, err := d.Info()
		if err != nil {
			return err
		}
		note := fi.Mode().String()
		switch {
		case fi.Mode()&fs.ModeSymlink != 0:
			to, err := os.Readlink(p)
			if err != nil {
				return err
			}
			note += " " + to
		case fi.Mode().IsRegular():
			data, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			sum := sha256.Sum256(data)
			note += " " + hex.EncodeToString(sum[:])
		}
		out[rel] = note
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func changedNames(a, b map[string]string) []string {
	var out []string
	for k, v := range a {
		if b[k] != v {
			out = append(out, k)
		}
	}
	for k := range b {
		if _, ok := a[k]; !ok {
			out = append(out, k)
		}
	}
	slices.Sort(out)
	return out
}

// source is a project with a run, its artifact, and an empty clone of it.
type source struct {
	dir, clone string
	artifact   []byte
}

func newSource(t *testing.T) *source {
	t.Helper()
	r := testrepo.New(t, testrepo.Options{})
	project(t, r.Dir)
	r.CommitAll("governed")
	assign(t, r.Dir)
	s := &source{dir: r.Dir, clone: filepath.Join(t.TempDir(), "clone")}
	r.Git("clone", "-q", "-c", "maintenance.autoDetach=false", r.Dir, s.clone)
	_, s.artifact = exported(t, s.dir, ExportOptions{})
	return s
}

func opener(dir string) func(context.Context) (*gitstore.Store, error) {
	return func(ctx context.Context) (*gitstore.Store, error) {
		return gitstore.Open(ctx, dir, gitstore.Options{})
	}
}

// into restores an artifact.
func into(t *testing.T, dir string, artifact io.Reader, opt Options) (*Outcome, error) {
	t.Helper()
	opt.Into = func(ctx context.Context, use func(*gitstore.Store) error) error {
		store, err := opener(dir)(ctx)
		if err != nil {
			return err
		}
		defer func() { _ = store.Close() }()
		return use(store)
	}
	return Restore(t.Context(), artifact, opt)
}

func codeIn(err error) string {
	var coded interface{ ErrorCode() string }
	if errors.As(err, &coded) {
		return coded.ErrorCode()
	}
	return ""
}

// textEntry returns a correct file entry.
func textEntry(content string) *ojson.Object {
	sum := sha256.Sum256([]byte(content))
	return ojson.NewObject("format", "text", "bytes", len(content), "sha256", hex.EncodeToString(sum[:]),
		"content_base64", base64.StdEncoding.EncodeToString([]byte(content)), "data", content)
}

// hostile is one artifact and its expected error.
type hostile struct {
	name, code string
	make       func(t *testing.T, artifact []byte) io.Reader
}

// edited changes the decoded artifact.
func edited(f func(o *ojson.Object)) func(*testing.T, []byte) io.Reader {
	return func(t *testing.T, artifact []byte) io.Reader {
		o, err := ojson.DecodeObject(artifact)
		if err != nil {
			t.Fatal(err)
		}
		f(o)
		return bytes.NewReader(ojson.Compact(o))
	}
}

// replaced changes its text.
func replaced(old, text string) func(*testing.T, []byte) io.Reader {
	return func(t *testing.T, artifact []byte) io.Reader {
		if !bytes.Contains(artifact, []byte(old)) {
			t.Fatalf("%q is not in the artifact", old)
		}
		return bytes.NewReader(bytes.Replace(artifact, []byte(old), []byte(text), 1))
	}
}

// withFile adds a file with correct claims.
func withFile(paths ...string) func(*testing.T, []byte) io.Reader {
	return edited(func(o *ojson.Object) {
		for _, p := range paths {
			o.Object("files").Set(p, textEntry("planted\n"))
		}
		// The summary is adjusted, so that it is the path that is refused.
		n := o.Object("files").Len()
		o.Object("summary").Set("included_files", n)
		o.Object("summary").Set("total_collected_files", n)
	})
}

func entryOf(o *ojson.Object, path string) *ojson.Object { return o.Object("files").Object(path) }

const planned = ".planning/ROADMAP.md"

func hostiles() []hostile {
	var list []hostile
	add := func(code, name string, f func(*testing.T, []byte) io.Reader) {
		list = append(list, hostile{name, code, f})
	}
	for _, p := range []string{
		"../x", "..", ".", "", "/etc/passwd", "//x", "/", "a", "x.txt", ".git/config", ".git/hooks/post-checkout",
		".gitattributes", ".gitmodules", "HUMAN_TASKS.md", ".planning", ".agentxchain",
		".agentxchain/prompts/pm.md", ".agentxchain/locks/accept-turn.lock", ".agentxchain/transactions/x",
		".agentxchain/state.json/x", ".agentxchain/reviews/../../../x", ".agentxchain/reviews/../../x",
		".planning/../../outside", ".planning/..", ".planning/./x", ".planning//x", ".planning/x/",
		".planning/x/../../../y", "./.planning/x", ".planning/x/.", "TALK.md/../../x", ".PLANNING/x",
		".Agentxchain/history.jsonl", "Agentxchain.json", "agentxchain.json/..", `.planning\..\..\x`,
		`.planning/a\b`, `..\x`, `C:\x`, "C:/x", "C:x", `\\host\share\x`, ".planning/x\x00y", ".planning/x\x00",
		".planning/.git/config", ".planning/.GIT/config", ".planning/.Git/hooks/pre-commit", ".planning/.git",
		".planning/.git\u200c/config", ".planning/.g\u200dit/config", ".planning/\ufeff.git/config",
		".planning/.gi\u202et/x", ".planning/git~1/config", ".planning/GIT~1/config", ".planning/.git /config",
		".planning/.git./config", ".planning/.git. . /config", ".planning/.git::$INDEX_ALLOCATION/config",
		".planning/.git:x/config", ".planning/．git/config", ".planning/.ｇｉｔ/config", ".planning/.g\u0131t\u0000",
		".planning/.gi\u206ft/x", ".planning/.g\u034fit/x", ".planning/" + strings.Repeat("a", 256),
		".planning/" + strings.Repeat("d/", 2100) + "x", ".planning/\ufffd",
	} {
		add(CodeUnsafePath, "path "+fmt.Sprintf("%.60q", p), withFile(p))
	}
	for _, pair := range [][2]string{
		{".planning/Notes.md", ".planning/notes.md"},
		{".planning/\u00e9.md", ".planning/e\u0301.md"},
		{".planning/a", ".planning/a/b"},
		{".planning/a/b", ".planning/a"},
		{".planning/stra\u00dfe", ".planning/STRASSE"},
		{".planning/x", ".planning/x."},
		{".planning/x", ".planning/x "},
		{".planning/D/a", ".planning/d/b"},
		{".planning/zwj", ".planning/z\u200dwj"},
	} {
		add(CodeUnsafePath, fmt.Sprintf("twins %q %q", pair[0], pair[1]), withFile(pair[0], pair[1]))
	}
	// Documents that two readers read differently.
	input := map[string]func(*testing.T, []byte) io.Reader{
		"empty": func(*testing.T, []byte) io.Reader { return strings.NewReader("") },
		"truncated": func(_ *testing.T, a []byte) io.Reader {
			return bytes.NewReader(a[:len(a)/2])
		},
		"trailing": func(_ *testing.T, a []byte) io.Reader {
			return bytes.NewReader(append(slices.Clone(a), "{}"...))
		},
		"byte order mark": func(_ *testing.T, a []byte) io.Reader {
			return bytes.NewReader(append([]byte("\ufeff"), a...))
		},
		"duplicate kind": replaced(`"export_kind":`,
			`"export_kind":"agentxchain_run_export","export_kind":`),
		"duplicate file": replaced(`"agentxchain.json":{"format"`,
			`"agentxchain.json":{},"agentxchain.json":{"format"`),
		"duplicate sha": replaced(`"sha256":`, `"sha256":"x","sha256":`),
		"duplicate key spelled otherwise": replaced(`"agentxchain.json":{"format"`,
			`"\u0061gentxchain.json":{},"agentxchain.json":{"format"`),
		"deep nesting": replaced(`"schema_version":`,
			`"x":`+strings.Repeat("[", 100000)+strings.Repeat("]", 100000)+`,"schema_version":`),
		"deep without an end": func(*testing.T, []byte) io.Reader {
			return strings.NewReader(strings.Repeat(`{"a":`, 200000))
		},
		"invalid UTF-8": replaced(`"schema_version":`, "\"x\":\"\xff\",\"schema_version\":"),
		"bare words":    replaced(`"schema_version":`, `"x":NaN,"schema_version":`),
		"broken zstd":   func(_ *testing.T, a []byte) io.Reader { return bytes.NewReader(zstded(a)[:200]) },
		"zstd of noise": func(*testing.T, []byte) io.Reader {
			return strings.NewReader("\x28\xb5\x2f\xfd\xff\xff\xff\xff\xff\xff\xff")
		},
		"window of gigabytes": func(*testing.T, []byte) io.Reader {
			return strings.NewReader("\x28\xb5\x2f\xfd\x00\xf8" + strings.Repeat("\x00", 64))
		},
		"bomb": func(*testing.T, []byte) io.Reader { return bytes.NewReader(bomb()) },
	}
	for _, name := range slices.Sorted(maps.Keys(input)) {
		add(CodeInput, name, input[name])
	}
	// Documents with false claims.
	file := func(f func(e *ojson.Object)) func(*testing.T, []byte) io.Reader {
		return edited(func(o *ojson.Object) { f(entryOf(o, planned)) })
	}
	false_ := map[string]func(*testing.T, []byte) io.Reader{
		"array":              func(*testing.T, []byte) io.Reader { return strings.NewReader("[]") },
		"null":               func(*testing.T, []byte) io.Reader { return strings.NewReader("null") },
		"no object files":    edited(func(o *ojson.Object) { o.Set("files", []any{}) }),
		"files null":         edited(func(o *ojson.Object) { o.Set("files", nil) }),
		"no files":           edited(func(o *ojson.Object) { o.Set("files", &ojson.Object{}) }),
		"schema":             edited(func(o *ojson.Object) { o.Set("schema_version", "9.9") }),
		"wrong digest":       file(func(e *ojson.Object) { e.Set("sha256", strings.Repeat("0", 64)) }),
		"digest in capitals": file(func(e *ojson.Object) { e.Set("sha256", strings.ToUpper(e.String("sha256"))) }),
		"wrong length":       file(func(e *ojson.Object) { e.Set("bytes", 1) }),
		"huge length":        file(func(e *ojson.Object) { e.Set("bytes", ojson.Number("9007199254740993")) }),
		"length 1e400":       file(func(e *ojson.Object) { e.Set("bytes", ojson.Number("1e400")) }),
		"negative length":    file(func(e *ojson.Object) { e.Set("bytes", -1) }),
		"base64 with lines": file(func(e *ojson.Object) {
			s := e.String("content_base64")
			e.Set("content_base64", s[:8]+"\n"+s[8:])
		}),
		"base64 url":       file(func(e *ojson.Object) { e.Set("content_base64", "-_-_") }),
		"base64 unpadded":  file(func(e *ojson.Object) { e.Set("content_base64", "YQ") }),
		"base64 overfull":  file(func(e *ojson.Object) { e.Set("content_base64", "YR==") }),
		"base64 after end": file(func(e *ojson.Object) { e.Set("content_base64", "YQ==YQ==") }),
		"content a number": file(func(e *ojson.Object) { e.Set("content_base64", 7) }),
		"content missing":  file(func(e *ojson.Object) { e.Delete("content_base64") }),
		"data forged":      file(func(e *ojson.Object) { e.Set("data", "other") }),
		"no entry":         edited(func(o *ojson.Object) { o.Object("files").Set(planned, nil) }),
		"format":           file(func(e *ojson.Object) { e.Set("format", "exe") }),
		"state forged":     edited(func(o *ojson.Object) { o.Object("state").Set("status", "completed") }),
		"config forged":    edited(func(o *ojson.Object) { o.Object("config").Set("x", 1) }),
		"another project":  edited(func(o *ojson.Object) { o.Object("project").Set("id", "other") }),
		"counts": edited(func(o *ojson.Object) {
			o.Object("summary").Set("history_entries", ojson.Number("9007199254740993"))
		}),
		"run id":           edited(func(o *ojson.Object) { o.Object("summary").Set("run_id", "run_forged") }),
		"lone surrogate":   replaced(`"`+planned+`":`, `".planning/\ud800":`),
		"number past 2^53": bigNumber,
	}
	for _, name := range slices.Sorted(maps.Keys(false_)) {
		add(CodeUnverified, name, false_[name])
	}
	// Valid artifacts that still cannot be restored.
	git := func(o *ojson.Object) *ojson.Object { return o.Object("workspace").Object("git") }
	add(CodeNoWorkspace, "no workspace", edited(func(o *ojson.Object) {
		o.Set("schema_version", "0.2")
		o.Delete("workspace")
	}))
	add(CodeUnsupported, "not supported", edited(func(o *ojson.Object) {
		git(o).Set("restore_supported", false)
		git(o).Set("restore_blockers", []string{"because"})
	}))
	add(CodeHeadMismatch, "another commit", edited(func(o *ojson.Object) {
		git(o).Set("head_sha", strings.Repeat("ab", 20))
		git(o).Set("head_tree", strings.Repeat("cd", 20))
	}))
	add(CodeHeadMismatch, "an option for a commit", edited(func(o *ojson.Object) {
		git(o).Set("head_sha", "--output=x")
	}))
	add(CodeContentMissing, "skipped", edited(func(o *ojson.Object) {
		entryOf(o, planned).Set("content_base64", nil)
		entryOf(o, planned).Set("content_base64_skipped", true)
	}))
	add(CodeContentMissing, "capped", edited(func(o *ojson.Object) {
		o.Object("summary").Set("export_files_truncated", true)
		o.Object("summary").Set("total_collected_files", o.Object("files").Len()+1)
	}))
	add(gitstore.CodeUnfitRun, "a run that no ref can name", runNamed("run/../../heads/main"))
	add(gitstore.CodeUnfitRun, "a run named like a lock", runNamed("run.lock"))
	add(gitstore.CodeUnfitRun, "a ledger that is none", edited(func(o *ojson.Object) {
		const data = "[1]\n"
		e := textEntry(data)
		e.Set("format", "jsonl")
		e.Set("data", []any{[]any{ojson.Int(1)}})
		o.Object("files").Set(".agentxchain/hook-audit.jsonl", e)
		o.Object("summary").Set("hook_audit_entries", 1)
		n := o.Object("files").Len()
		o.Object("summary").Set("included_files", n)
		o.Object("summary").Set("total_collected_files", n)
	}))
	return list
}

// bigNumber puts different integers past 2^53 into data and content, which are the same double.
func bigNumber(t *testing.T, artifact []byte) io.Reader {
	o, err := ojson.DecodeObject(artifact)
	if err != nil {
		t.Fatal(err)
	}
	e := textEntry(`{"n":9007199254740993}`)
	e.Set("format", "json")
	e.Set("data", ojson.NewObject("n", ojson.Number("9007199254740994")))
	o.Object("files").Set(".planning/n.json", e)
	return bytes.NewReader(ojson.Compact(o))
}

// runNamed gives the run another id, adjusting all claims about it.
func runNamed(id string) func(*testing.T, []byte) io.Reader {
	return edited(func(o *ojson.Object) {
		state := o.Object("state").Clone()
		state.Set("run_id", id)
		data := string(ojson.Pretty(state))
		e := textEntry(data)
		e.Set("format", "json")
		e.Set("data", state)
		o.Set("state", state)
		o.Object("summary").Set("run_id", id)
		o.Object("files").Set(statePath, e)
	})
}

func zstded(data []byte) []byte {
	w, err := zstd.NewWriter(nil)
	if err != nil {
		panic(err)
	}
	return w.EncodeAll(data, nil)
}

// bomb decompresses to more than the test allows.
func bomb() []byte {
	return zstded(append([]byte(`{"x":"`), bytes.Repeat([]byte("a"), 96<<20)...))
}

func TestHostileArtifactsAreRefused(t *testing.T) {
	testrepo.Thorough(t)
	s := newSource(t)
	list := hostiles()
	if len(list) < 60 {
		t.Fatalf("only %d artifacts", len(list))
	}
	before := digestTree(t, s.clone)
	for _, h := range list {
		_, err := into(t, s.clone, h.make(t, s.artifact), Options{Verify: VerifyOptions{MaxBytes: 64 << 20}})
		if codeIn(err) != h.code {
			t.Errorf("%s: %v (%s), want %s", h.name, err, codeIn(err), h.code)
		}
		if now := digestTree(t, s.clone); !maps.Equal(before, now) {
			t.Fatalf("%s: changed %v", h.name, changedNames(before, now))
		}
	}
	// The checkout still accepts an honest one.
	if _, err := into(t, s.clone, bytes.NewReader(zstded(s.artifact)), Options{}); err != nil {
		t.Fatal(err)
	}
}

// TestHostileTargets has links and other things where files would be written.
func TestHostileTargets(t *testing.T) {
	testrepo.Serving(t)
	outside := t.TempDir()
	for name, plant := range map[string]func(dir string) error{
		"governed directory": func(dir string) error {
			if err := os.RemoveAll(filepath.Join(dir, ".agentxchain")); err != nil {
				return err
			}
			return os.Symlink(outside, filepath.Join(dir, ".agentxchain"))
		},
		"dispatch": func(dir string) error {
			return os.Symlink(outside, filepath.Join(dir, ".agentxchain/dispatch"))
		},
		"link inside": func(dir string) error {
			return os.Symlink("../src", filepath.Join(dir, ".agentxchain/dispatch"))
		},
		"state": func(dir string) error {
			return os.Symlink("../a.txt", filepath.Join(dir, ".agentxchain/state.json"))
		},
		"dangling ledger": func(dir string) error {
			return os.Symlink(outside+"/x", filepath.Join(dir, ".agentxchain/history.jsonl"))
		},
		"a full directory": func(dir string) error {
			if err := os.MkdirAll(filepath.Join(dir, "TALK.md"), 0o777); err != nil {
				return err
			}
			return os.Symlink("x", filepath.Join(dir, "TALK.md/link"))
		},
	} {
		s := newSource(t)
		// Ignored, so that only the check of the target can find it.
		write(t, s.clone, ".git/info/exclude", ".agentxchain\nTALK.md\n")
		for _, tracked := range []string{".agentxchain"} {
			_ = os.RemoveAll(filepath.Join(s.clone, tracked, "prompts"))
		}
		if err := plant(s.clone); err != nil {
			t.Fatal(err)
		}
		testGit(t, s.clone, "rm", "-rq", "--cached", "--ignore-unmatch", ".agentxchain")
		testGit(t, s.clone, "commit", "-qm", "without")
		o, err := ojson.DecodeObject(s.artifact)
		if err != nil {
			t.Fatal(err)
		}
		o.Object("workspace").Object("git").Set("head_sha", testGit(t, s.clone, "rev-parse", "HEAD"))
		before, there := digestTree(t, s.clone), digestTree(t, outside)
		_, err = into(t, s.clone, bytes.NewReader(ojson.Compact(o)), Options{})
		if codeIn(err) != fail.CodeUnsafeTarget {
			t.Errorf("%s: %v (%s)", name, err, codeIn(err))
		}
		if now := digestTree(t, s.clone); !maps.Equal(before, now) {
			t.Errorf("%s: changed %v", name, changedNames(before, now))
		}
		if now := digestTree(t, outside); !maps.Equal(there, now) {
			t.Errorf("%s: wrote outside: %v", name, changedNames(there, now))
		}
	}
}
