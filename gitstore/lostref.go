// A run that was on record and whose ref is gone.

package gitstore

import (
	"context"
	"fmt"
	"path"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/gitstore/transport"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// LostRun is what is known of the record of a run that has no ref here any more.
type LostRun struct {
	Remote string // that was seen to have it, "" for none
}

// lostRef tells a run whose ref is gone from one that another tool began: this work tree was at an
// operation of it, or a remote has it.
func (s *Store) lostRef(ctx context.Context, run string, cache *statCache) (*LostRun, error) {
	for _, prefix := range []string{record.SeenRefPrefix, transport.TrackingRefs} {
		refs, err := s.repo.ListRefs(ctx, prefix)
		if err != nil {
			return nil, err
		}
		for _, ref := range refs {
			name := ref.Name[len(prefix):]
			if remote := path.Dir(name); prefix == record.SeenRefPrefix && remote+"/"+run == name {
				return &LostRun{Remote: remote}, nil
			} else if remote = path.Dir(path.Dir(remote)); prefix == transport.TrackingRefs &&
				transport.TrackingPrefix(remote)+run == ref.Name {
				return &LostRun{Remote: remote}, nil
			}
		}
	}
	if cache != nil && cache.Run == run {
		return &LostRun{}, nil
	}
	return nil, nil
}

func (l *LostRun) message(run string) string {
	if l.Remote != "" {
		return fmt.Sprintf("run %s is on record on %s, and not in this clone", run, text.OneLine(l.Remote))
	}
	return fmt.Sprintf("run %s was on record in this clone, and its ref is gone", run)
}

// Command is what a person does next.
func (l *LostRun) Command() string {
	if l.Remote != "" {
		return "git agentxchain sync " + wire.ShellWord(l.Remote)
	}
	return "git agentxchain fsck"
}

// Reason says why.
func (l *LostRun) Reason() string {
	if l.Remote != "" {
		return "The run's record is on that remote and not in this clone; it has to be here before anything is built on it."
	}
	return "The run was on record in this clone and its ref is gone: " + l.hint() + "."
}

func (l *LostRun) hint() string {
	if l.Remote != "" {
		return l.Command() + " brings it back"
	}
	return "fetch " + git.RunRefPrefix +
		"* from a clone that has it; where none has, git agentxchain repair --adopt begins a new record from the files"
}
