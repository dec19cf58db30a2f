// One turn: what was asked, what was answered, what proves it, what it changed.

package dashboard

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/agentstream"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/timeline"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner/status"
)

func turns(v *view) error {
	v.Title = "Turns"
	if si := v.s.Sight; si != nil && len(si.Turns) > 0 {
		v.Blocks = append(v.Blocks, v.activeTurns())
	}
	rows := v.m.history.entries()
	role, phase, status, q := v.q.Get("role"), v.q.Get("phase"), v.q.Get("status"), strings.ToLower(v.q.Get("text"))
	b := block{ID: "turns", Title: "Accepted", Filter: &filter{Action: "/turns", Fields: []field{
		{"role", "Role", role, choices(len(rows), func(i int) string { return rows[i].Role }, role)},
		{"phase", "Phase", phase, choices(len(rows), func(i int) string { return rows[i].Phase }, phase)},
		{"status", "Status", status, choices(len(rows), func(i int) string { return rows[i].Status }, status)},
		{"text", "Text", v.q.Get("text"), nil},
	}}}
	picked, older, newer := v.window(len(rows), func(i int) bool {
		e := &rows[i]
		return (role == "" || e.Role == role) && (phase == "" || e.Phase == phase) &&
			(status == "" || e.Status == status) && (q == "" || holds(q, e.Text, e.Turn))
	})
	b.Older, b.Newer = older, newer
	b.Table = &table{Head: []string{"When", "Turn", "Role", "Phase", "Status", "What was done", "Brought"}}
	wanted := make([]entry, len(picked))
	for i, at := range picked {
		wanted[i] = rows[at]
	}
	full := v.m.history.decode(wanted)
	for i := range wanted {
		e, what := &wanted[i], ""
		if len(full) == len(wanted) {
			what = brought(full[i])
		}
		b.Table.Rows = append(b.Table.Rows, []cell{v.moment(e.Time), turnLink(e.Turn), text(e.Role), text(e.Phase),
			standing(e.Status), text(e.Text), text(what)})
	}
	v.Lead = counted(len(rows), "turn", "turns") + " in the history, the newest first."
	if len(picked) == 0 {
		b.Table, b.Empty = nil, "No turn fits the filter."
		if len(rows) == 0 {
			b.Empty, v.Lead = "No turn has been accepted yet.", ""
		}
	}
	v.Blocks = append(append(v.Blocks, b), v.findingsOf(v.m.history)...)
	return nil
}

// brought counts what a turn left behind.
func brought(row *ojson.Object) string {
	var parts []string
	for _, of := range []struct {
		n         int
		one, many string
	}{
		{len(row.Strings("files_changed")), "file", "files"},
		{len(row.Objects("decisions")), "decision", "decisions"},
		{len(row.Objects("objections")), "objection", "objections"},
	} {
		if of.n > 0 {
			parts = append(parts, counted(of.n, of.one, of.many))
		}
	}
	return strings.Join(parts, ", ")
}

