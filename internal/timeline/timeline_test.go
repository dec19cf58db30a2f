package timeline

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
)

var t0 = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

// rows decodes JSON lines whose time is given in minutes after t0: "3 {...}".
func rows(t *testing.T, of func(*ojson.Object) *Fact, lines string) (out []*Fact) {
	t.Helper()
	for line := range strings.Lines(lines) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		minute, doc, _ := strings.Cut(line, " ")
		o, err := ojson.DecodeObject([]byte(doc))
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		d, err := time.ParseDuration(minute + "m")
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range []string{"timestamp", "accepted_at"} {
			o.Set(k, t0.Add(d).Format("2006-01-02T15:04:05.000Z"))
		}
		out = append(out, of(o))
	}
	return out
}

// aRun returns two phases: a turn refused, sent back and accepted, a gate denied and then approved, a delegated
// turn in parallel with a conflict, a block, a reissue.
func aRun(t *testing.T) []*Fact {
	facts := rows(t, Event, `
		0 {"event_type":"run_started","run_id":"run_1","phase":"plan","status":"active"}
		1 {"event_type":"turn_dispatched","run_id":"run_1","phase":"plan","status":"active","turn":{"turn_id":"t1","role_id":"pm"}}
		4 {"event_type":"acceptance_failed","run_id":"run_1","phase":"plan","status":"active","turn":{"turn_id":"t1","role_id":"pm"},"payload":{"errors":["no objection"]}}
		5 {"event_type":"turn_rejected","run_id":"run_1","phase":"plan","status":"active","turn":{"turn_id":"t1","role_id":"pm"},"payload":{"retrying":true,"reason":"think again"}}
		6 {"event_type":"turn_dispatched","run_id":"run_1","phase":"plan","status":"active","turn":{"turn_id":"t1","role_id":"pm"}}
		9 {"event_type":"turn_accepted","run_id":"run_1","phase":"plan","status":"paused","turn":{"turn_id":"t1","role_id":"pm"}}
		9 {"event_type":"gate_pending","run_id":"run_1","phase":"plan","status":"paused","payload":{"from":"plan","to":"build"}}
		10 {"event_type":"turn_checkpointed","run_id":"run_1","phase":"plan","status":"paused","turn":{"turn_id":"t1","role_id":"pm"},"payload":{"checkpoint_sha":"abc"}}
		610 {"event_type":"gate_approved","run_id":"run_1","phase":"build","status":"active","payload":{"gate_id":"signoff","from":"plan","to":"build"}}
		610 {"event_type":"phase_entered","run_id":"run_1","phase":"build","status":"active","payload":{"gate_id":"signoff","from":"plan","to":"build","trigger":"human_approved"}}
		611 {"event_type":"turn_dispatched","run_id":"run_1","phase":"build","status":"active","turn":{"turn_id":"t2","role_id":"dev"}}
		612 {"event_type":"turn_dispatched","run_id":"run_1","phase":"build","status":"active","turn":{"turn_id":"t3","role_id":"dev"}}
		615 {"event_type":"turn_accepted","run_id":"run_1","phase":"build","status":"active","turn":{"turn_id":"t2","role_id":"dev"}}
		616 {"event_type":"turn_conflicted","run_id":"run_1","phase":"build","status":"active","turn":{"turn_id":"t3","role_id":"dev"},"payload":{"conflicting_files":["a.go"],"accepted_since_turn_ids":["t2"]}}
		617 {"event_type":"run_blocked","run_id":"run_1","phase":"build","status":"blocked","payload":{"detail":"who decides?"}}
		617 {"event_type":"human_escalation_raised","run_id":"run_1","phase":"build","status":"blocked","payload":{"detail":"who decides?"}}
		627 {"event_type":"turn_reissued","run_id":"run_1","phase":"build","status":"active","turn":{"turn_id":"t4","role_id":"dev"},"payload":{"old_turn_id":"t3","reason":"stale"}}
		627 {"event_type":"turn_dispatched","run_id":"run_1","phase":"build","status":"active","turn":{"turn_id":"t4","role_id":"dev"}}
		627 {"event_type":"run_started","run_id":"another","phase":"plan","status":"active"}`)
	facts = append(facts, rows(t, History, `
		9 {"turn_id":"t1","run_id":"run_1","role":"pm","phase":"plan","status":"completed","summary":"planned","cost":{"usd":1.5,"input_tokens":100}}
		615 {"turn_id":"t2","run_id":"run_1","role":"dev","phase":"build","status":"completed","summary":"built","cost":{"usd":0.5},"delegation_context":{"parent_turn_id":"t1"}}
		627 {"turn_id":"t3","run_id":"run_1","role":"dev","phase":"build","status":"reissued","summary":"Turn reissued: stale"}`)...)
	return append(facts, rows(t, Decision, `
		-500 {"type":"human_approval","gate_id":"signoff","from_phase":"plan","approved_by":{"name":"A run before"}}
		610 {"type":"human_approval","gate_id":"signoff","from_phase":"plan","approved_by":{"name":"Ada"}}`)...)
}

