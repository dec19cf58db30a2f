package ledgermerge

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func source(lines ...string) Source {
	text := strings.Join(lines, "\n")
	if len(lines) > 0 {
		text += "\n"
	}
	return bytes.NewReader([]byte(text))
}

func join(t rapid.TB, ledger string, base, ours, theirs []string) ([]string, []Conflict) {
	var out bytes.Buffer
	conflicts, err := Merge(&out, ledger, source(base...), source(ours...), source(theirs...))
	if err != nil {
		t.Fatal(err)
	}
	if len(conflicts) > 0 {
		if out.Len() > 0 {
			t.Fatalf("conflicts, and yet %d bytes were written", out.Len())
		}
		return nil, conflicts
	}
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if out.Len() == 0 {
		lines = nil
	}
	return lines, nil
}

func event(id, at string) string {
	return fmt.Sprintf(`{"event_id":%q,"timestamp":%q,"x":1e2}`, id, at)
}

func TestMerge(t *testing.T) {
	e1, e2, e3, e4 := event("e1", "2026-01-01T00:00:01.000Z"), event("e2",
		"2026-01-01T00:00:02.000Z"), event("e3", "2026-01-01T00:00:03.000Z"), event("e4", "2026-01-01T00:00:04.000Z")
	late := event("late", "2026-01-01T00:00:00.000Z")
	turn := `{"turn_id":"t1","status":"completed","accepted_at":"2026-01-01T00:00:01.000Z"}`
	marked := `{"turn_id":"t1","status":"completed","accepted_at":"2026-01-01T00:00:01.000Z","checkpoint_sha":"aa"}`
	other := `{"turn_id":"t1","status":"completed","accepted_at":"2026-01-01T00:00:01.000Z","checkpoint_sha":"bb"}`
	reissued := `{"turn_id":"t1","status":"reissued"}`
	for _, tc := range []struct {
		name               string
		ledger             string
		base, ours, theirs []string
		want               []string
		conflict           string
	}{
		{"nothing", "events.jsonl", nil, nil, nil, nil, ""},
		{"one side grew", "events.jsonl", []string{e1}, []string{e1, e2}, []string{e1}, []string{e1, e2}, ""},
		{"both grew", "events.jsonl", []string{e1}, []string{e1, e3}, []string{e1, e2, e4}, []string{e1, e2, e3, e4},
			""},
		{"the same record on both sides once", "events.jsonl", []string{e1}, []string{e1, e2, e3}, []string{e1, e2},
			[]string{e1, e2, e3}, ""},
		{"no base", "events.jsonl", nil, []string{e2}, []string{e1}, []string{e1, e2}, ""},
		{"a side keeps its own order against the clock", "events.jsonl", []string{e1}, []string{e1, e3, late},
			[]string{e1, e4}, []string{e1, e3, late, e4}, ""},
		{"amended on one side", "history.jsonl", []string{turn}, []string{marked}, []string{turn}, []string{marked},
			""},
		{"amended on the other side", "history.jsonl", []string{turn}, []string{turn}, []string{marked},
			[]string{marked}, ""},
		{"amended alike", "history.jsonl", []string{turn}, []string{marked}, []string{marked}, []string{marked}, ""},
		{"a reissued turn is another record", "history.jsonl", nil, []string{reissued, turn}, []string{reissued},
			[]string{reissued, turn}, ""},
		{"identical rows without identity are kept", "hook-audit.jsonl", []string{`{"a":1}`},
			[]string{`{"a":1}`, `{"a":1}`}, []string{`{"a":1}`, `{"b":1}`}, nil, ""},
		{"amended in two ways", "history.jsonl", []string{turn}, []string{marked}, []string{other}, nil,
			"line 1 of ours: both sides changed"},
		{"added in two ways", "history.jsonl", nil, []string{marked}, []string{other}, nil, "both sides changed"},
		{"a record gone from ours", "events.jsonl", []string{e1, e2}, []string{e1}, []string{e1, e2, e3}, nil,
			"line 2 of base: the record is gone from ours"},
		{"a record gone from theirs", "events.jsonl", []string{e1, e2}, []string{e1, e2}, []string{e2}, nil,
			"gone from theirs"},
		{"another order", "events.jsonl", []string{e1, e2}, []string{e1, e2}, []string{e2, e1}, nil, "another order"},
		{"no record", "events.jsonl", []string{e1}, []string{e1, "<<<<<<< HEAD"}, []string{e1}, nil,
			"line 2 of ours: it holds no record"},
		{"an empty line", "events.jsonl", []string{e1}, []string{e1, ""}, []string{e1}, nil, "line 2 of ours"},
		{"a carriage return", "events.jsonl", nil, []string{e1 + "\r"}, nil, []string{e1 + "\r"}, ""},
		{"a byte order mark", "events.jsonl", nil, []string{"\ufeff" + e1}, nil, nil, "line 1 of ours"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, conflicts := join(t, tc.ledger, tc.base, tc.ours, tc.theirs)
			if tc.conflict != "" {
				if len(conflicts) == 0 || !strings.Contains(conflicts[0].Error(), tc.conflict) {
					t.Fatalf("conflicts %v, want one with %q (result %q)", conflicts, tc.conflict, got)
				}
				return
			}
			if len(conflicts) > 0 {
				t.Fatalf("conflicts: %v", conflicts)
			}
			if tc.want != nil && !slices.Equal(got, tc.want) {
				t.Fatalf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(tc.want, "\n"))
			}
			if tc.want == nil && tc.name != "nothing" && len(got) != 3 {
				t.Fatalf("got %q", got)
			}
		})
	}
}

