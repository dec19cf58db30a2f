// Random votes, denials and synchronisations of three machines: all arrive at one record, in which no approval is
// lost or counted twice.

package initiative

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/agreement"
	"github.com/git-agentxchain/git-agentxchain/protocol/attest"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// joining is a server, and machines that follow the same initiative, each a workspace that only grows.
type joining struct {
	t        *rapid.T
	server   *Workspace
	machines []*Workspace
	children Children
	seconds  int // of the clock, which advances with every act

	states map[string]*State // by the rows that led to it

	said []string        // names of all approvals and denials that people were told of
	told map[string]bool // those that a sync reported as given up, or as adding nothing
}

// request returns what an approval answers: the newest request of a gate.
func request(w *Workspace) string {
	at := ""
	for _, row := range w.History.Rows() {
		if t := row.String("type"); t == rowPhaseAsked {
			at = row.String("timestamp")
		}
	}
	return fmt.Sprintf("%s/%d", at, w.History.Requests())
}

func (j *joining) env(who string) protocol.Env {
	j.seconds++
	e := env("s")
	e.Now = e.Now.Add(time.Duration(j.seconds) * time.Second)
	e.Actor.Name, e.Actor.Email, e.Actor.Terminal = who, who, true
	return e
}

// grounds checks an approval against the request that it answers, as the coordinator does.
func (j *joining) grounds(y *Yes, asked Asking) (*Grounds, *wire.Error) {
	if y != nil && !asked.Request && y.Consent.Answers != fmt.Sprintf("%s/%d", asked.At, asked.Nth) {
		return nil, &wire.Error{Code: agreement.CodeStatementReplayed}
	}
	return &Grounds{Base: &agreement.Base{}, Configs: []*Config{j.server.Config, nil}}, nil
}

// votes returns the votes that the rows of a record prove.
func (j *joining) votes(w *Workspace) []*run.Vote {
	_, votes, _ := w.History.Passages(w.State.SuperRunID, j.grounds)
	return votes
}

func (j *joining) approve(m int, who string) {
	w := j.machines[m]
	if w.State.PendingGate == nil {
		return
	}
	y := &Yes{
		Consent:      agreement.Consent{Answers: request(w), Base: &agreement.Base{}},
		Repositories: []attest.Repository{{ID: "api", Operation: strings.Repeat("a", 40)}},
		Rules:        RulesOf(w.State.Phase, w.State.PendingGate.To, w.Config),
		Digest:       w.Config.RulesDigest(),
		Votes:        j.votes(w),
	}
	c, _, refusal := Approve(w, j.children, y, j.env(who))
	if refusal != nil {
		if refusal.Code != agreement.CodeAlreadyApproved {
			j.t.Fatalf("%s on %d: %v", who, m, refusal)
		}
		return
	}
	j.did(m, c)
}

// did applies a change in which a person said something.
func (j *joining) did(m int, c *Change) {
	j.machines[m] = j.after(j.machines[m], c)
	j.said = append(j.said, names(c.History)...)
}

// names returns the names of the approvals and denials in rows: whose it is and what it answers, or its time.
func names(rows []*ojson.Object) (out []string) {
	for _, row := range rows {
		if y, _ := yesOf(row); y != nil {
			out = append(out, actorOf(row, "approved_by").Email+" to "+y.Consent.Answers)
		} else if row.String("type") == rowDenied {
			out = append(out, "denied "+row.String("timestamp"))
		}
	}
	return out
}

func (j *joining) deny(m int) {
	if c, e := Deny(j.machines[m], "no", j.env("eve@example.org")); e == nil {
		j.did(m, c)
	}
}

func (j *joining) ask(m int) {
	w := j.machines[m]
	if c, e := Request(w, EvaluatePhase(w, j.children, ""), j.env("eve@example.org")); e == nil {
		j.machines[m] = j.after(w, c)
	}
}

// after returns a machine's workspace after a change, and keeps the state.
func (j *joining) after(w *Workspace, c *Change) *Workspace {
	w = w.With(c)
	j.states[ending(w.History.Rows())] = w.State
	return w
}

// ending identifies rows by their number and the last of them.
func ending(rows []*ojson.Object) string {
	return fmt.Sprintf("%d %s", len(rows), ojson.Compact(rows[len(rows)-1]))
}

// decisions returns the decisions that belong to rows of the history.
func decisions(rows []*ojson.Object) (out []*ojson.Object) {
	for _, row := range rows {
		if t := row.String("type"); t == rowPhaseAsked || t == rowDenied {
			out = append(out, ojson.NewObject("id", "DEC-COORD-001", "gate", row.String("gate")))
		}
	}
	return out
}

