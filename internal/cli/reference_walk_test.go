// The reference CLI and ours do the same random acts on two copies of one project; the states of the runs are
// compared after every step.

package cli

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// onPurpose lists the differences that docs/compatibility.md#where-we-differ-on-purpose has: the beginnings of the
// act and of the difference after it, and the first words of the row. A play ends at its first difference.
var onPurpose = []struct{ act, difference, row string }{
	{"while blocked: accept", "ours status=blocked theirs status=active", "A block belongs to its owner."},
	{"while blocked: accept", "ours turns=[", "A block belongs to its owner."},
	{"while blocked: reject", "ours turns=", "A block belongs to its owner."},
	{"while blocked: reissue", "ours turns=", "A block belongs to its owner."},
	{"while blocked: reject", "ours blocked=", "A block belongs to its owner."},
	{"while blocked: assign", "ours status=blocked theirs status=active", "`resume` does not lift a block."},
	{"while blocked: unblock", "ours status=active theirs status=blocked", "`unblock` lifts the block and nothing else."},
	{"with work delegated: accept", "ours status=active theirs status=paused", "Delegated work comes back first."},
	{"with work delegated: accept", "ours status=active theirs status=completed", "Delegated work comes back first."},
	{"with work delegated: accept", "ours phase=", "Delegated work comes back first."},
	{"accept a delegation", "ours phase=", "Delegated work comes back first."},
	{"accept a delegation", "ours turns=[] theirs turns=[", "Delegated work comes back first."},
	{"accept what is repaired", "ours decisions=", "Decision ids are unique in a run."},
	{"accept a decision", "ours decisions=", "Decision ids are unique in a run."},
	{"with commits in the turn: accept", "ours ", "`reconcile` moves the baseline of turns."},
}

// rowOf returns the row that has a difference, "" for none.
func rowOf(act, difference string) string {
	for _, k := range onPurpose {
		// There may be other conditions between a condition and the act.
		when, done, _ := strings.Cut(k.act, ": ")
		if strings.Contains(act, when) && strings.Contains(act, done) && strings.HasPrefix(difference, k.difference) {
			return k.row
		}
	}
	return ""
}

func TestDifferencesOnPurposeHaveTheirRows(t *testing.T) {
	doc, err := os.ReadFile("../../docs/compatibility.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range onPurpose {
		if !strings.Contains(string(doc), "- **"+k.row+"**") {
			t.Errorf("docs/compatibility.md has no row %q for %q, %q", k.row, k.act, k.difference)
		}
	}
}

// TestWalksBesideTheReference needs AGENTXCHAIN_REFERENCE, the path of the reference CLI's program for node.
// AGENTXCHAIN_WALK_ACTS sets the number of acts, AGENTXCHAIN_WALK_SEED selects other acts, AGENTXCHAIN_WALK_PLAY the
// play to begin with.
func TestWalksBesideTheReference(t *testing.T) {
	reference := os.Getenv("AGENTXCHAIN_REFERENCE")
	if reference == "" {
		t.Skip("AGENTXCHAIN_REFERENCE does not name the reference CLI")
	}
	number := func(name string, otherwise int) int {
		if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
			return n
		}
		return otherwise
	}
	acts, seed := number("AGENTXCHAIN_WALK_ACTS", 60), number("AGENTXCHAIN_WALK_SEED", 1)
	testrepo.InMemory()
	done, plays, alike := 0, number("AGENTXCHAIN_WALK_PLAY", 0), 0
	differ := make(map[string]int)
	for ; done < acts; plays++ {
		p := newPlay(t, reference, rand.New(rand.NewPCG(uint64(seed), uint64(plays))))
		act, difference := "", ""
		for range 20 {
			done++
			act = p.act()
			if difference = p.difference(); difference != "" {
				break
			}
		}
		if t.Logf("play %d: %d acts so far, difference %q", plays, done, difference); difference == "" {
			alike++
			continue
		}
		row := rowOf(act, difference)
		name := act + ": " + difference
		if differ[name+" ["+row+"]"]++; row == "" && differ[name+" ["+row+"]"] == 1 {
			t.Errorf("play %d of seed %d: %s\n%s", plays, seed, name, strings.Join(p.log, "\n"))
		}
	}
	t.Logf("%d acts in %d plays, %d alike to the end", done, plays, alike)
	for _, d := range slices.Sorted(maps.Keys(differ)) {
		t.Logf("%5d %s", differ[d], d)
	}
}

