// Medians and spreads: one slow run must not move a figure.

package measure

import (
	"cmp"
	"slices"
	"time"
)

// Series are the costs of several runs of one command.
type Series []Cost

// Spread is the smallest, middle and largest of some figures.
type Spread[T cmp.Ordered] struct{ Min, Median, Max T }

// SpreadOf does not sort the caller's slice. The median of an even number is the lower of the two
// in the middle; without figures everything is zero.
func SpreadOf[T cmp.Ordered](figures []T) Spread[T] {
	if len(figures) == 0 {
		return Spread[T]{}
	}
	f := slices.Sorted(slices.Values(figures))
	return Spread[T]{f[0], f[(len(f)-1)/2], f[len(f)-1]}
}

// Wall returns the spread of the wall-clock times.
func (s Series) Wall() Spread[time.Duration] {
	return spreadBy(s, func(c Cost) time.Duration { return c.Wall })
}

// CPU returns the spread of the processor times.
func (s Series) CPU() Spread[time.Duration] {
	return spreadBy(s, func(c Cost) time.Duration { return c.CPU })
}

// Peak returns the spread of the peak memory, in bytes.
func (s Series) Peak() Spread[int64] { return spreadBy(s, func(c Cost) int64 { return c.Peak }) }

func spreadBy[T cmp.Ordered](s Series, of func(Cost) T) Spread[T] {
	out := make([]T, len(s))
	for i, c := range s {
		out[i] = of(c)
	}
	return SpreadOf(out)
}

// Ratios returns a's wall time over b's, run by run. The two are measured alternately, so that a
// machine that slows down slows both halves of a pair.
func Ratios(a, b Series) []float64 {
	out := make([]float64, min(len(a), len(b)))
	for i := range out {
		out[i] = float64(a[i].Wall) / float64(max(b[i].Wall, 1))
	}
	return out
}
