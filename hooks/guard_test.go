//go:build unix

// Hooks that change protected files, in every way a program can.

package hooks

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

const bundles = ".agentxchain/dispatch/turns/"

func TestTamper(t *testing.T) {
	for _, tc := range []struct {
		name, script, file, code string
	}{
		{"write", "echo x >> .agentxchain/history.jsonl", ".agentxchain/history.jsonl", CodeHistoryTamper},
		{"same length", "printf '{\"run_id\":\"run_2\"}\\n' > .agentxchain/state.json", ".agentxchain/state.json",
			CodeStateTamper},
		{"same length and time",
			"touch -r .agentxchain/state.json t; printf '{\"run_id\":\"run_2\"}\\n' > .agentxchain/state.json; touch -r t .agentxchain/state.json; rm t",
			".agentxchain/state.json", CodeStateTamper},
		{"delete", "rm .agentxchain/decision-ledger.jsonl", ".agentxchain/decision-ledger.jsonl", CodeLedgerTamper},
		{"create", "echo '{}' > .agentxchain/run-history.jsonl", ".agentxchain/run-history.jsonl", CodeHistoryTamper},
		{"create a directory", "mkdir -p .agentxchain/session.json/x", ".agentxchain/session.json", CodeBundleTamper},
		{"audit", "echo '{}' > .agentxchain/hook-audit.jsonl", ".agentxchain/hook-audit.jsonl", CodeBundleTamper},
		{"events", ": > .agentxchain/events.jsonl", ".agentxchain/events.jsonl", CodeBundleTamper},
		{"configuration", "echo >> agentxchain.json", "agentxchain.json", CodeBundleTamper},
		{"talk", "rm TALK.md", "TALK.md", CodeBundleTamper},
		{"replace", "cp .agentxchain/state.json t; echo >> t; mv t .agentxchain/state.json", ".agentxchain/state.json",
			CodeStateTamper},
		{"replace by a directory",
			"rm .agentxchain/state.json; mkdir .agentxchain/state.json; touch .agentxchain/state.json/x",
			".agentxchain/state.json", CodeStateTamper},
		{"link to a copy", "cp .agentxchain/state.json ../axc; ln -sf ../axc .agentxchain/state.json",
			".agentxchain/state.json", CodeStateTamper},
		{"link inside", "mv TALK.md TALK2.md; ln -s TALK2.md TALK.md", "TALK.md", CodeBundleTamper},
		{"pipe", "rm .agentxchain/state.json; mkfifo .agentxchain/state.json", ".agentxchain/state.json",
			CodeStateTamper},
		{"through a hard link", "ln .agentxchain/state.json t; echo x >> t; rm t", ".agentxchain/state.json",
			CodeStateTamper},
		{"mode", "chmod 600 .agentxchain/state.json", ".agentxchain/state.json", CodeStateTamper},
		{"unreadable", "chmod 000 .agentxchain/history.jsonl", ".agentxchain/history.jsonl", CodeHistoryTamper},
		{"all of it",
			"rm -rf .agentxchain/state.json .agentxchain/history.jsonl .agentxchain/decision-ledger.jsonl .agentxchain/dispatch",
			".agentxchain/state.json", CodeStateTamper},
		{"own bundle", "echo x > " + bundles + "turn_a/ASSIGNMENT.json", bundles + "turn_a/ASSIGNMENT.json",
			CodeBundleTamper},
		{"own manifest", "rm " + bundles + "turn_a/MANIFEST.json", bundles + "turn_a/MANIFEST.json", CodeBundleTamper},
		{"other bundle", "echo x > " + bundles + "turn_b/extra/deep/note.md", bundles + "turn_b/extra/deep/note.md",
			CodeBundleTamper},
		{"new file in own bundle", "echo x > " + bundles + "turn_a/new", bundles + "turn_a/new", CodeBundleTamper},
		{"new file in another bundle", "mkdir -p " + bundles + "turn_b/d; echo x > " + bundles + "turn_b/d/new",
			bundles + "turn_b/d/new", CodeBundleTamper},
		{"directory for a link", "mv " + bundles + "turn_b/extra ../axd; ln -s ../axd " + bundles + "turn_b/extra",
			bundles + "turn_b/extra/deep/note.md", CodeBundleTamper},
		{"caller's file", "echo x > src.go", "src.go", CodeBundleTamper},
		{"runner's file", "echo x > guarded.txt", "guarded.txt", CodeBundleTamper},
	} {
		for _, blocking := range []bool{true, false} {
			t.Run(tc.name+map[bool]string{true: "/blocking", false: "/advisory"}[blocking], func(t *testing.T) {
				r := project(t)
				r.Guarded = []string{"guarded.txt"}
				put(t, r.Root, "src.go", "package x")
				before := tree(t, r.Root)
				c := call()
				c.Protected = []string{"src.go", "../outside", "/etc/passwd"}
				out := run(t, r, c, shell("h", tc.script+"; "+allow, blocking), shell("later", allow, true))
				if out.Tamper == nil || out.OK || out.Blocked || len(out.Entries) != 1 ||
					out.Entries[0].Action != ActionAbortedTamper {
					t.Fatalf("%+v", out)
				}
				if out.Tamper.File != tc.file || out.Tamper.Code != tc.code {
					t.Errorf("%+v", out.Tamper)
				}
				after := tree(t, r.Root)
				for _, extra := range []string{"TALK2.md", bundles + "turn_b/d"} { // these are not guarded
					delete(after, filepath.FromSlash(extra))
				}
				if diff := cmp.Diff(before, after); diff != "" {
					t.Errorf("not put back (-before +after):\n%s", diff)
				}
			})
		}
	}
}

