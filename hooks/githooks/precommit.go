// pre-commit: the index, before it becomes a commit.

package githooks

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
)

// preCommit judges what is staged; the work tree is not looked at. It says early
// and in words what the hard stop would say later, and beside it what only an
// index can tell: whose turn it is and what that turn may touch.
func (g *guarded) preCommit() error {
	// The index takes git longest; what else will be asked for is asked beside it.
	var head gitstore.OID
	var others []gitstore.OID
	var runs []*gitstore.RunRecord
	var errHead, errRuns error
	var beside sync.WaitGroup
	beside.Go(func() { head, others, errHead = g.parentsToBe() })
	beside.Go(func() { runs, errRuns = g.repo.RunRecords(g.ctx) })
	changes, err := g.repo.StagedChanges(g.ctx, "HEAD")
	beside.Wait()
	if errHead == nil && head == "" {
		changes, err = g.repo.StagedChanges(g.ctx, "") // nothing is committed yet
	}
	if err = cmp.Or(errHead, errRuns, err); err != nil || len(changes) == 0 {
		return err
	}
	prefixes, err := g.prefixes()
	if err != nil {
		return err
	}
	for _, prefix := range prefixes {
		j := &judge{ctx: g.ctx, repo: g.repo, prefix: prefix, report: g.find, runs: runs[:min(len(runs), maxRuns)], runsRead: true}
		if j.config, err = readConfig(g.ctx, g.repo, head, prefix); err != nil {
			return err
		}
		if err := g.staged(j, changes, others); err != nil {
			return err
		}
	}
	return nil
}

func (g *guarded) staged(j *judge, changes []gitstore.TreeChange, others []gitstore.OID) error {
	if i := slices.IndexFunc(changes, func(c gitstore.TreeChange) bool { return c.Path == j.prefix+protocol.ConfigPath }); i >= 0 && j.config == nil && changes[i].NewOID != "" {
		// The first commit of a project: what it says holds for itself.
		data, err := j.blob(changes[i].NewOID)
		if err != nil {
			return err
		}
		j.config, _, _ = protocol.DecodeConfig(data)
	}
	if j.config == nil {
		return nil // not a governed project, or not yet
	}
	for _, c := range changes {
		if c.Status == 'U' {
			continue // git itself does not commit an unmerged path
		}
		e := edit{TreeChange: c}
		for _, o := range others {
			oid, err := g.oidAt(o, c.Path)
			if err != nil {
				return err
			}
			e.others = append(e.others, oid)
		}
		if err := j.change(e); err != nil {
			return err
		}
	}
	return g.turns(j, changes)
}