// play is one project in two copies.
type play struct {
	nextWalk
	reference    string
	meddled      bool // a person committed while the turn was active
	ours, theirs string
}

func newPlay(t *testing.T, reference string, rng *rand.Rand) *play {
	p := &play{nextWalk: nextWalk{t: t, rng: rng, root: t.TempDir()}, reference: reference}
	p.ours, p.theirs = filepath.Join(p.root, "ours"), filepath.Join(p.root, "theirs")
	p.must(p.root, "project", "ours", "rules.result_repair=reference")
	p.must(p.root, "cp", "-a", "ours", "theirs")
	return p
}

// both runs a command of each tool and notes how they ended.
func (p *play) both(ours, theirs []string) {
	a, _, _ := p.exec(p.ours, "git", append([]string{"agentxchain"}, ours...)...)
	b, out, errs := p.exec(p.theirs, "node", append([]string{p.reference}, theirs...)...)
	last := strings.TrimSpace(string(out) + errs)
	last = last[strings.LastIndex(last, "\n")+1:]
	p.log = append(p.log, fmt.Sprintf("%s -> %d | %s -> %d (%s)", strings.Join(ours, " "), a,
		strings.Join(theirs, " "), b, last))
}

func standingAt(t *testing.T, dir string) *ojson.Object {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(string(wire.DocState))))
	if err != nil {
		return &ojson.Object{}
	}
	o, err := ojson.DecodeObject(data)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// turnAt returns an active turn of a role, nil for none.
func turnAt(state *ojson.Object, role string) *ojson.Object {
	for _, v := range state.Object("active_turns").All() {
		if o, ok := v.(*ojson.Object); ok && o.String("assigned_role") == role {
			return o
		}
	}
	return nil
}

// act does one thing with both tools and returns its name, after the condition of the run before
// it.
func (p *play) act() string {
	state := standingAt(p.t, p.ours)
	before := ""
	if p.meddled = p.meddled && state.Object("active_turns").Len() > 0; p.meddled {
		before = "with commits in the turn: "
	}
	switch {
	case state.String("status") == string(wire.StatusBlocked):
		before += "while blocked: "
	case len(state.Objects("delegation_queue")) > 0 || state.Object("pending_delegation_review") != nil:
		before += "with work delegated: "
	}
	return before + p.actAt(state)
}

func (p *play) actAt(state *ojson.Object) string {
	role := ""
	for _, v := range state.Object("active_turns").All() {
		if o, ok := v.(*ojson.Object); ok {
			role = o.String("assigned_role")
		}
	}
	switch n := p.rng.IntN(24); {
	case state.Object("pending_phase_transition") != nil && n < 14:
		p.both([]string{"approve"}, []string{"approve-transition"})
		return "approve a phase"
	case state.Object("pending_run_completion") != nil && n < 14:
		p.both([]string{"approve"}, []string{"approve-completion"})
		return "approve the end"
	case state.String("status") == string(wire.StatusBlocked) && n < 16:
		// Theirs continues a turn at once; ours is assigned to the same role.
		theirs := []string{"unblock", p.escalation(p.theirs)}
		if theirs[1] == "none" {
			theirs = []string{"resume", "--role", p.pick("pm", "dev", "qa")}
		}
		p.both([]string{"unblock"}, theirs)
		for _, v := range standingAt(p.t, p.theirs).Object("active_turns").All() {
			if o, ok := v.(*ojson.Object); ok && turnAt(standingAt(p.t, p.ours), o.String("assigned_role")) == nil {
				p.exec(p.ours, "git", "agentxchain", "assign", o.String("assigned_role"))
			}
		}
		return "unblock"
	case role == "" && n < 17:
		who := p.pick("pm", "dev", "qa", "eng_director")
		p.both([]string{"assign", who}, []string{"resume", "--role", who})
		return "assign"
	case n == 17:
		p.both([]string{"escalate", "--reason", "a question"}, []string{"escalate", "--reason", "a question"})
		return "escalate"
	case n == 18 && role != "":
		p.both([]string{"reject", "--reason", "not enough"}, []string{"reject-turn", "--reason", "not enough"})
		return "reject"
	case n == 16 && role != "":
		p.both([]string{"reissue", "--reason", "from here"}, []string{"reissue-turn", "--reason", "from here"})
		return "reissue"
	case n == 20 || n == 21:
		name, content := p.pick("notes.txt", ".planning/ROADMAP.md"), fmt.Sprint(p.rng.IntN(1000))
		for _, dir := range []string{p.ours, p.theirs} {
			p.write(dir, name, content)
			p.commit(dir)
		}
		p.meddled = role != ""
		p.both([]string{"reconcile", "--yes"}, []string{"reconcile-state", "--accept-operator-head"})
		return "reconcile"
	case n > 21:
		return "under other rules: " + p.rules()
	case n == 19 && role == "":
		for _, dir := range []string{p.ours, p.theirs} {
			p.documents(dir)
			p.commit(dir)
		}
		return "write the documents"
	case role == "":
		return "nothing"
	}
	return p.accept(role)
}

