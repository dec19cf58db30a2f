// Messages between the tasks of one run (docs/monarchic.md#messages).

package portable

import (
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/wire"
)

// TaskMessage is a message between two tasks of one run. CreatedAt is RFC 3339.
type TaskMessage struct {
	wire.Open
	Version      string        `json:"version"`
	MessageID    string        `json:"message_id"`
	RunID        string        `json:"run_id"`
	FromTaskID   string        `json:"from_task_id"`
	ToTaskID     string        `json:"to_task_id"`
	Kind         MessageKind   `json:"kind"`
	Subject      string        `json:"subject" wire:"omit"`
	Body         string        `json:"body" wire:"omit"`
	ArtifactRefs []string      `json:"artifact_refs" wire:"omit"`
	ReplyTo      string        `json:"reply_to" wire:"omit"`
	CreatedAt    string        `json:"created_at"`
	RequiresAck  bool          `json:"requires_ack"`
	Provenance   *Provenance   `json:"provenance" wire:"omit"`
	Extensions   *ojson.Object `json:"extensions" wire:"omit"`
}

// What an acknowledgement says.
const (
	AckReceived = "received" // seen
	AckAccepted = "accepted" // will act on it
	AckRejected = "rejected" // declines, or cannot
	AckResolved = "resolved" // done, or this is the final answer
)

// TaskMessageAck is what a recipient says about a message; AckedAt is RFC 3339.
type TaskMessageAck struct {
	wire.Open
	Version    string        `json:"version"`
	MessageID  string        `json:"message_id"`
	RunID      string        `json:"run_id"`
	TaskID     string        `json:"task_id"`
	AckedAt    string        `json:"acked_at"`
	Status     string        `json:"status"`
	Note       string        `json:"note" wire:"omit"`
	Extensions *ojson.Object `json:"extensions" wire:"omit"`
}
