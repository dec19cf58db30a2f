// The bundle that a turn was given, compared with the dispatched one (docs/bundles.md#when-the-result-comes-back).

package protocol

import (
	"fmt"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// BundleChange is one file of a dispatch bundle that differs from the sealed one.
type BundleChange struct {
	Path   string `json:"path"`   // below the bundle directory
	Change string `json:"change"` // changed, removed, added
}

// BundleRows returns the changes as data.
func BundleRows(changes []BundleChange) []*ojson.Object {
	return ojson.List(changes, func(c BundleChange) *ojson.Object {
		return ojson.NewObject("path", c.Path, "change", c.Change)
	})
}

// wayBack says how to restore the bundle as it was dispatched.
func wayBack(changes []BundleChange) string {
	restore, remove := false, false
	for _, c := range changes {
		restore, remove = restore || c.Change != "added", remove || c.Change == "added"
	}
	switch {
	case !restore:
		return "remove the added files"
	case remove:
		return "git agentxchain repair --from-ref and remove the added files"
	}
	return "git agentxchain repair --from-ref"
}

// maxBundleRows bounds what an error or an event lists: a bundle may have been filled with any number of files.
const maxBundleRows = 100

// CheckBundle says what a changed bundle means for the result of its turn. A result answers what the agent was
// told, so strict refuses a changed bundle (bundle_invalid); where results are repaired, the difference is a
// recorded warning.
func CheckBundle(cfg *config.Config, turn string, changes []BundleChange) (warning string, refusal *wire.Error) {
	if len(changes) == 0 {
		return "", nil
	}
	names := make([]string, len(changes))
	for i, c := range changes {
		names[i] = c.Path + " (" + c.Change + ")"
	}
	message := fmt.Sprintf("The bundle of turn %s is not what was dispatched: %s.", turn, wire.ListSome(names, 5))
	if !cfg.StrictResults() {
		return message, nil
	}
	changes = changes[:min(len(changes), maxBundleRows)]
	id := wire.ShellWord(turn)
	refusal = &wire.Error{
		Code:    wire.CodeBundleInvalid,
		Stage:   "dispatch_bundle",
		Class:   "bundle_error",
		Field:   wire.BundleDir(turn),
		Message: message,
		Hint: fmt.Sprintf("git agentxchain reissue %s assigns the work again; or %s, then: git agentxchain accept %s",
			id, wayBack(changes), id),
		Details: ojson.NewObject("files", BundleRows(changes)),
	}
	for _, c := range changes {
		refusal.Problems = append(refusal.Problems, wire.Problem{
			Code:    wire.CodeBundleInvalid,
			Field:   wire.BundleDir(turn) + "/" + c.Path,
			Value:   c.Change,
			Message: fmt.Sprintf("%s was %s after it was sealed.", wire.Shown(c.Path), c.Change),
		})
	}
	return "", refusal
}