func turnPage(v *view) error {
	id := v.r.PathValue("id")
	v.Title = "Turn " + plain(id)
	var row *ojson.Object
	if e, ok := v.m.history.ofTurn(id); ok {
		var err error
		if row, err = v.m.history.row(e); err != nil {
			return err
		}
	}
	var active *status.Turn
	if si := v.s.Sight; si != nil {
		for i := range si.Turns {
			if si.Turns[i].Turn.TurnID == id {
				active = &si.Turns[i]
			}
		}
	}
	_, heard := v.m.events.ofTurn(id)
	if row == nil && active == nil && !heard {
		return errMissing{"There is no turn of this name in the run or in its history."}
	}
	switch {
	case active != nil:
		v.Lead = fmt.Sprintf("%s has this turn: %s.", plain(active.Turn.AssignedRole),
			words(plain(active.Turn.Status)))
		v.Blocks = append(v.Blocks, v.assigned(active))
	case row != nil:
		v.Lead = plain(row.String("summary"))
	default:
		v.Lead = "This turn was given up or sent back; its events tell."
	}
	if row != nil {
		v.Blocks = append(v.Blocks, v.result(row))
		if b := claims(row); b != nil {
			v.Blocks = append(v.Blocks, *b)
		}
		v.Blocks = append(v.Blocks, verification(row), objections(row), decided(row), v.changed(row))
	}
	if b := v.attempts(id); b != nil {
		v.Blocks = append(v.Blocks, *b)
	}
	why, err := v.why(id)
	if err != nil {
		return err
	}
	if len(why.Parts) > 0 {
		v.Blocks = append(v.Blocks, why)
	}
	v.Blocks = append(v.Blocks, v.papers(id, active != nil)...)
	attempts := 1
	if active != nil {
		attempts = max(active.Turn.Attempt, 1)
	}
	if b := v.agentLog(id, attempts); b != nil {
		v.Blocks = append(v.Blocks, *b)
	}
	v.Blocks = append(v.Blocks, v.turnStory(id))
	if row != nil {
		v.Blocks = append(v.Blocks, block{ID: "row", Parts: []block{{
			ID:     "as-recorded",
			Title:  "The row as it is recorded",
			Folded: true,
			Pre:    longText(string(ojson.Pretty(row)), maxPre),
		}}})
	}
	return nil
}

func (v *view) assigned(ts *status.Turn) block {
	t := ts.Turn
	b := block{ID: "assignment", Title: "Assignment", Facts: []fact{
		{"Role", text(t.AssignedRole)},
		{"Runtime", text(t.RuntimeID)},
		{"Status", standing(t.Status)},
		{"Attempt", text(fmt.Sprint(t.Attempt))},
		{"Assigned", v.moment(instant(t.AssignedAt))},
		{"Deadline", v.activeRow(*ts)[5]},
	}}
	if role := v.s.Sight.View.Config.Role(t.AssignedRole); role != nil {
		b.Facts = append(b.Facts, fact{"Mandate", text(role.Mandate)},
			fact{"May write", text(words(role.WriteAuthority))})
	}
	if t.Baseline != nil && t.Baseline.HeadRef != nil {
		b.Facts = append(b.Facts, fact{"Started from", code(short(*t.Baseline.HeadRef))})
	}
	if len(t.ConcurrentWith) > 0 {
		b.Facts = append(b.Facts, fact{"Beside", text(strings.Join(t.ConcurrentWith, ", "))})
	}
	if t.ReissuedFrom != "" {
		b.Facts = append(b.Facts, fact{"In place of", turnLink(t.ReissuedFrom)})
	}
	if t.FailureReason != "" {
		b.Facts = append(b.Facts, fact{"Failed", toned(t.FailureReason, bad)})
	}
	if last := t.LastRejection; last != nil {
		reason := last.String("reason")
		b.Facts = append(b.Facts, fact{"Sent back", toned(reason, warn)})
		for _, e := range last.Strings("validation_errors") {
			if e != reason { // a person's words are in both
				b.Facts = append(b.Facts, fact{"Because", text(e)})
			}
		}
	}
	return b
}

