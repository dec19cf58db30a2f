// Witness statements: a run was at an operation at a time. They are kept beside the run, below a ref for each key,
// and travel with it (docs/teams.md#witnesses).

package witness

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/archive"
	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/history"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/gitstore/transport"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/approval"
	"github.com/git-agentxchain/git-agentxchain/protocol/attest"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

const witnessFile = "statement.dsse.json"

// Add keeps a signed statement about a run.
func Add(ctx context.Context, repo *git.Repository, by protocol.Env, run string, envelope []byte) error {
	env, refusal := attest.DecodeDSSE(envelope)
	if refusal != nil {
		return refusal
	}
	ref := refOf(run, env)
	was, err := repo.ReadRef(ctx, ref)
	if err != nil {
		return err
	}
	var parents []object.OID
	if was != "" {
		parents = append(parents, was)
	}
	oid, err := write(ctx, repo, run, envelope, parents, record.Signature(&by))
	if err != nil {
		return err
	}
	return repo.UpdateRefs(ctx, []git.RefUpdate{{Name: ref, New: oid, Old: was}}, "agentxchain: witness")
}

func write(ctx context.Context, repo *git.Repository, run string, envelope []byte, parents []object.OID,
	by object.Signature) (object.OID, error) {
	edit, err := record.NewReader(ctx, repo).Edit("")
	if err != nil {
		return "", err
	}
	if err := edit.Put(witnessFile, envelope); err != nil {
		return "", err
	}
	oid, err := edit.Commit("the statement", &object.Commit{
		Tree:      edit.Finish(),
		Parents:   parents,
		Author:    by,
		Committer: by,
		Message:   record.Message("witness: run "+run, record.TrailerRun, run),
	})
	if err != nil {
		return "", err
	}
	return oid, repo.Objects().Write(ctx, edit.Objects)
}

// Take adopts statements from a remote about runs that are not archived. Where one key signed on two sides both
// lines are kept: every machine makes the same commit of them.
func Take(ctx context.Context, repo *git.Repository, remote string, list archive.List) error {
	over, err := archivedOnly(ctx, repo, list)
	if err != nil {
		return err
	}
	there, err := repo.Tips(ctx, transport.TrackingWitnesses(remote))
	if err != nil {
		return err
	}
	here, err := repo.Tips(ctx, record.WitnessRefPrefix)
	if err != nil {
		return err
	}
	var moves []git.RefUpdate
	for name, oid := range there {
		was := here[name]
		run, _, ok := strings.Cut(name, "/")
		if was == oid || !ok || git.BadRunID(run) != "" || over(run) {
			continue
		}
		if _, err := record.NewReader(ctx, repo).Commit(oid); err != nil {
			if ctx.Err() != nil {
				return err
			}
			continue // anything may be under such a name there
		}
		if was != "" {
			base, err := history.MergeBase(ctx, repo, was, oid)
			if err != nil {
				return err
			}
			if base == oid {
				continue
			}
			if base != was {
				if oid, err = Join(ctx, repo, run, was, oid); err != nil {
					return err
				}
			}
		}
		moves = append(moves, git.RefUpdate{Name: record.WitnessRefPrefix + name, New: oid, Old: was})
	}
	slices.SortFunc(moves, git.ByName)
	return repo.UpdateRefs(ctx, moves, "agentxchain: witnesses of "+text.OneLine(remote))
}

func Join(ctx context.Context, repo *git.Repository, run string, a, b object.OID) (object.OID, error) {
	parents := []object.OID{min(a, b), max(a, b)}
	first, err := record.NewReader(ctx, repo).Commit(parents[0])
	if err != nil {
		return "", err
	}
	data, _, err := chain.FileAt(ctx, repo, parents[0], witnessFile)
	if err != nil {
		return "", err
	}
	return write(ctx, repo, run, data, parents, first.Author)
}

