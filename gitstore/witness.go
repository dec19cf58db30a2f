// What witnesses signed: a run stood at an operation at a time. Their statements are kept
// beside the run, below a ref for each key, and travel with it (docs/teams.md#witnesses).

package gitstore

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/archive"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/gitstore/transport"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/attest"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

const witnessFile = "statement.dsse.json"

// WitnessStatement is what a witness of a run would sign now: its newest operation, which
// holds, and which a remote has where the run is shared. Only issuer, nonce and times are
// for the caller to set.
//
// Errors: no_run, record_unproven, run_not_elsewhere.
func (s *Store) WitnessStatement(ctx context.Context, run string) (*attest.Statement, error) {
	run, tip, err := s.newestOf(ctx, run)
	if err != nil {
		return nil, err
	}
	if err := s.believe(ctx, run, tip); err != nil {
		return nil, err
	}
	// What no remote has may be decided again, under another id, by the next sync.
	if there, err := s.RemoteStandings(ctx, run, tip); err != nil {
		return nil, err
	} else if len(there) > 0 && !slices.ContainsFunc(there, func(r RemoteStanding) bool { return r.Ahead == 0 }) {
		return nil, git.Errorf(CodeNotElsewhere, nil, "operation %s of run %s is on no remote yet, so the next sync may give it another id", tip.Short(), run).
			WithHint("git agentxchain sync %s", there[0].Remote)
	}
	ops, err := s.Chain(ctx, run, tip)
	if err != nil {
		return nil, err
	}
	rec, err := s.OpenRun(ctx, run, tip)
	if err != nil {
		return nil, err
	}
	cfg, err := rec.Config()
	if err != nil {
		return nil, err
	}
	return &attest.Statement{
		Decision:  attest.Witness,
		Run:       run,
		Project:   cfg.Project.ID,
		Operation: string(tip),
		Config:    config.RulesDigest(cfg),
		Commit:    string(tip),
		Sequence:  len(ops),
		Principal: s.actor(ctx).Email,
	}, nil
}

// AddWitness keeps a signed statement about a run.
func (s *Store) AddWitness(ctx context.Context, run string, envelope []byte) error {
	env, refusal := attest.DecodeDSSE(envelope)
	if refusal != nil {
		return refusal
	}
	ref := witnessRef(run, env)
	was, err := s.repo.ReadRef(ctx, ref)
	if err != nil {
		return err
	}
	var parents []git.OID
	if was != "" {
		parents = append(parents, was)
	}
	now := s.env(ctx)
	oid, err := s.writeWitness(ctx, run, envelope, parents, record.Signature(&now))
	if err != nil {
		return err
	}
	return s.repo.UpdateRefs(ctx, []git.RefUpdate{{Name: ref, New: oid, Old: was}}, "agentxchain: witness")
}

func (s *Store) writeWitness(ctx context.Context, run string, envelope []byte, parents []git.OID, by git.Signature) (git.OID, error) {
	edit, err := s.reader(ctx).Edit("")
	if err != nil {
		return "", err
	}
	if err := edit.Put(witnessFile, envelope); err != nil {
		return "", err
	}
	data, err := git.EncodeCommit(s.repo.ObjectFormat, &git.Commit{
		Tree:      edit.Finish(),
		Parents:   parents,
		Author:    by,
		Committer: by,
		Message:   record.Message("witness: run "+run, record.TrailerRun, run),
	})
	if err != nil {
		return "", git.Errorf(git.CodeObjectInvalid, err, "the statement cannot be written as a commit")
	}
	oid := edit.Queue(git.KindCommit, data)
	return oid, s.objects.Write(ctx, edit.Objects)
}

// takeWitnesses takes over what witnesses said elsewhere of runs that are not archived. Where one key
// signed on two sides both lines are kept: every machine makes the same commit of them.
func (s *Store) takeWitnesses(ctx context.Context, remote string, list archive.List) error {
	over, err := s.archivedOnly(ctx, list)
	if err != nil {
		return err
	}
	there, err := s.repo.Tips(ctx, transport.TrackingWitnesses(remote))
	if err != nil {
		return err
	}
	here, err := s.repo.Tips(ctx, record.WitnessRefPrefix)
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
		if was != "" {
			base, err := s.repo.MergeBase(ctx, was, oid)
			if err != nil {
				return err
			}
			if base == oid {
				continue
			}
			if base != was {
				if oid, err = s.joinWitnesses(ctx, run, was, oid); err != nil {
					return err
				}
			}
		}
		moves = append(moves, git.RefUpdate{Name: record.WitnessRefPrefix + name, New: oid, Old: was})
	}
	slices.SortFunc(moves, byName)
	return s.repo.UpdateRefs(ctx, moves, "agentxchain: witnesses of "+text.OneLine(remote))
}

