// Tests of the record in an artifact: it is transferred completely, it matches exactly these files, and nothing odd
// about it changes a byte.

package restore

import (
	"bytes"
	"encoding/base64"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/bundle"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

// operations lists the operations of a run, newest first.
func operations(t *testing.T, dir, ref string) []string {
	t.Helper()
	return strings.Split(testGit(t, dir, "log", "--format=%s", ref), "\n")
}

func TestRecordInTheArtifact(t *testing.T) {
	testrepo.Serving(t)
	s := newSource(t)
	ref := runRef(t, s.artifact)
	e, artifact := exported(t, s.dir, ExportOptions{Record: true})
	if e.Record == nil || e.Record.Op != testGit(t, s.dir, "rev-parse", ref) || len(e.Notices) > 0 {
		t.Fatalf("%+v %q", e.Record, e.Notices)
	}
	if r := verified(t, artifact); !r.Passed() {
		t.Fatalf("%v", r.Findings)
	}
	out := restoreOK(t, s.clone, artifact, Options{})
	if out.Plan.Relation != gitstore.RestoreSame || out.Bundle == nil {
		t.Errorf("%+v", out.Plan)
	}
	goOn(t, s.clone)
	tip := testGit(t, s.clone, "rev-parse", ref)
	_, back := exported(t, s.clone, ExportOptions{Record: true})
	restoreOK(t, s.dir, back, Options{})
	if now := testGit(t, s.dir, "rev-parse", ref); now != tip {
		t.Errorf("the run is at %s, not at %s", now, tip)
	}
	for _, subject := range operations(t, s.dir, ref) {
		if strings.Contains(subject, "restore the run") {
			t.Errorf("recorded as %q", subject)
		}
	}
	sound(t, s.dir)

	// Both continue: what was done here is decided again after what came, or becomes a conflict.
	goOn(t, s.dir)
	goOn(t, s.clone)
	_, newer := exported(t, s.dir, ExportOptions{Record: true})
	there, here := testGit(t, s.dir, "rev-parse", ref), testGit(t, s.clone, "rev-parse", ref)
	before := digestTree(t, s.clone)
	if out = restoreOK(t, s.clone, newer, Options{DryRun: true}); out.Plan.Relation != gitstore.RestoreJoins || out.Done {
		t.Errorf("%+v", out.Plan)
	}
	if now := digestTree(t, s.clone); !maps.Equal(before, now) {
		t.Errorf("changed %v", changedNames(before, now))
	}
	out = restoreOK(t, s.clone, newer, Options{Reindex: runner.Reindex})
	ours := len(operations(t, s.clone, tip+".."+here))
	if j := out.Joined; j == nil || j.Came != len(operations(t, s.dir, tip+".."+there)) ||
		len(j.Landed)+len(j.Same)+len(j.Conflicts) != ours {
		t.Fatalf("%+v of %d operations", out.Joined, ours)
	}
	testGit(t, s.clone, "merge-base", "--is-ancestor", there, ref)
	if kept := testGit(t, s.clone, "rev-parse", out.Joined.Lost); kept != here {
		t.Errorf("kept is %s, want %s", kept, here)
	}
	sound(t, s.clone)

	// The files alone are an operation on top.
	out = restoreOK(t, s.clone, newer, Options{NoRecord: true,
		GiveUp: func(string) (bool, error) { return true, nil }})
	if out.Bundle != nil || out.Plan.Op == object.OID(tip) {
		t.Errorf("%+v", out.Plan)
	}
	sound(t, s.clone)
}

func TestRecordBelowTheTop(t *testing.T) {
	r := testrepo.New(t, testrepo.Options{})
	dir := filepath.Join(r.Dir, "below")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	project(t, dir)
	r.CommitAll("governed")
	assign(t, dir)
	e, _ := exported(t, dir, ExportOptions{Record: true})
	if e.Record == nil || len(e.Notices) > 0 {
		t.Errorf("%+v %q", e.Record, e.Notices)
	}
	for _, at := range []string{dir, r.Dir} {
		if _, err := os.Lstat(filepath.Join(at, "-")); !os.IsNotExist(err) {
			t.Errorf("a file in %s: %v", at, err)
		}
	}
}

func TestRecordIsBoundedAndSteady(t *testing.T) {
	s := newSource(t)
	opt := ExportOptions{Record: true, Now: func() time.Time { return time.Unix(1767225600, 0) }}
	_, one := exported(t, s.dir, opt)
	if _, two := exported(t, s.dir, opt); !bytes.Equal(one, two) {
		t.Error("two artifacts of one state differ")
	}
	small := opt
	small.MaxRecord = 100
	e, artifact := exported(t, s.dir, small)
	if e.Record != nil || len(e.Notices) != 1 || !strings.Contains(e.Notices[0], "--bundle FILE") {
		t.Errorf("%+v %q", e.Record, e.Notices)
	}
	if !bytes.Equal(artifact, without(t, one)) {
		t.Error("without the record the artifact is another one")
	}
	small = opt
	small.MaxFiles = 5
	if e, _ := exported(t, s.dir, small); e.Record != nil || !slices.Contains(e.Cut, "the record of the run") {
		t.Errorf("%+v %q", e.Record, e.Cut)
	}
	beside := opt
	beside.Bundle = filepath.Join(t.TempDir(), "run.bundle")
	if e, _ := exported(t, s.dir, beside); e.Record != nil || e.Bundle == nil {
		t.Errorf("%+v %+v", e.Record, e.Bundle)
	}
}

// without returns an artifact without the line of its record.
func without(t *testing.T, artifact []byte) []byte {
	t.Helper()
	at := bytes.Index(artifact, []byte("\n\"record\":"))
	if at < 0 {
		t.Fatal("there is no record")
	}
	end := at + 1 + bytes.IndexByte(artifact[at+1:], '\n')
	return slices.Delete(slices.Clone(artifact), at, end)
}

func TestHostileRecordsAreRefused(t *testing.T) {
	testrepo.Serving(t)
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	s := newSource(t)
	ref := runRef(t, s.artifact)
	_, older := exported(t, s.dir, ExportOptions{Record: true})
	goOn(t, s.dir)
	_, artifact := exported(t, s.dir, ExportOptions{Record: true})
	tip := testGit(t, s.dir, "rev-parse", ref)
	made := func(refs ...string) []byte {
		p := filepath.Join(t.TempDir(), "b")
		testGit(t, s.dir, append([]string{"bundle", "create", "-q", p}, refs...)...)
		data, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	good := made(ref)
	head := bytes.Index(good, []byte("\n\n")) + 2
	renamed := func(name string) []byte { return bytes.Replace(good, []byte(ref), []byte(name), 1) }
	flipped := slices.Clone(good)
	flipped[head+(len(good)-head)/2] ^= 0x41
	testGit(t, s.dir, "update-ref", "refs/agentxchain/runs/run_other", tip)
	testGit(t, s.dir, "notes", "--ref", "agentxchain", "add", "-m", "seen", "HEAD")
	testGit(t, s.dir, "update-ref", "refs/agentxchain/runs/run_rootless",
		testGit(t, s.dir, "commit-tree", "-m", "forged", tip+"^{tree}"))
	rootless := bytes.Replace(made("refs/agentxchain/runs/run_rootless"), []byte("refs/agentxchain/runs/run_rootless"),
		[]byte(ref), 1)

	member := func(f func(r *ojson.Object)) func(*testing.T, []byte) io.Reader {
		return edited(func(o *ojson.Object) { f(o.Object("record")) })
	}
	// A record whose own claims are all true.
	honest := func(bundle []byte, tip string) func(*testing.T, []byte) io.Reader {
		return member(func(r *ojson.Object) {
			r.Set("tip", tip)
			r.Set("bytes", len(bundle))
			r.Set("sha256", wire.SHA256(bundle))
			r.Set("content_base64", base64.StdEncoding.EncodeToString(bundle))
		})
	}
	olderRecord := func(t *testing.T, artifact []byte) io.Reader {
		o, err := ojson.DecodeObject(older)
		if err != nil {
			t.Fatal(err)
		}
		return edited(func(into *ojson.Object) { into.Set("record", o.Object("record")) })(t, artifact)
	}
	set := func(key string, v any) func(*testing.T, []byte) io.Reader {
		return member(func(r *ojson.Object) { r.Set(key, v) })
	}
	list := []hostile{
		{"no object", CodeUnverified, edited(func(o *ojson.Object) { o.Set("record", "x") })},
		{"null", CodeUnverified, edited(func(o *ojson.Object) { o.Set("record", nil) })},
		{"another digest", CodeUnverified, set("sha256", strings.Repeat("0", 64))},
		{"another length", CodeUnverified, set("bytes", 7)},
		{"another tip", CodeUnverified, set("tip", strings.Repeat("ab", 20))},
		{"another format", CodeUnverified, set("format", "tar")},
		{"no content", CodeUnverified, set("content_base64", nil)},
		{"no base64", CodeUnverified, set("content_base64", "####")},
		{"no bundle", CodeUnverified, honest([]byte("hello"), tip)},
		{"cut in its head", CodeUnverified, honest(good[:head-1], tip)},
		{"another run", CodeUnverified, honest(renamed("refs/agentxchain/runs/run_other"), tip)},
		{"another run beside", CodeUnverified, honest(made(ref, "refs/agentxchain/runs/run_other"), tip)},
		{"notes beside", CodeUnverified, honest(made(ref, "refs/notes/agentxchain"), tip)},
		{"a branch beside", CodeUnverified, honest(made(ref, "main"), tip)},
		{"too large", CodeInput, set("content_base64", strings.Repeat("A", maxRecord/3*4+64))},
		{"half", bundle.CodeHistoryInvalid, honest(good[:len(good)/2], tip)},
		{"a flipped bit", bundle.CodeHistoryInvalid, honest(flipped, tip)},
		{"the record of an older artifact", bundle.CodeHistoryInvalid, olderRecord},
		{"no start", bundle.CodeHistoryInvalid, honest(rootless,
			testGit(t, s.dir, "rev-parse", "refs/agentxchain/runs/run_rootless"))},
	}
	before := digestTree(t, s.clone)
	for _, h := range list {
		_, err := into(t, s.clone, h.make(t, artifact), Options{})
		if codeIn(err) != h.code {
			t.Errorf("%s: %v (%s)", h.name, err, codeIn(err))
		}
		if now := digestTree(t, s.clone); !maps.Equal(before, now) {
			t.Fatalf("%s: changed %v", h.name, changedNames(before, now))
		}
	}
	if left, _ := filepath.Glob(filepath.Join(tmp, "agentxchain-*")); len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
	// The same bundle with true claims passes, so it is the false ones that are refused.
	out, err := into(t, s.clone, honest(good, tip)(t, artifact), Options{})
	if err != nil || out.Plan.Relation != gitstore.RestoreSame {
		t.Errorf("%v", err)
	}
	sound(t, s.clone)
}

// TestOnlyTheRunThatWasNamedIsTakenOut checks that what surrounds an embedded artifact, or is embedded in it, is
// not part of the run.
func TestOnlyTheRunThatWasNamedIsTakenOut(t *testing.T) {
	o := handmadeInitiative(t)
	want := o.Object("repos").Object("api").Object("export").Object("files").Keys()
	inner := handmade(t)
	setFile(inner, "TALK.md", formatText, "planted", nil)
	o.Object("repos").Object("api").Object("export").Set("repos", ojson.NewObject("api",
		ojson.NewObject("ok", true, "path", "api", "export", inner)))
	in, err := receive(t.Context(), bytes.NewReader(ojson.Compact(o)), "api", VerifyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	var got []string
	for _, f := range in.files {
		got = append(got, f.Path)
	}
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("took out %q, want %q", got, want)
	}
	r, err := in.open("TALK.md")
	if err != nil {
		t.Fatal(err)
	}
	if data, err := io.ReadAll(r); err != nil || string(data) == "planted" {
		t.Errorf("TALK.md is %q, %v", data, err)
	}
}
