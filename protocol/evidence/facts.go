// Who asked for an operation, in which checkout, and the bytes it is decided on.

package evidence

import (
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Actor is who asked for the operation.
type Actor struct {
	Name       string `json:"name"`
	Email      string `json:"email"`
	Terminal   bool   `json:"terminal"`              // a terminal was attached
	InsideTurn string `json:"inside_turn,omitempty"` // turn whose dispatched process asked, "" for none
	Clone      string `json:"clone,omitempty"`       // id of the clone, once it has claimed a turn

	// InsideWhy says why the process counts as inside a turn when no mark names the turn. It is for messages and
	// not recorded.
	InsideWhy string `json:"-"`
}

// InsideTurnText says inside which turn a process runs, and why it counts as inside when that is not visible.
func InsideTurnText(turn, why string) string {
	text := "This process runs inside dispatched turn " + turn
	if why != "" {
		text = "This process counts as inside dispatched turn " + turn + ", because " + why
	}
	return text
}

func (a Actor) Place() string { return InsideTurnText(a.InsideTurn, a.InsideWhy) }

// GitFacts is the checkout at the time of the operation, for session.json and
// accepted refs.
type GitFacts struct {
	Head   string `json:"head"`   // commit id, "" when unborn
	Branch string `json:"branch"` // "" when detached
	Dirty  bool   `json:"dirty"`
}

// Blob is a piece of evidence on which an operation was decided. The operation's record keeps its digest; the store
// keeps its bytes beside the record.
type Blob struct {
	Digest string `json:"sha256"` // hex
	Size   int    `json:"size"`
	Data   []byte `json:"-"`
}

// NewBlob wraps data.
func NewBlob(data []byte) *Blob {
	return &Blob{Digest: wire.SHA256(data), Size: len(data), Data: data}
}

// FileBlob is a file that a rule reads; a nil Blob is a missing file.
type FileBlob struct {
	Path string `json:"path"`
	Blob *Blob  `json:"blob"`
}
