// Fsck of what should be there: claims that no person has confirmed, and runs that
// the project knows of and this clone does not have.

package gitstore

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Finding codes.
const (
	FindUnconfirmed = "gate_unconfirmed" // something rests on a step that cannot be applied again and no person confirmed
	FindMissing     = "run_missing"      // the project knows of a run that is not here
)

// conclude judges a chain as a whole once its operations are checked.
func (f *fsck) conclude(run string, ops []OpInfo) {
	open := f.fold(ops, nil)
	for _, c := range open {
		f.find(Finding{
			Code:    FindUnconfirmed,
			Run:     run,
			Op:      c.Op,
			Message: "it says: " + c.String() + "; another tool or a restore did that, it cannot be applied again, and no person has confirmed it",
			Repair:  "look at it with git agentxchain confirm --show; git agentxchain confirm answers for it",
			Note:    !f.opt.Replay,
		})
	}
	// What goes wrong at an operation is mended by going back to the one before it,
	// never by taking the ref as it is.
	v := &Verdict{Run: run}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, x := range f.report.Findings {
		if x.Run == run && x.Op != "" && !x.Note && x.Code != FindUnconfirmed {
			v.Findings = append(v.Findings, x)
		}
	}
	v.sortFindings(ops)
	if v.Good == "" {
		return
	}
	for i := range f.report.Findings {
		if x := &f.report.Findings[i]; x.Run == run && x.Op != "" && !x.Note && (x.Repair == "" || x.Repair == repairHint) && x.Code != FindUnconfirmed {
			x.Repair = fmt.Sprintf("git agentxchain repair --from-op %s --run %s", v.Good.Short(), run)
		}
	}
}

// maxTrailerCommits bounds how far back the project's own history is searched for
// runs it names.
const maxTrailerCommits = 20000

// known looks for runs that should be here. Which rows came from another tool is told
// by the runs that were checked, so with a single run only what it and the commits
// say counts.
func (f *fsck) known() error {
	have, err := f.s.Runs(f.ctx)
	if err != nil {
		return err
	}
	past, err := f.past()
	if err != nil {
		return err
	}
	have = append(have, past...)
	// An operation that lost when two sides were joined is kept by its conflict.
	lost, err := f.s.tips(f.ctx, ConflictRefPrefix)
	if err != nil {
		return err
	}
	for name, tip := range lost {
		have = append(have, git.Ref{Name: ConflictRefPrefix + name, OID: tip})
	}
	return f.missing(have)
}

// missing names the runs that the project knows of and that have no ref here.
func (f *fsck) missing(have []git.Ref) error {
	known := make(map[string]string) // run -> where it is named
	note := func(run, where string) {
		if git.BadRunID(run) == "" && known[run] == "" {
			known[run] = where
		}
	}
	s := f.s
	if data, _, ok, err := s.work.read(string(wire.DocState), maxDocument); err == nil {
		if run, err := runOf(document{data, ok}); err == nil && run != "" {
			// One that another tool began is recorded by the next command.
			if c := s.readCache(); c != nil && c.Run == run {
				note(run, string(wire.DocState))
			}
		}
	}
	if err := f.namedInCommits(note); err != nil {
		return err
	}
	f.namedInLedgers(note)
	for _, ref := range have {
		delete(known, strings.TrimPrefix(ref.Name, git.RunRefPrefix))
	}
	// An archived run is where the list says; a command that names it fetches it.
	archived, err := s.ArchiveList(f.ctx)
	if err != nil {
		return err
	}
	ends := make(map[git.OID]bool, len(archived))
	for run, e := range archived {
		delete(known, run)
		ends[git.OID(e.Op)] = true
	}
	f.mu.Lock()
	elsewhere := maps.Clone(f.elsewhere)
	previous := maps.Clone(f.previous)
	f.mu.Unlock()
	for op, run := range previous {
		if !ends[op] && !slices.ContainsFunc(have, func(r git.Ref) bool { return f.leadsTo(r.OID, op) }) {
			f.absent("", fmt.Sprintf("run %s names operation %s as the last one of the run before it, and no run here holds that", run, op.Short()))
		}
	}
	for _, run := range slices.Sorted(maps.Keys(known)) {
		if !elsewhere[run] {
			f.absent(run, fmt.Sprintf("run %s is named by %s, and has no record in this clone", run, known[run]))
		}
	}
	return nil
}