// A refusal with which the loop sent the turn back is one answer, and what began again is counted, not the answers.
func TestRefusedAndSentBack(t *testing.T) {
	facts := rows(t, Event, `
		0 {"event_type":"run_started","run_id":"run_1","phase":"plan","status":"active"}
		1 {"event_type":"turn_dispatched","run_id":"run_1","phase":"plan","status":"active","turn":{"turn_id":"t1","role_id":"pm"}}
		2 {"event_type":"acceptance_failed","run_id":"run_1","phase":"plan","status":"active","turn":{"turn_id":"t1","role_id":"pm"},"payload":{"reason":"no notes"}}
		3 {"event_type":"turn_rejected","run_id":"run_1","phase":"plan","status":"active","turn":{"turn_id":"t1","role_id":"pm"},"payload":{"retrying":true,"reason":"no notes"}}
		3 {"event_type":"turn_dispatched","run_id":"run_1","phase":"plan","status":"active","turn":{"turn_id":"t1","role_id":"pm"}}
		4 {"event_type":"acceptance_failed","run_id":"run_1","phase":"plan","status":"active","turn":{"turn_id":"t1","role_id":"pm"},"payload":{"reason":"no notes"}}
		5 {"event_type":"turn_rejected","run_id":"run_1","phase":"plan","status":"blocked","turn":{"turn_id":"t1","role_id":"pm"},"payload":{"retrying":false,"reason":"no notes"}}`)
	p := Build(facts, Options{Run: "run_1", Now: t0.Add(9 * time.Minute)})
	if len(p.Turns) != 1 || p.Turns[0].Outcome != Failed || len(p.Turns[0].Attempts) != 2 || p.Turns[0].retries() != 1 {
		t.Errorf("the picture has %+v", p.Turns)
	}
}

func TestPictureOfARun(t *testing.T) {
	p := Build(aRun(t), Options{Run: "run_1", Now: t0.Add(630 * time.Minute)})
	var got strings.Builder
	for i := range p.Turns {
		x := &p.Turns[i]
		fmt.Fprintf(&got, "%s %s %s %s %s:", x.ID, x.Role, x.Phase, x.Outcome, dollars(x.USD))
		for _, a := range x.Attempts {
			fmt.Fprintf(&got, " [%s %s %s]", a.Outcome, Lasting(a.End.Sub(a.Start)), a.Why)
		}
		got.WriteString("\n")
	}
	for _, x := range p.Posts {
		fmt.Fprintf(&got, "gate %s %v by %s from %s\n", x.Gate, x.Opened, x.By, x.From)
	}
	for _, x := range p.Waits {
		fmt.Fprintf(&got, "wait %s %s %v\n", Lasting(x.End.Sub(x.Start)), x.For, x.Open)
	}
	for _, x := range p.Arrows {
		fmt.Fprintf(&got, "arrow %s %s %s\n", x.Kind, x.From, x.To)
	}
	fmt.Fprintf(&got, "%d escalations, live %v\n%s\n", len(p.Alarms), p.Live, p.Line())
	const want = `t1 pm plan accepted $1.50: [refused 3 min no objection] [sent back 1 min think again] [accepted 3 min ]
t2 dev build accepted $0.50: [accepted 4 min ]
t3 dev build given up $0.00: [conflict 4 min a.go]
t4 dev build at work $0.00: [at work 3 min ]
gate signoff true by Ada from plan
wait 10 h 1 min approval of signoff false
wait 10 min who decides? false
arrow delegation t1 t2
arrow conflict t2 t3
arrow reissue t3 t4
1 escalations, live true
4 turns in 10 h 30 min, 1 retry. Agents worked 18 min; people were waited for 10 h 11 min; $2.00.
`
	if got.String() != want {
		t.Errorf("the picture is\n%s\nnot\n%s", got.String(), want)
	}
	if s := p.ByRole(); len(s) != 2 || s[0].Name != "pm" || s[0].USD != 1.5 || s[1].Turns != 3 {
		t.Errorf("sums by role: %+v", s)
	}

	// The night of waiting leaves room for the work.
	d := Draw(p)
	if b := d.Lanes[0].Bars[0]; b.To-b.From < 0.1 {
		t.Errorf("a turn of 8 minutes beside a wait of 10 hours takes %v of the width", b.To-b.From)
	}
	build := Build(aRun(t), Options{Run: "run_1", Phase: "build", Now: t0.Add(630 * time.Minute)})
	if len(build.Turns) != 3 || len(build.Posts) != 0 || len(build.Arrows) != 2 ||
		!build.Start.Equal(t0.Add(610*time.Minute)) {
		t.Errorf("phase build alone: %+v", build)
	}
}

