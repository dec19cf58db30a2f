// The printed next command, run as printed, works: random walks with the real program over policies, hooks,
// budgets, time limits, delegations, conflicts, sign-offs and initiatives.

package cli

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// nextWalk is one walk: a directory with one project, or with an initiative and its two repositories.
type nextWalk struct {
	t     *testing.T
	rng   *rand.Rand
	root  string
	sites []string // governed projects below root
	multi bool
	later time.Duration
	log   []string
	seen  map[string]bool // standings and commands that were tried
	tried *tally          // command and outcome -> how often
	at    string          // where the last act was done
}

// tally counts what parallel walks do.
type tally struct {
	mu sync.Mutex
	n  map[string]int
}

func (c *tally) add(what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n[what]++
}

// nextConfigs lists variants for members of agentxchain.json besides the template's.
var nextConfigs = map[string][]string{
	"plain": nil,
	"policies": {`policies=[{"id":"turns","rule":"max_turns_per_phase","params":{"limit":2},"action":"escalate"},` +
		`{"id":"row","rule":"max_consecutive_same_role","params":{"limit":1},"action":"block"}]`},
	"escalation": {`policies=[{"id":"row","rule":"max_consecutive_same_role","params":{"limit":1},"action":"escalate","message":"no"}]`},
	"hooks": {`hooks={"before_assignment":[{"name":"guard","type":"process","mode":"blocking","timeout_ms":5000,"command":["sh","-c","if [ -e refuse ]; then echo '{\"verdict\":\"block\",\"message\":\"no\"}'; else echo '{\"verdict\":\"allow\"}'; fi"]}],` +
		`"after_acceptance":[{"name":"after","type":"process","mode":"advisory","timeout_ms":5000,"command":["sh","-c","if [ -e refuse ]; then echo '{\"verdict\":\"block\",\"message\":\"no\"}'; else echo '{\"verdict\":\"allow\"}'; fi"]}]}`},
	"budget": {`budget={"per_turn_max_usd":1,"per_run_max_usd":2,"on_exceed":"pause_and_escalate"}`},
	"warned": {`budget={"per_turn_max_usd":1,"per_run_max_usd":2,"on_exceed":"warn"}`},
	"time":   {`timeouts={"per_turn_minutes":5,"per_phase_minutes":30,"per_run_minutes":120,"action":"escalate"}`},
	"skip": {`timeouts={"per_phase_minutes":30,"action":"warn"}`, `routing.implementation.timeout_minutes=10`,
		`routing.implementation.timeout_action=skip_phase`},
	"parallel": {`routing.planning.max_concurrent_turns=2`, `routing.implementation.max_concurrent_turns=2`},
	"authority": {`authority={"approvers":{"all":{"principals":["ada@example.org"],"threshold":1}},` +
		`"gates":{"planning_signoff":{"by":"all"},"qa_ship_verdict":{"by":"all"}},"person_signs":true}`},
}

func TestTheNextCommandWorksAsPrinted(t *testing.T) {
	testrepo.Thorough(t)
	walks, steps := 3, 8
	if os.Getenv("AGENTXCHAIN_LONG_TESTS") == "1" {
		walks, steps = 150, 40
	}
	seed := uint64(1)
	if s := os.Getenv("AGENTXCHAIN_WALK_SEED"); s != "" {
		if _, err := fmt.Sscan(s, &seed); err != nil {
			t.Fatal(err)
		}
	}
	testrepo.InMemory()
	names := slices.Sorted(maps.Keys(nextConfigs))
	tried := &tally{n: make(map[string]int)}
	t.Run("walks", func(t *testing.T) {
		for i := range walks {
			rng := rand.New(rand.NewPCG(seed, uint64(i)))
			name := names[(i+int(seed))%len(names)]
			multi := i%8 == 7
			t.Run(fmt.Sprintf("%d %s multi=%v", i, name, multi), func(t *testing.T) {
				t.Parallel()
				w := newNextWalk(t, rng, name, multi)
				w.tried = tried
				w.check(nil)
				for range steps {
					if w.check(w.act()); t.Failed() {
						return
					}
				}
			})
		}
	})
	for _, k := range slices.Sorted(maps.Keys(tried.n)) {
		t.Logf("%5d %s", tried.n[k], k)
	}
	if len(tried.n) < 4 {
		t.Errorf("only %d kinds of commands were tried", len(tried.n))
	}
}

