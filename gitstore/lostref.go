// A run that was on record and whose ref is gone.

package gitstore

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/gitstore/transport"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// LostRun is what is known of the record of a run that has no ref here any more.
type LostRun struct {
	Run    string
	Remote string     // that was seen to have it, "" for none
	Tip    object.OID // its newest operation that is still here, where no remote has it; "" for none
}

// lostRef tells a run whose ref is gone from one that another tool began: this work tree was at an
// operation of it, or a remote has it.
func (s *Store) lostRef(ctx context.Context, run string, cache *statCache) (*LostRun, error) {
	var lost *LostRun
	remotes, err := transport.Remotes(ctx, s.repo)
	if err != nil {
		return nil, err
	}
	for _, prefix := range []string{record.SeenRefPrefix, transport.TrackingRefs} {
		refs, err := s.repo.ListRefs(ctx, prefix)
		if err != nil {
			return nil, err
		}
		for _, ref := range refs {
			name := ref.Name[len(prefix):]
			remote := path.Dir(name)
			if prefix == transport.TrackingRefs {
				remote = path.Dir(path.Dir(remote))
			}
			switch {
			case prefix == record.SeenRefPrefix && remote+"/"+run != name,
				prefix == transport.TrackingRefs && transport.TrackingPrefix(remote)+run != ref.Name:
			case slices.Contains(remotes, remote):
				return &LostRun{Run: run, Remote: remote}, nil
			default: // a remote that was removed since
				lost = &LostRun{Run: run, Tip: ref.OID}
			}
		}
	}
	if cache != nil && cache.Run == run {
		if s.repo.Objects().Has(ctx, cache.Op) {
			return &LostRun{Run: run, Tip: cache.Op}, nil
		}
		return cmp.Or(lost, &LostRun{Run: run}), nil
	}
	return lost, nil
}

// BringBack is the command that makes the ref of a run again whose operations are still here, "" where none does.
func (s *Store) BringBack(ctx context.Context, run string) string {
	if l, err := s.lostRef(ctx, run, s.readCache()); err == nil && l != nil && l.Tip != "" {
		return l.Command()
	}
	return ""
}

// Message says what is the matter.
func (l *LostRun) Message() string {
	if l.Remote != "" {
		return fmt.Sprintf("run %s is on record on %s, and not in this clone", l.Run, text.OneLine(l.Remote))
	}
	return fmt.Sprintf("run %s was on record in this clone, and its ref is gone", l.Run)
}

// Notice is the sentence for the person at the terminal.
func (l *LostRun) Notice() string { return l.Message() + ": " + l.Command() }

// Command is what a person does next.
func (l *LostRun) Command() string {
	switch {
	case l.Remote != "":
		return "git agentxchain sync " + wire.ShellWord(l.Remote)
	case l.Tip != "":
		return "git update-ref " + git.RunRefPrefix + l.Run + " " + string(l.Tip)
	}
	return "git agentxchain fsck"
}

// Reason says why.
func (l *LostRun) Reason() string {
	if l.Remote != "" {
		return "The run's record is on that remote and not in this clone; it has to be here before anything is built on it."
	}
	return "The run was on record in this clone and its ref is gone: " + l.Hint() + "."
}

// Hint is the way out.
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
