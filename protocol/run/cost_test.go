// Tests of texts about money.

package run

import "testing"

func TestLeftText(t *testing.T) {
	for usd, want := range map[float64]string{
		1.5:    "$1.50 left",
		0:      "$0.00 left",
		-0.5:   "$0.50 over",
		-1e-12: "$0.00 left", // rounding error of sums of cents
		-12.34: "$12.34 over",
	} {
		if got := LeftText(usd); got != want {
			t.Errorf("LeftText(%g) = %q, want %q", usd, got, want)
		}
	}
}

func TestSpentText(t *testing.T) {
	for usd, want := range map[float64]string{0: "no cost reported", 0.25: "$0.25 spent"} {
		if got := SpentText(usd); got != want {
			t.Errorf("SpentText(%g) = %q, want %q", usd, got, want)
		}
	}
}
