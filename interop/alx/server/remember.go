// Limiting how often git is asked, however often its answer is needed.

package server

import (
	"context"
	"sync"
	"time"

	"github.com/git-agentxchain/git-agentxchain/runner/workspace"
)

// rememberFor is how old an answer may be.
const rememberFor = 2 * time.Second

// remembered says whether the project was ready a moment ago.
type remembered struct {
	mu  sync.Mutex
	at  time.Time
	err error
}

func (m *remembered) get(ctx context.Context, ask func(context.Context) (*workspace.Base, error)) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if time.Since(m.at) > rememberFor {
		_, m.err = ask(context.WithoutCancel(ctx))
		m.at = time.Now()
	}
	return m.err
}