func (f *fsck) absent(run, message string) {
	remote := "REMOTE"
	if out, err := f.s.repo.Git.Run(f.ctx, nil, "remote"); err == nil {
		if name, _, _ := strings.Cut(string(out), "\n"); name != "" {
			remote = quote(name)
		}
	}
	f.find(Finding{
		Code:    FindMissing,
		Run:     run,
		Message: message,
		Repair:  "git fetch " + remote + " 'refs/agentxchain/runs/*:refs/agentxchain/runs/*', from a clone or server that has it",
		Note:    !f.opt.Replay,
	})
}

// leadsTo reports whether an operation is in the chain that ends at tip.
func (f *fsck) leadsTo(tip, op git.OID) bool {
	in, err := f.s.repo.Ancestor(f.ctx, op, tip)
	return err == nil && in
}

// namedInCommits notes the runs that trailers of the project's commits name.
func (f *fsck) namedInCommits(note func(run, where string)) error {
	out, err := f.s.repo.Git.Run(f.ctx, nil, "log", "-z", "--no-show-signature", "--no-color", "--no-decorate",
		fmt.Sprintf("--max-count=%d", maxTrailerCommits), "--grep=^"+trailerRun+": ",
		"--format=tformat:%h%x1f%(trailers:key="+trailerRun+",valueonly,separator=%x1f)", "HEAD", "--")
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

// namedInLedgers notes the runs that rows name, of the working files and of those
// that are committed.
func (f *fsck) namedInLedgers(note func(run, where string)) {
	rows := func(data []byte, where string) {
		for l := range rowsOf(data) {
			if run := l.Row.String("run_id"); run != "" {
				note(run, where)
			}
		}
	}
	repo := f.s.repo
	head, err := repo.Git.Run(f.ctx, nil, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
	for _, l := range []wire.Ledger{wire.LedgerRunHistory, wire.LedgerHistory} {
		if data, _, ok, err := f.s.work.read(l.Path(), maxLedger); err == nil && ok {
			rows(data, l.Path())
		}
		if err == nil {
			if data, _, err := FileAt(f.ctx, repo, git.OID(bytes.TrimSpace(head)), f.s.prefix+l.Path()); err == nil {
				rows(data, "the committed "+l.Path())
			}
		}
	}
	if err != nil {
		return
	}
	if data, _, err := FileAt(f.ctx, repo, git.OID(bytes.TrimSpace(head)), f.s.prefix+string(wire.DocState)); err == nil && data != nil {
		if o, err := ojson.DecodeObject(data); err == nil {
			note(o.String("run_id"), "the committed "+string(wire.DocState))
		}
	}
}

// heardOf notes runs whose rows came with an operation that another tool made, or
// were there before anything was recorded: they need have no record.
func (f *fsck) heardOf(rows []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.elsewhere == nil {
		f.elsewhere = make(map[string]bool)
	}
	for l := range rowsOf(rows) {
		if run := l.Row.String("run_id"); run != "" {
			f.elsewhere[run] = true
		}
	}
}

// heritage notes what a run's first operation says of the runs before it.
func (f *fsck) heritage(r *treeReader, op OpInfo) error {
	if op.Previous != "" {
		f.mu.Lock()
		if f.previous == nil {
			f.previous = make(map[git.OID]string)
		}
		f.previous[op.Previous] = op.Run
		f.mu.Unlock()
		return nil
	}
	for _, l := range []wire.Ledger{wire.LedgerRunHistory, wire.LedgerHistory} {
		data, err := r.readLedger(op.Tree, l)
		if err != nil {
			return err
		}
		f.heardOf(data)
	}
	return nil
}
