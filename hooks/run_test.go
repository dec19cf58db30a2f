//go:build unix

// Every action, their order, and what a hook is given (docs/hooks.md#what-a-hook-is-given).

package hooks

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

func TestActions(t *testing.T) {
	tamper := "echo '{}' > .agentxchain/state.json; " + allow
	for _, tc := range []struct {
		script   string
		blocking bool
		action   string
		verdict  string
		message  string
		exit     string
	}{
		{allow, true, ActionContinued, "allow", "", "0"},
		{allow, false, ActionContinued, "allow", "", "0"},
		{`echo '{"verdict":"warn","message":"careful"}'`, true, ActionWarned, "warn", "careful", "0"},
		{`echo '{"verdict":"block","message":"no"}'`, true, ActionBlocked, "block", "no", "0"},
		{`echo '{"verdict":"block","message":{"why":[1]}}'`, true, ActionBlocked, "block", `{"why":[1]}`, "0"},
		{`echo '{"verdict":"block","message":"no"}'`, false, ActionDowngraded, "warn", "no", "0"},
		{"sleep 60", true, ActionBlockedTimeout, "block", `Hook "h" timed out after 150ms`, "null"},
		{"sleep 60", false, ActionWarnedTimeout, "warn", `Hook "h" timed out after 150ms`, "null"},
		{"exit 7", true, ActionBlockedFailure, "block", `Hook "h" failed (exit code 7)`, "7"},
		{"kill -9 $$", true, ActionBlockedFailure, "block", `Hook "h" failed (exit code null)`, "null"},
		{allow + "; exit 1", false, ActionWarnedFailure, "warn", `Hook "h" failed (exit code 1)`, "1"},
		{"echo hello", true, ActionBlockedInvalid, "block", `Hook "h" produced invalid JSON output`, "0"},
		{"true", false, ActionWarnedInvalid, "warn", `Hook "h" produced invalid JSON output`, "0"},
		{tamper, true, ActionAbortedTamper, "",
			"Hook tampered with protected file .agentxchain/state.json (SHA-256 digest mismatch). Protected content restored.",
			"0"},
		{tamper, false, ActionAbortedTamper, "",
			"Hook tampered with protected file .agentxchain/state.json (SHA-256 digest mismatch). Protected content restored.",
			"0"},
		{tamper + "; exit 3", true, ActionAbortedTamper, "",
			"Hook tampered with protected file .agentxchain/state.json (SHA-256 digest mismatch). Protected content restored.",
			"3"},
	} {
		mode := map[bool]string{true: "blocking", false: "advisory"}[tc.blocking]
		t.Run(tc.action+"/"+mode+"/"+tc.exit, func(t *testing.T) {
			r := project(t)
			before := tree(t, r.Root)
			h := shell("h", tc.script, tc.blocking)
			if strings.HasPrefix(tc.script, "sleep") {
				h.TimeoutMS = 150
			}
			out := run(t, r, call(), h, shell("later", allow, true))
			e := out.Entries[0]
			row := e.Row()
			code, _ := row.Get("exit_code")
			if e.Action != tc.action || e.Verdict != tc.verdict || messageText(e.Message) != tc.message ||
				string(ojson.Compact(code)) != tc.exit {
				t.Errorf("entry %s", ojson.Compact(row))
			}
			if e.TimedOut != strings.HasSuffix(tc.action, "_timeout") {
				t.Errorf("timed_out %v", e.TimedOut)
			}
			blocked := strings.HasPrefix(tc.action, "blocked")
			tampered := tc.action == ActionAbortedTamper
			if out.Blocked != blocked || out.OK == (blocked || tampered) || (out.Tamper != nil) != tampered ||
				(out.Blocker != nil) != blocked {
				t.Errorf("outcome %+v", out)
			}
			switch {
			case blocked:
				if out.Blocker.HookName != "h" || out.Blocker.Verdict != "block" || out.Blocker.Message != tc.message {
					t.Errorf("blocker %+v", out.Blocker)
				}
				if len(out.Entries) != 2 || out.Entries[1].Action != ActionSkipped {
					t.Errorf("the later hook is not entered as skipped: %+v", out.Entries)
				}
			case tampered:
				if out.Tamper.Code != CodeStateTamper || out.Tamper.File != ".agentxchain/state.json" ||
					len(out.Entries) != 1 {
					t.Errorf("tamper %+v, %d entries", out.Tamper, len(out.Entries))
				}
			case len(out.Entries) != 2 || out.Entries[1].Action != ActionContinued:
				t.Errorf("the later hook did not run: %+v", out.Entries)
			}
			if diff := cmp.Diff(before, tree(t, r.Root)); diff != "" {
				t.Errorf("the project is not as it was (-before +after):\n%s", diff)
			}
		})
	}
}

