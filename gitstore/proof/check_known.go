// Fsck of what should be there: claims that no person has confirmed, and runs that the project knows about and this
// clone lacks.

package proof

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/archive"
	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/history"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/gitstore/transport"
	"github.com/git-agentxchain/git-agentxchain/gitstore/workdir"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Finding codes.
const (
	// something rests on a step that cannot be replayed and that no person has confirmed
	FindUnconfirmed = "gate_unconfirmed"
	FindMissing     = "run_missing"      // the project knows about a run that is not here
	FindUnfetched   = "runs_not_fetched" // there is no record here, and a remote was never asked for its runs
)

// conclude judges a chain as a whole once its operations are checked.
func (f *checker) conclude(run string, ops []chain.OpInfo) {
	open := f.fold(ops, nil)
	for _, c := range open {
		f.find(Finding{
			Code: FindUnconfirmed,
			Run:  run,
			Op:   c.Op,
			Message: "it says: " + c.String() +
				"; another tool or a restore did that, it cannot be applied again, and no person has confirmed it",
			Repair: f.inClone("look at it with git agentxchain confirm --show; git agentxchain confirm answers for it"),
			Note:   !f.opt.Replay,
		})
	}
	// A problem at an operation is repaired by going back to the operation before, never by accepting the ref as it
	// is.
	v := &Verdict{Run: run}
	f.mu.Lock()
	defer f.mu.Unlock()
	var at []*Finding // at an operation
	for _, i := range f.of[run] {
		if x := &f.report.Findings[i]; x.Op != "" && !x.Note && x.Code != FindUnconfirmed {
			at = append(at, x)
			v.Findings = append(v.Findings, *x)
		}
	}
	v.sortFindings(ops)
	for _, x := range at {
		switch {
		case x.Repair != "" && x.Repair != record.RepairHint:
		case v.Good == "":
			x.Repair = fetchRun
		case f.bare():
			x.Repair = goBack(run, v.Good, ops[len(ops)-1].Op)
		default:
			x.Repair = fmt.Sprintf("git agentxchain repair --from-op %s --run %s", v.Good.Short(), run)
		}
	}
}

// maxTrailerCommits bounds how far back the project's own history is searched for
// runs it names.
const maxTrailerCommits = 20000

// known looks for runs that should be here. The checked runs tell which rows came from another tool, so with a
// single run only its own rows and the commits count.
func (f *checker) known() error {
	have, err := chain.Runs(f.ctx, f.repo)
	if err != nil {
		return err
	}
	past, err := f.past()
	if err != nil {
		return err
	}
	have = append(have, past...)
	// A conflict keeps an operation that lost when two sides were joined, or that both sides had.
	lost, err := f.repo.Tips(f.ctx, record.ConflictRefPrefix)
	if err != nil {
		return err
	}
	for name, tip := range lost {
		have = append(have, git.Ref{Name: record.ConflictRefPrefix + name, OID: tip})
	}
	return f.missing(have)
}

// missing finds the runs that the project knows about and that have no ref here.
func (f *checker) missing(have []git.Ref) error {
	known := make(map[string]string) // run -> where it is named
	note := func(run, where string) {
		if git.BadRunID(run) == "" && known[run] == "" {
			known[run] = where
		}
	}
	if !f.bare() {
		note(f.tree.SeenRun(), string(wire.DocState)) // the next command records a run that another tool began
	}
	if err := f.namedInCommits(note); err != nil {
		return err
	}
	f.namedInLedgers(note)
	if err := f.namedAsSeen(note); err != nil {
		return err
	}
	for _, ref := range have {
		delete(known, strings.TrimPrefix(ref.Name, git.RunRefPrefix))
	}
	// An archived run is where the list says; a command that names it fetches it.
	archived, err := archive.ReadAll(f.ctx, f.repo, archive.ListPrefix)
	if err != nil {
		return err
	}
	if f.bare() {
		f.unkept(archived, have)
	}
	held := make(map[object.OID]bool, len(archived)+len(have))
	for run, e := range archived {
		delete(known, run)
		held[object.OID(e.Op)] = true
	}
	for _, ref := range have {
		held[ref.OID] = true
	}
	f.mu.Lock()
	elsewhere := maps.Clone(f.elsewhere)
	previous := maps.Clone(f.previous)
	f.mu.Unlock()
	// Most runs end at the operation that the next one names.
	maps.DeleteFunc(previous, func(op object.OID, _ string) bool { return held[op] })
	if len(previous) > 0 {
		if held, err = f.kept(have); err != nil {
			return err
		}
	}
	for _, op := range slices.Sorted(maps.Keys(previous)) {
		if !held[op] {
			f.absent("",
				fmt.Sprintf("run %s names operation %s as the last one of the run before it, and no run here holds that", previous[op], op.Short()))
		}
	}
	here := "this clone"
	if f.bare() {
		here = "this repository"
	}
	for _, run := range slices.Sorted(maps.Keys(known)) {
		if !elsewhere[run] {
			f.absent(run, fmt.Sprintf("run %s is named by %s, and has no record in %s", run, known[run], here))
		}
	}
	return nil
}

