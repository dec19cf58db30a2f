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

	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/history"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// preCommit judges what is staged and ignores the work tree. It reports early, and in words, what the hard stop
// would report later, and also what only an index can show: whose turn it is and what that turn may touch.
func (g *guarded) preCommit() error {
	// Reading the index takes git longest, so the rest is asked for concurrently.
	var head object.OID
	var others []object.OID
	var runs []*chain.RunRecord
	var errHead, errRuns error
	var beside sync.WaitGroup
	beside.Go(func() { head, others, errHead = g.parentsToBe() })
	beside.Go(func() { runs, errRuns = chain.RunRecords(g.ctx, g.repo) })
	changes, err := history.StagedChanges(g.ctx, g.repo, "HEAD")
	beside.Wait()
	if errHead == nil && head == "" {
		changes, err = history.StagedChanges(g.ctx, g.repo, "") // nothing is committed yet
	}
	if err = cmp.Or(errHead, errRuns, err); err != nil || len(changes) == 0 {
		return err
	}
	prefixes, err := g.prefixes()
	if err != nil {
		return err
	}
	w := &witness{g: g}
	w.see(runs)
	for _, prefix := range prefixes {
		j := &judge{ctx: g.ctx, repo: g.repo, prefix: prefix, report: g.find, witness: w.of(prefix)}
		if err := g.staged(j, changes, head, others); err != nil {
			return err
		}
	}
	return nil
}

func (g *guarded) staged(j *judge, changes []history.TreeChange, head object.OID, others []object.OID) error {
	v := newGovernance(g.ctx, g.repo, j.prefix)
	c := newCommit{parents: others, ignores: func() ([]byte, error) {
		return g.stagedFile(changes, head, j.prefix+".gitignore")
	}}
	if head != "" {
		c.parents = append([]object.OID{head}, others...)
		var err error
		if c.config, err = v.entry(head); err != nil {
			return err
		}
	}
	if i := slices.IndexFunc(changes, func(c history.TreeChange) bool { return c.Path == v.path }); i >= 0 {
		c.config = entry{changes[i].NewOID, changes[i].NewMode}
	}
	if _, err := j.govern(v, c, false); err != nil {
		return err
	}
	var edits []edit
	for _, ch := range changes {
		if ch.Status == 'U' {
			continue // git itself refuses to commit an unmerged path
		}
		e := edit{TreeChange: ch}
		for _, o := range others {
			oid, _, err := chain.EntryAt(g.ctx, g.repo, o, ch.Path)
			if err != nil {
				return err
			}
			e.others = append(e.others, oid)
		}
		edits = append(edits, e)
	}
	j.arrivals = arrivals(j.prefix, edits)
	for _, e := range edits {
		if err := j.change(e); err != nil {
			return err
		}
	}
	if j.config == nil {
		return nil // not a governed project, or not yet
	}
	return g.turns(j, changes)
}

// stagedFile reads a file as staged, from the differences between index and HEAD.
func (g *guarded) stagedFile(changes []history.TreeChange, head object.OID, path string) ([]byte, error) {
	if i := slices.IndexFunc(changes, func(c history.TreeChange) bool { return c.Path == path }); i >= 0 {
		if changes[i].NewOID == "" {
			return nil, nil
		}
		_, data, err := g.repo.Objects().Read(g.ctx, changes[i].NewOID)
		return data, err
	}
	if head == "" {
		return nil, nil
	}
	data, _, err := chain.FileAt(g.ctx, g.repo, head, path)
	return data, err
}

