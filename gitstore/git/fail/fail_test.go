package fail

import (
	"errors"
	"fmt"
	"testing"
)

func TestErrorText(t *testing.T) {
	err := error(Errorf(CodeLocked, errors.New("why"), "what %d", 1).WithHint("do %s", "this"))
	if err.Error() != "what 1: why" || CodeOf(fmt.Errorf("x: %w", err)) != CodeLocked ||
		CodeOf(errors.New("x")) != "" {
		t.Error(err)
	}
}