func (f *checker) absent(run, message string) {
	if !f.bare() && run != "" {
		if f.back == nil {
			f.back = f.tree.BringBack(f.ctx)
		}
		if back := f.back(run); back != "" {
			f.find(Finding{Code: FindMissing, Run: run, Message: message, Repair: back, Note: !f.opt.Replay})
			return
		}
	}
	switch {
	case f.bring != "":
	case f.bare():
		f.bring = "git agentxchain sync --forget RUN in a clone that has it; git agentxchain fsck --against there names what is lost"
	default:
		f.bring = "git fetch REMOTE '" + git.RunRefPrefix + "*:" + git.RunRefPrefix +
			"*', from a clone or server that has it"
		if out, err := f.repo.Git.Run(f.ctx, nil, "remote"); err == nil {
			if name, _, _ := strings.Cut(string(out), "\n"); name != "" {
				f.bring = "git agentxchain sync " + wire.ShellWord(name) + ", or another remote that has it"
			}
		}
	}
	f.find(Finding{
		Code:    FindMissing,
		Run:     run,
		Message: message,
		Repair:  f.bring,
		Note:    !f.opt.Replay,
	})
}

// unfetched keeps a clone without any record from passing as one in which nothing is wrong.
func (f *checker) unfetched() error {
	if f.bare() {
		return nil // a mirror chooses which of its remotes' refs it fetches
	}
	run, remote, err := transport.Elsewhere(f.ctx, f.repo, nil)
	if err != nil || remote == "" {
		return err
	}
	v := Finding{
		Code:    FindMissing,
		Run:     run,
		Message: text.OneLine(remote) + " has run " + run + ", and there is no record of any run in this clone",
		Repair:  "git agentxchain sync " + wire.ShellWord(remote),
	}
	if run == "" {
		v.Code, v.Note = FindUnfetched, !f.opt.Replay
		v.Message = "there is no record of any run in this clone, and the runs of " + text.OneLine(remote) +
			" were never fetched"
	}
	f.find(v)
	return nil
}

// kept returns the operations that refs lead to, and those that were decided again when two sides of a run were
// joined: each is kept by its successor. It reads each once, however many refs lead to it.
func (f *checker) kept(have []git.Ref) (map[object.OID]bool, error) {
	r := record.NewReader(f.ctx, f.repo)
	ends := history.ShallowCommits(f.repo)
	out, origins := make(map[object.OID]bool), make(map[object.OID]bool)
	for _, ref := range have {
		for todo := []object.OID{ref.OID}; len(todo) > 0; {
			op := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			if out[op] {
				continue
			}
			c, err := r.Commit(op)
			if err != nil {
				if _, err := Blame(f.ctx, err); err != nil {
					return nil, err
				}
				continue // unreadable operations are among the findings
			}
			out[op] = true
			if origin := record.Trailer(c.Message, record.TrailerOrigin); origin != "" {
				origins[object.OID(origin)] = true
			}
			if !ends[op] {
				todo = append(todo, c.Parents...)
			}
		}
	}
	maps.Copy(out, origins)
	return out, nil
}