// Count counts the witnesses of a run, whose statements an export leaves behind.
func Count(ctx context.Context, repo *git.Repository, run string) (int, error) {
	all, err := Spoken(ctx, repo, run)
	if err != nil || all[run] == nil {
		return 0, err
	}
	list, err := statements(ctx, repo, all[run])
	signers := make(map[string]bool)
	for _, data := range list {
		if env, bad := attest.DecodeDSSE(data); bad == nil {
			signers[env.Signer()] = true
		}
	}
	return len(signers), err
}

// read reads the envelopes that tips reach, each once, oldest first.
func read(ctx context.Context, repo *git.Repository, tips []object.OID) ([][]byte, error) {
	if len(tips) == 0 {
		return nil, nil
	}
	var in bytes.Buffer
	for _, tip := range tips {
		in.WriteString(string(tip) + "\n")
	}
	out, err := repo.Git.Run(ctx, in.Bytes(), "rev-list", "--reverse", "--max-count=10000", "--stdin")
	if err != nil {
		return nil, err
	}
	var all [][]byte
	known := make(map[string]bool)
	for op := range strings.FieldsSeq(string(out)) {
		data, _, err := chain.FileAt(ctx, repo, object.OID(op), witnessFile)
		if err != nil || data == nil || known[string(data)] {
			continue // foreign data is not trusted to be a statement
		}
		known[string(data)] = true
		all = append(all, data)
	}
	return all, nil
}

// Judge knows where to find who may sign: the protected branch, else the commit the run began at, else HEAD.
type Judge struct {
	Repo    *git.Repository // the run's repository
	Here    *git.Repository // the repository that defines the signers
	Run     string
	Tip     object.OID // the newest operation of the run, "" when it is gone
	Project []byte     // the project's configuration, which then applies
}

// Judge judges the statements about the run, whose operations up to the newest one are in chain.
func (j *Judge) Judge(ctx context.Context, said *Said, chain map[string]approval.ChainOp) ([]*approval.Witnessed,
	error) {
	list, err := statements(ctx, j.Repo, said)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	signers, err := j.signers(ctx)
	if err != nil {
		return nil, err
	}
	return approval.JudgeWitnesses(j.Run, list, signers, chain), nil
}

// signers reads the files of signers, nil when they are not here.
func (j *Judge) signers(ctx context.Context) (*attest.Signers, error) {
	here, data := j.Here, j.Project
	var rec *chain.RunRecord
	var err error
	if j.Tip != "" {
		rec = chain.RunRecordAt(ctx, j.Repo, j.Run, j.Tip)
		if data, _, err = rec.Config(); err != nil {
			return nil, err
		}
	}
	var from []string
	dir := here.Prefix
	if cfg, _, err := config.Decode(data); err == nil && cfg != nil {
		if own, known := chain.NewProjectDirs(here, "HEAD").Of(ctx, cfg.Project.ID); known {
			dir = own
		}
		if branch := cfg.ProtectedBranch(); branch != "" {
			from = append(from, "refs/remotes/origin/"+branch, "refs/heads/"+branch)
		}
		if rec != nil {
			if st, err := rec.State(cfg); err == nil && st.AuthorityBase != nil {
				from = append(from, *st.AuthorityBase)
			}
		}
	}
	from = append(from, "HEAD")
	paths := wire.SignerFiles()
	var names []string
	for _, f := range from {
		for _, p := range paths {
			names = append(names, f+":"+dir+p)
		}
	}
	sets := make([]map[string][]byte, len(from))
	err = here.ReadNamed(ctx, names, func(i int, o git.Named) {
		if !o.Found || o.Kind != object.KindBlob {
			return
		}
		if sets[i/len(paths)] == nil {
			sets[i/len(paths)] = make(map[string][]byte)
		}
		sets[i/len(paths)][paths[i%len(paths)]] = bytes.Clone(o.Data)
	})
	if err != nil {
		return nil, err
	}
	for _, files := range sets {
		if files != nil {
			signers, _ := attest.ParseSigners(files)
			return signers, nil
		}
	}
	return nil, nil
}