func newNextWalk(t *testing.T, rng *rand.Rand, name string, multi bool) *nextWalk {
	w := &nextWalk{t: t, rng: rng, root: t.TempDir(), multi: multi, seen: make(map[string]bool)}
	sites := []string{"p"}
	if multi {
		sites = []string{"api", "web"}
	}
	for _, s := range sites {
		w.must(w.root, "project", append([]string{s}, nextConfigs[name]...)...)
		w.sites = append(w.sites, filepath.Join(w.root, s))
	}
	if multi {
		w.must(w.root, "git", "init", "-q", "ws")
		doc := `{"schema_version":"0.1","project":{"id":"shop","name":"Shop"},"repos":{"api":{"path":"../api"},"web":{"path":"../web"}},` +
			`"workstreams":{"plan":{"phase":"planning","repos":["api","web"],"entry_repo":"api","depends_on":[],"completion_barrier":"all_repos_accepted"},` +
			`"build":{"phase":"implementation","repos":["api","web"],"entry_repo":"api","depends_on":["plan"],"completion_barrier":"all_repos_accepted"},` +
			`"check":{"phase":"qa","repos":["api","web"],"entry_repo":"api","depends_on":["build"],"completion_barrier":"all_repos_accepted"}},` +
			`"routing":{"planning":{},"implementation":{},"qa":{}}}`
		if err := os.WriteFile(filepath.Join(w.root, "ws", "agentxchain-multi.json"), []byte(doc), 0o666); err != nil {
			t.Fatal(err)
		}
		w.ours(w.ws(), "multi", "init")
	}
	return w
}

func (w *nextWalk) ws() string { return filepath.Join(w.root, "ws") }

// exec runs a program as an ordinary person would, at the walk's time.
func (w *nextWalk) exec(dir, program string, args ...string) (status int, stdout []byte, stderr string) {
	w.t.Helper()
	cmd := w.command(dir, program, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	status, err := exitOf(cmd)
	if err != nil {
		w.t.Fatalf("%s %v: %v %s", program, args, err, errs.String())
	}
	return status, out.Bytes(), errs.String()
}

func (w *nextWalk) command(dir, program string, args ...string) *exec.Cmd {
	home := filepath.Join(w.t.TempDir(), "home")
	cmd := exec.Command(program, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+home, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_GLOBAL="+os.DevNull,
		"GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@example.org", "GIT_COMMITTER_NAME=Ada",
		"GIT_COMMITTER_EMAIL=ada@example.org",
		"GIT_CEILING_DIRECTORIES="+filepath.Dir(w.root), "SCRIPT_LATER="+w.later.String(), "GORACE=atexit_sleep_ms=0",
		"NO_COLOR=1",
		"AGENTXCHAIN_TRUST=1")
	return cmd
}

func (w *nextWalk) must(dir, program string, args ...string) {
	w.t.Helper()
	if status, out, errs := w.exec(dir, program, args...); status != 0 {
		w.t.Fatalf("%s %v ended with %d: %s%s", program, args, status, out, errs)
	}
}

// ours runs a command of ours and returns its answer.
func (w *nextWalk) ours(dir string, args ...string) (int, *ojson.Object) {
	w.t.Helper()
	words := append(append([]string{"agentxchain"}, args...), "--json")
	status, out, errs := w.exec(dir, "git", words...)
	doc, err := ojson.DecodeObject(out)
	if err != nil {
		w.t.Fatalf("%v ended with %d and printed no JSON: %s%s\n%s", args, status, out, errs, w.story())
	}
	w.log = append(w.log, fmt.Sprintf("%s: %s -> %d %s", filepath.Base(dir), strings.Join(args, " "), status,
		doc.Object("error").String("code")))
	return status, doc
}

func (w *nextWalk) story() string { return strings.Join(w.log, "\n") }

func (w *nextWalk) pick(list ...string) string { return list[w.rng.IntN(len(list))] }

// act does one random thing and returns the error that it ended with, nil for none.
func (w *nextWalk) act() *ojson.Object {
	dir := w.sites[w.rng.IntN(len(w.sites))]
	w.at = dir
	if w.multi && w.rng.IntN(3) == 0 {
		w.at = w.ws()
		_, doc := w.ours(w.ws(), "multi", w.pick("step", "step", "step", "resync", "approve-gate", "resume"))
		return doc.Object("error")
	}
	_, st := w.ours(dir, "status")
	turns := st.Objects("active_turns")
	turn := ""
	if len(turns) > 0 {
		turn = turns[w.rng.IntN(len(turns))].String("turn_id")
	}
	say := func(args ...string) *ojson.Object {
		_, doc := w.ours(dir, args...)
		return doc.Object("error")
	}
	n := w.rng.IntN(106)
	if turn == "" && n < 60 || st.String("status") == string(wire.StatusPaused) && n < 30 {
		n = 60 + w.rng.IntN(46)
	}
	switch {
	case n < 40:
		return w.result(dir, turn)
	case n < 45:
		return say("reject", turn, "--reason", "not enough")
	case n < 50:
		return say("reissue", turn, "--reason", "again")
	case n < 55:
		return say("accept", turn)
	case n < 58:
		return say("reject", turn, "--reason", "no", "--reassign")
	case n < 60:
		return say("checkpoint")
	case n < 72:
		return say(slices.DeleteFunc([]string{"assign", w.pick("", "", "pm", "dev", "qa", "eng_director")},
			func(s string) bool { return s == "" })...)
	case n < 78:
		return say("approve")
	case n < 80:
		return say("approve", "--deny", "--reason", "not yet")
	case n < 83:
		return say("escalate", "--reason", w.pick("a question", "needs_human: keys"))
	case n < 88:
		return say("unblock")
	case n < 90:
		w.write(dir, w.pick("refuse", "stray.txt", ".planning/ROADMAP.md"), fmt.Sprint(w.rng.IntN(9)))
	case n < 92:
		_ = os.Remove(filepath.Join(dir, "refuse"))
	case n < 94:
		w.commit(dir)
	case n < 96:
		w.later += time.Duration(1+w.rng.IntN(40)) * time.Minute
		w.log = append(w.log, "later "+w.later.String())
	case n < 97:
		return say("abandon", "--reason", "no use")
	case n < 98:
		return say("assign", "--new-run")
	case n < 101:
		if w.rng.IntN(4) > 0 {
			w.write(dir, w.pick("notes.txt", "src/a.txt", ".planning/ROADMAP.md"), fmt.Sprint(w.rng.IntN(1000)))
			w.commit(dir)
		}
		return say("reconcile", "--yes", "--reason", "mine")
	case n < 104:
		w.rules(dir)
		if w.rng.IntN(3) == 0 {
			return nil // what is not adopted is reported
		}
		return say("config", "adopt", "--yes")
	default:
		w.documents(dir)
	}
	return nil
}

// commit commits all changes, as a person does between turns.
func (w *nextWalk) commit(dir string) {
	w.exec(dir, "git", "add", "-A")
	w.exec(dir, "git", "commit", "-q", "-m", "work")
	w.log = append(w.log, filepath.Base(dir)+": commit")
}

func (w *nextWalk) write(dir, name, content string) {
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
		w.t.Fatal(err)
	}
	w.log = append(w.log, filepath.Base(dir)+": write "+name)
}

