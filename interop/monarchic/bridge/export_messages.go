// TaskMessages and their acknowledgements as a log (docs/monarchic.md#messages).

package bridge

import (
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/portable"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/strict"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// messages returns a log that `monarchic validate --log` accepts: each message before what answers
// it. The strict family has no acknowledgements, and some kinds of messages are mapped to its own.
func (x *Export) messages(strictly bool) ([]Object, error) {
	var out, acks []Object
	for _, m := range x.Mailbox() {
		if strictly {
			out = append(out, object("client_boundary/task_message", strictMessage(m.Message)))
			continue
		}
		out = append(out, object("task_message", m.Message))
		for _, a := range m.Acks {
			acks = append(acks, object("task_message_ack", a))
		}
	}
	return append(out, acks...), nil
}

func strictMessage(m *portable.TaskMessage) *strict.TaskMessage {
	s := &strict.TaskMessage{
		Version:      m.Version,
		MessageID:    m.MessageID,
		RunID:        m.RunID,
		FromTaskID:   m.FromTaskID,
		ToTaskID:     m.ToTaskID,
		Kind:         strict.TaskMessageKind(m.Kind),
		Subject:      optional(m.Subject),
		Body:         optional(m.Body),
		ArtifactRefs: wire.NonNil(m.ArtifactRefs),
		ReplyTo:      optional(m.ReplyTo),
		CreatedAt:    m.CreatedAt,
		RequiresAck:  m.RequiresAck,
	}
	switch m.Kind {
	case portable.KindHandoff, portable.KindBlocker:
		s.Kind, s.Extensions = strict.KindClarificationRequest, ojson.NewObject("kind", string(m.Kind))
	}
	return s
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
