// The live view and the keys that a person has while a run goes on, at a real terminal.

package cli

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

// ptyAgent is an agent of the role dev: DEED says how it behaves.
const ptyAgent = `#!/bin/sh
set -eu
turn=$AGENTXCHAIN_TURN_ID
field() { sed -n "s/^  \"$1\": \"\(.*\)\",*$/\1/p" ".agentxchain/dispatch/turns/$turn/ASSIGNMENT.json" | head -n 1; }
echo "$$" >.git/agent.pid
echo "$turn" >>.git/agent.turns
phase=null
case $(cat .git/deed) in
wait) echo "agent is thinking"; sleep 600 ;;
deaf) trap '' TERM; echo "agent is deaf"; while :; do sleep 1; done ;;
talk) for i in 1 2 3 4 5 6; do echo "thought number $i, which is rather long for a terminal that has only few columns"; sleep 0.3; done ;;
hostile)
	printf '\033]0;owned\007\033[2J\033[5;5Hred \342\200\256 \377\376 line\r\b\n'
	sleep 0.6
	printf '\033[2J\033[1A' >&2
	head -c 1000000 /dev/zero | tr '\0' 'x'
	echo
	sleep 0.6 ;;
gate) phase='"ship"' ;;
stream) while read -r record; do echo "$record"; sleep 0.4; done <.git/records ;;
esac
date >>notes.txt
echo "$turn" >>notes.txt
cat >".agentxchain/staging/$turn/turn-result.json" <<JSON
{"schema_version": "1.0", "run_id": "$(field run_id)", "turn_id": "$turn", "role": "dev", "runtime_id": "sh",
 "status": "completed", "summary": "wrote a note", "decisions": [], "objections": [], "files_changed": ["notes.txt"], "artifacts_created": [],
 "verification": {"status": "pass", "commands": ["true"], "evidence_summary": "It was run.", "machine_evidence": [{"command": "true", "exit_code": 0}]},
 "artifact": {"type": "workspace", "ref": null}, "proposed_next_role": "dev", "phase_transition_request": $phase, "run_completion_request": null,
 "needs_human_reason": null, "cost": {"input_tokens": 10, "output_tokens": 5, "usd": 0.25}}
JSON
`

// ptyProject makes a trusted project whose turns a shell agent does.
func ptyProject(t *testing.T) string {
	t.Helper()
	for _, program := range []string{"sh", "sed", "tr", "head"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip("the agent is a shell script: ", err)
		}
	}
	for k, v := range map[string]string{
		"GIT_CONFIG_GLOBAL":   foreground(t),
		"GIT_CONFIG_SYSTEM":   os.DevNull,
		"HOME":                t.TempDir(),
		"GIT_AUTHOR_NAME":     "Ada",
		"GIT_AUTHOR_EMAIL":    "ada@example.org",
		"GIT_COMMITTER_NAME":  "Ada",
		"GIT_COMMITTER_EMAIL": "ada@example.org",
		"AGENTXCHAIN_TURN_ID": "",
		"AGENTXCHAIN_TRUST":   "",
		"NO_COLOR":            "",
		"CLICOLOR":            "",
		"CLICOLOR_FORCE":      "",
		"GIT_TERMINAL_PROMPT": "",
	} {
		t.Setenv(k, v)
	}
	dir := t.TempDir()
	if err := scriptProject(
		[]string{dir, "approval_policy=", "policies=", "workflow_kit={}", "rules.challenge_required=false",
			`routing={"build":{"entry_role":"dev","allowed_next_roles":["dev","human"],"exit_gate":"plan_ok"},"ship":{"entry_role":"dev","allowed_next_roles":["dev","human"]}}`,
			`gates={"plan_ok":{"requires_human_approval":true}}`,
			`runtimes.sh={"type":"local_cli","command":["sh","agent.sh"]}`, "roles.dev.runtime=sh"}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "agent.sh"), []byte(ptyAgent), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"add", "-A"}, {"commit", "-q", "-m", "agent"}} {
		if out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	r, err := runner.Open(context.Background(), dir, runner.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	state, err := r.TrustState(context.Background())
	if err == nil {
		err = r.Trust(context.Background(), state.Scope.Digest)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func behave(t *testing.T, dir, what string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, ".git", "deed"), []byte(what), 0o666); err != nil {
		t.Fatal(err)
	}
}

// agentPID returns the process of the agent that was started last.
func agentPID(t *testing.T, dir string) int {
	t.Helper()
	for range 3000 {
		data, _ := os.ReadFile(filepath.Join(dir, ".git", "agent.pid"))
		if pid, err := strconv.Atoi(strings.TrimSpace(string(data))); err == nil {
			return pid
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("no agent was started")
	return 0
}

// alive reports whether a process works; one that has ended but was not reaped does not.
func alive(pid int) bool {
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	_, state, _ := strings.Cut(string(stat), ") ")
	return err == nil && !strings.HasPrefix(state, "Z")
}

// onlyTurns returns the turns that agents were started for, each once.
func onlyTurns(t *testing.T, dir string) (list []string, starts int) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, ".git", "agent.turns"))
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Fields(string(data))
	return slices.Compact(slices.Clone(all)), len(all)
}