// rules changes the configuration, and usually commits it.
func (w *nextWalk) rules(dir string) {
	change := w.pick("budget.per_run_max_usd=1000", "policies=[]", "hooks={}", "timeouts={}",
		"routing.qa.max_concurrent_turns=2",
		"budget.per_run_max_usd=0.1", "gates.planning_signoff.requires_human_approval=false",
		`policies=[{"id":"row","rule":"max_consecutive_same_role","params":{"limit":1},"action":"escalate"}]`)
	w.must(dir, "edit", wire.ConfigPath, change)
	w.log = append(w.log, filepath.Base(dir)+": edit "+change)
	if w.rng.IntN(3) > 0 {
		w.commit(dir)
	}
}

// documents writes what the gates require.
func (w *nextWalk) documents(dir string) {
	for name, content := range map[string]string{
		".planning/PM_SIGNOFF.md":           "# Signoff\n\nApproved: YES\n",
		".planning/ROADMAP.md":              "# Roadmap\n\nOne thing.\n",
		".planning/SYSTEM_SPEC.md":          "# Spec\n\n## Purpose\n\nIt works.\n\n## Interface\n\nOne call.\n\n## Acceptance Tests\n\n- it works\n",
		".planning/IMPLEMENTATION_NOTES.md": "# Notes\n\n## Changes\n\nAll of it.\n\n## Verification\n\nRan it.\n",
		".planning/acceptance-matrix.md":    "| Req # | Requirement | Acceptance criteria | Test status | Last tested | Status |\n|---|---|---|---|---|---|\n| 1 | works | it does | pass | 2026-01-01 | PASS |\n",
		".planning/ship-verdict.md":         "# Verdict\n\n## Verdict: YES\n",
		".planning/RELEASE_NOTES.md":        "# Release\n\n## User Impact\n\nBetter.\n\n## Verification Summary\n\nRan it.\n",
	} {
		w.write(dir, name, content)
	}
}

