// Runs of a repository that is only on its server: fetched into a quarantine, believed, and then
// kept beside the record of the initiative, below names that no run has.

package travel

import (
	"context"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/proof"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/gitstore/transport"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
)

// FetchSibling fetches the runs of a repository from an address. Each is verified in a place of
// its own before it is kept; one that went back behind what was kept, or does not hold, is
// refused, in words.
//
// Errors: remote_failed, bad_ref_name.
func FetchSibling(ctx context.Context, repo *git.Repository, id, address string) (refused []string, err error) {
	prefix := record.SiblingRefPrefix + id + "/"
	if !git.SafeRefName(prefix+"x") || strings.HasPrefix(address, "-") || strings.Contains(address, "::") {
		return nil, fail.Errorf(fail.CodeBadRefName, nil, "%q or its address %q cannot be used", id,
			text.OneLine(address))
	}
	kept, err := repo.Tips(ctx, prefix)
	if err != nil {
		return nil, err
	}
	q, err := repo.Quarantine(ctx)
	if err != nil {
		return nil, err
	}
	defer q.Close()
	f := &remoteLook{repo: repo, remote: address, quarantine: q}
	refs, err := f.listed(ctx, git.RunRefPrefix)
	if err != nil {
		return nil, err
	}
	there := make(map[string]object.OID)
	var want []string
	for _, ref := range refs {
		run := strings.TrimPrefix(ref.Name, git.RunRefPrefix)
		if git.BadRunID(run) != "" {
			continue
		}
		if there[run] = ref.OID; kept[run] != ref.OID && !repo.HasCommit(ctx, ref.OID) {
			want = append(want, ref.Name)
		}
	}
	if err := f.fetch(ctx, want); err != nil {
		return nil, err
	}
	var hold, moves []git.RefUpdate
	for name, tip := range there {
		if kept[name] == tip {
			continue
		}
		back, err := setBack(ctx, q.Repo, "the server", tip, kept[name])
		if err != nil {
			return refused, err
		}
		if back != nil {
			refused = append(refused, "run "+name+" was not followed: "+back.Why)
			continue
		}
		v, err := proof.Verify(ctx, q.Repo, name, tip)
		if err == nil {
			err = v.Err()
		}
		if err != nil {
			if ctx.Err() != nil {
				return refused, context.Cause(ctx)
			}
			refused = append(refused, "run "+name+" is not believed: "+text.OneLine(err.Error()))
			continue
		}
		hold = append(hold, git.RefUpdate{Name: git.RunRefPrefix + name, New: tip})
		moves = append(moves, git.RefUpdate{Name: prefix + name, New: tip, Old: kept[name]})
	}
	if len(moves) == 0 {
		return refused, nil
	}
	if err := q.Repo.UpdateRefs(ctx, hold, "agentxchain: held"); err != nil {
		return refused, err
	}
	args := append([]string{"-c", "protocol.file.allow=always"}, transport.FetchArgs()...)
	args = append(args, q.Repo.GitDir)
	for i, m := range moves {
		args = append(args, "+"+hold[i].Name+":"+m.Name)
	}
	_, err = repo.Git.Run(ctx, nil, args...)
	return refused, err
}

// FetchedRun is a run of a repository that is only on its server, as it was last fetched: the
// named one, else the newest that has not ended, else the newest. It is nil when none was.
func FetchedRun(ctx context.Context, r *git.Repository, id, name string) (string, *chain.RunRecord, error) {
	prefix := record.SiblingRefPrefix + id + "/"
	out, err := r.Git.Run(ctx, nil, "for-each-ref", "--sort=-committerdate", "--format=%(objectname) %(refname)",
		prefix)
	if err != nil {
		return "", nil, err
	}
	best := (*chain.RunRecord)(nil)
	for line := range strings.Lines(string(out)) {
		oid, ref, _ := strings.Cut(strings.TrimSpace(line), " ")
		found := strings.TrimPrefix(ref, prefix)
		rec := chain.RunRecordAt(ctx, r, found, object.OID(oid))
		if name != "" {
			if found == name {
				return found, rec, nil
			}
			continue
		}
		data, _, err := chain.FileAt(ctx, r, rec.Op, record.FileState)
		if err != nil {
			return "", nil, err
		}
		st, _ := run.DecodeState(data)
		if best == nil || st != nil && !st.Status.Ended() {
			if best = rec; st != nil && !st.Status.Ended() {
				break
			}
		}
	}
	if best == nil {
		return "", nil, nil
	}
	return best.Run, best, nil
}
