// The trailers that say to which turn a commit belongs.

package githooks

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/history"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Trailers of a commit with the work of a turn.
const (
	TrailerRun  = "Agentxchain-Run"
	TrailerTurn = "Agentxchain-Turn"
	TrailerRole = "Agentxchain-Role"
)

// turnMarker is the variable that names a dispatched program's turn.
const turnMarker = "AGENTXCHAIN_TURN_ID"

// owner is the turn to which a commit belongs.
type owner struct{ run, turn, role string }

func (o owner) trailers() []string {
	return []string{TrailerRun + ": " + o.run, TrailerTurn + ": " + o.turn, TrailerRole + ": " + o.role}
}

// prepareCommitMsg adds the trailers when it is certain whose work is staged. It leaves a message with any of them,
// a merge and a squash alone: those already have their message.
func (g *guarded) prepareCommitMsg() error {
	if len(g.inv.Args) == 0 {
		return refuse(wire.CodeInvalidArgument, "git named no file with the message")
	}
	switch g.messageSource() {
	case "merge", "squash", "commit":
		return nil
	}
	path := g.messagePath()
	text, err := os.ReadFile(path)
	if err != nil {
		return refuse(CodeHooksUnreadable, "the commit message cannot be read: %v", err)
	}
	if mentionsTrailer(text) {
		return nil
	}
	o, err := g.owner()
	if err != nil || o == nil {
		return err
	}
	args := []string{"interpret-trailers", "--in-place", "--no-divider"}
	for _, t := range o.trailers() {
		args = append(args, "--trailer", t)
	}
	_, err = g.repo.Git.Run(g.ctx, nil, append(args, path)...)
	return err
}

// messageSource returns git's source of the message, "" when it is new. The pre-commit framework passes only the
// file, and the rest in the environment.
func (g *guarded) messageSource() string {
	if len(g.inv.Args) > 1 {
		return g.inv.Args[1]
	}
	return g.inv.Getenv("PRE_COMMIT_COMMIT_MSG_SOURCE")
}

func (g *guarded) messagePath() string {
	path := g.inv.Args[0]
	if !filepath.IsAbs(path) {
		path = filepath.Join(g.inv.Dir, path)
	}
	return path
}

func mentionsTrailer(text []byte) bool {
	return bytes.Contains(bytes.ToLower(text), []byte("agentxchain-"))
}

// owner returns the turn whose work is staged, nil when that is uncertain: the turn for which this process was
// dispatched; the only active turn, when its staged result declares every staged file; or the accepted turn whose
// uncommitted files are staged. Where several projects are guarded, it is the one turn that one of them names.
func (g *guarded) owner() (*owner, error) {
	prefixes, err := g.prefixes()
	if err != nil {
		return nil, err
	}
	head, _, err := g.parentsToBe()
	if err != nil {
		return nil, err
	}
	var found *owner
	w := &witness{g: g}
	for _, prefix := range prefixes {
		o, err := g.ownerIn(prefix, head, w.of(prefix))
		if err != nil || o != nil && found != nil {
			return nil, err
		}
		if o != nil {
			found = o
		}
	}
	return found, nil
}

func (g *guarded) ownerIn(prefix string, head object.OID, w *witness) (*owner, error) {
	here, err := g.runHere(w, prefix)
	if err != nil || here == nil {
		return nil, err
	}
	rules, err := newGovernance(g.ctx, g.repo, prefix).of(head)
	if err != nil || rules == nil {
		return nil, err
	}
	s, err := here.State(rules.config)
	if err != nil {
		return nil, err
	}
	if id := g.inv.Getenv(turnMarker); id != "" {
		t, ok := s.ActiveTurns.Get(id)
		if !ok {
			return nil, nil
		}
		return &owner{s.Run(), id, t.AssignedRole}, nil
	}
	changes, err := history.StagedChanges(g.ctx, g.repo, string(head))
	if err != nil || len(changes) == 0 {
		return nil, err
	}
	var paths []string
	for _, c := range changes {
		p, ok := strings.CutPrefix(c.Path, prefix)
		if !ok {
			return nil, nil // work outside the project is not a turn's
		}
		if wire.ProjectOwned(p) {
			paths = append(paths, p)
		}
	}
	if len(paths) == 0 {
		return nil, nil
	}
	declared, err := g.declared(prefix, s)
	if err != nil {
		return nil, err
	}
	if t := s.OnlyTurn(); t != nil && declared != nil &&
		!slices.ContainsFunc(paths, func(p string) bool { return !declared[p] }) {
		return &owner{s.Run(), t.TurnID, t.AssignedRole}, nil
	}
	return g.acceptedOwner(here, paths)
}

// acceptedOwner returns the one accepted turn for which all paths wait.
func (g *guarded) acceptedOwner(r *chain.RunRecord, paths []string) (*owner, error) {
	x, err := r.Index()
	if err != nil {
		return nil, err
	}
	turn := ""
	for _, p := range paths {
		t, ok := x.Uncheckpointed.Get(p)
		if !ok || turn != "" && t != turn {
			return nil, nil
		}
		turn = t
	}
	row, err := acceptedRow(r, turn)
	if err != nil || row == nil {
		return nil, err
	}
	return &owner{r.Run, turn, row.String("role")}, nil
}

// acceptedRow finds the history row of an accepted turn in a run, or nil.
func acceptedRow(r *chain.RunRecord, turn string) (*ojson.Object, error) {
	data, err := r.Ledger(wire.LedgerHistory)
	if err != nil {
		return nil, err
	}
	for end := len(data); end > 0; {
		i := bytes.LastIndexByte(data[:end-1], '\n') + 1
		line := data[i:end]
		end = i
		if !bytes.Contains(line, []byte(turn)) {
			continue
		}
		row, err := ojson.DecodeObject(bytes.TrimSuffix(line, []byte{'\n'}))
		if err == nil && row.String("turn_id") == turn && row.String("status") != run.HistoryReissued {
			return row, nil
		}
	}
	return nil, nil
}

