// The parts always add up to the whole, and the whole is what was recorded.

package settle

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/interop/alx"
)

func row(turn, role, runtime string, usd any) *ojson.Object {
	return ojson.NewObject("turn_id", turn, "role", role, "runtime_id", runtime, "cost", ojson.NewObject("usd", usd))
}

func n(s string) ojson.Number { return ojson.Number(s) }

func shares(list []alx.Share) string {
	var out []string
	for _, s := range list {
		out = append(out, fmt.Sprintf("%s=%d", s.ID, s.MicroUSD))
	}
	return strings.Join(out, " ")
}

func TestRun(t *testing.T) {
	for _, c := range []struct {
		name                         string
		rows                         []*ojson.Object
		spent                        ojson.Value
		total                        int64
		turns, roles, runtimes, note string
	}{
		{"nothing at all", nil, nil, 0, "", "", "", ""},
		{"the sums of floats are exact",
			[]*ojson.Object{row("a", "dev", "x", n("0.1")), row("b", "qa", "x", n("0.2"))}, n("0.30000000000000004"),
			300000, "a=100000 b=200000", "dev=100000 qa=200000", "x=300000", ""},
		{"every spelling", []*ojson.Object{row("a", "r", "x", n("1e-2")), row("b", "r",
			"y", n("0.010")), row("c", "s", "y", "0.01"), row("d", "s", "x", n("1E-2"))}, nil,
			40000, "a=10000 b=10000 c=10000 d=10000", "r=20000 s=20000", "x=20000 y=20000", ""},
		{"parts of a micro dollar", []*ojson.Object{row("b", "r",
			"x", n("0.0000004")), row("a", "s", "x", n("0.0000004")), row("c", "r", "x", n("0.0000004"))}, nil,
			1, "b=0 a=1 c=0", "r=0 s=1", "x=1", ""}, // 1.2 is rounded to 1, and the smallest id gets it
		{"half up", []*ojson.Object{row("a", "r", "x", n("0.0000005"))}, nil, 1, "a=1", "r=1", "x=1", ""},
		{"below half", []*ojson.Object{row("a", "r", "x", n("0.00000049999999"))}, nil, 0, "a=0", "r=0", "x=0", ""},
		{"refused attempts are shared", []*ojson.Object{row("a", "r", "x", n("1")), row("b", "s", "y", n("3"))},
			n("5"), 5000000, "a=1250000 b=3750000", "r=1250000 s=3750000", "x=1250000 y=3750000", ""},
		{"in equal parts when nothing else is known",
			[]*ojson.Object{row("c", "r", "x", n("0")), row("b", "r", "y", nil), row("a", "s", "x", n("0.0"))},
			n("0.00001"), 10, "c=3 b=3 a=4", "r=6 s=4", "x=7 y=3", ""},
		{"a budget that says less", []*ojson.Object{row("a", "r", "x", n("2"))}, n("1"), 2000000, "a=2000000",
			"r=2000000", "x=2000000", ""},
		{"no turn to bear it", nil, n("1.5"), 1500000, "", "", "", ""},
		{"total_usd of old", []*ojson.Object{ojson.NewObject("turn_id", "a", "role", "r", "runtime_id", "x",
			"cost", ojson.NewObject("total_usd", 2))}, nil, 2000000, "a=2000000", "r=2000000", "x=2000000", ""},
		{"a negative cost", []*ojson.Object{row("a", "r", "x", n("-1")), row("b", "r", "x", n("1"))}, nil, 1000000,
			"a=0 b=1000000", "r=1000000", "x=1000000", `cost.usd of turn "a" is not an amount`},
		{"minus nothing", []*ojson.Object{row("a", "r", "x", n("-0.0"))}, nil, 0, "a=0", "r=0", "x=0", ""},
		{"an absurd claim", []*ojson.Object{row("a", "r", "x", n("1e300")), row("b", "r", "x", n("1"))}, nil, 1000000,
			"a=0 b=1000000", "r=1000000", "x=1000000", "is not an amount"},
		{"no number", []*ojson.Object{row("a", "r", "x", []any{})}, nil, 0, "a=0", "r=0", "x=0", "is not an amount"},
		{"no money", []*ojson.Object{row("a", "r", "x", "much")}, nil, 0, "a=0", "r=0", "x=0", "is not an amount"},
		{"no role", []*ojson.Object{row("a", "", "", n("1"))}, nil, 1000000, "a=1000000", "=1000000", "=1000000", ""},
		{"an id twice", []*ojson.Object{row("a", "r", "x", n("0.0000004")), row("a", "r", "x", n("0.0000004"))}, nil,
			1, "a=1 a=0", "r=1", "x=1", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, notes := Run(c.rows, c.spent)
			if s.TotalMicroUSD != c.total || shares(s.Turns) != c.turns || shares(s.Roles) != c.roles ||
				shares(s.Runtimes) != c.runtimes {
				t.Errorf("%d\n%s\n%s\n%s", s.TotalMicroUSD, shares(s.Turns), shares(s.Roles), shares(s.Runtimes))
			}
			if all := strings.Join(notes, " "); (all == "") != (c.note == "") || !strings.Contains(all, c.note) {
				t.Errorf("notes: %q", notes)
			}
		})
	}
}

