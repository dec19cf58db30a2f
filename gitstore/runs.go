// Selecting a run: the one of this work tree, or one that is named.

package gitstore

import (
	"context"
	"iter"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/proof"
	"github.com/git-agentxchain/git-agentxchain/gitstore/workdir"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// CurrentRun returns the run of this work tree: the one state.json names, else
// the one the cache remembers.
func (s *Store) CurrentRun() string {
	if data, _, ok, err := s.work.Read(string(wire.DocState), workdir.MaxDocument); err == nil {
		if run, err := runOf(document{data, ok}); err == nil && run != "" {
			return run
		}
	}
	if c := s.readCache(); c != nil {
		return c.Run
	}
	return ""
}

// Log returns the operations of a run, newest first, at most limit (0: all). An
// empty run is the current one.
func (s *Store) Log(ctx context.Context, run string, limit int) ([]chain.OpInfo, error) {
	_, tip, err := s.Newest(ctx, run)
	if err != nil {
		return nil, err
	}
	return chain.Log(ctx, s.repo, tip, limit)
}

// OpenRun opens a run at operation op, the newest one when op is "". An empty run is the one of this work tree.
//
// Errors: no_run, bad_ref_name, ref_is_symbolic, ref_broken, object_missing, object_corrupt; record_unproven for
// the newest operation of an invalid chain.
func (s *Store) OpenRun(ctx context.Context, run string, op object.OID) (*chain.RecordedRun, error) {
	run, err := s.orCurrent(ctx, run)
	if err != nil {
		return nil, err
	}
	if op == "" {
		return proof.OpenNewest(ctx, s.repo, run)
	}
	return chain.At(s.reader(ctx), run, op)
}

// Newest returns the newest operation of a run, with the run's id; an empty run is the one of this work tree.
func (s *Store) Newest(ctx context.Context, run string) (string, object.OID, error) {
	run, err := s.orCurrent(ctx, run)
	if err != nil {
		return "", "", err
	}
	op, err := proof.Newest(ctx, s.repo, run)
	return run, op, err
}

// orCurrent returns run, or the run of this work tree when run is "".
func (s *Store) orCurrent(ctx context.Context, run string) (string, error) {
	if run == "" {
		run = s.CurrentRun()
	}
	if run == "" {
		return "", s.NoRunHere(ctx)
	}
	return run, nil
}

// NoRunHere returns an error instead of guessing which of the recorded runs is meant.
func (s *Store) NoRunHere(ctx context.Context) error {
	refs, one, err := s.OwnRuns(ctx)
	if err != nil {
		return err
	}
	if len(refs) == 0 {
		none := chain.NoRun("")
		if _, remote, err := s.Elsewhere(ctx); err == nil && remote != "" {
			return none.WithHint("git agentxchain sync %s brings the runs of that remote; git agentxchain assign starts one",
				wire.ShellWord(remote))
		}
		return none
	}
	return fail.Errorf(chain.CodeNoRun, nil, "this work tree holds no run; git has the record of %d, such as %s",
		len(refs), one).
		WithHint("git agentxchain repair --from-ref %s brings it here; a command that takes a run can name one of "+
			"git agentxchain runs", one)
}

// Back yields the operations of a run, newest first, and reads no further than its user takes them. An empty run is the
// current one.
func (s *Store) Back(ctx context.Context, run string) iter.Seq2[chain.OpInfo, error] {
	_, tip, err := s.Newest(ctx, run)
	if err != nil {
		return func(yield func(chain.OpInfo, error) bool) { yield(chain.OpInfo{}, err) }
	}
	return chain.Back(ctx, s.repo, tip)
}

// Chain lists the operations of a run from the first to op, its newest when op is "".
// An empty run is the one of this work tree.
func (s *Store) Chain(ctx context.Context, run string, op object.OID) ([]chain.OpInfo, error) {
	if op == "" {
		var err error
		if _, op, err = s.Newest(ctx, run); err != nil {
			return nil, err
		}
	}
	ops, err := chain.Log(ctx, s.repo, op, 0)
	slices.Reverse(ops)
	return ops, err
}

// RunsInUse returns the runs that work trees of this repository are in, each with the directory of its project in one of them.
// The other projects of the repository count as well.
func (s *Store) RunsInUse(ctx context.Context) (map[string]string, error) {
	out := make(map[string]string)
	if name := s.CurrentRun(); name != "" {
		out[name] = s.dir
	}
	list, err := s.repo.Git.Run(ctx, nil, "worktree", "list", "--porcelain")
	if err != nil {
		return nil, err
	}
	projects := chain.ProjectsIn(ctx, s.repo, "HEAD")
	if !slices.Contains(projects, s.prefix) {
		projects = append(projects, s.prefix)
	}
	for line := range strings.Lines(string(list)) {
		dir, ok := strings.CutPrefix(strings.TrimRight(line, "\r\n"), "worktree ")
		if !ok {
			continue
		}
		for _, prefix := range projects {
			in := filepath.Join(filepath.FromSlash(dir), filepath.FromSlash(prefix))
			data, err := git.ReadBounded(filepath.Join(in, filepath.FromSlash(string(wire.DocState))), workdir.MaxDocument)
			if err != nil {
				continue
			}
			if name, err := runOf(document{data, true}); err == nil && name != "" && out[name] == "" {
				out[name] = in
			}
		}
	}
	return out, nil
}

// RunBeside returns the newest unfinished run of the project that no work tree here is in, when the run of this
// work tree is over or has not begun: another machine began it, or its work tree is gone. "" if there is none.
func (s *Store) RunBeside(ctx context.Context, here *run.State) string {
	tips, err := chain.RunTips(ctx, s.repo, besideLimit)
	if err != nil {
		return ""
	}
	var used map[string]string
	for _, t := range tips {
		if t.Run == here.Run() {
			continue
		}
		if st, err := chain.StateAt(ctx, s.repo, t.Ref.OID); err != nil || st.Status.Ended() ||
			st.ProjectID != here.ProjectID {
			continue
		}
		if used == nil {
			if used, err = s.RunsInUse(ctx); err != nil {
				return ""
			}
		}
		if used[t.Run] == "" {
			return t.Run
		}
	}
	return ""
}

// besideLimit bounds the runs that RunBeside examines: a live one is among those that moved last.
const besideLimit = 4
