package whatif

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// The operation is found with about log2(n) probes, despite operations without a verdict around it.
func TestBisect(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 20000).Draw(t, "n")
		turn := rapid.IntRange(0, n).Draw(t, "turn")
		mute := rapid.IntRange(0, 8).Draw(t, "mute") // one in this many has no verdict; 0: none
		first := rapid.Bool().Draw(t, "first")
		says := func(i int) Standing {
			return Standing{Judged: mute < 2 || i%mute != 1, Good: (i < turn) == first}
		}
		probes := 0
		got, err := Bisect(0, n-1, func(i int) (Standing, error) { probes++; return says(i), nil })
		if err != nil {
			t.Fatal(err)
		}
		if got.Probes != probes {
			t.Fatalf("%d probes, it says %d", probes, got.Probes)
		}
		if limit := 4 + 3*int(math.Ceil(math.Log2(float64(n+1)))); probes > limit {
			t.Fatalf("%d probes for %d operations, at most %d", probes, n, limit)
		}
		if mute < 2 {
			if limit := 2 + int(math.Ceil(math.Log2(float64(n+1)))); probes > limit {
				t.Fatalf("%d probes for %d operations, at most %d", probes, n, limit)
			}
		}
		lo, hi := -1, -1 // the judged neighbours of the change
		for i := range n {
			if s := says(i); s.Judged && i < turn {
				lo = i
			} else if s.Judged && hi < 0 {
				hi = i
			}
		}
		if want := lo >= 0 && hi >= 0; got.Found != want {
			t.Fatalf("found %v of %d at %d, want %v", got.Found, n, turn, want)
		} else if want && (got.Before != lo || got.After != hi || got.Skipped != hi-lo-1) {
			t.Fatalf("%+v, want %d and %d", got, lo, hi)
		}
	})
}