func having(lines []string, text string) (n int) {
	for _, l := range lines {
		if strings.Contains(l, text) {
			n++
		}
	}
	return n
}

// wroteNote matches the line of an accepted turn; one that took a second says how long.
var wroteNote = regexp.MustCompile(`wrote +a note \(build, 1 file, (\d+:\d\d, )?\$0\.25\)`)

func TestLiveView(t *testing.T) {
	testrepo.Serving(t)
	dir := ptyProject(t)
	for _, cols := range []int{120, 44} {
		behave(t, dir, "talk")
		r := startPTY(t, dir, cols, "run", "--max-turns", "1")
		status, lines := r.end()
		if status.ExitStatus() != 0 {
			t.Fatalf("exit status %d:\n%s", status.ExitStatus(), strings.Join(lines, "\n"))
		}
		// What was under way was shown, with the agent's last words, and is gone.
		if raw := r.written(); !strings.Contains(raw, "thought number") || !strings.Contains(raw, ", phase build") {
			t.Errorf("%d columns: nothing was shown while the agent worked:\n%q", cols, raw)
		}
		if having(lines, "thought number") > 0 || having(lines, "Ctrl-C") > 0 {
			t.Errorf("%d columns: the picture was left behind:\n%s", cols, strings.Join(lines, "\n"))
		}
		// Each event stays, once and in order; nothing was overwritten.
		if having(lines, "assigned to sh") != 1 || having(lines, "Ended:") != 1 ||
			!wroteNote.MatchString(strings.Join(lines, " ")) {
			t.Errorf("%d columns: lines are missing:\n%s", cols, strings.Join(lines, "\n"))
		}
	}
}

func TestLiveViewHostileAgent(t *testing.T) {
	testrepo.Serving(t)
	dir := ptyProject(t)
	behave(t, dir, "hostile")
	r := startPTY(t, dir, 80, "run", "--max-turns", "1")
	status, lines := r.end() // fails on every sequence that is not the view's own
	if status.ExitStatus() != 0 || having(lines, "accepted: wrote a note") != 1 {
		t.Errorf("exit status %d:\n%s", status.ExitStatus(), strings.Join(lines, "\n"))
	}
	raw := r.written()
	for _, bad := range []string{"\x1b]", "\x1b[2J", "\x1b[5;5H", "\a", "\b", "\u202e", "\xff"} {
		if strings.Contains(raw, bad) {
			t.Errorf("%q reached the terminal", bad)
		}
	}
	if strings.Contains(raw, strings.Repeat("x", 81)) {
		t.Error("a line without end was shown at length")
	}
}

// TestInterruptOnce ends the agents, and the run goes on under the same turn.
func TestInterruptOnce(t *testing.T) {
	testrepo.Serving(t)
	dir := ptyProject(t)
	behave(t, dir, "wait")
	r := startPTY(t, dir, 100, "run", "--max-turns", "1")
	r.await("agent is thinking")
	pid := agentPID(t, dir)
	r.enter("\x03")
	status, lines := r.end()
	if status.ExitStatus() != term.ExitInterrupted || having(lines, "agent is thinking") > 0 ||
		having(lines, "interrupted") == 0 {
		t.Errorf("exit status %d:\n%s", status.ExitStatus(), strings.Join(lines, "\n"))
	}
	if alive(pid) {
		t.Error("the agent outlived the run")
	}
	behave(t, dir, "")
	if status, lines = startPTY(t, dir, 100, "run", "--max-turns", "1").end(); status.ExitStatus() != 0 ||
		having(lines, "assigned to") > 0 || having(lines, "accepted") == 0 {
		t.Errorf("exit status %d:\n%s", status.ExitStatus(), strings.Join(lines, "\n"))
	}
	if turns, starts := onlyTurns(t, dir); len(turns) != 1 || starts != 2 {
		t.Errorf("%d agents were started for turns %v", starts, turns)
	}
}

// interruptTwice starts a run with an agent that ignores signals, and interrupts it twice with a pause.
func interruptTwice(t *testing.T, pause time.Duration) (r *ptyRun, dir string, agent int) {
	t.Helper()
	dir = ptyProject(t)
	behave(t, dir, "deaf")
	r = startPTY(t, dir, 100, "run", "--max-turns", "1")
	r.await("agent is deaf")
	agent = agentPID(t, dir)
	t.Cleanup(func() { _ = syscall.Kill(agent, syscall.SIGKILL) })
	r.enter("\x03")
	time.Sleep(pause)
	r.enter("\x03")
	return r, dir, agent
}

// TestInterruptEchoed: git passes on a signal that the terminal has also sent to us. Both count as
// one: the command ends what it started, and says so.
func TestInterruptEchoed(t *testing.T) {
	testrepo.Thorough(t)
	r, _, pid := interruptTwice(t, 20*time.Millisecond)
	if status, lines := r.end(); status.ExitStatus() != term.ExitInterrupted || having(lines, "interrupted") == 0 {
		t.Errorf("wait status %v:\n%s", status, strings.Join(lines, "\n"))
	}
	if alive(pid) {
		t.Error("the agent outlived the run")
	}
}