// commitMsg refuses trailers that name what did not happen.
func (g *guarded) commitMsg() error {
	if len(g.inv.Args) == 0 {
		return refuse(wire.CodeInvalidArgument, "git named no file with the message")
	}
	text, err := os.ReadFile(g.messagePath())
	if err != nil {
		return refuse(CodeHooksUnreadable, "the commit message cannot be read: %v", err)
	}
	if !mentionsTrailer(text) {
		return nil
	}
	out, err := g.trailersOf(text)
	if err != nil {
		return err
	}
	t, bad := readTrailers(out)
	for _, f := range bad {
		g.find(f)
	}
	if len(bad) > 0 || t.empty() {
		return nil
	}
	var runs []*chain.RunRecord
	for r, err := range (&witness{g: g}).proven() {
		if err != nil {
			return err
		}
		runs = append(runs, r)
	}
	found, err := checkTrailers(t, runs)
	for _, f := range found {
		g.find(f)
	}
	return err
}

// trailers are the values in a message, in order.
type trailers struct{ runs, turns, roles []string }

func (t trailers) empty() bool { return len(t.runs)+len(t.turns)+len(t.roles) == 0 }

// readTrailers selects our trailers from those of a message, which git has separated but not unfolded.
func readTrailers(text string) (t trailers, bad []Finding) {
	forged := func(key, format string, args ...any) { bad = append(bad, forgedTrailer(key, format, args...)) }
	ours := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if line != "" && (line[0] == ' ' || line[0] == '\t') {
			if ours != "" {
				forged(ours, "its value continues over several lines")
			}
			continue
		}
		key, value, _ := strings.Cut(line, ":")
		key, value, ours = strings.TrimSpace(key), strings.TrimSpace(value), ""
		for _, k := range []struct {
			name string
			to   *[]string
		}{{TrailerRun, &t.runs}, {TrailerTurn, &t.turns}, {TrailerRole, &t.roles}} {
			if !strings.EqualFold(key, k.name) {
				continue
			}
			ours = k.name
			switch {
			case value == "" || strings.ContainsFunc(value, func(r rune) bool { return r <= ' ' || r == 0x7f }) ||
				len(value) > 200:
				forged(ours, "%q is not a valid name for one", clip(value))
			case !slices.Contains(*k.to, value):
				*k.to = append(*k.to, value)
			}
		}
	}
	return t, bad
}

func forgedTrailer(key, format string, args ...any) Finding {
	return Finding{
		Rule:    RuleForgedTrailer,
		Path:    key,
		Message: fmt.Sprintf(format, args...),
		Hint:    trailerHint,
	}
}

const trailerHint = "leave the trailer out; the hook adds what is true, and git agentxchain checkpoint commits a turn's files with it"

// checkTrailers checks the trailers against the runs. A message may name several turns, as a squash's does.
func checkTrailers(t trailers, runs []*chain.RunRecord) (found []Finding, err error) {
	forged := func(key, format string, args ...any) { found = append(found, forgedTrailer(key, format, args...)) }
	var owners []owner
	for _, turn := range t.turns {
		o, err := findTurn(turn, t.runs, runs)
		if err != nil {
			return nil, err
		}
		if o == nil {
			forged(TrailerTurn, "no run here has accepted or given the turn %s", turn)
			continue
		}
		owners = append(owners, *o)
	}
	if len(t.turns) == 0 {
		forged(TrailerTurn, "it is missing beside the other trailers")
	}
	if len(owners) < len(t.turns) || len(t.turns) == 0 {
		return found, nil
	}
	for _, o := range owners {
		if len(t.roles) > 0 && !slices.Contains(t.roles, o.role) {
			forged(TrailerRole, "the turn %s is of the role %s", o.turn, o.role)
		}
		if len(t.runs) > 0 && !slices.Contains(t.runs, o.run) {
			forged(TrailerRun, "the turn %s is of %s", o.turn, o.run)
		}
	}
	for _, r := range t.roles {
		if !slices.ContainsFunc(owners, func(o owner) bool { return o.role == r }) {
			forged(TrailerRole, "none of the turns named is of the role %s", r)
		}
	}
	for _, r := range t.runs {
		if !slices.ContainsFunc(owners, func(o owner) bool { return o.run == r }) {
			forged(TrailerRun, "none of the turns named is of %s", r)
		}
	}
	return found, nil
}

// findTurn looks for a turn among the active ones and in history, first in the named runs.
func findTurn(turn string, named []string, runs []*chain.RunRecord) (*owner, error) {
	ordered := slices.Clone(runs)
	slices.SortStableFunc(ordered, func(a, b *chain.RunRecord) int {
		return boolInt(slices.Contains(named, b.Run)) - boolInt(slices.Contains(named, a.Run))
	})
	for _, r := range ordered[:min(len(ordered), maxRuns)] {
		s, err := r.State(nil)
		if err != nil {
			return nil, err
		}
		if t, ok := s.ActiveTurns.Get(turn); ok {
			return &owner{s.Run(), turn, t.AssignedRole}, nil
		}
		row, err := acceptedRow(r, turn)
		if err != nil {
			return nil, err
		}
		if row != nil {
			run := row.String("run_id")
			if run == "" {
				run = r.Run
			}
			return &owner{run, turn, row.String("role")}, nil
		}
	}
	return nil, nil
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// clip shortens a value for a message.
func clip(s string) string { return text.Clip(s, 80) }