// TestRows pins the members and their order, of an entry and of a skipped one.
func TestRows(t *testing.T) {
	now := func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 6e6, time.UTC) }
	r := project(t)
	r.Now = now
	c := call()
	c.TurnID, c.RunID = "", ""
	out := run(t, r, c, shell("no", `echo words >&2; echo '{"verdict":"block"}'`, true), shell("later", allow, true))
	out.Entries[0].DurationMS = 12
	want := []string{
		`{"timestamp":"2026-01-02T03:04:05.006Z","hook_phase":"before_gate","hook_name":"no","hook_id":"no","transport":"process","run_id":"","turn_id":null,"duration_ms":12,"verdict":"block","message":null,"annotations":[],"exit_code":0,"timed_out":false,"stderr_excerpt":"words\n","orchestrator_action":"blocked"}`,
		`{"timestamp":"2026-01-02T03:04:05.006Z","hook_phase":"before_gate","hook_name":"later","hook_id":"later","run_id":"","turn_id":null,"duration_ms":0,"verdict":null,"message":"Skipped: prior hook \"no\" blocked","annotations":[],"exit_code":null,"timed_out":false,"stderr_excerpt":"","orchestrator_action":"skipped"}`,
	}
	for i, row := range out.Rows() {
		if got := string(ojson.Compact(row)); got != want[i] {
			t.Errorf("row %d\n got %s\nwant %s", i, got, want[i])
		}
	}
}

// TestEnvelope pins the bytes a hook reads.
func TestEnvelope(t *testing.T) {
	r := project(t)
	r.Now = func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 6e6, time.UTC) }
	run(t, r, call(), shell("h", "cat > seen; "+allow, true))
	got, _ := os.ReadFile(filepath.Join(r.Root, "seen"))
	root, _ := json.Marshal(r.Root)
	want := `{"hook_phase":"before_gate","hook_name":"h","run_id":"run_1","project_root":` + string(root) +
		`,"timestamp":"2026-01-02T03:04:05.006Z","payload":{"gate_type":"phase_transition"}}`
	if string(got) != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
	run(t, r, Call{Phase: "before_gate"}, shell("h", "cat > seen; "+allow, true))
	if got, _ := os.ReadFile(filepath.Join(r.Root, "seen")); !strings.HasSuffix(string(got), `,"payload":{}}`) ||
		!strings.Contains(string(got), `"run_id":""`) {
		t.Errorf("%s", got)
	}
}

// TestNoShell: arguments reach the program as they are.
func TestNoShell(t *testing.T) {
	r := project(t)
	put(t, r.Root, "show", "#!/bin/sh\nprintf '%s|' \"$@\" > seen\n"+allow+"\n")
	if err := os.Chmod(filepath.Join(r.Root, "show"), 0o755); err != nil {
		t.Fatal(err)
	}
	h := shell("h", "", true)
	h.Command = []string{"./show", "a b", "; touch x", "$HOME", "*", "`id`"}
	if out := run(t, r, call(), h); !out.OK {
		t.Fatalf("%+v", out)
	}
	got, _ := os.ReadFile(filepath.Join(r.Root, "seen"))
	if want := "a b|; touch x|$HOME|*|`id`|"; string(got) != want {
		t.Errorf("%q", got)
	}
}

