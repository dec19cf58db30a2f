// Tests of path classes (docs/spec/observation.md#path-classes).

package wire

import (
	"slices"
	"testing"
	"unicode/utf16"

	"pgregory.net/rapid"
)

func TestPathClasses(t *testing.T) {
	const (
		op = 1 << iota
		exempt
		continuity
		evidence
		observable
		review
		product
		test
	)
	tests := []struct {
		path string
		want int
	}{
		{"src/main.go", observable | product},
		{"agentxchain.json", observable | product},
		{"", observable},
		{" \u00a0", observable},
		{".planning/ROADMAP.md", observable | review},
		{".planningx", observable | product},
		{".planning/dogfood-100-turn-evidence/1.md", exempt | review},
		{"TALK.md", op | exempt | continuity | product},
		{"docs/TALK.md", observable | product},
		{"HUMAN_TASKS.md", op | exempt | product},
		{".agentxchain/state.json", op | exempt | continuity | product},
		{".agentxchain/state.json.bak", observable | product},
		{".agentxchain/SESSION_RECOVERY.md", op | exempt | continuity | product},
		{".agentxchain-dashboard.json", op | exempt | product},
		{".agentxchain/staging/t/turn-result.json", op | exempt | continuity},
		{".agentxchain/dispatch", exempt | continuity | observable | product},
		{".agentxchain/dispatch/turns/t/PROMPT.md", op | exempt | continuity | product},
		{".agentxchain/dispatch-progress-t.json", op | exempt | product},
		{".agentxchain/locks/accept-turn.lock", op | exempt | product},
		{".agentxchain/transactions/accept/x.json", op | exempt | continuity | product},
		{".agentxchain/transactions/other.json", op | exempt | product},
		{".agentxchain/prompts/dev.md", op | exempt | product},
		{".agentxchain/reviews/t-qa-review.md", exempt | continuity | evidence | observable | review},
		{".agentxchain/proposed/t/PROPOSAL.md", exempt | continuity | evidence | observable | product},
		{".agentxchain/reports/notes.md", exempt | continuity | evidence | observable | product},
		{".agentxchain/reports/report-a.md", op | exempt | continuity | evidence | product},
		{".agentxchain/reports/report-.md", exempt | continuity | evidence | observable | product},
		{".agentxchain/reports/report-a/b.md", exempt | continuity | evidence | observable | product},
		{".agentxchain/reports/export-x.json", op | exempt | continuity | evidence | product},
		{".agentxchain/reports/exports.json", exempt | continuity | evidence | observable | product},
		{".agentxchain/reports/chain-x.json", op | exempt | continuity | evidence | product},
		{".agentxchain/custom.txt", observable | product},
		{"test/a.go", observable | product | test},
		{"a/tests/b/c.txt", observable | product | test},
		{"__tests__/x", observable | product | test},
		{"lib/spec/x.rb", observable | product | test},
		{"test", observable | product},
		{"testing/a.go", observable | product},
		{"a/x.test.js", observable | product | test},
		{"x.spec.mts", observable | product | test},
		{"x.test.cjsx", observable | product | test},
		{"x.test.go", observable | product},
		{"x.test.js.map", observable | product},
		{"xtest.js", observable | product},
	}
	for _, tt := range tests {
		got := 0
		for bit, is := range map[int]bool{
			op:         Operational(tt.path),
			exempt:     BaselineExempt(tt.path),
			continuity: Continuity(tt.path),
			evidence:   EvidencePath(tt.path),
			observable: Observable(tt.path),
			review:     ReviewPath(tt.path),
			product: ProductPath(
				tt.path),
			test: TestPath(tt.path),
		} {
			if is {
				got |= bit
			}
		}
		if got != tt.want {
			t.Errorf("%q: got %08b, want %08b", tt.path, got, tt.want)
		}
		if ProjectOwned(tt.path) == BaselineExempt(tt.path) {
			t.Errorf("%q is both or neither of project-owned and exempt", tt.path)
		}
	}
}

func TestContinuityLists(t *testing.T) {
	if slices.Contains(ContinuityFiles(), "HUMAN_TASKS.md") || !slices.Contains(ContinuityFiles(), "TALK.md") {
		t.Error("continuity files")
	}
	for _, p := range append(ContinuityFiles(), ContinuityRoots()...) {
		if !Continuity(p) || !BaselineExempt(p) {
			t.Errorf("%s", p)
		}
	}
}

func TestSortPathsIsUTF16Order(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		paths := rapid.SliceOf(rapid.StringOf(rapid.RuneFrom([]rune{'a', 'b', 'é', 'è', '\ud7ff', '\ue000', '\uffff',
			'\U00010000', '\U0010ffff', '😀', '😁'}))).Draw(t, "paths")
		want := slices.Clone(paths)
		slices.SortFunc(want,
			func(a, b string) int { return slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b))) })
		SortPaths(paths)
		if !slices.Equal(paths, want) {
			t.Fatalf("got %q, want %q", paths, want)
		}
	})
}

func FuzzSortPaths(f *testing.F) {
	f.Add("a\xff", "a\xfe", "\U00010000")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		if x, y := compareUTF16(a, b), compareUTF16(b, a); (x < 0) != (y > 0) || (x == 0) != (a == b) {
			t.Errorf("%q against %q: %d, %d", a, b, x, y)
		}
		if compareUTF16(a, b) < 0 && compareUTF16(b, c) < 0 && compareUTF16(a, c) >= 0 {
			t.Errorf("not transitive: %q %q %q", a, b, c)
		}
	})
}