// TestSwappedParents: a link replaces a directory.
func TestSwappedParents(t *testing.T) {
	for _, script := range []string{
		"mv .agentxchain ../moved; ln -s ../moved .agentxchain",
		"cp -R .agentxchain x; rm -rf .agentxchain; ln -s x .agentxchain",
		"rm -rf .agentxchain; echo > .agentxchain",
		"chmod 000 .agentxchain",
		"mv .agentxchain/dispatch d; ln -s ../d .agentxchain/dispatch",
	} {
		r := project(t)
		r.Root = filepath.Join(t.TempDir(), "project")
		if err := os.CopyFS(r.Root, os.DirFS(project(t).Root)); err != nil {
			t.Fatal(err)
		}
		out := run(t, r, call(), shell("h", script+"; "+allow, false))
		if out.Tamper == nil {
			if os.Getuid() == 0 && strings.HasPrefix(script, "chmod") {
				continue // root is not stopped by it
			}
			t.Fatalf("%s: %+v", script, out)
		}
		for p, want := range map[string]string{
			".agentxchain/state.json":             stateText,
			".agentxchain/history.jsonl":          historyText,
			bundles + "turn_b/extra/deep/note.md": "note",
		} {
			if got, err := os.ReadFile(filepath.Join(r.Root, p)); err != nil || string(got) != want {
				t.Errorf("%s: %s: %q, %v", script, p, got, err)
			}
		}
		if info, err := os.Lstat(filepath.Join(r.Root, ".agentxchain")); err != nil || !info.IsDir() {
			t.Errorf("%s: %v, %v", script, info, err)
		}
	}
}

// TestLinksOfTheProject: a protected file that was always a link stays one.
func TestLinksOfTheProject(t *testing.T) {
	r := project(t)
	talk := filepath.Join(r.Root, "TALK.md")
	if err := errors.Join(os.Remove(talk), os.Symlink("docs/talk.md", talk)); err != nil {
		t.Fatal(err)
	}
	if out := run(t, r, call(), shell("h", allow, true)); !out.OK {
		t.Fatalf("%+v", out)
	}
	out := run(t, r, call(), shell("h", "rm TALK.md; echo x > TALK.md; "+allow, true))
	if out.Tamper == nil || out.Tamper.File != "TALK.md" {
		t.Fatalf("%+v", out)
	}
	if link, err := os.Readlink(talk); err != nil || link != "docs/talk.md" {
		t.Errorf("%q, %v", link, err)
	}
}

