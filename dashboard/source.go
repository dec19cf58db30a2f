// The two things that can be shown: a live project and a replayed artifact.

package dashboard

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/git-agentxchain/git-agentxchain/coordinator"
	"github.com/git-agentxchain/git-agentxchain/internal/failures"
	multirepo "github.com/git-agentxchain/git-agentxchain/protocol/initiative"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
	"github.com/git-agentxchain/git-agentxchain/runner/lookback"
	"github.com/git-agentxchain/git-agentxchain/runner/status"
)

// maxPatch bounds a turn's patch on a page, in bytes.
const maxPatch = 1 << 20

// live is a project, a coordinator's workspace, or both in one directory.
type live struct {
	dir string
	opt Options

	mu     sync.Mutex // one caller at a time uses the runner
	r      *runner.Runner
	checks *runner.Runner // for fsck, which may take long
	co     *coordinator.Coordinator
	coMu   sync.Mutex
}

// openLive opens what is around opt.Dir: the nearest project, else the workspace of an initiative
// in exactly this directory.
func openLive(ctx context.Context, opt Options) (*live, string, error) {
	s := &live{dir: opt.Dir, opt: opt}
	_, multi := os.Stat(filepath.Join(opt.Dir, multirepo.ConfigFile))
	own, here := os.Stat(filepath.Join(opt.Dir, wire.ConfigPath))
	governed := here == nil && own.Mode().IsRegular()
	r, err := runner.Open(ctx, opt.Dir, opt.Runner)
	switch {
	case err == nil && (governed || multi != nil):
		s.r, s.dir = r, r.Record().Dir()
	case multi != nil:
		return nil, "", err
	case err == nil:
		_ = r.Close() // the project around the workspace is unrelated
	}
	return s, s.dir, nil
}

func (s *live) sight(ctx context.Context) (*status.Sight, error) {
	if s.r == nil {
		return nil, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.r.Look(ctx)
}

// operations usually reads only the new ones: a chain grows at its tip.
func (s *live) operations(ctx context.Context, before []runner.OpInfo) ([]runner.OpInfo, error) {
	if s.r == nil {
		return nil, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var ops []runner.OpInfo
	for op, err := range s.r.Record().Back(ctx, "") {
		if runner.ErrorCode(err) == "no_run" {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		if len(before) > 0 && op.Op == before[0].Op {
			return append(ops, before...), nil
		}
		ops = append(ops, op)
	}
	return ops, nil
}

func (s *live) initiative(ctx context.Context) (*coordinator.Standing, error) {
	s.coMu.Lock()
	defer s.coMu.Unlock()
	if s.co == nil {
		co, err := coordinator.At(s.dir, coordinator.Options{
			Now:       s.opt.Now,
			Getenv:    s.opt.Runner.Getenv,
			Untouched: true,
		})
		if err != nil {
			return nil, err
		}
		s.co = co
	}
	return s.co.Status(ctx)
}

func (s *live) operation(ctx context.Context, id string) (*runner.OpDetail, error) {
	if s.r == nil {
		return nil, errNoRecord
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.r.Record().Show(ctx, id)
}

func (s *live) explain(ctx context.Context, ops []runner.OpInfo, of string) (*lookback.Explanation, error) {
	if s.r == nil || len(ops) == 0 {
		return nil, errNoRecord
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return lookback.ExplainIn(ctx, s.r, ops, of)
}

func (s *live) diff(ctx context.Context, commit string) ([]runner.FileStat, []byte, bool, error) {
	if s.r == nil {
		return nil, nil, false, errNoRecord
	}
	return s.r.CommitDiff(ctx, commit, maxPatch)
}

func (s *live) work(ctx context.Context, commit string, names []string) ([]runner.FileStat, []byte, bool, error) {
	if s.r == nil {
		return nil, nil, false, errNoRecord
	}
	return s.r.WorkDiff(ctx, commit, names, maxPatch)
}

func (s *live) log(turn string, attempts int) ([]byte, error) {
	if s.r == nil {
		return nil, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, data, err := s.r.TurnLog(turn, attempts)
	return data, err
}

func (s *live) fsck(ctx context.Context) (*runner.FsckReport, error) {
	if s.r == nil {
		return nil, errNoRecord
	}
	if s.checks == nil {
		r, err := runner.Open(ctx, s.dir, s.opt.Runner)
		if err != nil {
			return nil, err
		}
		s.checks = r
	}
	return s.checks.Record().Fsck(ctx, runner.FsckOptions{})
}

func (s *live) close() error {
	var errs []error
	if s.r != nil {
		errs = append(errs, s.r.Close())
	}
	if s.checks != nil {
		errs = append(errs, s.checks.Close())
	}
	if s.co != nil {
		errs = append(errs, s.co.Close())
	}
	return failures.All(errs...)
}

// replayed is the workspace of an artifact: files, and no record in git. The present time does not
// count for its run.
type replayed struct {
	dir string
	now func() time.Time
}

func (s *replayed) sight(ctx context.Context) (*status.Sight, error) {
	return status.OfFiles(ctx, s.dir, s.now())
}

func (s *replayed) operations(context.Context, []runner.OpInfo) ([]runner.OpInfo, error) {
	return nil, nil
}

func (s *replayed) initiative(context.Context) (*coordinator.Standing, error) {
	return coordinator.StandingOfFiles(s.dir)
}

func (s *replayed) operation(context.Context, string) (*runner.OpDetail, error) {
	return nil, errNoRecord
}

func (s *replayed) explain(context.Context, []runner.OpInfo, string) (*lookback.Explanation, error) {
	return nil, errNoRecord
}

func (s *replayed) diff(context.Context, string) ([]runner.FileStat, []byte, bool, error) {
	return nil, nil, false, errNoRecord
}

func (s *replayed) work(context.Context, string, []string) ([]runner.FileStat, []byte, bool, error) {
	return nil, nil, false, errNoRecord
}

func (s *replayed) log(string, int) ([]byte, error) { return nil, nil }

func (s *replayed) fsck(context.Context) (*runner.FsckReport, error) { return nil, errNoRecord }

func (s *replayed) close() error { return nil }
