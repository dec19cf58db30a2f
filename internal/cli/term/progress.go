// Progress for slow steps: a line on stderr, only on a terminal, only after a while.

package term

import (
	"fmt"
	"strconv"
	"sync"
	"time"
)

// Progress shows the progress of a slow step. It is silent unless stderr is a terminal,
// --no-progress and --json are absent, and the step has lasted GIT_PROGRESS_DELAY seconds (1 by
// default). It is safe for concurrent use.
type Progress struct {
	f     *Factory
	label string
	Total int

	mu    sync.Mutex
	start time.Time
	last  time.Time
	shown bool
	off   bool
}

// Progress starts a step of total units; total 0 means unknown.
func (o *Output) Progress(label string, total int) *Progress {
	f := o.f
	return &Progress{f: f, label: label, Total: total, start: f.Env.Now(),
		off: f.Global.JSON || f.Global.NoProgress || !f.Env.IsTerminal(f.Env.Stderr)}
}

// Step reports that done units are finished.
func (p *Progress) Step(done int) {
	if p.off {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.f.Env.Now()
	if now.Sub(p.start) < p.delay() || now.Sub(p.last) < 100*time.Millisecond {
		return
	}
	p.last, p.shown = now, true
	text := fmt.Sprintf("%s: %d", p.label, done)
	if p.Total > 0 {
		text = fmt.Sprintf("%s: %3d%% (%d/%d)", p.label, done*100/p.Total, done, p.Total)
	}
	_, _ = fmt.Fprintf(p.f.Env.Stderr, "\r%s\x1b[K", text)
}

// Done removes the line again.
func (p *Progress) Done() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shown {
		_, _ = fmt.Fprint(p.f.Env.Stderr, "\r\x1b[K")
		p.shown = false
	}
}

func (p *Progress) delay() time.Duration {
	if n, err := strconv.Atoi(p.f.Env.Getenv("GIT_PROGRESS_DELAY")); err == nil && n >= 0 {
		return time.Duration(n) * time.Second
	}
	return time.Second
}
