// Tests of the decision id set and of renumbering, against a plain map as the model.

package result

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
)

func TestDecisionID(t *testing.T) {
	for id, want := range map[string]bool{
		"DEC-1":                          true,
		"DEC-001":                        true,
		"DEC-0":                          true,
		"DEC-99999999999999999999999":    true,
		"DEC-":                           false,
		"DEC-x":                          false,
		"dec-1":                          false,
		"DEC-1 ":                         false,
		"DEC-1\n":                        false,
		"DEC--1":                         false,
		"":                               false,
		"DEC-١":                          false,
		"DEC-" + fmt.Sprintf("%064d", 7): true,
		"DEC-" + fmt.Sprintf("%065d", 7): false,
	} {
		if got := run.IsDecisionID(id); got != want {
			t.Errorf("IsDecisionID(%q) = %v", id, got)
		}
	}
}

func TestDecisionIDsNext(t *testing.T) {
	for _, c := range []struct {
		ids  []string
		want string
	}{
		{nil, "DEC-001"},
		{[]string{"DEC-0"}, "DEC-001"},
		{[]string{"DEC-1", "DEC-2", "DEC-9"}, "DEC-010"},
		{[]string{"DEC-1234"}, "DEC-1235"},
		{[]string{"DEC-1", "DEC-99999999999999999999"}, "DEC-002"},
		{[]string{"DEC-1", "DEC-2", "DEC-4", "DEC-999999999999999"}, "DEC-003"},
		{[]string{"DEC-999999999999999"}, "DEC-001"},
	} {
		d := &run.DecisionIDs{}
		for _, id := range c.ids {
			d.Add(id)
		}
		if got := d.Next(); got != c.want || d.Has(got) {
			t.Errorf("%v: next %s, want %s", c.ids, got, c.want)
		}
	}
	var none *run.DecisionIDs
	if none.Has("DEC-1") || none.Next() != "DEC-001" || len(none.Encode()) != 0 || none.Clone() == nil {
		t.Error("a nil set must read as empty")
	}
}

func TestDecisionIDsEncode(t *testing.T) {
	d := &run.DecisionIDs{}
	for _, id := range []string{"DEC-3", "DEC-1", "DEC-2", "DEC-07", "nonsense", "DEC-00099999999999999999999",
		"DEC-5", "DEC-6"} {
		d.Add(id)
	}
	if got := string(ojson.Compact(d.Encode())); got != `[[1,3],[5,7],"99999999999999999999"]` {
		t.Errorf("encoded %s", got)
	}
	// Damaged items are skipped, order and overlaps tolerated.
	v, err := ojson.Decode([]byte(
		`[9,[5,7],[1,3],[2,6],"12","99999999999999999999",-1,1.5,[3,1],[1],"x",null,{},1e300,[1,1e300]]`))
	if err != nil {
		t.Fatal(err)
	}
	if got := string(ojson.Compact(
		run.DecodeDecisionIDs(v.([]any)).Encode())); got != `[[1,7],9,12,"99999999999999999999"]` {
		t.Errorf("decoded %s", got)
	}
}

func TestDecisionIDsProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		numbers := rapid.SliceOf(rapid.OneOf(rapid.Uint64Range(0, 30),
			rapid.Uint64Range(run.MaxSmallDecision-3, run.MaxSmallDecision+3))).Draw(t, "numbers")
		d, model := &run.DecisionIDs{}, map[uint64]bool{}
		for i, n := range numbers {
			id := fmt.Sprintf("DEC-%0*d", i%5, n)
			d.Add(id)
			model[n] = true
			for probe := range uint64(32) {
				if d.Has(run.DecisionID(probe)) != model[probe] {
					t.Fatalf("after %v: Has(%d) = %v", numbers[:i+1], probe, !model[probe])
				}
			}
			if !d.Has(id) || d.Has(d.Next()) {
				t.Fatalf("after %v: Has(%s) = %v, Next %s", numbers[:i+1], id, d.Has(id), d.Next())
			}
		}
		enc := d.Encode()
		back, err := ojson.Decode(ojson.Compact(enc))
		if err != nil || !ojson.Equal(back, enc) || !ojson.Equal(run.DecodeDecisionIDs(enc).Encode(), enc) {
			t.Fatalf("%v does not survive encoding: %s", numbers, ojson.Compact(enc))
		}
		// The order of additions does not show.
		slices.Reverse(numbers)
		other := &run.DecisionIDs{}
		for _, n := range numbers {
			other.Add(run.DecisionID(n))
		}
		if !ojson.Equal(other.Encode(), enc) {
			t.Fatalf("%s and %s", ojson.Compact(other.Encode()), ojson.Compact(enc))
		}
	})
}

