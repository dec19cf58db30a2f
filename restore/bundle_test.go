// Tests of histories as bundles: transferred completely, never over another history, and not at all when anything
// about them is odd.

package restore

import (
	"bytes"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/bundle"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
)

// bundled returns the artifact and bundle of a project as it is.
func bundled(t *testing.T, dir string) (artifact []byte, file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "run.bundle")
	_, artifact = exported(t, dir, ExportOptions{Bundle: file})
	return artifact, file
}

func runRef(t *testing.T, artifact []byte) string {
	t.Helper()
	o, err := ojson.DecodeObject(artifact)
	if err != nil {
		t.Fatal(err)
	}
	return git.RunRefPrefix + o.Object("summary").String("run_id")
}

func TestBundleBringsTheHistory(t *testing.T) {
	testrepo.Serving(t)
	s := newSource(t)
	ref := runRef(t, s.artifact)
	id := strings.TrimPrefix(ref, git.RunRefPrefix)
	// Refs of other kinds, with and without connection to the run.
	testGit(t, s.dir, "update-ref", "refs/agentxchain/proofs/"+id, "HEAD")
	testGit(t, s.dir, "update-ref", "refs/agentxchain/signatures/"+id+"/ada", "HEAD")
	testGit(t, s.dir, "update-ref", "refs/agentxchain/proofs/run_other", "HEAD")
	testGit(t, s.dir, "notes", "--ref", "agentxchain", "add", "-m", "seen", "HEAD")
	artifact, file := bundled(t, s.dir)
	out := restoreOK(t, s.clone, artifact, Options{Bundle: file})
	if out.Plan.Relation != gitstore.RestoreSame || len(out.Bundle.Refs) != 4 {
		t.Errorf("%+v %+v", out.Plan, out.Bundle.Refs)
	}
	for _, name := range []string{ref, "refs/agentxchain/proofs/" + id, "refs/agentxchain/signatures/" + id + "/ada",
		"refs/notes/agentxchain"} {
		if a, b := testGit(t, s.dir, "rev-parse", name), testGit(t, s.clone, "rev-parse", name); a != b {
			t.Errorf("%s is at %s, not at %s", name, b, a)
		}
	}
	sound(t, s.clone)
	// A bundle that is behind changes nothing, one that is ahead moves the ref forward.
	goOn(t, s.clone)
	tip := testGit(t, s.clone, "rev-parse", ref)
	newer, ahead := bundled(t, s.clone)
	if out, err := into(t, s.clone, bytes.NewReader(newer), Options{Bundle: file}); err != nil ||
		out.Bundle.Refs[0].Relation == bundle.Forward {
		t.Errorf("%v", err)
	}
	if now := testGit(t, s.clone, "rev-parse", ref); now != tip {
		t.Errorf("the ref moved to %s", now)
	}
	restoreOK(t, s.dir, newer, Options{Bundle: ahead})
	if now := testGit(t, s.dir, "rev-parse", ref); now != tip {
		t.Errorf("the ref is at %s", now)
	}
	sound(t, s.dir)
}

// TestHistoryOfAnotherBeginningIsKept: a clone that restored the run without its record has no operation of it.
func TestHistoryOfAnotherBeginningIsKept(t *testing.T) {
	s := newSource(t)
	artifact, _ := bundled(t, s.dir)
	restoreOK(t, s.clone, artifact, Options{})
	goOn(t, s.dir)
	goOn(t, s.clone)
	newer, ahead := bundled(t, s.dir)
	before := digestTree(t, s.clone)
	for _, r := range []*bytes.Reader{bytes.NewReader(newer), nil} {
		opt := Options{Bundle: ahead}
		var err error
		if r != nil {
			_, err = into(t, s.clone, r, opt)
		} else {
			_, err = into(t, s.clone, nil, opt)
		}
		if codeIn(err) != bundle.CodeHistoryDiverged {
			t.Errorf("%v (%s)", err, codeIn(err))
		}
	}
	if now := digestTree(t, s.clone); !maps.Equal(before, now) {
		t.Errorf("changed %v", changedNames(before, now))
	}
}

