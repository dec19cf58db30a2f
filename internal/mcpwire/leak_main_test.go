package mcpwire

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain looks for goroutines that the tests left.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