// TestAllowed: what hooks may change.
func TestAllowed(t *testing.T) {
	for _, tc := range []struct{ phase, script string }{
		{"before_gate",
			"echo x > src.go; mkdir .agentxchain/own; touch .agentxchain/own/f; touch .agentxchain/state.json"},
		{"before_gate", "echo x > " + bundles + "turn_a/stdout.log"},
		{"before_gate", "mkdir " + bundles + "turn_c"},
		{"before_validation", "echo '{}' > .agentxchain/staging/turn_a/turn-result.json"},
		{"after_dispatch", "mkdir " + bundles + "turn_a/sub; echo x > " + bundles +
			"turn_a/sub/POLICY.md; echo y > " + bundles + "turn_a/NOTE.md"},
	} {
		r := project(t)
		c := call()
		c.Phase = tc.phase
		if out := run(t, r, c, shell("h", tc.script+"; "+allow, true)); !out.OK {
			t.Errorf("%s: %s: %+v", tc.phase, tc.script, out.Tamper)
		}
	}
}

func TestPhases(t *testing.T) {
	for _, tc := range []struct{ phase, script, file string }{
		{"after_dispatch", "echo x > " + bundles + "turn_a/ASSIGNMENT.json", bundles + "turn_a/ASSIGNMENT.json"},
		{"after_dispatch", "echo x > " + bundles + "turn_a/CONTEXT.effective.md",
			bundles + "turn_a/CONTEXT.effective.md"},
		{"after_dispatch", "echo x > " + bundles + "turn_b/NOTE.md", bundles + "turn_b/NOTE.md"},
		{"after_validation", "echo '{}' > .agentxchain/staging/turn_a/turn-result.json", wire.StagingPath("turn_a")},
		{"before_acceptance", "echo '{}' > " + wire.FlatStagingPath, wire.FlatStagingPath},
	} {
		r := project(t)
		before := tree(t, r.Root)
		c := call()
		c.Phase = tc.phase
		if tc.phase == "after_dispatch" {
			c.Protected = []string{bundles + "turn_a/ASSIGNMENT.json", bundles + "turn_a/CONTEXT.effective.md"}
		}
		out := run(t, r, c, shell("h", tc.script+"; "+allow, true))
		if out.Tamper == nil || out.Tamper.File != tc.file {
			t.Errorf("%s: %s: %+v", tc.phase, tc.script, out.Tamper)
		}
		if diff := cmp.Diff(before, tree(t, r.Root)); diff != "" {
			t.Errorf("%s: %s", tc.phase, diff)
		}
	}
}

// TestBigFiles: what does not fit into memory is copied, or comes from the caller.
func TestBigFiles(t *testing.T) {
	big := bytes.Repeat([]byte("0123456789abcdef"), (maxKeptFile+1<<20)/16)
	for name, restore := range map[string]func(string) ([]byte, error){
		"copied":          nil,
		"restored":        func(string) ([]byte, error) { return big, nil },
		"wrong bytes":     func(string) ([]byte, error) { return big[1:], nil },
		"nothing to have": func(string) ([]byte, error) { return nil, errors.New("not recorded") },
		"another":         func(string) ([]byte, error) { return nil, errors.New("not recorded") },
	} {
		t.Run(name, func(t *testing.T) {
			r := project(t)
			r.Restore = restore
			if name == "another" {
				r.Restorable = func(p string) bool { return p != ".agentxchain/history.jsonl" }
			}
			put(t, r.Root, ".agentxchain/history.jsonl", string(big))
			out, err := r.Run(context.Background(), []Hook{shell("h", "rm .agentxchain/history.jsonl; "+allow, true)},
				call())
			got, readErr := os.ReadFile(filepath.Join(r.Root, ".agentxchain/history.jsonl"))
			if name == "copied" || name == "restored" || name == "another" {
				if err != nil || out.Tamper == nil || readErr != nil || !bytes.Equal(got, big) {
					t.Errorf("%v, %+v, %v", err, out, readErr)
				}
			} else {
				var e *wire.Error
				if !errors.As(err, &e) || e.Code != CodeGuardFailed || out.OK ||
					!strings.Contains(e.Message, "history.jsonl") {
					t.Errorf("%v", err)
				}
			}
			if left, _ := os.ReadDir(r.Scratch); len(left) != 0 {
				t.Errorf("copies are left: %v", left)
			}
		})
	}
}