// sync does what travel and the coordinator do with the records of both sides. It reports whether anything moved.
func (j *joining) sync(m int) bool {
	here, there := j.machines[m].History.Rows(), j.server.History.Rows()
	base := 0
	for base < min(len(here), len(there)) && ojson.Equal(here[base], there[base]) {
		base++
	}
	switch rows := here[base:]; {
	case len(rows) == 0 && base == len(there):
		return false
	case len(rows) == 0:
		j.machines[m] = j.server
	case base == len(there):
		j.server = j.machines[m]
	default:
		to, y := j.server, &Joined{Change: &Change{}}
		said, ok := SaidIn(rows, decisions(rows), j.states[ending(here[:base])], j.machines[m].State)
		if ok {
			y = to.Join(said, j.grounds)
		}
		if !ok || y == nil { // initiative_diverged, which is reported
			j.tell(true, rows)
		} else {
			j.tell(y.Over > 0, rows)
			to = j.after(to, y.Change)
		}
		j.machines[m], j.server = to, to
	}
	return true
}

func (j *joining) tell(lost bool, rows []*ojson.Object) {
	for _, name := range names(rows) {
		j.told[name] = j.told[name] || lost
	}
}

// TestThreeMachinesJoin lets three machines vote, deny, request and synchronise in any order.
func TestThreeMachinesJoin(test *testing.T) {
	people := []string{"ada@example.org", "bob@example.org", "cyd@example.org"}
	rapid.Check(test, func(t *rapid.T) {
		d := dice{rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))}
		need := 2 + d.IntN(2)
		cfg := strings.Replace(goodConfig, `"project":`, fmt.Sprintf(`"authority": {
			"approvers": {"leads": {"principals": ["%s"], "threshold": %d}},
			"gates": {"phase_transition": {"by": "leads"}}}, "project":`, strings.Join(people, `", "`), need), 1)
		w := world(test, cfg).after(designDone...)
		j := &joining{t: t, server: w, told: make(map[string]bool), states: make(map[string]*State)}
		j.after(w, &Change{})
		a := newActors(test, w)
		j.children = a.read()
		j.machines = []*Workspace{w, w, w}
		j.ask(0)
		j.server = j.machines[0]
		for m := range j.machines {
			j.machines[m] = j.server
		}
		for range 4 + d.IntN(20) {
			switch m := d.IntN(3); {
			case d.one(8):
				j.deny(m)
				if d.one(2) {
					j.ask(m)
				}
			case d.one(8):
				j.ask(m)
			case d.one(3):
				j.sync(m)
			default:
				j.approve(m, pick(d, people))
			}
		}
		for quiet, rounds := 0, 0; quiet < 3; rounds++ {
			if quiet++; j.sync(rounds % 3) {
				quiet = 0
			}
			if rounds > 20 {
				t.Fatal("the machines do not come to an end")
			}
		}
		record := j.server.History.Rows()
		for m, w := range j.machines {
			if !slices.EqualFunc(w.History.Rows(), record, func(a, b *ojson.Object) bool { return ojson.Equal(a, b) }) ||
				!ojson.Equal(w.State.Object(), j.server.State.Object()) {
				t.Fatalf("machine %d has another record than the server", m)
			}
		}
		kept := names(record)
		for _, name := range j.said {
			if !slices.Contains(kept, name) && !j.told[name] {
				t.Errorf("%s is lost", name)
			}
		}
		passages, votes, _ := j.server.History.Passages(j.server.State.SuperRunID, j.grounds)
		for _, p := range passages {
			if p.Refusal != nil || len(p.Votes) < need {
				t.Errorf("%s was passed with %d of %d: %v", p.Gate, len(p.Votes), need, p.Refusal)
			}
		}
		waits := j.server.State.PendingGate
		if waits == nil {
			return
		}
		var counted, agreed []string
		for _, v := range votes {
			counted = append(counted, v.Principal)
		}
		for _, name := range kept {
			if who, ok := strings.CutSuffix(name, " to "+request(j.server)); ok {
				agreed = append(agreed, who)
			}
		}
		if !slices.Equal(counted, agreed) || len(waits.Votes) != len(counted) || len(slices.Compact(slices.Sorted(
			slices.Values(counted)))) != len(counted) {
			t.Errorf("counted are %q and in the state %d, agreed have %q", counted, len(waits.Votes), agreed)
		}
	})
}