// rules changes the configuration of both; theirs uses it at once.
func (p *play) rules() string {
	change := p.pick("gates.planning_signoff.requires_human_approval=false",
		"gates.planning_signoff.requires_human_approval=true",
		"gates.planning_signoff.requires_files=[]", "rules.max_turn_retries=4", "budget.per_run_max_usd=1000",
		"routing.planning.allowed_next_roles=[\"pm\",\"dev\",\"human\"]")
	for _, dir := range []string{p.ours, p.theirs} {
		p.must(dir, "edit", wire.ConfigPath, change)
		p.commit(dir)
	}
	p.meddled = standingAt(p.t, p.ours).Object("active_turns").Len() > 0
	p.both([]string{"config", "adopt", "--yes"}, []string{"validate"})
	p.log = append(p.log, "after "+change)
	return change
}

// escalation returns the id of the escalation that a person has to settle, "none" without one.
func (p *play) escalation(dir string) string {
	data, err := os.ReadFile(filepath.Join(dir, ".agentxchain", "human-escalations.jsonl"))
	if err != nil {
		return "none"
	}
	id := "none"
	for line := range strings.Lines(string(data)) {
		o, err := ojson.DecodeObject([]byte(line))
		switch {
		case err != nil:
		case o.String("kind") == "raised":
			id = o.String("escalation_id")
		case o.String("kind") == "resolved":
			id = "none"
		}
	}
	return id
}

// accept hands in the same result with both tools, then commits all changes.
func (p *play) accept(role string) string {
	name, files, members := "accept", []any{}, ojson.NewObject()
	verification := func(status string, code int) *ojson.Object {
		return ojson.NewObject("status", status, "commands", []any{"true"}, "evidence_summary", "ran it",
			"machine_evidence", []any{ojson.NewObject("command", "true", "exit_code", code)})
	}
	phase := standingAt(p.t, p.ours).String("phase")
	next := map[string]string{"planning": "implementation", "implementation": "qa"}[phase]
	switch p.rng.IntN(11) {
	case 10:
		name, members = "accept what is repaired", ojson.NewObject("run_id", "run_of_another",
			"decisions", []any{ojson.NewObject("id", fmt.Sprintf("DEC-%d", p.rng.IntN(10)),
				"category", "whim", "statement", "so", "rationale", "because")})
	case 9:
		name, members = "accept failed", ojson.NewObject("status", "failed")
	case 8:
		to := p.pick("pm", "dev", "qa")
		name, members = "accept a delegation to "+to,
			ojson.NewObject("delegations", []any{ojson.NewObject("id", "del-001", "to_role", to,
				"charter", "look at it", "acceptance_contract", []any{"looked"})})
	case 0:
		name, members = "accept blocked", ojson.NewObject("status", "blocked")
	case 1:
		name, members = "accept needs_human", ojson.NewObject("status", "needs_human", "needs_human_reason", "a key")
	case 2:
		name, members = "accept with failed tests", ojson.NewObject("verification", verification("fail", 1))
	case 3, 4:
		if name = "accept and ask for the next phase"; next == "" {
			name, members = "accept and ask for the end", ojson.NewObject("run_completion_request", true)
		} else {
			members = ojson.NewObject("phase_transition_request", next)
		}
	case 5:
		if role == "dev" {
			name, files = "accept a change", []any{"src/a.txt"}
			content := fmt.Sprint(p.rng.IntN(1000))
			p.write(p.ours, "src/a.txt", content)
			p.write(p.theirs, "src/a.txt", content)
		}
	case 6:
		name = "accept a decision"
		members = ojson.NewObject("decisions",
			[]any{ojson.NewObject("id", fmt.Sprintf("DEC-%03d", 100+p.rng.IntN(800)), "category", "process",
				"statement", "so", "rationale", "because")})
	}
	for _, dir := range []string{p.ours, p.theirs} {
		state := standingAt(p.t, dir)
		turn := turnAt(state, role)
		if turn == nil {
			continue
		}
		kind := "review"
		if len(files) > 0 {
			kind = "workspace"
		}
		doc := ojson.NewObject("schema_version", "1.0", "run_id", state.String("run_id"),
			"turn_id", turn.String("turn_id"), "role", role,
			"runtime_id", turn.String("runtime_id"), "status", "completed", "summary", "done as asked",
			"decisions", []any{},
			"objections", []any{ojson.NewObject("id", "OBJ-001", "severity", "low", "statement", "a doubt", "status",
				"raised")},
			"files_changed", files, "artifacts_created", []any{}, "verification", verification("pass", 0),
			"artifact", ojson.NewObject("type", kind, "ref", nil), "proposed_next_role", "human",
			"phase_transition_request", nil, "run_completion_request", nil, "needs_human_reason", nil,
			"cost", ojson.NewObject("input_tokens", 1, "output_tokens", 1, "usd", 0))
		for k, v := range members.All() {
			doc.Set(k, v)
		}
		p.write(dir, wire.StagingPath(turn.String("turn_id")), string(ojson.Pretty(doc)))
	}
	p.log = append(p.log, name+" "+string(ojson.Compact(members)))
	p.both([]string{"accept"}, []string{"accept-turn"})
	for _, dir := range []string{p.ours, p.theirs} {
		p.commit(dir)
	}
	return name
}

