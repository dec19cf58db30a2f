// Tests of restoring in every kind of repository, beside other processes, and on failing disks.

package restore

import (
	"bytes"
	"context"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

func TestRestoreInEveryKindOfRepository(t *testing.T) {
	testrepo.Serving(t)
	for _, o := range testrepo.Kinds() {
		for _, sub := range []string{"", "deep/project"} {
			if usual := (o.ObjectFormat == "sha256") == o.LinkedWorktree && (sub == "" || !o.LinkedWorktree); !usual &&
				!long() {
				continue
			}
			o := o
			o.Subdir = sub
			t.Run(o.Name()+"-"+filepath.Base(sub), func(t *testing.T) {
				t.Parallel()
				r := testrepo.New(t, o)
				project(t, r.Dir)
				r.CommitAll("governed")
				assign(t, r.Dir)
				artifact, file := bundled(t, r.Dir)
				for _, history := range []bool{false, true} {
					b := ""
					if history {
						b = file
					}
					clone := filepath.Join(t.TempDir(), "clone")
					args := []string{"clone", "-q"}
					if o.RefFormat == "reftable" {
						args = append(args, "--ref-format=reftable")
					}
					testGit(t, t.TempDir(), append(args, r.Top, clone)...)
					if o.LinkedWorktree {
						testGit(t, clone, "checkout", "-q", "side")
					}
					dir := filepath.Join(clone, filepath.FromSlash(sub))
					restoreOK(t, dir, artifact, Options{Bundle: b})
					if x, y := governedBytes(t, r.Dir), governedBytes(t, dir); !maps.Equal(x, y) {
						t.Fatalf("%v", changedNames(x, y))
					}
					goOn(t, dir)
					newer, ahead := bundled(t, dir)
					if b == "" {
						ahead = ""
					} else {
						goOn(t, r.Dir) // so both sides have new operations
					}
					out := restoreOK(t, r.Dir, newer, Options{Bundle: ahead, Reindex: runner.Reindex})
					if joined := out.Joined != nil && out.Joined.Came > 0; joined != (b != "") {
						t.Errorf("%s: %+v", out.Plan.Relation, out.Joined)
					}
					if left := testGit(t, r.Dir, "for-each-ref", "refs/agentxchain/incoming"); left != "" {
						t.Errorf("left over: %s", left)
					}
					sound(t, r.Dir)
					if b == "" {
						// The next round begins with the same history on both sides.
						artifact, file = bundled(t, r.Dir)
					}
				}
			})
		}
	}
}

// TestRestoreBesideOthers runs several restores and commands at once: each succeeds or reports that another command
// is at work, and the result is consistent.
func TestRestoreBesideOthers(t *testing.T) {
	s := newSource(t)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if _, err := into(t, s.clone, bytes.NewReader(s.artifact),
				Options{LockWait: 20 * time.Second}); err != nil {
				t.Errorf("%v (%s)", err, codeIn(err))
			}
		})
		wg.Go(func() {
			store, err := opener(s.clone)(t.Context())
			if err != nil {
				t.Error(err)
				return
			}
			defer func() { _ = store.Close() }()
			for range 5 {
				if _, err := store.View(t.Context()); err != nil {
					t.Errorf("a view beside: %v (%s)", err, codeIn(err))
				}
			}
		})
	}
	wg.Wait()
	if a, b := governedBytes(t, s.dir), governedBytes(t, s.clone); !maps.Equal(a, b) {
		t.Errorf("%v", changedNames(a, b))
	}
	sound(t, s.clone)
}

