package gitstore

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/history"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
)

// FuzzRawDiff parses raw differences as git prints them with -z. Printing what was parsed gives back the input,
// with nothing parsed twice or skipped.
func FuzzRawDiff(f *testing.F) {
	one, two, zero := strings.Repeat("1", 40), strings.Repeat("b", 40), strings.Repeat("0", 40)
	for _, s := range []string{
		"",
		":100644 100755 " + one + " " + two + " M\x00a b\x00",
		":000000 120000 " + zero + " " + two + " A\x00link\x00:100644 000000 " + one + " " + zero + " D\x00gone\x00",
		":100644 100644 " + one + " " + zero + " M\x00not hashed\x00" + one + "\x00",
		":160000 160000 " + one + " " + two + " M\x00sub\x00",
		":000000 100644 " + zero + " " + zero + " U\x00unmerged\x00",
		":100644 100644 " + one + " " + two + " R100\x00a\x00b\x00",
		":\x00\x00", ":1 2 3 4 5\x00x\x00", ":100644 100644 " + one + " " + two + " M\x00",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		changes, rest, err := history.ParseRaw(in, object.FormatSHA1)
		if err != nil {
			if changes != nil {
				t.Error("an error with an answer")
			}
			return
		}
		if len(rest) > 0 && rest[0] == ':' {
			t.Error("a difference was left")
		}
		var again bytes.Buffer
		for _, c := range changes {
			if c.Path == "" || strings.ContainsRune(c.Path, 0) {
				t.Errorf("path %q", c.Path)
			}
			side := func(oid object.OID) string {
				if oid == "" {
					return zero
				}
				if oid.IsZero() || !oid.Valid(object.FormatSHA1) {
					t.Errorf("%q is no object id", oid)
				}
				return string(oid)
			}
			mode := func(m object.Mode) string {
				if m == 0 {
					return "000000"
				}
				return fmt.Sprintf("%o", m)
			}
			fmt.Fprintf(&again, ":%s %s %s %s %s\x00%s\x00", mode(c.OldMode), mode(c.NewMode), side(c.OldOID),
				side(c.NewOID), []byte{c.Status}, c.Path)
		}
		second, left, err := history.ParseRaw(again.Bytes(), object.FormatSHA1)
		if err != nil || len(left) > 0 || len(second) != len(changes) {
			t.Fatalf("%q is read again as %+v, %q, %v", again.Bytes(), second, left, err)
		}
		for i := range second {
			if second[i] != changes[i] {
				t.Errorf("%+v is read again as %+v", changes[i], second[i])
			}
		}
	})
}
