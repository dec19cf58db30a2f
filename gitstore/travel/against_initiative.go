// Fsck against another side, for initiatives: how those recorded here relate to a remote's. Nothing is adopted and
// no ref moves.

package travel

import (
	"context"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/protocol/initiative"
)

// AgainstInitiatives compares the initiatives recorded here with those of a remote, only the named one when name is
// not "". It fetches into a temporary place, which is removed. project is the id they must have.
//
// Errors: no_remote, remote_failed, no_initiative.
func AgainstInitiatives(ctx context.Context, repo *git.Repository, remote, name, project string) (*Against, error) {
	f, err := lookAt(ctx, repo, remote)
	if err != nil {
		return nil, err
	}
	defer f.quarantine.Close()
	if err := f.askInitiatives(ctx); err != nil {
		return nil, err
	}
	q := f.quarantine.Repo
	c := &against{out: &Against{Kind: AgainstRemote, Name: f.remote}, q: q,
		there: f.tips}
	c.trust = func(ctx context.Context, r *AgainstRun) error {
		return record.VerifyInitiative(ctx, q, r.Run, r.There, r.Base, project)
	}
	if c.here, err = repo.Tips(ctx, record.InitiativeRefPrefix); err != nil {
		return nil, err
	}
	if c.seen, err = repo.Tips(ctx, record.SeenRefPrefix+f.remote+"/"+record.InitiativeNames); err != nil {
		return nil, err
	}
	if name != "" && c.here[name] == "" && c.there[name] == "" && c.seen[name] == "" {
		return nil, fail.Errorf(CodeNoInitiative, nil, "initiative %s is neither here nor on %s", text.OneLine(name),
			f.remote)
	}
	return c.out, c.all(ctx, name, c.here, c.there, c.seen)
}

// askInitiatives is ask for the refs of initiatives.
func (f *remoteLook) askInitiatives(ctx context.Context) error {
	refs, err := f.listed(ctx, record.InitiativeRefPrefix)
	if err != nil {
		return err
	}
	lacks, err := f.lacking(ctx)
	if err != nil {
		return err
	}
	f.tips = make(map[string]object.OID)
	var want []string
	for _, ref := range refs {
		f.tips[strings.TrimPrefix(ref.Name, record.InitiativeRefPrefix)] = ref.OID
		if lacks(ref.OID) {
			want = append(want, ref.Name)
		}
	}
	return f.fetch(ctx, want)
}

// InitiativeChange is a recorded change of an initiative, with the ids of the files that show its position.
type InitiativeChange struct {
	chain.OpInfo

	State, History object.OID // blob ids, "" for a missing file
}

// InitiativeChain lists the recorded changes of an initiative, newest first, none when it has no record here. It
// reads no files.
func InitiativeChain(ctx context.Context, repo *git.Repository, name string) ([]InitiativeChange, error) {
	tip, err := repo.ReadRef(ctx, record.InitiativeRefPrefix+name)
	if err != nil || tip == "" {
		return nil, err
	}
	ops, err := chain.Log(ctx, repo, tip, 0)
	if err != nil {
		return nil, err
	}
	out := make([]InitiativeChange, len(ops))
	r := record.NewReader(ctx, repo)
	for i, op := range ops {
		out[i].OpInfo = op
		for file, id := range map[string]*object.OID{
			initiative.StatePath:   &out[i].State,
			initiative.HistoryPath: &out[i].History,
		} {
			e, _, err := r.Lookup(op.Tree, file)
			if err != nil {
				return nil, err
			}
			*id = e.OID
		}
	}
	return out, nil
}