func (s *Store) joinWitnesses(ctx context.Context, run string, a, b git.OID) (git.OID, error) {
	parents := []git.OID{min(a, b), max(a, b)}
	first, err := s.reader(ctx).Commit(parents[0])
	if err != nil {
		return "", err
	}
	data, _, err := FileAt(ctx, s.repo, parents[0], witnessFile)
	if err != nil {
		return "", err
	}
	return s.writeWitness(ctx, run, data, parents, first.Author)
}

// Witnesses counts those that said something of a run, and is what an export leaves behind.
func (s *Store) Witnesses(ctx context.Context, run string) (int, error) {
	all, err := s.spokenOf(ctx, run)
	if err != nil || all[run] == nil {
		return 0, err
	}
	list, err := s.statements(ctx, all[run])
	signers := make(map[string]bool)
	for _, data := range list {
		if env, bad := attest.DecodeDSSE(data); bad == nil {
			signers[env.Signer()] = true
		}
	}
	return len(signers), err
}

// readWitnesses reads the envelopes that tips lead to, each once, oldest first.
func (s *Store) readWitnesses(ctx context.Context, tips []git.OID) ([][]byte, error) {
	if len(tips) == 0 {
		return nil, nil
	}
	var in bytes.Buffer
	for _, tip := range tips {
		in.WriteString(string(tip) + "\n")
	}
	out, err := s.repo.Git.Run(ctx, in.Bytes(), "rev-list", "--reverse", "--max-count=10000", "--stdin")
	if err != nil {
		return nil, err
	}
	var all [][]byte
	known := make(map[string]bool)
	for op := range strings.FieldsSeq(string(out)) {
		data, _, err := FileAt(ctx, s.repo, git.OID(op), witnessFile)
		if err != nil || data == nil || known[string(data)] {
			continue // what came from elsewhere is not trusted to be a statement
		}
		known[string(data)] = true
		all = append(all, data)
	}
	return all, nil
}

// VerifyWitnesses judges what witnesses said of a run, whose operations up to the newest one
// are in chain. here is asked who may sign: the protected branch, else the commit the run
// began at, else HEAD.
func VerifyWitnesses(ctx context.Context, repo, here *git.Repository, run string, chain map[string]protocol.ChainOp) ([]*protocol.Witnessed, error) {
	s := &Store{repo: repo, objects: repo.Objects()}
	all, err := s.spokenOf(ctx, run)
	if err != nil {
		return nil, err
	}
	return s.judgeWitnesses(ctx, here, run, all[run], chain)
}

func (s *Store) judgeWitnesses(
	ctx context.Context, here *git.Repository, run string, said *spoken, chain map[string]protocol.ChainOp,
) ([]*protocol.Witnessed, error) {
	list, err := s.statements(ctx, said)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	signers, err := s.witnessSigners(ctx, here, run)
	if err != nil {
		return nil, err
	}
	return protocol.JudgeWitnesses(run, list, signers, chain), nil
}

// witnessSigners reads the files of signers, nil when they are not here.
func (s *Store) witnessSigners(ctx context.Context, here *git.Repository, run string) (*attest.Signers, error) {
	tip, err := s.newest(ctx, run)
	if err != nil && git.CodeOf(err) != CodeNoRun {
		return nil, err
	}
	var rec *RunRecord
	var data []byte
	if err == nil {
		rec = RunRecordAt(ctx, s.repo, run, tip)
		if data, _, err = rec.Config(); err != nil {
			return nil, err
		}
	} else if s.work != nil {
		data, _ = s.ReadConfig() // the run is gone: who may sign is what the project says
	}
	var from []string
	if cfg, _, err := config.Decode(data); err == nil && cfg != nil {
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
			names = append(names, f+":"+here.Prefix+p)
		}
	}
	sets := make([]map[string][]byte, len(from))
	err = here.ReadNamed(ctx, names, func(i int, o git.Named) {
		if !o.Found || o.Kind != git.KindBlob {
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
