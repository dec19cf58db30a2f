package mail

import (
	"testing"

	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

func TestMessagesAreText(t *testing.T) {
	if err := messageText("body", "\xff", 10); err == nil || err.Code != wire.CodeInvalidArgument {
		t.Errorf("text that is not UTF-8: %v", err)
	}
}
