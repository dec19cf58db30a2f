// Tests of orders, texts and numbers as in other implementations.

package restore

import (
	"crypto/sha256"
	"slices"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

func sha(b []byte) [32]byte { return sha256.Sum256(b) }

func TestCollation(t *testing.T) {
	want := []string{".agentxchain/dispatch/index.json", ".agentxchain/SESSION_RECOVERY.md",
		".agentxchain/session.json", ".agentxchain/state.json", ".planning/a.md", ".planning/A.md", ".planning/ab.md",
		"agentxchain.json", "TALK.md", "turn_10", "turn_9"}
	have := slices.Clone(want)
	slices.Reverse(have)
	slices.SortFunc(have, collate)
	if !slices.Equal(have, want) {
		t.Errorf("sorted: %q", have)
	}
	for i, c := range []byte(collation) {
		if i > 0 && collate(collation[i-1:i], string(c)) >= 0 {
			t.Errorf("%q does not come before %q", collation[i-1], c)
		}
	}
}

func TestText(t *testing.T) {
	for in, want := range map[string]string{
		"a":                "a",
		"\xe2\x82":         "\ufffd",
		"\xf0\x80\x80":     "\ufffd\ufffd\ufffd",
		"\xc0\xaf":         "\ufffd\ufffd",
		"\xed\xa0\x80":     "\ufffd\ufffd\ufffd",
		"\xf0\x9f\x98x":    "\ufffdx",
		"\xf4\x90\x80\x80": "\ufffd\ufffd\ufffd\ufffd",
		"\ufeffé\xff":      "\ufeffé\ufffd",
		"\xf1\x80\x80\xe1": "\ufffd\ufffd",
		"\ufffd\xe1\x80b":  "\ufffd\ufffdb",
	} {
		if have := toText([]byte(in)); have != want {
			t.Errorf("%q is %q, not %q", in, have, want)
		}
	}
}

func TestBound(t *testing.T) {
	paths := []string{".agentxchain/dispatch/a", ".agentxchain/events.jsonl", ".agentxchain/session.json",
		".agentxchain/state.json", ".planning/a", "agentxchain.json"}
	for max, want := range map[int][]string{
		0: paths,
		6: paths,
		1: {".agentxchain/events.jsonl", ".agentxchain/state.json", "agentxchain.json"},
		4: {".agentxchain/events.jsonl", ".agentxchain/state.json", "agentxchain.json", ".agentxchain/session.json"},
		5: {".agentxchain/events.jsonl", ".agentxchain/state.json", "agentxchain.json", ".agentxchain/session.json",
			".agentxchain/dispatch/a"},
	} {
		if have := bound(paths, max); !slices.Equal(have, want) {
			t.Errorf("%d files: %q", max, have)
		}
	}
}

func TestGenerated(t *testing.T) {
	for path, want := range map[string]bool{
		".agentxchain/reports/report-a.md":   true,
		".agentxchain/reports/export-a.json": true,
		".agentxchain/reports/chain-.json":   false,
		".agentxchain/reports/report-a/b.md": false,
		".agentxchain/reports/report-a.txt":  false,
		".planning/report-a.md":              false,
	} {
		if wire.GeneratedReport(path) != want {
			t.Errorf("%s: %v", path, !want)
		}
	}
}