// TestInterruptTwice ends the command at once, whatever the agent does; the next run ends what is
// left of it.
func TestInterruptTwice(t *testing.T) {
	testrepo.Thorough(t)
	r, dir, pid := interruptTwice(t, time.Second) // the first one has to take effect
	if status, _ := r.end(); !status.Signaled() || status.Signal() != syscall.SIGINT {
		t.Errorf("wait status %v", status)
	}
	behave(t, dir, "")
	if status, lines := startPTY(t, dir, 100, "run", "--max-turns", "1").end(); status.ExitStatus() != 0 ||
		having(lines, "accepted") == 0 {
		t.Errorf("exit status %d:\n%s", status.ExitStatus(), strings.Join(lines, "\n"))
	}
	if alive(pid) {
		t.Error("the deaf agent works on beside the new one")
	}
	if turns, _ := onlyTurns(t, dir); len(turns) != 1 {
		t.Errorf("turns %v", turns)
	}
}

// TestGateQuestion asks the person at the terminal, with nothing drawn over it.
func TestGateQuestion(t *testing.T) {
	dir := ptyProject(t)
	behave(t, dir, "gate")
	for _, tt := range []struct{ answer, want string }{{"n", "a gate waits for a person"},
		{"y", "as many turns as asked for are done"}} {
		r := startPTY(t, dir, 100, "run", "--max-turns", "2")
		r.await("Gate plan_ok (build -> ship) waits for you. Approve? [y/N] ")
		behave(t, dir, "")
		time.Sleep(2 * liveInterval) // time for a picture that must not come
		r.enter(tt.answer + "\n")
		status, lines := r.end()
		if status.ExitStatus() != 0 || having(lines, tt.want) != 1 || having(lines, "Approve? [y/N] "+tt.answer) != 1 ||
			having(lines, "the gate still waits; git agentxchain approve") != 1 {
			t.Errorf("%s: exit status %d:\n%s", tt.answer, status.ExitStatus(), strings.Join(lines, "\n"))
		}
		if asked, _, _ := strings.Cut(r.written()[strings.Index(r.written(), "Approve?"):],
			"\r\n"); strings.Contains(asked, "\x1b[") {
			t.Errorf("%s: something was drawn over the question: %q", tt.answer, asked)
		}
	}
	r, err := runner.Open(context.Background(), dir, runner.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	v, err := r.View(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if v.State.Phase != "ship" || v.State.Status != wire.StatusActive {
		t.Errorf("phase %s, %s", v.State.Phase, v.State.Status)
	}
}

// TestScreen checks the terminal of these tests against what a terminal does.
func TestScreen(t *testing.T) {
	lines, err := screen("one\r\ntwo\r\nthree\r\n\r\x1b[2Aab\x1b[K\r\n\x1b[Jlast, too long", 10)
	if err != nil || !slices.Equal(lines, []string{"one", "ab", "last, too", "long"}) {
		t.Errorf("%q %v", lines, err)
	}
	for _, bad := range []string{"\x1b[2J\x1b[5;5H", "\x1b]0;x\a", "\a", "\xff", "\u202e", "\x1b[3A"} {
		if _, err := screen(bad, 10); err == nil {
			t.Errorf("%q passed", bad)
		}
	}
}

// TestAgentsStreamsAreWords: for every agent that prints JSON the screen shows what it does, and no JSON.
func TestAgentsStreamsAreWords(t *testing.T) {
	testrepo.Thorough(t)
	for agent, records := range map[string][2]string{
		"claude": {`{"type":"assistant","message":{"content":[{"type":"tool_use","name":"Bash","input":{"command":"make test"}}]}}`,
			`{"type":"user","message":{"content":[{"type":"tool_result","content":"ok"}]}}`},
		"codex": {`{"type":"item.started","item":{"type":"command_execution","command":"make test"}}`,
			`{"type":"turn.completed","usage":{}}`},
		"gemini": {`{"type":"tool_use","tool_name":"shell","parameters":{"command":"make test"}}`,
			`{"type":"tool_result","status":"success"}`},
		"opencode": {`{"type":"tool_use","part":{"tool":"bash","state":{"input":{"command":"make test"}}}}`,
			`{"type":"step_finish","part":{}}`},
	} {
		t.Run(agent, func(t *testing.T) {
			dir := ptyProject(t)
			behave(t, dir, "stream")
			lines := strings.Join(records[:], "\n") + "\n{\"type\":\"assist\n"
			if err := os.WriteFile(filepath.Join(dir, ".git", "records"), []byte(lines), 0o666); err != nil {
				t.Fatal(err)
			}
			r := startPTY(t, dir, 120, "step")
			r.await(": make test")
			r.await("accepted")
			if _, _ = r.end(); strings.Contains(r.written(), `"type"`) || strings.Contains(r.written(), "{") {
				t.Errorf("a record is on the screen: %q", r.written())
			}
		})
	}
}
