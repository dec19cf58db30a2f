// Turns, their cost and their objections (docs/reports.md#what-a-report-says).

package account

import (
	"cmp"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	agentrun "github.com/git-agentxchain/git-agentxchain/protocol/run"
)

// accepted returns the run's accepted turns, without rows of reissued turns.
func (m *runModel) accepted() []*ojson.Object {
	var rows []*ojson.Object
	for _, r := range m.history {
		if agentrun.AcceptedRow(r, "") && r.String("role") != "" {
			rows = append(rows, r)
		}
	}
	sequence := func(o *ojson.Object) float64 { f, _ := o.Float("accepted_sequence"); return f }
	slices.SortStableFunc(rows, func(a, b *ojson.Object) int {
		switch x, y := sequence(a), sequence(b); {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
	return rows
}

func (m *runModel) turns() []*ojson.Object {
	out := []*ojson.Object{}
	for _, r := range m.accepted() {
		t := ojson.NewObject("turn_id", r.String("turn_id"), "role", r.String("role"),
			"status", cmp.Or(r.String("status"), "unknown"), "summary", r.String("summary"),
			"phase", ojson.OrNull(r.String("phase")),
			"phase_transition", ojson.OrNull(r.String("phase_transition_request")),
			"files_changed_count", count(r, filesChanged))
		if list := r.Strings("concurrent_with"); len(list) > 0 {
			t.Set("concurrent_with", list)
		}
		if list := r.Object("observed_artifact").Strings("attributed_to_concurrent_siblings"); len(list) > 0 {
			t.Set("sibling_attributed_files", list)
		}
		t.Set("decisions", ids(r, "decisions"))
		t.Set("objections", ids(r, "objections"))
		cost := r.Object("cost")
		t.Set("cost_usd", costOf(cost))
		t.Set("input_tokens", numberOrNull(cost, "input_tokens"))
		t.Set("output_tokens", numberOrNull(cost, "output_tokens"))
		t.Set("started_at", ojson.OrNull(r.String("started_at")))
		t.Set("duration_ms", numberOrNull(r, "duration_ms"))
		t.Set("accepted_at", ojson.OrNull(r.String("accepted_at")))
		out = append(out, t)
	}
	return out
}

// costOf returns the cost of a turn in dollars: total_usd, or usd, which results normally contain.
func costOf(cost *ojson.Object) any {
	for _, k := range [...]string{"total_usd", "usd"} {
		if f, ok := finite(cost, k); ok && f >= 0 {
			return cost.Value(k)
		}
	}
	return nil
}

// ids returns the ids in a list of records, which may also be plain ids.
func ids(row *ojson.Object, key string) []string {
	out := []string{}
	for _, v := range row.Array(key) {
		switch v := v.(type) {
		case string:
			out = append(out, v)
		case *ojson.Object:
			if id := v.String("id"); id != "" {
				out = append(out, id)
			}
		}
	}
	return out
}

// costs sums up the turns by role and by phase; nil without turns.
func costs(turns []*ojson.Object) *ojson.Object {
	if len(turns) == 0 {
		return nil
	}
	type sum struct {
		usd     float64
		turns   int
		in, out float64
	}
	var total sum
	costed, tokens := 0, false
	roles, phases := make(map[string]*sum), make(map[string]*sum)
	to := func(m map[string]*sum, key string) *sum {
		if m[key] == nil {
			m[key] = &sum{}
		}
		return m[key]
	}
	for _, t := range turns {
		usd, ok := finite(t, "cost_usd")
		if ok {
			costed++
		}
		in, hasIn := finite(t, "input_tokens")
		out, hasOut := finite(t, "output_tokens")
		tokens = tokens || hasIn || hasOut
		for _, s := range []*sum{&total, to(roles,
			cmp.Or(t.String("role"), "unknown")), to(phases, cmp.Or(t.String("phase"), "unknown"))} {
			s.usd, s.turns, s.in, s.out = s.usd+usd, s.turns+1, s.in+in, s.out+out
		}
	}
	tokenCount := func(f float64) any {
		if !tokens {
			return nil
		}
		return ojson.Float(f)
	}
	names := func(m map[string]*sum) []string {
		var list []string
		for k := range m {
			list = append(list, k)
		}
		return sortedNames(list)
	}
	byRole, byPhase := []*ojson.Object{}, []*ojson.Object{}
	for _, k := range names(roles) {
		s := roles[k]
		byRole = append(byRole, ojson.NewObject("role", k, "usd", dollars(s.usd), "turns", s.turns,
			"input_tokens", ojson.Float(s.in), "output_tokens", ojson.Float(s.out)))
	}
	for _, k := range names(phases) {
		byPhase = append(byPhase, ojson.NewObject("phase", k, "usd", dollars(phases[k].usd), "turns", phases[k].turns))
	}
	return ojson.NewObject("total_usd", dollars(total.usd), "total_input_tokens", tokenCount(total.in),
		"total_output_tokens", tokenCount(total.out), "turn_count", len(turns), "costed_turn_count", costed,
		"by_role", byRole, "by_phase", byPhase)
}

// objections returns what the run's turns objected to.
func (m *runModel) objections() []*ojson.Object {
	out := []*ojson.Object{}
	for _, r := range m.accepted() {
		for _, o := range r.Objects("objections") {
			row := ojson.NewObject("id", ojson.OrNull(o.String("id")), "turn_id", r.String("turn_id"),
				"role", r.String("role"), "phase", ojson.OrNull(r.String("phase")))
			for _, k := range [...]string{"severity", "against_turn_id", "statement", "status"} {
				row.Set(k, ojson.OrNull(o.String(k)))
			}
			out = append(out, row)
		}
	}
	return out
}