// namedInCommits notes the runs named in trailers of the project's commits.
func (f *checker) namedInCommits(note func(run, where string)) error {
	from := "HEAD"
	if f.bare() {
		from = "--branches" // HEAD may lead nowhere on a server
	}
	out, err := f.repo.Git.Run(f.ctx, nil, "log", "-z", "--no-show-signature", "--no-color", "--no-decorate",
		fmt.Sprintf("--max-count=%d", maxTrailerCommits), "--grep=^"+record.TrailerRun+": ",
		"--format=tformat:%h%x1f%(trailers:key="+record.TrailerRun+",valueonly,separator=%x1f)", from, "--")
	if err != nil {
		if f.ctx.Err() != nil {
			return context.Cause(f.ctx)
		}
		return nil // no commit yet
	}
	for entry := range bytes.SplitSeq(out, []byte{0}) {
		commit, rest, _ := strings.Cut(string(entry), "\x1f")
		for run := range strings.SplitSeq(rest, "\x1f") {
			if run = strings.TrimSpace(run); run != "" {
				note(run, "commit "+commit)
			}
		}
	}
	return nil
}

// namedAsSeen notes the runs that this clone has seen on remotes.
func (f *checker) namedAsSeen(note func(run, where string)) error {
	seen, err := f.repo.Tips(f.ctx, record.SeenRefPrefix)
	for name := range seen {
		remote, run := path.Split(name)
		if dir := path.Base(remote); dir != "archive" && dir != "archive-list" {
			note(run, "what was seen on "+text.OneLine(path.Clean(remote)))
		}
	}
	return err
}

// namedInLedgers notes the runs named by rows, in working files and in committed ones.
func (f *checker) namedInLedgers(note func(run, where string)) {
	rows := func(data []byte, where string) {
		for l := range record.RowsOf(data) {
			if run := l.Row.String("run_id"); run != "" {
				note(run, where)
			}
		}
	}
	repo := f.repo
	head, err := repo.Git.Run(f.ctx, nil, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
	for _, l := range []wire.Ledger{wire.LedgerRunHistory, wire.LedgerHistory} {
		if !f.bare() {
			if data, _, ok, err := f.tree.Work().Read(l.Path(), workdir.MaxLedger); err == nil && ok {
				rows(data, l.Path())
			}
		}
		if err == nil {
			if data, _, err := chain.FileAt(f.ctx, repo, object.OID(bytes.TrimSpace(head)),
				f.repo.Prefix+l.Path()); err == nil {
				rows(data, "the committed "+l.Path())
			}
		}
	}
	if err != nil {
		return
	}
	if data, _, err := chain.FileAt(f.ctx, repo, object.OID(bytes.TrimSpace(head)),
		f.repo.Prefix+string(wire.DocState)); err == nil && data != nil {
		if o, err := ojson.DecodeObject(data); err == nil {
			note(o.String("run_id"), "the committed "+string(wire.DocState))
		}
	}
}

// heardOf notes runs whose rows came with another tool's operation, or were there before anything was recorded:
// they need not have a record.
func (f *checker) heardOf(rows []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.elsewhere == nil {
		f.elsewhere = make(map[string]bool)
	}
	for l := range record.RowsOf(rows) {
		if run := l.Row.String("run_id"); run != "" {
			f.elsewhere[run] = true
		}
	}
}

// heritage notes what a run's first operation says about earlier runs.
func (f *checker) heritage(r *record.Reader, op chain.OpInfo) error {
	if op.Previous != "" {
		f.mu.Lock()
		if f.previous == nil {
			f.previous = make(map[object.OID]string)
		}
		f.previous[op.Previous] = op.Run
		f.mu.Unlock()
		return nil
	}
	return f.heardIn(r, op.Tree)
}

// heardIn is heardOf for the ledgers of a run's first operation. They begin with those of the run before, so each
// segment is read once.
func (f *checker) heardIn(r *record.Reader, tree object.OID) error {
	for _, l := range []wire.Ledger{wire.LedgerRunHistory, wire.LedgerHistory} {
		if _, err := f.heard.segments(r, tree, l, func(data []byte) bool {
			f.heardOf(data)
			return true
		}); err != nil {
			return err
		}
	}
	return nil
}