func TestASCII(t *testing.T) {
	got := Draw(Build(aRun(t), Options{Run: "run_1", Now: t0.Add(630 * time.Minute)})).ASCII(80)
	const want = `4 turns in 10 h 30 min, 1 retry. Agents worked 18 min; people were waited for 10
h 11 min; $2.00.

            |plan                              |build
pm             xxxxxxxxxxxxxx    =========*
dev                                            ==============        >>>>>>>>>>
                                                   ##############
gates                                      ::::O                 !::::
            2026-03-02 09:00:00                                              now

= accepted  > at work  x refused, sent back  # failed  * checkpoint
: waiting for a person  O gate opens  ! escalation
`
	if got != want {
		t.Errorf("in characters:\n%s\nnot\n%s", got, want)
	}
	for line := range strings.Lines(got) {
		if n := text.Width(strings.TrimSuffix(line, "\n")); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

// randomRun returns n turns of several roles, some concurrent, with hostile names.
func randomRun(r *rand.Rand, n int) (facts []*Fact) {
	at := t0
	event := func(kind string, more Fact) {
		at = at.Add(time.Duration(r.IntN(90)) * time.Second)
		more.At, more.Kind, more.Phase = at, kind, "p"+fmt.Sprint(len(facts)/50%3)
		facts = append(facts, &more)
	}
	event("run_started", Fact{})
	var open []Fact
	for i := 0; i < n || len(open) > 0; {
		switch k := r.IntN(8); {
		case k < 3 && i < n:
			x := Fact{Turn: fmt.Sprintf("t%d", i), Role: fmt.Sprintf("r%d\u202e<b>&\"", r.IntN(20))}
			open = append(open, x)
			event("turn_dispatched", x)
			i++
		case k == 3:
			event("gate_failed", Fact{Gate: "g</title>\x1b[2J", Why: "]]>"})
		case k == 4:
			event("run_blocked", Fact{Status: "blocked", Why: "\"><script>"})
		case len(open) > 0:
			j := r.IntN(len(open))
			x := open[j]
			event([]string{"turn_accepted", "turn_rejected", "acceptance_failed", "turn_stalled"}[r.IntN(4)], x)
			if last := facts[len(facts)-1].Kind; last != "acceptance_failed" && len(open) > 0 {
				open = append(open[:j], open[j+1:]...)
			}
		}
	}
	return facts
}

// TestAbandoned checks the turns of an abandoned run.
func TestAbandoned(t *testing.T) {
	p := Build(rows(t, Event, `
		0 {"event_type":"turn_dispatched","run_id":"run_1","phase":"plan","status":"active","turn":{"turn_id":"t1","role_id":"pm"}}
		5 {"event_type":"run_abandoned","run_id":"run_1","phase":"plan","status":"failed","payload":{"reason":"wrong goal","dropped_turns":[{"turn_id":"t1","role":"pm"}]}}`),
		Options{Run: "run_1", Now: t0.Add(time.Hour)})
	if p.Live || p.Turns[0].Outcome != GivenUp || !p.End.Equal(t0.Add(5*time.Minute)) {
		t.Errorf("the turn is %s, the picture ends at %s, live %v", p.Turns[0].Outcome, p.End, p.Live)
	}
}

func TestEveryDrawing(t *testing.T) {
	for _, n := range []int{0, 1, 15, 300, 10_000} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			d := Draw(Build(randomRun(rand.New(rand.NewPCG(7, uint64(n))), n), Options{}))
			if len(d.Turns) != n {
				t.Fatalf("%d turns of %d", len(d.Turns), n)
			}
			turns, bars := 0, 0
			for _, l := range d.Lanes {
				last := map[int]float64{}
				for _, b := range l.Bars {
					turns += b.Turns
					bars++
					if b.From < last[b.Row] || b.From < 0 || b.To > 1 || b.To <= b.From || b.Row >= l.Rows {
						t.Errorf("lane %s, row %d: a bar from %v to %v after %v", l.Name, b.Row, b.From, b.To,
							last[b.Row])
					}
					last[b.Row] = b.To
				}
			}
			if turns != n || bars > 2*maxBars || len(d.Lanes) > maxLanes {
				t.Errorf("%d of %d turns in %d bars and %d lanes", turns, n, bars, len(d.Lanes))
			}
			svg := d.SVG(Look{
				Turn: func(id string) string { return "/turns/" + id },
				Zoom: func(p string) string { return "?phase=" + p },
			})
			if len(svg) > 150<<10 {
				t.Errorf("%d bytes of SVG", len(svg))
			}
			wellFormed(t, svg)
			wellFormed(t, d.SVG(Look{Alone: true}))
			small := d.Small("r1")
			wellFormed(t, small)
			if len(small) > 60<<10 || strings.Contains(small, "<text") ||
				n > 0 && !strings.Contains(small, "class=\"seg ") {
				t.Errorf("small, %d bytes: %.300s", len(small), small)
			}
			for _, hostile := range []string{"<script", "\x1b", "<b>"} {
				if strings.Contains(svg, hostile) || strings.Contains(d.ASCII(80), "\x1b") {
					t.Errorf("the drawing has %q", hostile)
				}
			}
			for line := range strings.Lines(d.ASCII(80)) {
				if strings.Contains(line, "|") && len(strings.TrimSuffix(line, "\n")) > 80 {
					t.Errorf("longer than 80 columns: %s", line)
				}
			}
			if rows, left := d.Rows(100); len(rows) > 100 || left < 0 {
				t.Errorf("%d rows, %d left", len(rows), left)
			}
			if again := Read(d.Object()); again == nil || Draw(again).SVG(Look{}) != d.SVG(Look{}) {
				t.Error("written and read again it is another picture")
			}
		})
	}
}

