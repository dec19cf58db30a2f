// A turn's claims beside what was observed.

package dashboard

import (
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/restore/diff"
)

// claims compares the result's word with what git, the replay and the agent's own accounts say. A
// row of another runner that recorded no observation has none.
func claims(row *ojson.Object) *block {
	t := &table{Head: []string{"What", "Claimed", "Seen"}}
	if seen := row.Object("observed_artifact"); seen != nil {
		said, found := row.Strings("files_changed"), seen.Strings("files_changed")
		saw := text(counted(len(found), "file", "files"))
		if more := diff.Without(found, said); len(more) > 0 {
			saw = toned(saw.Text+"; not claimed: "+some(more), warn)
		} else if less := diff.Without(said, found); len(less) > 0 {
			saw = toned(saw.Text+"; claimed and not changed: "+some(less), warn)
		} else if len(found) > 0 {
			saw.Text += ", the same"
		}
		t.Rows = append(t.Rows, []cell{text("Files changed"), text(counted(len(said), "file", "files")), saw})
	}
	said, judged := row.Object("verification"), row.Object("normalized_verification")
	if said.Len() > 0 && judged.Len() > 0 {
		saw := standing(judged.String("status"))
		if replay := row.Object("verification_replay"); replay != nil {
			saw = standing(replay.String("overall"))
			saw.Text = "replayed: " + saw.Text
		} else if !judged.Bool("reproducible") {
			saw.Text += ", nothing was replayed"
		}
		t.Rows = append(t.Rows, []cell{text("Verification"), standing(said.String("status")), saw})
	}
	cost := row.Object("cost")
	for k, claimed := range cost.Object("claimed").All() {
		t.Rows = append(t.Rows, []cell{text("Cost: " + words(k)), value(claimed), value(cost.Value(k))})
	}
	if len(t.Rows) == 0 {
		return nil
	}
	return &block{ID: "claims", Title: "Claimed and seen", Table: t}
}

// some returns the first entries of a list.
func some(list []string) string {
	const most = 8
	if n := len(list) - most; n > 0 {
		return strings.Join(list[:most], ", ") + ", " + counted(n, "more", "more")
	}
	return strings.Join(list, ", ")
}
