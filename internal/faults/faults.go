// Package faults kills the process at named points, for crash tests.
//
// A test sets AGENTXCHAIN_FAULT=name or AGENTXCHAIN_FAULT=name:n in the environment of a child; the child dies by
// SIGKILL when it reaches the n-th hit of that point (the first by default). Without the variable a point costs one
// atomic load, so points may be on hot paths of the release binary.
package faults

import (
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

// Env is the environment variable that arms one point.
const Env = "AGENTXCHAIN_FAULT"

type armed struct {
	name string
	left atomic.Int64
}

var plan = sync.OnceValue(func() *armed { return parse(os.Getenv(Env)) })

// die is replaced in tests; it must not return in production.
var die = kill

// Point kills the process here if the environment armed this name.
func Point(name string) {
	if p := plan(); p != nil {
		p.hit(name)
	}
}

func (p *armed) hit(name string) {
	if p.name == name && p.left.Add(-1) == 0 {
		die()
	}
}

// parse reads "name" or "name:n". A count that is not a positive number means
// the first hit: a mistyped variable must not silently disarm a crash test.
func parse(v string) *armed {
	if v == "" {
		return nil
	}
	p := &armed{name: v}
	p.left.Store(1)
	if i := strings.LastIndexByte(v, ':'); i > 0 {
		if n, err := strconv.ParseInt(v[i+1:], 10, 64); err == nil && n > 0 {
			p.name = v[:i]
			p.left.Store(n)
		}
	}
	return p
}

// kill sends SIGKILL to its own process (TerminateProcess on Windows), so no deferred call, exit handler or
// buffered write runs: the nearest thing to a power cut that a test can do to one process.
func kill() {
	if p, err := os.FindProcess(os.Getpid()); err == nil {
		_ = p.Kill()
	}
	// The signal is delivered asynchronously; run nothing else.
	select {}
}