func TestMoreThanCanBeSettled(t *testing.T) {
	rows := make([]*ojson.Object, 10000)
	for i := range rows {
		rows[i] = row(fmt.Sprint(i), "r", "x", n("1000000000"))
	}
	s, notes := Run(rows, nil)
	var sum int64
	for _, x := range s.Turns {
		sum += x.MicroUSD
	}
	if s.TotalMicroUSD != math.MaxInt64 || sum != math.MaxInt64 || len(notes) != 1 {
		t.Errorf("%d %d %v", s.TotalMicroUSD, sum, notes)
	}
}

// TestPartsAddUp: whatever was recorded, in whatever order, the parts of each list add up to the
// total, no part is more than a micro-dollar from its exact share, and no part depends on the order
// of the others.
func TestPartsAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cost := rapid.OneOf(
			rapid.Map(rapid.Float64Range(0, 100), func(f float64) any { return ojson.Float(f) }),
			rapid.Map(rapid.Int64Range(0, 1e9), func(i int64) any { return n(fmt.Sprintf("%de-%d", i, i%20)) }),
			rapid.Map(rapid.StringMatching(`[0-9]{1,3}\.[0-9]{1,12}`), func(s string) any { return s }),
			rapid.SampledFrom([]any{nil, n("0"), n("-3"), "x", n("1e-320")}),
		)
		var rows []*ojson.Object
		for i := range rapid.IntRange(0, 40).Draw(t, "turns") {
			rows = append(rows,
				row(fmt.Sprintf("turn_%02d", i), rapid.SampledFrom([]string{"pm", "dev", "qa"}).Draw(t, "role"),
					rapid.SampledFrom([]string{"a", "b"}).Draw(t, "runtime"), cost.Draw(t, "cost")))
		}
		var spent any
		if rapid.Bool().Draw(t, "budget") {
			spent = cost.Draw(t, "spent")
		}
		s, _ := Run(rows, spent)
		for name, list := range map[string][]alx.Share{"turns": s.Turns, "roles": s.Roles, "runtimes": s.Runtimes} {
			var sum int64
			for _, x := range list {
				if x.MicroUSD < 0 {
					t.Fatalf("%s: a negative part", name)
				}
				sum += x.MicroUSD
			}
			if sum != s.TotalMicroUSD && len(rows) > 0 {
				t.Fatalf("%s add up to %d, not %d", name, sum, s.TotalMicroUSD)
			}
		}
		byTurn := map[string]int64{}
		for _, x := range s.Turns {
			byTurn[x.ID] = x.MicroUSD
		}
		shuffled := slices.Clone(rows)
		slices.Reverse(shuffled)
		again, _ := Run(shuffled, spent)
		for _, x := range again.Turns {
			if byTurn[x.ID] != x.MicroUSD {
				t.Fatalf("%s has %d in one order and %d in another", x.ID, byTurn[x.ID], x.MicroUSD)
			}
		}
	})
}

func TestSplit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		total := rapid.Int64Range(0, math.MaxInt64).Draw(t, "total")
		units := rapid.SliceOfN(rapid.Int64Range(0, math.MaxInt64), 1, 30).Draw(t, "units")
		weights := make([]Weight, len(units))
		whole := new(big.Int)
		for i, u := range units {
			weights[i] = Weight{ID: fmt.Sprintf("%02d", i), Units: big.NewInt(u)}
			whole.Add(whole, weights[i].Units)
		}
		sum := new(big.Int)
		for i, s := range split(total, weights) {
			sum.Add(sum, big.NewInt(s.MicroUSD))
			if whole.Sign() == 0 {
				continue
			}
			exact := new(big.Rat).SetFrac(new(big.Int).Mul(big.NewInt(total), weights[i].Units), whole)
			off := exact.Sub(exact, new(big.Rat).SetInt64(s.MicroUSD))
			if off.Abs(off).Cmp(big.NewRat(1, 1)) >= 0 {
				t.Fatalf("part %d is off by %s", i, off.FloatString(3))
			}
		}
		if sum.Cmp(big.NewInt(total)) != 0 {
			t.Fatalf("%s, not %d", sum, total)
		}
	})
	if split(5, nil) != nil {
		t.Error("parts without an owner")
	}
}

func FuzzAmount(f *testing.F) {
	for _, s := range []string{"1", "-1", "1e400", "1e-400", "0.1.2", "1e", "e5", ".5", "5.", "+1", "0x1", "1_0", "",
		"１", strings.Repeat("9", 100)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		a, ok := readAmount(s)
		if !ok {
			return
		}
		exact, valid := new(big.Rat).SetString(s)
		if !valid || exact.Sign() < 0 {
			t.Fatalf("%q is taken for an amount", s)
		}
		if got := new(big.Rat).SetFrac(a.digits, tenTo(a.decimals)); got.Cmp(exact) != 0 {
			t.Fatalf("%q is read as %s", s, got)
		}
	})
}
