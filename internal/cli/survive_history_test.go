// A history in which everything goes wrong: one command after another, each on what the previous one left, with
// kills, failing calls and power cuts in between, and no cleaning up.

package cli

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/internal/testtrace"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// historyStep is a command of a history, and how often it is drawn.
type historyStep struct {
	args    []string
	weight  int
	records bool // success means that one more operation is recorded
	commits bool // it runs git commit, which syncs neither the index nor the branch before it is asked to
}

var historySteps = []historyStep{
	{args: []string{"assign", "dev"}, weight: 6},
	{args: []string{"assign", "dev", "--new-run"}, weight: 1},
	{args: []string{"accept"}, weight: 6, records: true},
	{args: []string{"accept", "--checkpoint"}, weight: 3, records: true, commits: true},
	{args: []string{"checkpoint"}, weight: 2, commits: true},
	{args: []string{"reject", "--reason", "thin"}, weight: 1, records: true},
	{args: []string{"approve"}, weight: 2, records: true},
	{args: []string{"escalate", "--reason", "look"}, weight: 1, records: true},
	{args: []string{"unblock"}, weight: 2, records: true},
	{args: []string{"inject", "look again"}, weight: 1},
	{args: []string{"sync"}, weight: 2},
	{args: []string{"sync", "--branch"}, weight: 2},
	{args: []string{"repair", "--from-ref", "--yes"}, weight: 1},
	{args: []string{"doctor", "--fix"}, weight: 1},
	{args: []string{"status"}, weight: 1},
}

// mishap is what happens to a command.
type mishap struct {
	fault testtrace.Fault
	power bool
}

func (m mishap) String() string {
	s := "nothing"
	if m.fault.Kind != "" {
		s = m.fault.String()
	}
	if m.power {
		s += ", then the power"
	}
	return s
}

// history is a project, and what has happened to it.
type history struct {
	*act
	draw  *rand.Rand
	calls map[string]int      // command -> calls of the last time, which bounds where a fault may come
	refs  map[string][]string // our refs and their operations, oldest first, as they were last seen
	step  int
	told  []string // what happened, newest last
	cuts  int
	hits  int
	pairs int
	disk  *testtrace.Mount // the simulated disk of the project, nil for a real one
	dirty bool             // unsynced data may be people's or git's
}

func (h *history) project() string { return filepath.Join(h.base, "p") }

// refsNow lists the operations that are recorded.
func (h *history) refsNow() (map[string][]string, error) {
	dir := h.project()
	list, err := at(dir, nil, "git", "for-each-ref", "--format=%(refname)", "refs/agentxchain/runs")
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, list)
	}
	out := make(map[string][]string)
	for ref := range strings.FieldsSeq(list) {
		ops, err := at(dir, nil, "git", "rev-list", "--first-parent", "--reverse", ref)
		if err != nil {
			return nil, fmt.Errorf("%s: %w: %s", ref, err, ops)
		}
		out[ref] = strings.Fields(ops)
	}
	return out, nil
}

// grown returns by how many operations the record has grown, and what it has lost.
func grown(before, now map[string][]string) (more int, lost string) {
	for ref, ops := range before {
		if len(now[ref]) < len(ops) || !slices.Equal(now[ref][:len(ops)], ops) {
			return 0, fmt.Sprintf("%s was at %s, and now holds %v", ref, ops[len(ops)-1], now[ref])
		}
	}
	for ref, ops := range now {
		more += len(ops) - len(before[ref])
	}
	return more, ""
}

// work does what agents and people do between the commands; it may fail, as theirs does.
func (h *history) work() {
	dir := h.project()
	try := func(program string, args ...string) {
		h.dirty = true
		_, _ = at(dir, h.env(), program, args...)
	}
	switch h.draw.IntN(8) {
	case 0, 1, 2: // a result with a file, new or changed
		name := "src/" + strconv.Itoa(h.draw.IntN(20)) + ".txt"
		write(h.t, dir, name, fmt.Sprintln(name, h.step))
		changed, _ := at(dir, h.env(), "git", "status", "--porcelain", "--untracked-files=all", "src")
		var names []string
		for line := range strings.Lines(changed) {
			names = append(names, strconv.Quote(strings.TrimSpace(line[3:])))
		}
		try("stage", "proposed_next_role=human", surviveEvidence, "files_changed=["+strings.Join(names, ",")+"]",
			`artifact={"type":"workspace","ref":"git:dirty"}`)
	case 3:
		try("stage", "proposed_next_role=human", surviveEvidence, `artifact={"type":"review"}`)
	case 4:
		try("stage", "proposed_next_role=human", surviveEvidence, `artifact={"type":"review"}`, "run_completion_request=true")
	case 5: // a person cleans up the work tree
		try("git", "add", "-A", "src")
		try("git", "commit", "-q", "-m", "of a person")
	}
}