// parentsToBe returns the parents the commit will have: HEAD, "" when nothing
// is committed yet, and the heads being merged.
func (g *guarded) parentsToBe() (head gitstore.OID, others []gitstore.OID, err error) {
	out, err := g.repo.Git.Run(g.ctx, nil, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
	switch {
	case err == nil:
		head = gitstore.OID(strings.TrimSpace(string(out)))
	case exitStatus(err) != 1:
		return "", nil, err
	}
	data, err := os.ReadFile(filepath.Join(g.repo.GitDir, "MERGE_HEAD"))
	if errors.Is(err, fs.ErrNotExist) {
		return head, nil, nil
	}
	for line := range strings.Lines(string(data)) {
		if oid := gitstore.OID(strings.TrimSpace(line)); oid.Valid(g.repo.ObjectFormat) {
			others = append(others, oid)
		}
	}
	return head, others, err
}

// oidAt returns the blob a commit has at a path, "" for none.
func (g *guarded) oidAt(commit gitstore.OID, path string) (gitstore.OID, error) {
	data, mode, err := g.repo.FileAt(g.ctx, commit, path)
	if err != nil || data == nil || mode == 0 {
		return "", err
	}
	return gitstore.HashObject(g.repo.ObjectFormat, gitstore.KindBlob, data), nil
}

// turns judges product files by the turns that are under way. A person's own
// commit between turns, or while a turn that may write is under way and has
// declared nothing yet, is nobody's business.
func (g *guarded) turns(j *judge, changes []gitstore.TreeChange) error {
	runs, err := j.recorded()
	if err != nil || len(runs) == 0 {
		return err
	}
	s, err := runs[0].State(j.config)
	if err != nil || s.ActiveTurns.Len() == 0 {
		return err
	}
	x, err := runs[0].Index()
	if err != nil {
		return err
	}
	rules := turnRules{state: s, config: j.config}
	if rules.declared, err = g.declared(j, s); err != nil {
		return err
	}
	for _, c := range changes {
		path, ok := strings.CutPrefix(c.Path, j.prefix)
		if !ok || !protocol.ProjectOwned(path) || path == protocol.ConfigPath {
			continue
		}
		if _, accepted := x.Uncheckpointed.Get(path); accepted {
			continue // work of an accepted turn, on its way into history
		}
		if f := rules.judge(path); f != nil {
			f.Path = c.Path
			g.find(*f)
		}
	}
	return nil
}

// turnRules is what the turns under way allow.
type turnRules struct {
	state    *protocol.State
	config   *protocol.Config
	declared map[string]bool // what the only active turn says it changed; nil when it has not said
}

func (r *turnRules) judge(path string) *Finding {
	var reviewers, proposers, writers []string
	for id, t := range r.state.ActiveTurns.All() {
		if files := conflictFiles(t); slices.Contains(files, path) {
			return &Finding{Rule: RuleParallelConflict, Turn: id, Message: "the turn is in conflict with another one over it",
				Hint: "git agentxchain reject " + id + " --reason TEXT gives the turn again; git agentxchain accept " + id + " --resolution human_merge takes what you merged"}
		}
		role := r.config.Role(t.AssignedRole)
		switch {
		case role == nil:
			writers = append(writers, id) // a role that is gone says nothing
		case role.WriteAuthority == protocol.ReviewOnly:
			reviewers = append(reviewers, id)
		case role.WriteAuthority == protocol.Proposed:
			proposers = append(proposers, id)
		default:
			writers = append(writers, id)
		}
	}
	switch {
	case len(writers) == 0 && protocol.ReviewPath(path):
		return nil
	case len(writers)+len(proposers) == 0:
		return &Finding{Rule: RuleReviewOnly, Turn: reviewers[0], Message: "only a review is under way, and a review changes no product files",
			Hint: "finish the review first: git agentxchain accept; or, if the work is your own: git commit --no-verify"}
	case len(writers) == 0:
		return &Finding{Rule: RuleOutsideScope, Turn: proposers[0], Message: "the turn under way proposes changes and does not make them",
			Hint: "put it under proposed_changes of the turn's result; or, if the work is your own: git commit --no-verify"}
	case r.declared != nil && !r.declared[path]:
		return &Finding{Rule: RuleOutsideScope, Turn: writers[0], Message: "the turn's staged result does not declare it",
			Hint: "add it to files_changed of the result; or, if the work is your own: git commit --no-verify"}
	}
	return nil
}

// conflictFiles are the files two turns are in conflict over.
func conflictFiles(t *protocol.Turn) []string {
	return t.ConflictState.Object("conflict_error").Strings("conflicting_files")
}

// declared returns what the only active turn's staged result declares, nil when
// there are several turns or nothing is staged yet. The staged result is the
// turn's own word and no part of the work.
func (g *guarded) declared(j *judge, s *protocol.State) (map[string]bool, error) {
	turn := s.OnlyTurn()
	if turn == nil || g.repo.TopLevel == "" {
		return nil, nil
	}
	root, err := os.OpenRoot(filepath.Join(g.repo.TopLevel, filepath.FromSlash(j.prefix)))
	if err != nil {
		return nil, nil
	}
	defer func() { _ = root.Close() }()
	for _, name := range []string{protocol.StagingPath(turn.TurnID), protocol.FlatStagingPath} {
		data, err := readBounded(root, name, protocol.MaxStagedBytes)
		if err != nil || data == nil {
			continue
		}
		doc, refusal := protocol.DecodeStaged(name, data)
		if refusal != nil || doc.String("turn_id") != turn.TurnID {
			continue
		}
		out := make(map[string]bool)
		for _, p := range append(doc.Strings("files_changed"), producedFiles(doc.Object("verification"))...) {
			if clean, problem := protocol.CleanPath(p); problem == "" {
				out[clean] = true
			}
		}
		return out, nil
	}
	return nil, nil
}

// readBounded reads a regular file below root; nil when there is none.
func readBounded(root *os.Root, name string, limit int64) ([]byte, error) {
	info, err := root.Lstat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > limit {
		return nil, nil
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return io.ReadAll(io.LimitReader(f, limit))
}

// producedFiles are the by-products a result wants kept.
func producedFiles(verification *ojson.Object) []string {
	var out []string
	for _, f := range verification.Objects("produced_files") {
		out = append(out, f.String("path"))
	}
	return out
}