// result stages a result of some kind and hands it in.
func (w *nextWalk) result(dir, turn string) *ojson.Object {
	args := append(append([]string{turn}, goodResult...), "proposed_next_role="+w.pick("human", "dev", "qa", "pm"))
	switch w.rng.IntN(12) {
	case 0:
		args = append(args, "status=blocked", "needs_human_reason=stuck")
	case 1:
		args = append(args, "status=needs_human", "needs_human_reason=a key")
	case 2:
		args = append(args,
			`verification={"status":"fail","commands":["false"],"evidence_summary":"red","machine_evidence":[{"command":"false","exit_code":1}]}`)
	case 3:
		args = append(args, `delegations=[{"id":"del-001","to_role":"`+w.pick("pm", "dev", "qa")+
			`","charter":"look at it","acceptance_contract":["looked"]}]`)
	case 4:
		args = append(args, `cost={"input_tokens":1,"output_tokens":1,"usd":`+w.pick("0.5", "3", "1.5")+`}`)
	case 5, 6:
		args = append(args, "phase_transition_request="+w.pick("implementation", "qa"))
	case 7:
		args = append(args, "run_completion_request=true")
	case 8:
		args = append(args, "run_id=another")
	case 9, 10:
		w.write(dir, "src/a.txt", fmt.Sprint(w.rng.IntN(1000)))
		args = append(args, `files_changed=["src/a.txt"]`, `artifact={"type":"workspace","ref":"git:dirty"}`)
	default:
		w.write(dir, "src/undeclared.txt", fmt.Sprint(w.rng.IntN(1000)))
	}
	if w.rng.IntN(3) == 0 {
		w.documents(dir)
	}
	if status, out, errs := w.exec(dir, "stage", args...); status != 0 {
		w.log = append(w.log, fmt.Sprintf("no stage: %s%s", out, errs))
		return nil
	}
	w.log = append(w.log, "stage "+strings.Join(args[2:], " "))
	accept := []string{"accept", turn}
	if w.rng.IntN(2) == 0 {
		accept = append(accept, "--checkpoint")
	}
	_, doc := w.ours(dir, accept...)
	return doc.Object("error")
}

// check runs the commands that the state and the last error name, each in a copy.
func (w *nextWalk) check(failed *ojson.Object) {
	w.t.Helper()
	for _, dir := range w.sites {
		_, st := w.ours(dir, "status")
		standing := st.String("status") + st.String("phase") +
			string(ojson.Compact(ojson.OrNull(st.Object("state").String("blocked_on"))))
		for _, a := range append(st.Objects("next_actions"), st.Object("next_action")) {
			w.try(dir, standing, "next", a.String("reason"), a.String("command"))
		}
		if r := st.Object("recovery"); r != nil && r.String("recovery_action") != "" {
			w.try(dir, standing, "recovery", "", r.String("recovery_action"))
		}
	}
	if w.multi {
		_, st := w.ours(w.ws(), "multi", "status")
		for _, a := range st.Objects("next_actions") {
			w.try(w.ws(), "multi "+st.String("status")+st.String("phase"), "next", a.String("reason"),
				a.String("command"))
		}
	}
	if hint := failed.String("hint"); hint != "" {
		w.try(w.at, failed.String("code"), "hint", "", hint)
	}
}

// wholeCommand matches text that is one command and nothing else; afterwards matches text that says that something is
// done before the command, and may name a second one.
var (
	wholeCommand = regexp.MustCompile(`^git agentxchain( -C \S+)? [a-z-]+( [^ ,;:()]+)*$`)
	elsewhere    = regexp.MustCompile(` -C '?([^ ']+)`)
	afterwards   = regexp.MustCompile(`^(.*(?:[,:]| and run) )(git agentxchain [^,;:()]*)(, or git agentxchain .*)?$`)
)

// endsBadly lists codes of a command that should not have been printed. Where the text asks for a result first, the
// walk has staged a good one.
var endsBadly = []string{"usage", "invalid_argument", "target_required", "reason_required", "unknown_role",
	"invalid_state_transition", "not_found", "turn_not_active",
	"role_not_routed", "internal", "failed", "invalid_state", "at_capacity", "not_blocked", "budget_exhausted",
	"staged_result_missing", "validation_failed", "run_blocked", "turn_already_assigned"}