// next draws a command and what happens to it.
func (h *history) next() (historyStep, mishap) {
	s, m := h.command(), mishap{}
	if h.draw.IntN(5) > 0 {
		m.fault = faultKinds[h.draw.IntN(len(faultKinds))]
		m.fault.At = 1 + h.draw.IntN(max(h.calls[strings.Join(s.args, " ")], 40))
	}
	m.power = !s.commits && h.draw.IntN(4) == 0
	if m.power && h.draw.IntN(2) == 0 {
		m.fault = testtrace.Fault{}
	}
	return s, m
}

// command draws a command, usually one that makes sense for the files, sometimes any at all.
func (h *history) command() historyStep {
	steps := historySteps
	if wanted := h.sensible(); h.draw.IntN(4) > 0 && len(wanted) > 0 {
		steps = slices.DeleteFunc(slices.Clone(steps), func(s historyStep) bool {
			return !slices.Contains(wanted, strings.Join(s.args, " "))
		})
	}
	total := 0
	for _, s := range steps {
		total += s.weight
	}
	n := h.draw.IntN(total)
	for n >= steps[0].weight {
		n -= steps[0].weight
		steps = steps[1:]
	}
	return steps[0]
}

// sensible returns commands that move the run on.
func (h *history) sensible() []string {
	data, err := os.ReadFile(filepath.Join(h.project(), filepath.FromSlash(string(wire.DocState))))
	var state struct {
		Status     string
		Active     map[string]any `json:"active_turns"`
		Phase      any            `json:"pending_phase_transition"`
		Completion any            `json:"pending_run_completion"`
	}
	if err != nil || json.Unmarshal(data, &state) != nil {
		return []string{"assign dev", "doctor --fix"}
	}
	switch {
	case state.Status == "blocked":
		return []string{"unblock"}
	case state.Phase != nil || state.Completion != nil:
		return []string{"approve"}
	case state.Status == "completed":
		return []string{"assign dev --new-run"}
	case len(state.Active) > 0:
		return []string{"accept", "accept --checkpoint", "reject --reason thin", "sync", "sync --branch"}
	}
	return []string{"assign dev", "checkpoint", "sync", "sync --branch"}
}

// take runs one command, and returns what is wrong afterwards.
func (h *history) take(s historyStep, m mishap) (verdict string) {
	r, finished, err := h.traced(s, m)
	if err != nil {
		return err.Error()
	}
	return h.judge([]taken{{s, m, r, finished}})
}

// taken is a command that was run.
type taken struct {
	step     historyStep
	mishap   mishap
	result   *testtrace.Result
	finished bool // and what it reported holds
}

// run returns the traced run of a command with its mishap.
func (h *history) run(s historyStep, m mishap) *testtrace.Run {
	return &testtrace.Run{
		Dir:    h.project(),
		Env:    h.env(),
		Args:   append([]string{"git-agentxchain", "--json"}, s.args...),
		Below:  h.project(), // what happens to the server, another machine, is not ours to survive
		Fault:  m.fault,
		Record: m.power,
	}
}

// traced runs a command on a real disk.
func (h *history) traced(s historyStep, m mishap) (r *testtrace.Result, finished bool, err error) {
	var disk *testtrace.Disk
	if m.power {
		if disk, err = testtrace.NewDisk(h.project()); err != nil {
			return nil, false, err
		}
	}
	if r, err = h.run(s, m).Do(); err != nil {
		return nil, false, err
	}
	finished = r.Finished
	if m.power {
		if err := disk.Record(r.Calls); err != nil {
			h.told = append(h.told, "no power cut: "+err.Error()) // an earlier orphan was still at work
		} else if finished, err = h.cut(disk, finished); err != nil {
			return nil, false, err
		}
	}
	return r, finished, nil
}

// judge returns what is wrong after one command, or after two at once.
func (h *history) judge(commands []taken) string {
	now, err := h.refsNow()
	if err != nil {
		return "afterwards: " + err.Error()
	}
	more, lost := grown(h.refs, now)
	h.refs = now
	done := 0 // that reported that they have recorded something
	verdict := lost
	for _, c := range commands {
		r := c.result
		if c.mishap.fault.Kind == "" {
			h.calls[strings.Join(c.step.args, " ")] = len(r.Calls)
		}
		if r.Hit != nil {
			h.hits++
		}
		var said answer
		if c.finished {
			_ = json.Unmarshal(r.Output, &said)
		}
		h.told = append(h.told, fmt.Sprintf("%d: %v; %s: %v; %d more, status %d, finished %v %s", h.step, c.step.args,
			c.mishap, r.Hit, more, r.Status, c.finished, strings.TrimSpace(said.Error.Code+" "+said.Error.Message)))
		if c.finished && r.Status == 0 && c.step.records {
			done++
		}
		switch {
		case verdict != "":
		case strings.Contains(string(r.Errors), "panic"):
			verdict = string(r.Errors)
		case !c.finished:
		case r.Status == 0 && more < done:
			verdict = fmt.Sprintf("it said that it is done, and %d operations are recorded: %s", more, r.Output)
		case r.Status != 0 && said.Error.Code == "":
			verdict = fmt.Sprintf("it ended with %d and without a code: %s%s", r.Status, r.Output, r.Errors)
		case r.Status != 0 && more > 0 && len(commands) == 1 && c.step.args[0] != "accept" &&
			!slices.Contains(c.step.args, "--new-run") && !slices.Contains(maybeDone, said.Error.Code):
			// A refused result is recorded as an attempt, and a run is begun before its first turn is assigned.
			verdict = fmt.Sprintf("it said that it failed with %s (%s), and %d operations are recorded", said.Error.Code,
				said.Error.Message, more)
		}
	}
	return verdict
}

