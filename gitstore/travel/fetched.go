// Runs of a repository that exists only on its server: fetched into a quarantine, verified, and then kept beside
// the record of the initiative, under names that no run has.

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
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// FetchSibling fetches the runs of a repository from an address. Each is verified in a temporary place before it is
// kept; one that went back behind what was kept, or is invalid, is refused with a message.
//
// Errors: remote_failed, bad_ref_name.
func FetchSibling(ctx context.Context, repo *git.Repository, id, address string) (came, refused []string, err error) {
	prefix := record.SiblingRefPrefix + id + "/"
	if !git.SafeRefName(prefix+"x") || strings.HasPrefix(address, "-") || strings.Contains(address, "::") {
		return nil, nil, fail.Errorf(fail.CodeBadRefName, nil, "%q or its address %q cannot be used", id,
			text.OneLine(address))
	}
	kept, err := repo.Tips(ctx, prefix)
	if err != nil {
		return nil, nil, err
	}
	q, err := repo.Quarantine(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer q.Close()
	f := &remoteLook{repo: repo, remote: address, quarantine: q}
	refs, err := f.listed(ctx, git.RunRefPrefix)
	if err != nil {
		return nil, nil, err
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
		return nil, nil, err
	}
	var hold, moves []git.RefUpdate
	for name, tip := range there {
		if kept[name] == tip {
			continue
		}
		back, err := setBack(ctx, q.Repo, "the server", tip, kept[name])
		if err != nil {
			return nil, refused, err
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
				return nil, refused, context.Cause(ctx)
			}
			refused = append(refused, "run "+name+" is not believed: "+text.OneLine(err.Error()))
			continue
		}
		hold = append(hold, git.RefUpdate{Name: git.RunRefPrefix + name, New: tip})
		moves = append(moves, git.RefUpdate{Name: prefix + name, New: tip, Old: kept[name]})
	}
	if len(moves) == 0 {
		return nil, refused, nil
	}
	if err := q.Repo.UpdateRefs(ctx, hold, "agentxchain: held"); err != nil {
		return nil, refused, err
	}
	args := append([]string{"-c", "protocol.file.allow=always"}, transport.FetchArgs()...)
	args = append(args, q.Repo.GitDir)
	for i, m := range moves {
		args = append(args, "+"+hold[i].Name+":"+m.Name)
		came = append(came, strings.TrimPrefix(m.Name, prefix))
	}
	if _, err = repo.Git.Run(ctx, nil, args...); err != nil {
		return nil, refused, err
	}
	return came, refused, nil
}

// FetchedRuns returns the runs of a repository that exists only on its server, as last fetched, newest first.
func FetchedRuns(ctx context.Context, r *git.Repository, id string) ([]*chain.RunRecord, error) {
	prefix := record.SiblingRefPrefix + id + "/"
	out, err := r.Git.Run(ctx, nil, "for-each-ref", "--sort=-committerdate", "--format=%(objectname) %(refname)",
		prefix)
	if err != nil {
		return nil, err
	}
	var runs []*chain.RunRecord
	for line := range strings.Lines(string(out)) {
		oid, ref, _ := strings.Cut(strings.TrimSpace(line), " ")
		runs = append(runs, chain.RunRecordAt(ctx, r, strings.TrimPrefix(ref, prefix), object.OID(oid)))
	}
	return runs, nil
}

// FetchedRun returns the named one of these runs, else the newest that has not ended, else the newest. A named run
// that a person has abandoned gives way to one that has not ended, with which people continued. It is nil when none
// was fetched.
func FetchedRun(ctx context.Context, r *git.Repository, id, name string) (*chain.RunRecord, error) {
	runs, err := FetchedRuns(ctx, r, id)
	if err != nil {
		return nil, err
	}
	var named, live *chain.RunRecord
	for _, rec := range runs {
		if live != nil && rec.Run != name {
			continue
		}
		data, _, err := chain.FileAt(ctx, r, rec.Op, record.FileState)
		if err != nil {
			return nil, err
		}
		st, _ := run.DecodeState(data)
		switch {
		case rec.Run == name && (st == nil || st.Status != wire.StatusFailed):
			return rec, nil
		case rec.Run == name:
			named = rec
		case st != nil && !st.Status.Ended():
			live = rec
		}
	}
	switch {
	case live != nil && (named != nil || name == ""):
		return live, nil
	case named != nil || name != "" || len(runs) == 0:
		return named, nil
	}
	return runs[0], nil
}