func TestTornLastLine(t *testing.T) {
	var out bytes.Buffer
	conflicts, err := Merge(&out, "events.jsonl", source(), bytes.NewReader([]byte(`{"event_id":"e1"}`)), source())
	if err != nil || len(conflicts) != 1 || !strings.Contains(conflicts[0].Error(), "cut off") {
		t.Fatalf("%v %v", conflicts, err)
	}
}

// grown is a base with up to three branches that share no new record, each with its own clock, including ties
// between branches and steps back.
type grown struct{ base, a, b, c []string }

func drawGrown(t *rapid.T) grown {
	id := 0
	grow := func(name string, from []string) []string {
		out := slices.Clone(from)
		for range rapid.IntRange(0, 6).Draw(t, name) {
			id++
			at := fmt.Sprintf("2026-01-01T00:00:%02d.000Z", rapid.IntRange(0, 4).Draw(t, "second"))
			out = append(out, event(fmt.Sprintf("e%d-%d", id, rapid.IntRange(0, 99).Draw(t, "salt")), at))
		}
		return out
	}
	g := grown{base: grow("base", nil)}
	g.a, g.b, g.c = grow("a", g.base), grow("b", g.base), grow("c", g.base)
	return g
}

func TestMergeIsASetUnion(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := drawGrown(t)
		must := func(base, x, y []string) []string {
			out, conflicts := join(t, "events.jsonl", base, x, y)
			if len(conflicts) > 0 {
				t.Fatalf("conflicts: %v", conflicts)
			}
			return out
		}
		ab := must(g.base, g.a, g.b)
		if ba := must(g.base, g.b, g.a); !slices.Equal(ab, ba) {
			t.Fatalf("the order of the sides decides:\n%q\n%q", ab, ba)
		}
		if aa := must(g.base, g.a, g.a); !slices.Equal(aa, g.a) {
			t.Fatalf("joined with itself it is %q, not %q", aa, g.a)
		}
		if again := must(g.b, ab, g.b); !slices.Equal(again, ab) {
			t.Fatalf("joined once more it is %q, not %q", again, ab)
		}
		left, right := must(g.base, ab, g.c), must(g.base, g.a, must(g.base, g.b, g.c))
		if !slices.Equal(left, right) {
			t.Fatalf("the order of the joins decides:\n%s\n--\n%s", strings.Join(left, "\n"),
				strings.Join(right, "\n"))
		}
		var all []string
		all = append(append(append(append(all, g.base...), g.a[len(g.base):]...), g.b[len(g.base):]...),
			g.c[len(g.base):]...)
		for _, want := range [][]string{g.base, g.a, g.b, g.c} {
			if !inOrder(left, want) {
				t.Fatalf("%q lost the order of %q", left, want)
			}
		}
		sorted := func(s []string) []string { s = slices.Clone(s); slices.Sort(s); return s }
		if !slices.Equal(sorted(left), sorted(all)) {
			t.Fatalf("records were lost or doubled: %q of %q", left, all)
		}
	})
}

func inOrder(all, some []string) bool {
	i := 0
	for _, s := range all {
		if i < len(some) && s == some[i] {
			i++
		}
	}
	return i == len(some)
}

func FuzzMerge(f *testing.F) {
	f.Add("events.jsonl", []byte("{\"event_id\":\"a\"}\n"), []byte("{\"event_id\":\"a\"}\n{\"event_id\":\"b\"}\n"),
		[]byte("{\"event_id\":\"a\"}\n"))
	f.Fuzz(func(t *testing.T, ledger string, base, ours, theirs []byte) {
		var out, swapped bytes.Buffer
		conflicts, err := Merge(&out, ledger, bytes.NewReader(base), bytes.NewReader(ours), bytes.NewReader(theirs))
		if err != nil {
			t.Fatal(err)
		}
		again, err := Merge(&swapped, ledger, bytes.NewReader(base), bytes.NewReader(theirs), bytes.NewReader(ours))
		if err != nil || (len(conflicts) == 0) != (len(again) == 0) || !bytes.Equal(out.Bytes(), swapped.Bytes()) {
			t.Fatalf("the order of the sides decides: %v %v %q %q", conflicts, again, out.Bytes(), swapped.Bytes())
		}
		if len(conflicts) == 0 {
			for _, side := range [][]byte{ours, theirs} {
				for line := range bytes.Lines(side) {
					if !bytes.Contains(out.Bytes(), line) && ledger != "history.jsonl" && ledger != "events.jsonl" &&
						ledger != "repo-decisions.jsonl" && ledger != "decision-ledger.jsonl" &&
						ledger != "human-escalations.jsonl" {
						t.Fatalf("line %q is gone", line)
					}
				}
			}
		}
	})
}