func wellFormed(t *testing.T, svg string) {
	t.Helper()
	dec := xml.NewDecoder(strings.NewReader(svg))
	for {
		_, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatalf("the SVG is not well-formed: %v", err)
		}
	}
}

func BenchmarkPicture(b *testing.B) {
	facts := randomRun(rand.New(rand.NewPCG(7, 7)), 10_000)
	for b.Loop() {
		Draw(Build(facts, Options{})).SVG(Look{})
	}
}

// A shared bar shows the outcomes of its turns by its segments: one failure does not colour hundreds.
func TestSharedBars(t *testing.T) {
	var facts []*Fact
	at := t0
	for i := range 1000 {
		x := Fact{Turn: fmt.Sprint("t", i), Role: "dev"}
		for _, kind := range []string{"turn_dispatched", "turn_accepted"} {
			if i == 500 && kind == "turn_accepted" {
				kind = "turn_stalled"
			}
			f := x
			f.At, f.Kind = at, kind
			facts = append(facts, &f)
			at = at.Add(time.Minute)
		}
	}
	bad, width := 0.0, 0.0
	l := Draw(Build(facts, Options{})).Lanes[0]
	for _, b := range l.Bars {
		for _, s := range b.Segments {
			width += s.To - s.From
			if s.Outcome == Stalled {
				bad += s.To - s.From
			}
		}
	}
	if l.Rows != 1 || bad <= 0 || bad > 0.005 || width > 1.001 || width < 0.95 {
		t.Errorf("%d rows, %v of the width, %v of it for one stalled turn of 1000", l.Rows, width, bad)
	}
}

// Readers iterate over each list, even an empty one.
func TestObjectHasListsAndNoNull(t *testing.T) {
	o := (&Picture{}).Object()
	for _, name := range []string{"phases", "turns", "gates", "waits", "escalations", "arrows"} {
		if v, _ := o.Get(name); v == nil {
			t.Errorf("%s is null", name)
		}
	}
}