// difference returns the difference between the two runs, "" for none.
func (p *play) difference() string {
	ours, theirs := standing(p.t, p.ours), standing(p.t, p.theirs)
	for i, line := range ours {
		if line != theirs[i] {
			return "ours " + line + " theirs " + theirs[i]
		}
	}
	return ""
}

// standing returns what a run is compared by: no ids, no times, none of our own members.
func standing(t *testing.T, dir string) []string {
	s := standingAt(t, dir)
	kind, _, _ := strings.Cut(s.String("blocked_on"), "turn_")
	text := func(name string, v any) string { return name + "=" + fmt.Sprint(v) }
	members := func(o *ojson.Object, keys ...string) string {
		if o == nil {
			return "none"
		}
		var out []string
		for _, k := range keys {
			out = append(out, o.String(k))
		}
		return strings.Join(out, ">")
	}
	var turns, gates, rows, decisions []string
	for _, v := range s.Object("active_turns").All() {
		if o, ok := v.(*ojson.Object); ok {
			n, _ := o.Int("attempt")
			turns = append(turns, fmt.Sprintf("%s %d", o.String("assigned_role"), n))
		}
	}
	for gate := range s.Object("phase_gate_status").All() {
		gates = append(gates, gate+" "+s.Object("phase_gate_status").String(gate))
	}
	slices.Sort(turns)
	slices.Sort(gates)
	lines := func(name string) (out []*ojson.Object) {
		data, err := os.ReadFile(filepath.Join(dir, ".agentxchain", name))
		if err != nil {
			return nil
		}
		for line := range strings.Lines(string(data)) {
			if o, err := ojson.DecodeObject([]byte(line)); err == nil {
				out = append(out, o)
			}
		}
		return out
	}
	for _, o := range lines("history.jsonl") {
		rows = append(rows, o.String("role")+" "+o.String("status")+" "+o.String("phase"))
	}
	for _, o := range lines("decision-ledger.jsonl") {
		if id := o.String("id"); id != "" {
			decisions = append(decisions, id)
		}
	}
	return []string{
		text("status", s.String("status")),
		text("phase", s.String("phase")),
		text("turns", turns),
		text("waiting phase", members(s.Object("pending_phase_transition"), "from", "to", "gate")),
		text("waiting end", members(s.Object("pending_run_completion"), "gate")),
		text("gates", gates),
		text("blocked", kind),
		text("history", rows),
		text("decisions", decisions),
	}
}