// TestRestoreLosesARace moves the run's ref between check and decision.
func TestRestoreLosesARace(t *testing.T) {
	s := newSource(t)
	restoreOK(t, s.clone, s.artifact, Options{})
	goOn(t, s.dir)
	_, newer := exported(t, s.dir, ExportOptions{})
	before := governedBytes(t, s.clone)
	moved := false
	store, err := opener(s.clone)(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	ref := runRef(t, newer)
	_, err = Restore(t.Context(), bytes.NewReader(newer), Options{
		Into: func(_ context.Context, use func(*gitstore.Store) error) error { return use(store) },
		// Files are staged before the run is recorded.
		Progress: func(done, _ int) {
			if !moved {
				moved = true
				// Another work tree records something: any commit on top will do.
				tip := testGit(t, s.clone, "rev-parse", ref)
				next := testGit(t, s.clone, "commit-tree", "-m", "raced", "-p", tip, tip+"^{tree}")
				testGit(t, s.clone, "update-ref", ref, next)
			}
		},
	})
	// Nothing may build on a commit that is not an operation.
	if codeIn(err) != record.CodeUnproven {
		t.Fatalf("%v (%s), want %s", err, codeIn(err), record.CodeUnproven)
	}
	if after := governedBytes(t, s.clone); !maps.Equal(before, after) {
		t.Errorf("changed: %v", changedNames(before, after))
	}
}

// TestRestoreCancelled is cancelled while staging: the checkout stays as it is.
func TestRestoreCancelled(t *testing.T) {
	s := newSource(t)
	ctx, cancel := context.WithCancel(t.Context())
	store, err := opener(s.clone)(ctx)
	if err != nil {
		t.Fatal(err)
	}
	before := governedBytes(t, s.clone)
	_, err = Restore(ctx, bytes.NewReader(s.artifact), Options{
		Into:     func(_ context.Context, use func(*gitstore.Store) error) error { return use(store) },
		Progress: func(done, _ int) { cancel() },
	})
	_ = store.Close()
	if err == nil {
		t.Fatal("it was not cancelled")
	}
	if now := governedBytes(t, s.clone); !maps.Equal(before, now) {
		t.Errorf("%v", changedNames(before, now))
	}
	sound(t, s.clone)
	if left, _ := os.ReadDir(filepath.Join(s.clone, ".agentxchain/transactions")); len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
}

// TestPathsThatAreAllowed checks that whatever an exporter collects under an ordinary name can be restored, and
// that allowed paths stay inside.
func TestPathsThatAreAllowed(t *testing.T) {
	for _, p := range []string{"agentxchain.json", "TALK.md", ".agentxchain/state.json",
		".agentxchain/dispatch/turns/turn_1/PROMPT.md", ".planning/a b/\u00e9 'x'.md", ".planning/.hidden",
		".planning/null.md", ".planning/git", ".planning/.gitkeep", ".planning/.github/x", ".planning/git~",
		".planning/console.md", ".agentxchain/transactions/accept/turn_1.json", ".planning/\u65e5\u672c.md"} {
		var r pathRules
		if err := r.check(p); err != nil {
			t.Errorf("%q: %v", p, err)
		}
	}
	for _, p := range []string{".planning/...", ".planning/nul.txt", ".planning/CON.md", ".planning/nul",
		".planning/a:b.md",
		".planning/trail.", ".planning/dir /x.md", ".planning/com1.log/x", ".planning/LPT9 .md"} {
		var r pathRules
		if err := r.check(p); codeIn(err) != CodeUnsafePath {
			t.Errorf("%q: %v, want %s", p, err, CodeUnsafePath)
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		p := rapid.SampledFrom(restoreRoots()).Draw(rt, "root") + rapid.StringOf(rapid.SampledFrom([]rune{'/', '.',
			'\\', 'a', 'g', 'i', 't', '~', '1', ' ', '\x00', '\u200c', ':', 'G'})).Draw(rt, "rest")
		var r pathRules
		if r.check(p) != nil {
			return
		}
		if !filepath.IsLocal(filepath.FromSlash(p)) || filepath.ToSlash(filepath.Clean(p)) != p || !restorable(p) {
			rt.Fatalf("%q is allowed", p)
		}
	})
}

func FuzzRestorePath(f *testing.F) {
	for _, h := range []string{".planning/x", "../x", ".planning/.git\u200c/x", ".agentxchain/reviews/../x", "TALK.md",
		string(wire.DocState)} {
		f.Add(h)
	}
	f.Fuzz(func(t *testing.T, p string) {
		var r pathRules
		if r.check(p) != nil {
			return
		}
		if !filepath.IsLocal(filepath.FromSlash(p)) || filepath.ToSlash(filepath.Clean(p)) != p || !restorable(p) {
			t.Fatalf("%q is allowed", p)
		}
		if err := r.check(p); err == nil {
			t.Fatalf("%q is allowed twice", p)
		}
	})
}
