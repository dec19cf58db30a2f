// How the initiatives recorded here relate to another side, without following it.

package coordinator

import (
	"bytes"
	"cmp"
	"context"
	"sort"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/gitstore/travel"
	"github.com/git-agentxchain/git-agentxchain/protocol/initiative"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Against compares the initiatives recorded here with those of a remote, only the named one when
// name is not "". Errors: those of gitstore.AgainstInitiatives, not_a_git_repository.
func (c *Coordinator) Against(ctx context.Context, remote, name string) (*travel.Against, error) {
	home, cfg, err := c.recorded(ctx)
	if err != nil {
		return nil, err
	}
	return travel.AgainstInitiatives(ctx, home.Repository(), remote, name, cfg.ProjectID)
}

// AgainstKind says what a name given to fsck --against means: a remote, or otherwise a file that should be an
// export. Errors: not_found.
func (c *Coordinator) AgainstKind(ctx context.Context, name, file string) (string, error) {
	home, _, err := c.recorded(ctx)
	if err != nil {
		return "", err
	}
	return travel.AgainstKind(ctx, home.Repository(), name, file)
}

func (c *Coordinator) recorded(ctx context.Context) (*gitstore.Store, *initiative.Config, error) {
	cfg, e := newReader(c.store.root).config(c.store.dir)
	if e != nil {
		return nil, nil, e
	}
	home := c.repository(ctx)
	if home == nil {
		return nil, nil, &wire.Error{
			Code:    fail.CodeNotRepository,
			Field:   "workspace",
			Message: "The workspace is in no git repository, so its initiatives are recorded nowhere.",
			Hint:    "git init " + wire.ShellWord(c.store.dir),
		}
	}
	return home, cfg, nil
}

// AgainstFiles locates the files of an export artifact, which contains no changes, in the record of its initiative:
// at the change that left them, or otherwise the newest change that they continue.
func (c *Coordinator) AgainstFiles(ctx context.Context, files map[string][]byte) (*travel.AgainstRun, error) {
	home, _, err := c.recorded(ctx)
	if err != nil {
		return nil, err
	}
	st, err := stateOf(files)
	if err != nil {
		return nil, err
	}
	out := &travel.AgainstRun{Run: st.SuperRunID}
	changes, err := travel.InitiativeChain(ctx, home.Repository(), st.SuperRunID)
	if err != nil {
		return nil, err
	}
	if len(changes) == 0 {
		out.State, out.Why = travel.RunMissingHere,
			"an export has no history of changes, so nothing more can be said about it"
		return out, nil
	}
	if why := initiative.Unfounded(files, st.SuperRunID); why != "" {
		out.State, out.Code, out.Why = travel.RunDamaged, record.CodeUnproven, why
		return out, nil
	}
	out.Here = changes[0].Op
	repo, rows := home.Repository(), files[initiative.HistoryPath]
	id := func(name string) object.OID {
		data, there := files[name]
		if !there {
			return ""
		}
		return object.Hash(repo.ObjectFormat, object.KindBlob, data)
	}
	history, state := id(initiative.HistoryPath), id(initiative.StatePath)
	for i, op := range changes {
		if op.History != history || op.State != state {
			continue
		}
		out.State, out.There, out.Base, out.Ahead = travel.RunEqual, op.Op, op.Op, i
		if i > 0 {
			out.State = travel.RunAhead
		}
		return out, nil
	}
	// Histories only grow, so a binary search works: the last match is the newest change.
	base := sort.Search(len(changes), func(i int) bool {
		was, _, ferr := chain.FileAt(ctx, repo, changes[i].Op, initiative.HistoryPath)
		if err = cmp.Or(err, ferr); !bytes.HasPrefix(rows, was) {
			return false
		}
		out.Behind = bytes.Count(rows[len(was):], []byte("\n"))
		return true
	})
	if err != nil {
		return nil, err
	}
	if base == len(changes) {
		out.State, out.Code, out.Why = travel.RunDamaged, record.CodeForeignRun,
			"the history of the export shares nothing with the record here"
		return out, nil
	}
	out.Base, out.Ahead = changes[base].Op, base
	if out.State = travel.RunBehind; base > 0 || out.Behind == 0 {
		out.State, out.Since = travel.RunDiverged, changes[base].Time
	}
	return out, nil
}