func (v *view) result(row *ojson.Object) block {
	b := block{ID: "result", Title: "Result", Facts: []fact{
		{"Status", standing(row.String("status"))},
		{"Role", text(row.String("role"))},
		{"Phase", text(row.String("phase"))},
		{"Runtime", text(row.String("runtime_id"))},
		{"Accepted", v.moment(timeOf(row, "accepted_at"))},
	}}
	add := func(label string, c cell) {
		if c.Text != "" {
			b.Facts = append(b.Facts, fact{label, c})
		}
	}
	if ms, ok := row.Float("duration_ms"); ok && ms > 0 {
		add("Took", text(lasting(time.Duration(ms)*time.Millisecond)))
	}
	cost := row.Object("cost")
	usd, ok := cost.Float("total_usd")
	if !ok {
		usd, ok = cost.Float("usd")
	}
	if ok {
		add("Cost", text(dollars(usd)))
	}
	add("Proposes next", text(row.String("proposed_next_role")))
	add("Asks for phase", text(row.String("phase_transition_request")))
	if row.Bool("run_completion_request") {
		add("Asks for", text("completion of the run"))
	}
	add("Needs a person", text(row.String("needs_human_reason")))
	if sha := row.String("checkpoint_sha"); sha != "" {
		add("Checkpoint", code(short(sha)))
	}
	if d := row.Object("delegation_context"); d != nil {
		add("Delegated by", turnLink(d.String("parent_turn_id")))
		add("Charter", text(d.String("charter")))
	}
	return b
}

func verification(row *ojson.Object) block {
	b := block{ID: "verification", Title: "Verification", Empty: "Nothing was verified."}
	said, judged, replay := row.Object("verification"), row.Object("normalized_verification"),
		row.Object("verification_replay")
	if said.Len() == 0 && judged.Len() == 0 {
		return b
	}
	b.Empty = ""
	b.Facts = []fact{
		{"Said", standing(said.String("status"))},
		{"Judged", standing(judged.String("status"))},
		{"Because", text(judged.String("reason"))},
		{"Evidence", text(said.String("evidence_summary"))},
	}
	if replay != nil {
		b.Facts = append(b.Facts, fact{"Replayed", standing(replay.String("overall"))},
			fact{"Replay said", text(firstText(replay, "reason", "summary"))})
	}
	evidence := said.Objects("machine_evidence")
	if len(evidence) > 0 {
		b.Table = &table{Head: []string{"Command", "Exit status", "What it proves"}}
		for i, e := range evidence {
			if i == pageSize {
				b.Note = fmt.Sprintf("The first %d of %d pieces of evidence.", i, len(evidence))
				break
			}
			tone := good
			if n, ok := e.Int("exit_code"); !ok || n != 0 {
				tone = warn
			}
			b.Table.Rows = append(b.Table.Rows, []cell{code(e.String("command")), toned(plain(e.Value("exit_code")),
				tone), text(firstText(e, "summary", "description", "stdout_excerpt", "output"))})
		}
	} else {
		for i, c := range said.Array("commands") {
			if i == pageSize {
				break
			}
			b.Facts = append(b.Facts, fact{"Command", code(plain(c))})
		}
	}
	return b
}

func objections(row *ojson.Object) block {
	b := block{ID: "objections", Title: "Objections", Empty: "None were raised."}
	t := &table{Head: []string{"Objection", "Severity", "Statement", "Status"}}
	for i, o := range row.Objects("objections") {
		if i == pageSize {
			break
		}
		sev := text(o.String("severity"))
		if s := o.String("severity"); s == "high" || s == "blocking" || s == "critical" {
			sev.Tone = bad
		}
		t.Rows = append(t.Rows,
			[]cell{code(o.String("id")), sev, text(o.String("statement")), text(o.String("status"))})
	}
	return b.filled(t)
}

func decided(row *ojson.Object) block {
	b := block{ID: "decisions", Title: "Decisions", Empty: "Nothing was decided."}
	t := &table{Head: []string{"Decision", "Category", "Statement", "Rationale", "Overrides"}}
	for i, o := range row.Objects("decisions") {
		if i == pageSize {
			break
		}
		t.Rows = append(t.Rows, []cell{decisionLink(o.String("id")), text(o.String("category")),
			text(o.String("statement")), text(o.String("rationale")), decisionLink(o.String("overrides"))})
	}
	return b.filled(t)
}

