// Checking the record in parallel: fsck in the background, one at a time.

package dashboard

import (
	"context"
	"sync"
	"time"

	"github.com/git-agentxchain/git-agentxchain/runner"
)

// Between two checks there are at least rest times the duration of the last one, and a moment at
// the start so that the first page does not wait for it.
const (
	checkRest  = 20
	checkPause = 5 * time.Second
	checkLimit = 10 * time.Minute
)

// verdict is the result of a check of the record.
type verdict struct {
	Report   *runner.FsckReport
	Err      error
	At       time.Time
	Took     time.Duration
	Checking bool // another one is under way
	Stale    bool // the run has gone on since
}

// checker runs fsck when the run has changed.
type checker struct {
	src  source
	now  func() time.Time
	news chan struct{} // something to report

	running sync.WaitGroup

	mu    sync.Mutex
	last  verdict
	dirty chan struct{}
}

func newChecker(src source, now func() time.Time) *checker {
	return &checker{src: src, now: now, news: make(chan struct{}, 1), dirty: make(chan struct{}, 1)}
}

// start checks until ctx ends.
func (c *checker) start(ctx context.Context) {
	c.wake()
	c.running.Go(func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-c.dirty:
			}
			took := c.check(ctx)
			select {
			case <-ctx.Done():
				return
			case <-time.After(max(checkPause, checkRest*took)):
			}
		}
	})
}

// wake says that the run has changed.
func (c *checker) wake() {
	c.mu.Lock()
	c.last.Stale = true
	c.mu.Unlock()
	select {
	case c.dirty <- struct{}{}:
	default:
	}
}

func (c *checker) check(ctx context.Context) time.Duration {
	c.mu.Lock()
	c.last.Checking = true
	c.mu.Unlock()
	began := time.Now()
	bounded, cancel := context.WithTimeout(ctx, checkLimit)
	defer cancel()
	report, err := c.src.fsck(bounded)
	took := time.Since(began)
	if ctx.Err() != nil {
		return took
	}
	c.mu.Lock()
	c.last = verdict{Report: report, Err: err, At: c.now(), Took: took, Stale: len(c.dirty) > 0}
	c.mu.Unlock()
	select {
	case c.news <- struct{}{}:
	default:
	}
	return took
}

// verdict returns the newest verdict.
func (c *checker) verdict() verdict {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last
}