func TestGuardFails(t *testing.T) {
	r := project(t)
	hooks := []Hook{shell("h", "touch ran; "+allow, true)}
	fails := func(what string) {
		t.Helper()
		out, err := r.Run(context.Background(), hooks, call())
		var e *wire.Error
		if !errors.As(err, &e) || e.Code != CodeGuardFailed || out.OK {
			t.Errorf("%s: %v, %+v", what, err, out)
		}
		if _, err := os.Stat(filepath.Join(r.Root, "ran")); err == nil {
			t.Errorf("%s: the hook ran all the same", what)
		}
	}
	if err := os.Rename(filepath.Join(r.Root, ".agentxchain"), filepath.Join(r.Scratch, "out")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(r.Scratch, "out"), filepath.Join(r.Root, ".agentxchain")); err != nil {
		t.Fatal(err)
	}
	fails("a link that leads out")
	r.Root = filepath.Join(r.Root, "none")
	fails("no project")
}

// TestHostile: hooks that do not end, or leave behind something that would write later.
func TestHostile(t *testing.T) {
	testrepo.Thorough(t)
	later := "sleep 0.3; echo tampered > .agentxchain/state.json"
	for _, tc := range []struct {
		name, script, action string
		ms                   int
	}{
		{"ignores SIGTERM", "trap '' TERM; while :; do sleep 1; done", ActionBlockedTimeout, 200},
		{"writes on SIGTERM", "trap 'echo x > .agentxchain/state.json; exit 0' TERM; sleep 60 & wait",
			ActionAbortedTamper, 200},
		{"daemon holds the pipe", "sleep 60 & " + allow, ActionContinued, 20000},
		{"daemon writes later", "(" + later + ") & " + allow, ActionContinued, 20000},
		{"daemon of its own writes later", "setsid sh -c '" + later + "' <&- >&- 2>&- & " + allow, ActionContinued,
			20000},
		{"floods standard output", "exec head -c 1000000000 /dev/zero", ActionBlockedFailure, 20000},
		{"floods standard error", "head -c 1000000000 /dev/zero >&2; " + allow, ActionBlockedFailure, 20000},
		{"floods for ever", "exec yes", ActionBlockedFailure, 20000},
		{"never reads", allow, ActionContinued, 20000},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if strings.Contains(tc.script, "setsid") && runtime.GOOS != "linux" {
				t.Skip("found on Linux only")
			}
			r := project(t)
			before := tree(t, r.Root)
			c := call()
			if tc.name == "never reads" {
				c.Payload = ojson.NewObject("long", strings.Repeat("x", 4<<20))
			}
			h := shell("h", tc.script, true)
			h.TimeoutMS = tc.ms
			out := run(t, r, c, h)
			e := out.Entries[0]
			if e.Action != tc.action || len(e.Stderr) > 3*maxStderr {
				t.Errorf("%s, %q", e.Action, cut(e.Stderr, 200))
			}
			if strings.HasPrefix(tc.name, "floods") && (e.ExitCode != nil || e.TimedOut) {
				t.Errorf("exit %v, timed out %v", e.ExitCode, e.TimedOut)
			}
			// Remaining processes have been ended, so nothing is written later: hooks are over when Run returns.
			c.Payload = nil
			run(t, r, c, shell("wait", "sleep 0.5; "+allow, true))
			if diff := cmp.Diff(before, tree(t, r.Root)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
