// Codes of errors with installed hooks.

package githooks

import (
	"fmt"

	"github.com/git-agentxchain/git-agentxchain/internal/failures"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Codes of refused installations and rehearsals.
const (
	CodeHooksForeign    = "githooks_foreign"    // something unknown is where a hook would go
	CodeHooksUnreadable = "githooks_unreadable" // the record or a hook cannot be read or written
	CodeHooksMissing    = "githooks_missing"    // no guards are installed
)

func refuse(code, format string, args ...any) *wire.Error {
	e := &wire.Error{Code: code, Message: fmt.Sprintf(format, args...)}
	for _, arg := range args {
		if err, ok := arg.(error); ok {
			e.Hint = failures.Remedy("", err)
		}
	}
	return e
}