// papers shows what the turn was given and what it has staged, if that is in the project.
func (v *view) papers(id string, active bool) (out []block) {
	dir := wire.BundleDir(id)
	if dir == "" || strings.ContainsAny(id, "/\\") || id == "." || id == ".." {
		return nil
	}
	b := block{ID: "papers", Title: "What it was given"}
	for _, name := range [...]string{"PROMPT.md", "ASSIGNMENT.json", "CONTEXT.md"} {
		if data, err := readSmall(v.m.root, dir+"/"+name, 8<<20); err == nil && data != nil {
			b.Parts = append(b.Parts, block{
				ID:     "paper-" + strings.ToLower(strings.TrimSuffix(strings.TrimSuffix(name, ".md"), ".json")),
				Title:  name,
				Folded: true,
				Pre:    longText(string(data), maxPre),
			})
		}
	}
	if len(b.Parts) > 0 {
		out = append(out, b)
	}
	if data, err := readSmall(v.m.root, wire.StagingPath(id), 8<<20); active && err == nil && data != nil {
		out = append(out, block{ID: "staged", Title: "What is staged", Parts: []block{{
			ID:     "staged-result",
			Title:  wire.StagingPath(id),
			Folded: true,
			Pre:    longText(string(data), maxPre),
		}}})
	}
	return out
}

// attempts shows the tries of a turn that had more than one, and why each ended.
func (v *view) attempts(id string) *block {
	turns := v.drawing("").Turns
	for i := range turns {
		x := &turns[i]
		if x.ID != id || len(x.Attempts) < 2 {
			continue
		}
		b := &block{
			ID:    "attempts",
			Title: "Attempts",
			Table: &table{Head: []string{"Begun", "Took", "Outcome", "Why"}},
		}
		for _, a := range x.Attempts {
			c := text(a.Outcome)
			if a.Why != "" {
				c.Tone = warn
			}
			b.Table.Rows = append(b.Table.Rows,
				[]cell{v.moment(a.Start), text(timeline.Lasting(a.End.Sub(a.Start))), c, text(a.Why)})
		}
		return b
	}
	return nil
}

// agentLog shows what the agent said and did, like the live view of a run; of a long log only the
// end.
func (v *view) agentLog(id string, attempts int) *block {
	data, err := v.m.src.log(id, attempts)
	if err != nil || len(data) == 0 {
		return nil // people leave none, and a log stays where the agent ran
	}
	b := &block{ID: "log", Title: "What the agent said and did"}
	if n := len(data) - maxAgentLog; n > 0 {
		data = data[n:]
		b.Note = fmt.Sprintf("The end of it, without the first %d bytes: git agentxchain turn log %s", n, plain(id))
	}
	lines := agentstream.Words(data)
	if len(lines) == 0 {
		return nil
	}
	b.Parts = []block{{ID: "log-lines", Title: counted(len(lines), "step", "steps"), Folded: len(lines) > 40,
		Pre: longText(strings.Join(lines, "\n"), maxPre)}}
	return b
}

// maxAgentLog bounds how much of a log is turned into words, in bytes.
const maxAgentLog = 512 << 10

// turnStory shows what happened to a turn.
func (v *view) turnStory(id string) block {
	b := block{ID: "story", Title: "What happened", Empty: "No event names this turn."}
	t := &table{Head: []string{"When", "Event", "What"}}
	for _, e := range v.m.events.entries() {
		if e.Turn == id && len(t.Rows) < pageSize {
			t.Rows = append(t.Rows, []cell{v.moment(e.Time), text(words(e.Kind)), text(e.Text)})
		}
	}
	ops := v.s.Ops
	for _, op := range slices.Backward(ops) {
		if op.Turn == id && len(b.Lead) < 50 {
			c := opLink(string(op.Op))
			c.Text = words(op.Name) + " " + c.Text
			b.Lead = append(b.Lead, c)
		}
	}
	if len(t.Rows) > 0 || len(b.Lead) > 0 {
		b.Empty, b.Table = "", t
	}
	if len(t.Rows) == 0 {
		b.Table = nil
	}
	return b
}
