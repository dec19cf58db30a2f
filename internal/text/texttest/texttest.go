// Package texttest tests functions that show other people's text with the table of hostile runes.
package texttest

import (
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/text"
)

// batch is how many runes one text carries: the tested function may truncate.
const batch = 16

// Passes fails the test for each rune of the table that show does not spell out. Line feeds and tabs may pass.
func Passes(t *testing.T, name string, show func(string) string) {
	t.Helper()
	var runes []rune
	check := func() {
		var b strings.Builder
		for _, r := range runes {
			b.WriteString("x" + string(r))
		}
		out := show(b.String() + "x")
		Clean(t, name, out)
		if !strings.Contains(out, "x") {
			t.Fatalf("%s shows nothing of %q: %q", name, b.String(), out)
		}
		runes = runes[:0]
	}
	for r := range text.HostileRunes() {
		if runes = append(runes, r); len(runes) == batch {
			check()
		}
	}
	check()
}

// Clean fails the test when out holds a hostile rune.
func Clean(t *testing.T, name, out string) {
	t.Helper()
	if i := strings.IndexFunc(out, Hostile); i >= 0 {
		t.Errorf("%s lets a hostile rune through: %q", name, out[max(0, i-20):min(len(out), i+20)])
	}
}

// Hostile is text.Hostile except for line feeds and tabs.
func Hostile(r rune) bool { return r != '\n' && r != '\t' && text.Hostile(r) }
