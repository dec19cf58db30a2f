package mcpwire

import (
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/testleak"
)

// TestMain looks for goroutines that the tests left.
func TestMain(m *testing.M) { testleak.Main(m) }
