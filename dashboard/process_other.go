//go:build !unix

// Processes, where there are no signals.

package dashboard

import "os"

// end ends a process; its session's files are then removed by whoever ended it.
func end(p *os.Process) error { return p.Kill() }
