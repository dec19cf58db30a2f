package githooks

import (
	"bytes"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
)

// FuzzUpdates reads git's input to reference-transaction and pre-receive. An accepted update encodes back to what
// was read.
func FuzzUpdates(f *testing.F) {
	one, two, zero := strings.Repeat("1", 40), strings.Repeat("a2", 20), strings.Repeat("0", 40)
	for _, s := range []string{
		"", zero + " " + one + " refs/heads/main\n",
		one + " " + two + " refs/heads/a b\n" + two + " " + zero + " HEAD\n",
		"ref:refs/heads/a " + one + " HEAD\n", zero + " ref:refs/heads/b HEAD\n", one + " " + two + "\n",
		"x y z\n", "\n", one + " " + two + " \n", strings.Repeat("9", 9000),
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		moves, err := parseUpdates(bytes.NewReader(in), object.FormatSHA1)
		if err != nil {
			if len(moves) > maxUpdates {
				t.Error("more than is taken")
			}
			return
		}
		var want, got []string
		for line := range strings.Lines(string(in)) {
			line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
			if old, rest, _ := strings.Cut(line, " "); !strings.HasPrefix(old, "ref:") &&
				!strings.HasPrefix(rest, "ref:") {
				want = append(want, line)
			}
		}
		for _, m := range moves {
			side := func(oid object.OID) string {
				if oid == "" {
					return zero
				}
				if !oid.Valid(object.FormatSHA1) || oid.IsZero() {
					t.Errorf("%q is no object id", oid)
				}
				return string(oid)
			}
			got = append(got, side(m.old)+" "+side(m.new)+" "+m.ref)
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("read %q\nfrom %q", got, want)
		}
	})
}

// FuzzTrailers reads our trailers from a message. No accepted value could forge another line, and each reads the
// same again.
func FuzzTrailers(f *testing.F) {
	for _, s := range []string{
		"", "Agentxchain-Turn: turn_1\nAgentxchain-Role: pm\n", "agentxchain-turn:turn_1\n",
		"Agentxchain-Turn: a\n b\n", "Agentxchain-Run: \n", "Signed-off-by: A\n more\nAgentxchain-Run: run_1\n",
		"Agentxchain-Turn: a\rAgentxchain-Role: x\n", "Agentxchain-Turn: a\x00b\n", "AGENTXCHAIN-TURN : x\n",
		"\tx\n",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, bad := readTrailers(text)
		for _, b := range bad {
			if b.Rule != RuleForgedTrailer || b.Path == "" || b.Message == "" {
				t.Errorf("%+v", b)
			}
		}
		var again strings.Builder
		for _, x := range []struct {
			name   string
			values []string
		}{{TrailerRun, got.runs}, {TrailerTurn, got.turns}, {TrailerRole, got.roles}} {
			for _, v := range x.values {
				if v == "" || strings.ContainsAny(v, " \t\r\n\x00") || len(v) > 200 {
					t.Errorf("%s: took %q", x.name, v)
				}
				again.WriteString(x.name + ": " + v + "\n")
			}
		}
		second, worse := readTrailers(again.String())
		if len(worse) > 0 || strings.Join(second.runs, " ") != strings.Join(got.runs, " ") ||
			strings.Join(second.turns, " ") != strings.Join(got.turns, " ") ||
			strings.Join(second.roles, " ") != strings.Join(got.roles, " ") {
			t.Errorf("%+v is read again as %+v, %v", got, second, worse)
		}
		if len(bad) == 0 && got.empty() && strings.Contains(text, "\n"+TrailerTurn+": x\n") {
			t.Errorf("a trailer was passed over in %q", text)
		}
	})
}