// parentsToBe returns the parents of the coming commit: HEAD, "" before the first commit, and the heads being
// merged.
func (g *guarded) parentsToBe() (head object.OID, others []object.OID, err error) {
	out, err := g.repo.Git.Run(g.ctx, nil, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
	switch {
	case err == nil:
		head = object.OID(strings.TrimSpace(string(out)))
	case git.ExitCode(err) != 1:
		return "", nil, err
	}
	data, err := os.ReadFile(filepath.Join(g.repo.GitDir, "MERGE_HEAD"))
	if errors.Is(err, fs.ErrNotExist) {
		return head, nil, nil
	}
	for line := range strings.Lines(string(data)) {
		if oid := object.OID(strings.TrimSpace(line)); oid.Valid(g.repo.ObjectFormat) {
			others = append(others, oid)
		}
	}
	return head, others, err
}

// turns checks product files against the active turns. A person's own commit between turns, or while a writing turn
// is active and has declared nothing yet, is not checked.
func (g *guarded) turns(j *judge, changes []history.TreeChange) error {
	here, err := g.runHere(j.witness, j.prefix)
	if err != nil || here == nil {
		return err
	}
	s, err := here.State(j.config)
	if err != nil || s.ActiveTurns.Len() == 0 {
		return err
	}
	x, err := here.Index()
	if err != nil {
		return err
	}
	rules := turnRules{state: s, config: j.config}
	if rules.declared, err = g.declared(j.prefix, s); err != nil {
		return err
	}
	for _, c := range changes {
		path, ok := strings.CutPrefix(c.Path, j.prefix)
		if !ok || !wire.ProjectOwned(path) || path == wire.ConfigPath || g.nested(j.prefix, c.Path) {
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

// nested reports whether a path belongs to a guarded project below that with the prefix: the turns of that one say what
// they may touch there.
func (g *guarded) nested(prefix, path string) bool {
	return slices.ContainsFunc(g.projects, func(p string) bool {
		return len(p) > len(prefix) && strings.HasPrefix(p, prefix) && strings.HasPrefix(path, p)
	})
}

// runHere returns the run whose turns work in this work tree, or nil: another work tree, or another project in the
// repository, has its own run. The state in the work tree only names one of the recorded runs. Without a readable
// state, a main work tree has the run that moved last: removing the file disables nothing.
func (g *guarded) runHere(w *witness, prefix string) (*chain.RunRecord, error) {
	runs, err := w.list()
	if err != nil || len(runs) == 0 || g.repo.TopLevel == "" {
		return nil, err
	}
	root, err := os.OpenRoot(filepath.Join(g.repo.TopLevel, filepath.FromSlash(prefix)))
	if err != nil {
		return nil, nil
	}
	defer func() { _ = root.Close() }()
	data, err := readBounded(root, string(wire.DocState), object.MaxSize)
	if err != nil {
		return nil, err
	}
	state, err := ojson.DecodeObject(data)
	if err != nil {
		if g.repo.GitDir != g.repo.CommonDir {
			return nil, nil
		}
		return runs[0], nil
	}
	if i := slices.IndexFunc(runs, func(r *chain.RunRecord) bool { return r.Run == state.String("run_id") }); i >= 0 {
		return runs[i], nil
	}
	return nil, nil
}

// turnRules is what the active turns allow.
type turnRules struct {
	state    *run.State
	config   *config.Config
	declared map[string]bool // what the only active turn declares; nil when it has not declared yet
}

func (r *turnRules) judge(path string) *Finding {
	var reviewers, proposers, writers []string
	for id, t := range r.state.ActiveTurns.All() {
		if files := conflictFiles(t); slices.Contains(files, path) {
			return &Finding{
				Rule:    RuleParallelConflict,
				Turn:    id,
				Message: "the turn is in conflict with another one over it",
				Hint: "git agentxchain reject " + id +
					" --reason TEXT gives the turn again; git agentxchain accept " + id +
					" --resolution human_merge takes what you merged",
			}
		}
		role := r.config.Role(t.AssignedRole)
		switch {
		case role == nil:
			writers = append(writers, id) // a removed role has no say
		case role.WriteAuthority == wire.ReviewOnly:
			reviewers = append(reviewers, id)
		case role.WriteAuthority == wire.Proposed:
			proposers = append(proposers, id)
		default:
			writers = append(writers, id)
		}
	}
	switch {
	case len(writers) == 0 && wire.ReviewPath(path):
		return nil
	case len(writers)+len(proposers) == 0:
		return &Finding{
			Rule:    RuleReviewOnly,
			Turn:    reviewers[0],
			Message: "only a review is under way, and a review changes no product files",
			Hint:    "finish the review first: git agentxchain accept; or, if the work is your own: git commit --no-verify",
		}
	case len(writers) == 0:
		return &Finding{
			Rule:    RuleOutsideScope,
			Turn:    proposers[0],
			Message: "the turn under way proposes changes and does not make them",
			Hint:    "put it under proposed_changes of the turn's result; or, if the work is your own: git commit --no-verify",
		}
	case r.declared != nil && !r.declared[path]:
		return &Finding{
			Rule:    RuleOutsideScope,
			Turn:    writers[0],
			Message: "the turn's staged result does not declare it",
			Hint:    "add it to files_changed of the result; or, if the work is your own: git commit --no-verify",
		}
	}
	return nil
}

// conflictFiles returns the files over which two turns are in conflict.
func conflictFiles(t *run.Turn) []string {
	return t.ConflictState.Object("conflict_error").Strings("conflicting_files")
}

// declared returns the files that the only active turn's staged result declares, nil when several turns are active
// or nothing is staged yet. The staged result is the turn's own word and not part of the work.
func (g *guarded) declared(prefix string, s *run.State) (map[string]bool, error) {
	turn := s.OnlyTurn()
	if turn == nil || g.repo.TopLevel == "" {
		return nil, nil
	}
	root, err := os.OpenRoot(filepath.Join(g.repo.TopLevel, filepath.FromSlash(prefix)))
	if err != nil {
		return nil, nil
	}
	defer func() { _ = root.Close() }()
	for _, name := range []string{wire.StagingPath(turn.TurnID), wire.FlatStagingPath} {
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
			if clean, problem := wire.CleanPath(p); problem == "" {
				out[clean] = true
			}
		}
		return out, nil
	}
	return nil, nil
}

// readBounded reads a regular file below root; nil when it does not exist.
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

// producedFiles returns the by-products that a result wants kept.
func producedFiles(verification *ojson.Object) []string {
	var out []string
	for _, f := range verification.Objects("produced_files") {
		out = append(out, f.String("path"))
	}
	return out
}
