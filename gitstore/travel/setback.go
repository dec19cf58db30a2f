// What another side has lost of a run that was seen there.

package travel

import (
	"context"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/history"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/transport"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
)

// ForgetGone stands for every run, or initiative, that the remote no longer has at all, as after a move to another
// server.
const ForgetGone = "all"

// forgotten reports whether the remembered tip of a run is given up; there is where the remote is now.
func forgotten(forget []string, name string, there object.OID) bool {
	return slices.Contains(forget, name) || there == "" && slices.Contains(forget, ForgetGone)
}

// forgetHint says how a remote that went back is followed again. Where several are gone, one command names them all.
func forgetHint(remote, name string, there object.OID, gone int) string {
	if there == "" && gone > 1 {
		name = ForgetGone
	}
	return "nothing was followed, and this clone still has what it saw: ask the administrator of the server. " +
		"To push it there again and go on: git agentxchain sync " + remote + " --forget " + name
}

// gone counts the runs that were seen on the remote and are not there any more.
func gone(seen, there map[string]object.OID) int {
	n := 0
	for name := range seen {
		if _, err := git.RunRef(name); err == nil && there[name] == "" {
			n++
		}
	}
	return n
}

// SetBack says that a side lost operations it once showed.
type SetBack struct {
	Code string         // remote_rewound: they are gone; remote_forked: others are in their place
	Base object.OID     // newest remaining operation of those seen, "" for none
	Lost []chain.OpInfo // oldest first
	Why  string
}

// setBack compares a side's current tip, "" when it no longer has the run, with the tip last seen. It returns nil
// when nothing that was seen is gone.
func setBack(ctx context.Context, repo *git.Repository, side string, there, seen object.OID) (*SetBack, error) {
	if seen == "" || there == seen {
		return nil, nil
	}
	b := &SetBack{Code: transport.CodeRemoteBack}
	var err error
	if there != "" {
		if b.Base, err = history.MergeBase(ctx, repo, seen, there); err != nil || b.Base == seen {
			return nil, err
		}
	}
	if b.Lost, err = chain.Since(ctx, repo, b.Base, seen); err != nil {
		return nil, err
	}
	lost := text.Count(len(b.Lost), "operation", "operations") + " up to " + seen.Short()
	switch {
	case there == "":
		b.Why = side + " no longer has this run; it was at operation " + seen.Short()
	case b.Base == "":
		b.Code = transport.CodeRemoteForked
		b.Why = side + " has another run under this name; it was at operation " + seen.Short()
	case b.Base == there:
		b.Why = side + " went back to operation " + there.Short() + " and lacks " + lost
	default:
		b.Code = transport.CodeRemoteForked
		b.Why = side + " was rewritten: it went back to operation " + b.Base.Short() + ", lacks " + lost +
			" and went on to " + there.Short()
	}
	return b, nil
}
