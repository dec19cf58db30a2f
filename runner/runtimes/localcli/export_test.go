package localcli

import "time"

// Quick returns a runtime with little patience.
func Quick() *Runtime {
	return &Runtime{limitGrace: 300 * time.Millisecond, abortGrace: 300 * time.Millisecond}
}