func TestProgramMissing(t *testing.T) {
	r := project(t)
	if err := os.WriteFile(filepath.Join(r.Root, "plain.sh"), []byte("#!/bin/sh\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for why, argv := range map[string][]string{
		"no-such-program-anywhere is not on PATH": {"no-such-program-anywhere"},
		"./none does not exist":                   {"./none"},
		"/no/such/file does not exist":            {"/no/such/file"},
		"./plain.sh is not executable":            {"./plain.sh"},
		"it names no command":                     nil,
	} {
		h := shell("h", "", true)
		h.Command = argv
		out := run(t, r, call(), h)
		if e := out.Entries[0]; e.Action != ActionBlockedFailure || e.ExitCode != nil ||
			e.Stderr != "the program could not be started: "+why ||
			messageText(e.Message) != `Hook "h" failed (exit code null)` {
			t.Errorf("%q: %s", argv, ojson.Compact(e.Row()))
		}
	}
}

// TestEnvironment: a hook sees none of our variables except those in the list or requested.
func TestEnvironment(t *testing.T) {
	r := project(t)
	r.Environ = func() []string {
		return []string{"PATH=/usr/bin:/bin", "HOME=/home/me", "LC_ALL=C", "XDG_CACHE_HOME=/c",
			"AWS_SECRET_ACCESS_KEY=s3cr3t-value", "GIT_DIR=/x", "GIT_ASKPASS=y", "HANDED_ON=by-the-hook",
			"ALSO_HANDED_ON=by-the-person", "AGENTXCHAIN_RUN_ID=wrong", "SSH_AUTH_SOCK=/s", "LANGUAGE=de", "=odd",
			"plain"}
	}
	r.ExtraEnvNames = []string{"ALSO_HANDED_ON", "GIT_DIR"}
	h := shell("h", "env > seen; "+allow, true)
	h.EnvNames = []string{"HANDED_ON", "GIT_ASKPASS", "NOT_SET"}
	h.Env = ojson.NewObject("OWN", "1", "HOME", "/elsewhere", "AGENTXCHAIN_HOOK_NAME", "other", "BAD=NAME", "x", "NUL",
		"a\x00b")
	run(t, r, call(), h)
	data, _ := os.ReadFile(filepath.Join(r.Root, "seen"))
	got := strings.Split(strings.TrimSpace(string(data)), "\n")
	got = slices.DeleteFunc(got, func(kv string) bool { // the shell's own, and the mark of the process
		name, _, _ := strings.Cut(kv, "=")
		return slices.Contains([]string{"PWD", "OLDPWD", "SHLVL", "_", "AGENTXCHAIN_PROCESS_MARK"}, name)
	})
	slices.Sort(got)
	want := []string{"AGENTXCHAIN_HOOK_NAME=h", "AGENTXCHAIN_HOOK_PHASE=before_gate",
		"AGENTXCHAIN_PROJECT_ROOT=" + r.Root, "AGENTXCHAIN_RUN_ID=run_1", "ALSO_HANDED_ON=by-the-person",
		"HANDED_ON=by-the-hook", "HOME=/elsewhere", "LC_ALL=C", "OWN=1", "PATH=/usr/bin:/bin", "XDG_CACHE_HOME=/c"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestSecretsOfAProcess: values passed to the hook do not appear in the record.
func TestSecretsOfAProcess(t *testing.T) {
	r := project(t)
	r.Environ = func() []string { return []string{"PATH=/usr/bin:/bin", "TOKEN=very-secret-token"} }
	h := shell("h",
		`echo "bad $TOKEN" >&2; printf '{"verdict":"block","message":"%s","annotations":[{"key":"k","value":"%s"}]}' "no $TOKEN" "$TOKEN"`,
		true)
	h.EnvNames = []string{"TOKEN"}
	out := run(t, r, call(), h)
	if row := string(ojson.Compact(out.Entries[0].Row())); strings.Contains(row, "very-secret") ||
		strings.Count(row, "***") != 3 || strings.Contains(out.Blocker.Message, "secret") {
		t.Errorf("%s %+v", row, out.Blocker)
	}
}

// TestAnnotationRows: only after_acceptance writes them.
func TestAnnotationRows(t *testing.T) {
	r := project(t)
	script := `echo '{"verdict":"warn","annotations":[{"key":"a","value":"1","more":2},{"key":"Bad","value":"x"},{"key":"n","value":5},7]}'`
	for _, phase := range []string{"after_acceptance", "before_gate"} {
		c := call()
		c.Phase = phase
		out := run(t, r, c, shell("h", script, false), shell("quiet", allow, false))
		if got := string(ojson.Compact(out.Entries[0].Annotations)); got != `[{"key":"a","value":"1"}]` {
			t.Errorf("%s", got)
		}
		if want := map[string]int{"after_acceptance": 1}[phase]; len(out.Annotations) != want {
			t.Errorf("%s: %d rows", phase, len(out.Annotations))
		}
		for _, row := range out.Annotations {
			if got := strings.Join(row.Keys(), " "); got != "timestamp turn_id hook_name annotations" {
				t.Errorf("%s", got)
			}
		}
	}
}

func TestInterrupted(t *testing.T) {
	r := project(t)
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		for {
			if _, err := os.Stat(filepath.Join(r.Root, "up")); err == nil {
				cancel()
				return
			}
			time.Sleep(time.Millisecond)
		}
	}()
	out, err := r.Run(ctx, []Hook{shell("first", allow, true), shell("h", "touch up; sleep 60", true)}, call())
	if !errors.Is(err, context.Canceled) || out.OK || out.Blocked || len(out.Entries) != 1 {
		t.Errorf("%v, %+v", err, out)
	}
}

func TestFromObject(t *testing.T) {
	all, err := ojson.DecodeObject(
		[]byte(`{"before_gate":[{"name":"p","type":"process","command":["a","b"],"timeout_ms":500,"mode":"blocking","env":{"A":"1"},"env_names":["B"]},
		{"name":"w","type":"http","url":"http://x","method":"POST","headers":{"H":"v"},"timeout_ms":"soon","mode":"advisory"},7,{}],"on_escalation":{}}`))
	if err != nil {
		t.Fatal(err)
	}
	got := FromObject(all, "before_gate")
	if len(got) != 3 || !got[0].Blocking || got[0].TimeoutMS != 500 || got[0].EnvNames[0] != "B" || got[1].Blocking ||
		got[1].timeout() != maxTimeout || got[2].Type != "process" {
		t.Errorf("%+v", got)
	}
	if FromObject(all, "on_escalation") != nil || FromObject(nil, "before_gate") != nil ||
		FromConfig(nil, "before_gate") != nil {
		t.Error("phases without hooks")
	}
}

// BenchmarkNoHooks: a phase without hooks touches no file.
func BenchmarkNoHooks(b *testing.B) {
	r := &Runner{Root: "/nowhere"}
	b.ReportAllocs()
	for b.Loop() {
		if out, err := r.Run(context.Background(), FromObject(nil, "before_gate"),
			Call{Phase: "before_gate"}); err != nil || !out.OK {
			b.Fatal(err)
		}
	}
}

// An unknown type is not run as a program, and it fails according to its mode.
func TestUnknownTypeDoesNotRun(t *testing.T) {
	r := project(t)
	h := shell("h", "touch ran; "+allow, true)
	h.Type = "grpc"
	out := run(t, r, call(), h)
	if e := out.Entries[0]; out.OK || e.Action != ActionBlockedFailure || !strings.Contains(e.Stderr, `"grpc"`) {
		t.Errorf("%s", ojson.Compact(e.Row()))
	}
	if _, err := os.Stat(filepath.Join(r.Root, "ran")); err == nil {
		t.Error("it ran")
	}
}