// cut replaces the files by what a power cut may leave of them at some moment of the command.
func (h *history) cut(disk *testtrace.Disk, finished bool) (bool, error) {
	h.cuts++
	k := h.draw.IntN(disk.Len() + 1)
	if h.draw.IntN(4) == 0 {
		k = disk.Len() // it had ended: what it reported holds
	}
	images := disk.Cut(k, 3, h.draw)
	if err := os.RemoveAll(h.project()); err != nil {
		return false, err
	}
	if err := images[h.draw.IntN(len(images))].Write(h.project()); err != nil {
		return false, err
	}
	return finished && k == disk.Len(), nil
}

// quiet runs commands undisturbed: the next one cleans up, and nothing may be wrong afterwards.
func (h *history) quiet() string {
	before := h.refs
	// A person need not clean up the lock or index that a killed command left.
	if out, err := h.ours("doctor", "--fix"); err != nil && !strings.Contains(out, "no run") {
		return fmt.Sprintf("doctor --fix: %v\n%s", err, out)
	}
	// The next sync handles a lock of sync's own.
	if out, err := h.ours("sync", "--branch"); err != nil {
		return fmt.Sprintf("sync: %v\n%s", err, out)
	}
	now, err := h.refsNow()
	if err != nil {
		return err.Error()
	}
	if more, lost := grown(before, now); lost != "" || more > 0 {
		return fmt.Sprintf("doctor --fix recorded %d operations. %s", more, lost)
	}
	// Without a run there is nothing to check.
	h.new.states = map[string]string{"p": statusAt(h.project())}
	if verdict := h.sound(); verdict != "" {
		return verdict
	}
	for _, name := range []string{"mine/tracked.txt", "mine/ignored.txt"} {
		if data, err := os.ReadFile(filepath.Join(h.project(), name)); err != nil || string(data) != person {
			return fmt.Sprintf("%s: %q, %v", name, data, err)
		}
	}
	// What the server has is a part of what is here.
	server, err := at(filepath.Join(h.base, "server.git"), nil, "git", "for-each-ref",
		"--format=%(refname) %(objectname)", "refs/agentxchain/runs")
	if err != nil {
		return server
	}
	for line := range strings.Lines(server) {
		if ref, oid, _ := strings.Cut(strings.TrimSpace(line), " "); !slices.Contains(now[ref], oid) {
			return fmt.Sprintf("the server has %s at %s, which is not here", ref, oid)
		}
	}
	return ""
}

// TestSurviveHistory runs AGENTXCHAIN_SURVIVE_OPS commands, 10,000 in the long form, and checks every ten of them
// that all is well.
func TestSurviveHistory(t *testing.T) {
	testrepo.Thorough(t)
	testrepo.SyncedRefs(t)
	if !testtrace.Available() {
		t.Skip("processes cannot be traced here")
	}
	most := 15
	if os.Getenv("AGENTXCHAIN_LONG_TESTS") != "" {
		most = 10_000
	}
	most = surviveOps(t, most)
	h := newHistory(t)
	for h.step = 1; h.step <= most; h.step++ {
		h.work()
		verdict := h.take(h.next())
		if verdict == "" && h.step%10 == 0 {
			verdict = h.quiet()
		}
		if verdict != "" {
			h.fail(verdict)
			break
		}
	}
	t.Logf("%d commands, %d faults, %d power cuts, %d operations recorded", h.step-1, h.hits, h.cuts, h.recorded())
}

// newHistory makes a project with a server.
func newHistory(t *testing.T) *history {
	t.Helper()
	syncNothing(t)
	h := &history{act: newAct(t, "history"), draw: rand.New(rand.NewPCG(surviveSeed(t), 2)), calls: map[string]int{}}
	syncPushAct(h.act)
	for _, repo := range []string{"p", "server.git"} {
		h.do(repo, "git", "config", "gc.autoDetach", "false") // what a commit or a push starts must end with it
	}
	var err error
	if h.refs, err = h.refsNow(); err != nil {
		t.Fatal(err)
	}
	return h
}

// recorded returns the number of operations.
func (h *history) recorded() (n int) {
	for _, ops := range h.refs {
		n += len(ops)
	}
	return n
}

// fail reports what is wrong, and what went before.
func (h *history) fail(verdict string) {
	h.t.Errorf("%s\n\n%s", strings.ReplaceAll(verdict, h.base, ""),
		strings.ReplaceAll(strings.Join(h.told[max(0, len(h.told)-25):], "\n"), h.base, ""))
}
