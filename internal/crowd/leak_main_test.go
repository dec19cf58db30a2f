package crowd

import (
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/testleak"
)

// TestMain checks for goroutines that the tests left behind.
func TestMain(m *testing.M) { testleak.Main(m) }
