// A recorded run whose ref is gone.

package gitstore

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/proof"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/gitstore/transport"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// LostRun is what is known about the record of a run without a ref here.
type LostRun struct {
	Run    string
	Remote string     // that was seen to have it, "" for none
	Tip    object.OID // its newest operation that is still here, if no remote has it; "" for none
}

// lostRef distinguishes a run whose ref is gone from one that another tool began: this work tree was at one of its
// operations, or a remote has it.
func (s *Store) lostRef(ctx context.Context, run string, cache *statCache) (*LostRun, error) {
	seen, err := s.seenElsewhere(ctx)
	if err != nil {
		return nil, err
	}
	return s.lost(ctx, run, seen, cache), nil
}

// stateGone returns the error for a work tree that was in a run and has no state.json.
func (s *Store) stateGone(ctx context.Context, c *statCache) error {
	if err := s.refGone(ctx, c); err != nil {
		return err
	}
	return record.TamperedDoc(string(wire.DocState), "it is gone; run %s is recorded", c.Run)
}

// refGone returns an error if no ref leads to the run of this work tree any more. If state.json does not name the run
// either, as after a cleanup of refs and of ignored files, only the cache still knows its newest operation: repair has
// to wait for the ref.
func (s *Store) refGone(ctx context.Context, c *statCache) error {
	if c == nil || c.Run == "" {
		return nil
	}
	for _, look := range []func(context.Context, *git.Repository, string) (object.OID, error){chain.Tip, chain.PastTip} {
		if tip, err := look(ctx, s.repo, c.Run); err != nil || tip != "" {
			return err
		}
	}
	l, err := s.lostRef(ctx, c.Run, c)
	if err != nil || l.Remote == "" && l.Tip == "" {
		return err
	}
	return fail.Errorf(proof.FindMissing, nil, "%s", l.Message()).
		WithHint("%s; then run git agentxchain repair --from-ref", l.Hint())
}

// seenElsewhere returns what is known about runs that remotes were seen to have, by run.
func (s *Store) seenElsewhere(ctx context.Context) (map[string]*LostRun, error) {
	remotes, err := transport.Remotes(ctx, s.repo)
	if err != nil {
		return nil, err
	}
	out := make(map[string]*LostRun)
	for _, prefix := range []string{record.SeenRefPrefix, transport.TrackingRefs} {
		refs, err := s.repo.ListRefs(ctx, prefix)
		if err != nil {
			return nil, err
		}
		for _, ref := range refs {
			remote, run := path.Split(ref.Name[len(prefix):])
			remote = path.Clean(remote)
			whole := prefix + remote + "/"
			if prefix == transport.TrackingRefs {
				remote = path.Dir(path.Dir(remote))
				whole = transport.TrackingPrefix(remote)
			}
			if whole+run != ref.Name {
				continue
			}
			switch known := out[run]; {
			case known != nil && known.Remote != "":
			case slices.Contains(remotes, remote):
				out[run] = &LostRun{Run: run, Remote: remote}
			default: // a remote that has been removed
				out[run] = &LostRun{Run: run, Tip: ref.OID}
			}
		}
	}
	return out, nil
}

func (s *Store) lost(ctx context.Context, run string, seen map[string]*LostRun, cache *statCache) *LostRun {
	l := seen[run]
	if l != nil && l.Remote != "" || cache == nil || cache.Run != run {
		return l
	}
	if s.repo.Objects().Has(ctx, cache.Op) {
		return &LostRun{Run: run, Tip: cache.Op}
	}
	return cmp.Or(l, &LostRun{Run: run})
}

// BringBack returns a function that returns the command to recreate the ref of a run whose operations are still
// here, "" where there is none.
func (s *Store) BringBack(ctx context.Context) func(run string) string {
	seen, err := s.seenElsewhere(ctx)
	cache := s.readCache()
	return func(run string) string {
		if err != nil {
			return ""
		}
		if l := s.lost(ctx, run, seen, cache); l != nil && l.Tip != "" {
			return l.Command()
		}
		return ""
	}
}

// Message describes the problem.
func (l *LostRun) Message() string {
	if l.Remote != "" {
		return fmt.Sprintf("run %s is on record on %s, and not in this clone", l.Run, text.OneLine(l.Remote))
	}
	return fmt.Sprintf("run %s was on record in this clone, and its ref is gone", l.Run)
}

// Notice is the sentence for the person at the terminal.
func (l *LostRun) Notice() string { return l.Message() + ": " + l.Command() }

// Command returns the command that a person runs next.
func (l *LostRun) Command() string {
	switch {
	case l.Remote != "":
		return "git agentxchain sync " + wire.ShellWord(l.Remote)
	case l.Tip != "":
		return "git update-ref " + git.RunRefPrefix + l.Run + " " + string(l.Tip)
	}
	return "git agentxchain fsck"
}

// Reason explains why.
func (l *LostRun) Reason() string {
	if l.Remote != "" {
		return "The run's record is on that remote and not in this clone; it has to be here before anything is built on it."
	}
	return "The run was on record in this clone and its ref is gone: " + l.Hint() + "."
}

// Hint says what to do.
func (l *LostRun) Hint() string {
	switch {
	case l.Remote != "":
		return l.Command() + " brings it back"
	case l.Tip != "":
		return "its newest operation is still here, and git removes it one day unless a ref leads to it: " + l.Command()
	}
	return "fetch " + git.RunRefPrefix +
		"* from a clone that has it; where none has, git agentxchain repair --adopt begins a new record from the files"
}