// try runs a command as it is printed, in a copy of everything; reason is what is printed below it.
func (w *nextWalk) try(dir, standing, from, reason, command string) {
	w.t.Helper()
	first := ""
	if !wholeCommand.MatchString(command) {
		m := afterwards.FindStringSubmatch(command)
		if m == nil {
			w.tried.add("(" + from + ", prose) " + ids.ReplaceAllString(command, "ID"))
			return
		}
		first, command = m[1], m[2]
	}
	if strings.Contains(reason, " first.") || strings.Contains(reason, " first, ") ||
		strings.HasPrefix(reason, "First do ") {
		first += reason
	}
	key := standing + " " + ids.ReplaceAllString(command, "ID")
	if w.seen[key] {
		return
	}
	w.seen[key] = true
	copied := w.copied()
	line := strings.ReplaceAll(command, w.root, copied)
	if !w.prepared(strings.Replace(dir, w.root, copied, 1), first, line) {
		w.tried.add("(" + from + ", not prepared) " + first)
		return
	}
	status, out, errs := w.exec(strings.Replace(dir, w.root, copied, 1), "sh", "-c", line+" --json")
	doc, err := ojson.DecodeObject(out)
	code := doc.Object("error").String("code")
	name := ids.ReplaceAllString(strings.ReplaceAll(command, w.root, "ROOT"), "ID")
	if code == "prompt_unavailable" {
		// It asks before it acts: a person at a terminal says yes.
		copied = w.copied()
		line = strings.ReplaceAll(command, w.root, copied)
		w.prepared(strings.Replace(dir, w.root, copied, 1), first, line)
		var ok bool
		if status, errs, ok = w.atTerminal(strings.Replace(dir, w.root, copied, 1), line); ok {
			code = "asked"
		}
	}
	w.tried.add(fmt.Sprintf("(%s) %s -> %d %s", from, name, status, code))
	asked := code == "prompt_unavailable" // without a pseudo terminal
	if err != nil || !asked && (status == term.ExitUsage || status == conflict) || slices.Contains(endsBadly, code) {
		w.t.Errorf("%s names %q in %s, which ends with %d %s: %s%s%s\n%s", from, command, standing, status, code,
			doc.Object("error").String("message"), out[:min(len(out), 200)], errs, w.story())
	}
}

// copied returns a copy of everything.
func (w *nextWalk) copied() string {
	w.t.Helper()
	dir := filepath.Join(w.t.TempDir(), "copy")
	w.must(filepath.Dir(w.root), "cp", "-a", w.root, dir)
	return dir
}

var ids = regexp.MustCompile(`(turn|run|esc|hesc|intent)_[0-9a-f]+`)

// goodResult sets members of a result that passes in a turn of any role and asks for nothing.
var goodResult = []string{
	`verification={"status":"pass","commands":["true"],"evidence_summary":"fine","machine_evidence":[{"command":"true","exit_code":0}]}`,
	`objections=[{"id":"OBJ-001","severity":"low","statement":"a doubt","status":"raised"}]`,
	`artifact={"type":"review","ref":null}`, "proposed_next_role=human",
}

// prepared does what a text asks for before its command; false when it does not know how.
func (w *nextWalk) prepared(dir, first, command string) bool {
	if m := elsewhere.FindStringSubmatch(command); m != nil {
		dir = m[1]
	}
	switch {
	case first == "", strings.HasPrefix(first, "Resolve"), strings.HasPrefix(first, "Find out why"),
		strings.HasSuffix(first, "or take the turn as it is: "):
	case strings.Contains(first, "stage"), strings.Contains(first, "write the turn result"),
		strings.Contains(first, "write the result"),
		strings.HasPrefix(first, "fix it"), strings.HasPrefix(first, "write it"):
		id := ids.FindString(command)
		var args []string
		for turn, v := range standingAt(w.t, dir).Object("active_turns").All() {
			if o, ok := v.(*ojson.Object); ok && (turn == id || !strings.HasPrefix(id, "turn_")) {
				args = append([]string{turn}, goodResult...)
				if o.String("assigned_role") == "dev" { // whose phase asks for a change
					w.write(dir, "src/made.txt", fmt.Sprint(w.rng.IntN(1000)))
					args = append(args, `files_changed=["src/made.txt"]`,
						`artifact={"type":"workspace","ref":"git:dirty"}`)
				}
			}
		}
		w.exec(dir, "stage", args...)
	case strings.Contains(first, "commit"):
		w.exec(dir, "git", "add", "-A")
		w.exec(dir, "git", "commit", "-q", "-m", "asked for")
	case strings.Contains(first, "orrect "+wire.ConfigPath), strings.Contains(first, "orrect its "+wire.ConfigPath):
		w.exec(dir, "edit", wire.ConfigPath, "budget.per_run_max_usd=1000")
	case strings.Contains(first, "aise budget"):
		w.exec(dir, "edit", wire.ConfigPath, "budget.per_run_max_usd=1000")
		w.exec(dir, "git", "commit", "-qam", "raised")
	case strings.Contains(first, "do what the hook asks for"):
		_ = os.Remove(filepath.Join(dir, "refuse"))
	default:
		return false
	}
	return true
}