func resultWithDecisions(t testing.TB, members ...string) *Result {
	t.Helper()
	doc := `{"delegations":[{"id":"del-001","required_decision_ids":["DEC-1"]}],"decisions":[`
	for i, m := range members {
		if i > 0 {
			doc += ","
		}
		doc += "{" + m + "}"
	}
	o, err := ojson.DecodeObject([]byte(doc + "]}"))
	if err != nil {
		t.Fatal(err)
	}
	return New(o)
}

func TestRenumberDecisions(t *testing.T) {
	used := run.DecodeDecisionIDs([]any{ojson.Number("1"), ojson.Number("5")})
	r := resultWithDecisions(t, `"id":"DEC-1","overrides":"DEC-001"`, `"id":"DEC-2"`, `"id":"DEC-002"`, `"id":"DEC-5"`,
		`"id":"DEC-8","overrides":"DEC-9"`)
	events := RenumberDecisions(r, used, nil)
	var ids []string
	for i, d := range r.Decisions {
		ids = append(ids, d.ID)
		if d.Raw.String("id") != d.ID || r.Raw.Objects("decisions")[i].String("id") != d.ID {
			t.Errorf("decision %d: the document says %s, the view %s", i, d.Raw.String("id"), d.ID)
		}
	}
	if diff := cmp.Diff([]string{"DEC-010", "DEC-2", "DEC-011", "DEC-012", "DEC-8"}, ids); diff != "" {
		t.Error(diff)
	}
	want := []NormalizationEvent{
		{
			Field:      "decisions[0].id",
			Original:   "DEC-1",
			Normalized: "DEC-010",
			Rationale:  "duplicate_decision_id_renumbered",
		},
		{
			Field:      "decisions[2].id",
			Original:   "DEC-002",
			Normalized: "DEC-011",
			Rationale:  "duplicate_decision_id_renumbered",
		},
		{
			Field:      "decisions[3].id",
			Original:   "DEC-5",
			Normalized: "DEC-012",
			Rationale:  "duplicate_decision_id_renumbered",
		},
	}
	if diff := cmp.Diff(want, events); diff != "" {
		t.Error(diff)
	}
	if r.Decisions[0].Overrides != "DEC-001" || r.Delegations[0].RequiredDecisionIDs[0] != "DEC-1" {
		t.Error("references must stay")
	}
	if got := string(ojson.Compact(used.Encode())); got != "[1,5]" {
		t.Errorf("used was modified: %s", got)
	}
	if ev := RenumberDecisions(r, used, nil); len(ev) != 0 {
		t.Errorf("a second pass renumbers again: %v", ev)
	}
	if RenumberDecisions(nil, nil, nil) != nil ||
		RenumberDecisions(resultWithDecisions(t, `"id":"DEC-1"`), nil, nil) != nil {
		t.Error("nothing to renumber")
	}
}

func TestRenumberDecisionsProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := rapid.Custom(func(t *rapid.T) string {
			return fmt.Sprintf("DEC-%0*d", rapid.IntRange(1, 3).Draw(t, "width"), rapid.IntRange(0, 12).Draw(t, "n"))
		})
		used := &run.DecisionIDs{}
		for _, u := range rapid.SliceOfN(id, 0, 6).Draw(t, "used") {
			used.Add(u)
		}
		r := &Result{}
		ids := rapid.SliceOfN(id, 0, 8).Draw(t, "ids")
		for _, d := range ids {
			r.Decisions = append(r.Decisions, Decision{ID: d})
		}
		RenumberDecisions(r, used, nil)
		seen := used.Clone()
		for i, d := range r.Decisions {
			if seen.Has(d.ID) {
				t.Fatalf("%s is used twice", d.ID)
			}
			seen.Add(d.ID)
			if d.ID != ids[i] && !used.Has(ids[i]) &&
				!slices.ContainsFunc(ids[:i], func(o string) bool { return SameDecision(o, ids[i]) }) {
				t.Fatalf("%s was free and became %s", ids[i], d.ID)
			}
		}
	})
}
