// Pruning archived runs: those that a remote keeps, others only when a person gives them up.

package archiving

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/archive"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/proof"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/gitstore/transport"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
)

// PruneOptions are the options of Prune.
type PruneOptions struct {
	Runs    []string // these runs; none: all that ended before Before
	Before  time.Time
	Because string // the reason to give up what no remote keeps; for named runs only
	Wait    time.Duration
	DryRun  bool
}

// PruneDone is the outcome of Prune.
type PruneDone struct {
	Pruned  []*archive.Entry // a remote keeps them
	Removed []*archive.Entry // no remote kept them: they were given up
	Kept    []string         // no remote is known to keep them
	Notices []string
}

// Prune removes the operations of archived runs from this clone where a remote keeps them: commands that name such
// a run fetch it again. A run that no remote keeps goes only when it is named with a reason, which the list then
// records. Freeing the space is up to git gc.
//
// Errors: run_not_archived, run_not_elsewhere, and those of Begin.
func Prune(ctx context.Context, s *gitstore.Store, opt PruneOptions) (*PruneDone, error) {
	tx, list, err := beginArchive(ctx, s, opt.Wait)
	if err != nil {
		return nil, err
	}
	defer func() { _ = tx.Close() }()
	past, err := s.Repository().Tips(ctx, archive.PastPrefix)
	if err != nil {
		return nil, err
	}
	want, err := prunable(list, past, opt)
	if err != nil {
		return nil, err
	}
	done := &PruneDone{}
	kept, err := keptElsewhere(ctx, s.Repository(), done, list, want)
	if err != nil {
		return nil, err
	}
	var gone []git.RefUpdate
	for _, name := range want {
		e := *list[name]
		switch {
		case kept[name]:
			done.Pruned = append(done.Pruned, &e)
			gone = append(gone, git.RefUpdate{Name: archive.PastPrefix + name, Old: past[name]})
		case len(opt.Runs) == 0:
			done.Kept = append(done.Kept, name)
		case opt.Because == "":
			return nil, fail.Errorf(proof.CodeNotElsewhere, nil,
				"no remote is known to keep run %s: this may be its only copy", name).
				WithHint("git agentxchain sync brings the archive to the remote; to remove the run for good: git agentxchain runs prune %s --because TEXT", name)
		default:
			done.Removed = append(done.Removed, &e)
		}
	}
	if opt.DryRun {
		return done, nil
	}
	if err := s.Repository().UpdateRefs(ctx, gone, "agentxchain: pruned"); err != nil {
		return nil, err
	}
	if err := forgetKept(ctx, s.Repository()); err != nil {
		return nil, err
	}
	packRefs(ctx, s.Repository(), len(gone))
	if len(done.Removed) == 0 {
		return done, nil
	}
	return done, changeArchive(ctx, s.Repository(), s.Env(ctx), list, done.Removed, func(e *archive.Entry) error {
		e.State, e.Because = archive.Removed, text.OneLine(opt.Because)
		return nil
	}, func(e *archive.Entry) []git.RefUpdate {
		return []git.RefUpdate{{Name: archive.PastPrefix + e.Run, Old: past[e.Run]}}
	})
}

// prunable lists the runs that opt selects.
func prunable(list archive.List, past map[string]object.OID, opt PruneOptions) ([]string, error) {
	if len(opt.Runs) > 0 {
		for _, name := range opt.Runs {
			if list.Archived(name) == nil {
				return nil, notArchived(name)
			}
			if past[name] == "" {
				return nil, fail.Errorf(CodeRunNotArchived, nil,
					"the operations of run %s are not here: it was pruned, or never came", name).
					WithHint("git agentxchain runs list --archived")
			}
		}
		return opt.Runs, nil
	}
	var out []string
	for name := range past {
		e := list.Archived(name)
		if e == nil {
			continue
		}
		if at, err := time.Parse(time.RFC3339, e.Ended); err == nil && at.Before(opt.Before) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out, nil
}

// keptElsewhere asks the remotes which of the runs they keep. It proves the answer here: the run's newest operation
// is reachable from the year's commit.
func keptElsewhere(
	ctx context.Context, repo *git.Repository, done *PruneDone, list archive.List, runs []string,
) (map[string]bool, error) {
	out := make(map[string]bool)
	all, err := proof.RemotesByChoice(ctx, repo)
	if err != nil {
		return nil, err
	}
	years := make(map[string]bool)
	for _, name := range runs {
		years[list[name].Year()] = true
	}
	for _, remote := range all {
		for year := range years {
			if err := proof.FetchKept(ctx, repo, remote, year); err != nil {
				done.Notices = append(done.Notices,
					remote+" could not be asked what it keeps: "+transport.Complaint(err))
				break
			}
			// One git process answers for all runs.
			names, err := repo.Git.Run(ctx, nil, "for-each-ref", "--format=%(refname)",
				"--merged="+proof.KeptRef(remote, year), archive.PastPrefix)
			if err != nil {
				continue // it keeps nothing of this year
			}
			for name := range strings.Lines(string(names)) {
				out[strings.TrimPrefix(strings.TrimSpace(name), archive.PastPrefix)] = true
			}
		}
	}
	return out, nil
}

// forgetKept drops the refs fetched from remotes' archives, which would keep every operation alive.
func forgetKept(ctx context.Context, repo *git.Repository) error {
	refs, err := repo.ListRefs(ctx, record.SeenRefPrefix)
	if err != nil {
		return err
	}
	var gone []git.RefUpdate
	for _, ref := range refs {
		if strings.Contains(strings.TrimPrefix(ref.Name, record.SeenRefPrefix), "/archive/") && ref.OID != "" {
			gone = append(gone, git.RefUpdate{Name: ref.Name, Old: ref.OID})
		}
	}
	return repo.UpdateRefs(ctx, gone, "agentxchain: pruned")
}
