//go:build !unix

// Processes on systems without signals.

package dashboard

import "os"

// end ends a process; its caller then removes the session's files.
func end(p *os.Process) error { return p.Kill() }
