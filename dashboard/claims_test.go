package dashboard

import (
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

func TestClaims(t *testing.T) {
	for _, c := range []struct{ row, want string }{
		{`{"turn_id":"t"}`, ""},
		{`{"files_changed":["a"],"verification":{"status":"pass"}}`, ""}, // nothing was seen
		{`{"files_changed":["b","a"],"observed_artifact":{"files_changed":["a","b"]}}`,
			"Files changed|2 files|2 files, the same|"},
		{`{"files_changed":[],"observed_artifact":{"files_changed":[]}}`, "Files changed|0 files|0 files|"},
		{`{"files_changed":["a"],"observed_artifact":{"files_changed":["a","x"]}}`,
			"Files changed|1 file|2 files; not claimed: x|warn"},
		{`{"files_changed":["a","y"],"observed_artifact":{"files_changed":["a"]}}`,
			"Files changed|2 files|1 file; claimed and not changed: y|warn"},
		{`{"verification":{"status":"pass"},"normalized_verification":{"status":"attested_pass","reproducible":false}}`,
			"Verification|pass|attested pass, nothing was replayed|"},
		{`{"verification":{"status":"pass"},"normalized_verification":{"status":"pass","reproducible":true},"verification_replay":{"overall":"fail"}}`,
			"Verification|pass|replayed: fail|bad"},
		{`{"cost":{"usd":0.43,"claimed":{"usd":0}}}`, "Cost: usd|0|0.43|"},
	} {
		row, err := ojson.DecodeObject([]byte(c.row))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		if b := claims(row); b != nil {
			for _, r := range b.Table.Rows {
				got = append(got, r[0].Text+"|"+r[1].Text+"|"+r[2].Text+"|"+string(r[2].Tone))
			}
		}
		if s := strings.Join(got, "\n"); s != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.row, s, c.want)
		}
	}
}