func TestHostileBundlesAreRefused(t *testing.T) {
	testrepo.Thorough(t)
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	s := newSource(t)
	artifact, file := bundled(t, s.dir)
	ref := runRef(t, artifact)
	good, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head := bytes.Index(good, []byte("\n\n")) + 2
	changedHead := func(old, text string) []byte { return bytes.Replace(good, []byte(old), []byte(text), 1) }
	made := func(refs ...string) []byte {
		p := filepath.Join(t.TempDir(), "b")
		testGit(t, s.dir, append([]string{"bundle", "create", "-q", p}, refs...)...)
		data, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	flip := func(at int) []byte { d := slices.Clone(good); d[at] ^= 0x41; return d }
	// Histories that are well formed for git, but not runs.
	empty := testGit(t, s.dir, "commit-tree", "-m", "x", testGit(t, s.dir, "mktree", "--missing"))
	tip := testGit(t, s.dir, "rev-parse", ref)
	tree := testGit(t, s.dir, "rev-parse", ref+"^{tree}")
	rootless := testGit(t, s.dir, "commit-tree", "-m", "forged", tree) // an assignment without its evidence
	merged := testGit(t, s.dir, "commit-tree", "-m", "two parents", "-p", tip, "-p", "HEAD", tree)
	forged := func(commit string) []byte {
		testGit(t, s.dir, "update-ref", "refs/agentxchain/runs/run_forged", commit)
		defer testGit(t, s.dir, "update-ref", "-d", "refs/agentxchain/runs/run_forged")
		return bytes.Replace(made("refs/agentxchain/runs/run_forged"), []byte("run_forged"),
			[]byte(strings.TrimPrefix(ref, git.RunRefPrefix)), 1)
	}
	list := map[string][]byte{
		"empty":                 {},
		"an artifact":           artifact,
		"half":                  good[:len(good)/2],
		"head alone":            good[:head],
		"head without an end":   good[:head-1],
		"a flipped bit":         flip(head + (len(good)-head)/2),
		"a flipped checksum":    flip(len(good) - 3),
		"more behind its end":   append(slices.Clone(good), "more"...),
		"another commit":        changedHead(tip, strings.Repeat("ab", 20)),
		"no commit":             changedHead(tip, "zz"+tip[2:]),
		"a branch":              made("main"),
		"a branch beside":       made(ref, "main"),
		"HEAD":                  made(ref, "HEAD"),
		"another branch's name": changedHead(ref, "refs/heads/main"),
		"a path for a name":     changedHead(ref, "refs/agentxchain/runs/../../heads/main"),
		"a lock for a name":     changedHead(ref, "refs/agentxchain/runs/x.lock"),
		"an option for a name":  changedHead(ref, "--upload-pack=x"),
		"a pattern for a name":  changedHead(ref, "refs/agentxchain/runs/*"),
		"an initiative":         changedHead(ref, "refs/agentxchain/initiatives/x"),
		"twice the same":        changedHead(tip+" "+ref+"\n", tip+" "+ref+"\n"+tip+" "+ref+"\n"),
		"what it builds on":     changedHead("# v2 git bundle\n", "# v2 git bundle\n-"+tip+" x\n"),
		"another version":       changedHead("# v2 git bundle", "# v9 git bundle"),
		"a filter": changedHead("# v2 git bundle\n",
			"# v3 git bundle\n@object-format=sha1\n@filter=blob:none\n"),
		"another object format": changedHead("# v2 git bundle\n", "# v3 git bundle\n@object-format=sha256\n"),
		"a long line":           changedHead(ref, ref+strings.Repeat("x", 20000)),
		"many refs": append([]byte("# v2 git bundle\n"),
			bytes.Repeat([]byte(tip+" refs/agentxchain/runs/x\n"), 100000)...),
		"a commit that is no run":  forged(empty),
		"a run without a start":    forged(rootless),
		"a run with two parents":   forged(merged),
		"a tag in place of a run":  forged(testGit(t, s.dir, "rev-parse", "HEAD")),
		"a blob in place of a run": forged(testGit(t, s.dir, "rev-parse", "HEAD:a.txt")),
		"a run's notes alone":      changedHead(ref, "refs/notes/agentxchain"),
		"another run":              changedHead(ref, "refs/agentxchain/runs/run_other"),
	}
	before := digestTree(t, s.clone)
	for _, name := range slices.Sorted(maps.Keys(list)) {
		p := filepath.Join(t.TempDir(), "hostile.bundle")
		if err := os.WriteFile(p, list[name], 0o666); err != nil {
			t.Fatal(err)
		}
		_, err := into(t, s.clone, bytes.NewReader(artifact), Options{Bundle: p})
		if codeIn(err) != bundle.CodeHistoryInvalid {
			t.Errorf("%s: %v (%s)", name, err, codeIn(err))
		}
		if now := digestTree(t, s.clone); !maps.Equal(before, now) {
			t.Fatalf("%s: changed %v", name, changedNames(before, now))
		}
	}
	if left, _ := filepath.Glob(filepath.Join(tmp, "agentxchain-*")); len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
	if _, err := into(t, s.clone, nil, Options{}); err == nil || errors.Is(err, os.ErrNotExist) {
		t.Errorf("nothing at all: %v", err)
	}
}
