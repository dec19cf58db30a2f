// The judgement of changed paths: what holds for a commit wherever it is made.

package githooks

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/internal/ledgermerge"
	"github.com/git-agentxchain/git-agentxchain/protocol"
)

// judge holds changes of one governed project against its recorded runs. It
// reads nothing before a change needs it.
type judge struct {
	ctx    context.Context
	repo   *gitstore.Repository
	prefix string
	report func(Finding)
	config *protocol.Config // the committed one; nil when there is none

	runs     []*gitstore.RunRecord
	runsRead bool
	texts    map[protocol.Ledger]*confirmed
}

// confirmed are the digests of records that runs hold; runs beyond next are not
// read yet.
type confirmed struct {
	known map[string]bool
	next  int
}

// edit is one changed path with what it was in every parent of the commit.
type edit struct {
	gitstore.TreeChange                // against the first parent
	others              []gitstore.OID // the path in the other parents, "" where it is not there
	commit              string         // "" for the index
	// elsewhere reports that the commit was made in another clone, whose runs need
	// not be here; nil is no.
	elsewhere func() (bool, error)
}

// foreign asks elsewhere.
func (e *edit) foreign() (bool, error) {
	if e.elsewhere == nil {
		return false, nil
	}
	return e.elsewhere()
}

// isNew reports whether the content came with this commit, not with a parent.
func (e *edit) isNew() bool { return !slices.Contains(e.others, e.NewOID) }

// maxRuns bounds how many runs are asked about one record.
const maxRuns = 64

// recorded returns the runs of the repository, the one that moved last first.
func (j *judge) recorded() ([]*gitstore.RunRecord, error) {
	if !j.runsRead {
		runs, err := j.repo.RunRecords(j.ctx)
		if err != nil {
			return nil, err
		}
		j.runs, j.runsRead = runs[:min(len(runs), maxRuns)], true
	}
	return j.runs, nil
}

// change judges one path.
func (j *judge) change(e edit) error {
	path, ok := strings.CutPrefix(e.Path, j.prefix)
	if !ok {
		return nil
	}
	say := func(rule, hint, format string, args ...any) {
		j.report(Finding{Rule: rule, Path: e.Path, Commit: e.commit, Message: fmt.Sprintf(format, args...), Hint: hint})
	}
	gone := e.NewOID == ""
	if of, disguised := protocol.Disguise(path); disguised && !gone {
		say(RuleDisguisedPath, "git mv it to an honest name, or leave it out: git rm --cached -- '"+e.Path+"'", "some systems open it as %s", of)
		return nil
	}
	for _, p := range j.protected() {
		if protocol.MatchPath(norm.NFC.String(p), norm.NFC.String(path)) {
			say(RuleProtectedPath, "git restore --staged -- '"+e.Path+"'; or change git_hooks.protected in "+protocol.ConfigPath+" in a commit of its own", "%s protects it (%s)", protocol.ConfigPath, p)
			break
		}
	}
	governed := path == ".agentxchain" || protocol.OrchestratorFile(path) || path == protocol.ConfigPath
	if !gone && governed && e.NewMode != gitstore.ModeFile && e.NewMode != gitstore.ModeExec {
		say(RuleDisguisedPath, "put the file itself there", "a governed file must be a plain file, not a link")
		return nil
	}
	if !protocol.OrchestratorFile(path) {
		return nil
	}
	runs, err := j.recorded()
	if err != nil {
		return err
	}
	ledger, document := governedFile(path)
	if len(runs) == 0 && !(ledger != "" && ledger.JSONL()) {
		return nil // nothing is recorded here that it could contradict
	}
	switch {
	case ledger == protocol.LedgerTalk:
		return j.talk(e, say)
	case ledger != "":
		return j.ledger(e, ledger, say)
	case gone:
		return nil // git may stop tracking it; the run's ref has it
	case document != "":
		return j.document(e, document, say)
	case e.isNew():
		say(RuleOrchestratorOwned, "git restore --staged -- '"+e.Path+"'", "only this program writes it")
	}
	return nil
}

// protected are the patterns of the configuration.
func (j *judge) protected() []string {
	if j.config == nil {
		return nil
	}
	return j.config.Protected
}

func governedFile(path string) (protocol.Ledger, protocol.Document) {
	for _, l := range protocol.Ledgers() {
		if l.Path() == path {
			return l, ""
		}
	}
	if slices.Contains(protocol.Documents(), protocol.Document(path)) {
		return "", protocol.Document(path)
	}
	return "", ""
}

type sayer = func(rule, hint, format string, args ...any)

const (
	restoreHint = "git agentxchain repair --from-ref, then stage the file again"
	recordHint  = "git agentxchain fsck names what differs; git agentxchain repair --accept-working --reason TEXT records it"
)

// ledger judges a ledger: every record of every parent is still there, in its
// order and with its bytes, and what is new or amended is in a run.
func (j *judge) ledger(e edit, l protocol.Ledger, say sayer) error {
	next, err := j.blob(e.NewOID)
	if err != nil {
		return err
	}
	name := l.Path()[strings.LastIndexByte(l.Path(), '/')+1:]
	inParents := make(map[string]int) // records that came with a parent
	var added []ledgermerge.Record
	parents := slices.DeleteFunc(append([]gitstore.OID{e.OldOID}, e.others...), func(p gitstore.OID) bool { return p == "" })
	if len(parents) == 0 {
		parents = []gitstore.OID{""} // a new file: all of it is new
	}
	for _, p := range parents {
		before, err := j.blob(p)
		if err != nil {
			return err
		}
		d, err := ledgermerge.Compare(name, bytes.NewReader(before), bytes.NewReader(next))
		if err != nil {
			return err
		}
		if d.Bad != nil {
			say(RuleLedgerRewritten, restoreHint, "line %d is no record: %s", d.Bad.Line, d.Bad.Why)
			return nil
		}
		gone := d.Gone
		if e.NewOID == "" {
			// git stops tracking the ledger: nothing is lost when runs hold its records.
			if gone, err = j.unconfirmed(l, d.Gone); err != nil {
				return err
			}
		}
		changed, err := j.unconfirmed(l, d.Changed)
		if err != nil {
			return err
		}
		if len(j.runs) == 0 && (l == protocol.LedgerHistory || l == protocol.LedgerRepoDecisions) {
			changed = nil // another tool runs this project, and these two it may amend
		}
		switch {
		case len(gone) > 0:
			say(RuleLedgerTruncated, restoreHint, "%s gone, the first was line %d", count(len(gone), "record is", "records are"), gone[0].Line)
			return nil
		case d.Moved:
			say(RuleLedgerRewritten, restoreHint, "its records stand in another order")
			return nil
		case len(changed) > 0:
			say(RuleLedgerRewritten, restoreHint, "line %d is not what was recorded", changed[0].Line)
			return nil
		}
		for _, r := range d.Added {
			if inParents[r.Text]++; inParents[r.Text] == len(parents) {
				added = append(added, r)
			}
		}
	}
	if added, err = j.unconfirmed(l, added); err != nil || len(added) == 0 || len(j.runs) == 0 {
		return err
	}
	if away, err := e.foreign(); err != nil || away {
		return err
	}
	say(RuleLedgerUnconfirmed, recordHint, "%s in no run, the first is line %d", count(len(added), "record is", "records are"), added[0].Line)
	return nil
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// unconfirmed keeps the records that no run holds.
func (j *judge) unconfirmed(l protocol.Ledger, records []ledgermerge.Record) ([]ledgermerge.Record, error) {
	var out []ledgermerge.Record
	for _, r := range records {
		ok, err := j.confirm(l, r.Text)
		if err != nil {
			return nil, err
		}
		if !ok {
			out = append(out, r)
		}
	}
	return out, nil
}

// confirm reports whether a run holds the record. The run that moved last is
// asked first, and is nearly always the one.
func (j *judge) confirm(l protocol.Ledger, text string) (bool, error) {
	runs, err := j.recorded()
	if err != nil {
		return false, err
	}
	c := j.texts[l]
	if c == nil {
		c = &confirmed{known: make(map[string]bool)}
		if j.texts == nil {
			j.texts = make(map[protocol.Ledger]*confirmed)
		}
		j.texts[l] = c
	}
	for !c.known[text] && c.next < len(runs) {
		data, err := runs[c.next].Ledger(l)
		if err != nil {
			return false, err
		}
		for t := range ledgermerge.Texts(data, l == protocol.LedgerHistory) {
			c.known[t] = true
		}
		c.next++
	}
	return c.known[text], nil
}

// held reports that nothing is to be said about a file that is no record: it came
// with a parent, a run holds it, or it was made where other runs are.
func (j *judge) held(e edit, by func(*gitstore.RunRecord) (bool, error)) (bool, error) {
	if !e.isNew() {
		return true, nil
	}
	runs, err := j.recorded()
	if err != nil {
		return false, err
	}
	for _, r := range runs {
		if ok, err := by(r); err != nil || ok {
			return ok, err
		}
	}
	return e.foreign()
}

// talk judges TALK.md, the one ledger that is text: it is as a run holds it, or
// was at some time.
func (j *judge) talk(e edit, say sayer) error {
	next, err := j.blob(e.NewOID)
	if err != nil || e.NewOID == "" {
		return err
	}
	ok, err := j.held(e, func(r *gitstore.RunRecord) (bool, error) {
		data, err := r.Ledger(protocol.LedgerTalk)
		return bytes.HasPrefix(data, next), err
	})
	if err == nil && !ok {
		say(RuleOrchestratorOwned, restoreHint, "it is not the talk of any run; only this program appends to it")
	}
	return err
}

// maxRecordedStates is how far back a document is looked for in a run.
const maxRecordedStates = 500

// document judges a state or another document: some operation recorded it.
func (j *judge) document(e edit, d protocol.Document, say sayer) error {
	next, err := j.blob(e.NewOID)
	if err != nil {
		return err
	}
	ok, err := j.held(e, func(r *gitstore.RunRecord) (bool, error) { return r.Recorded(d, next, maxRecordedStates) })
	if err != nil || ok {
		return err
	}
	if d == protocol.DocState && e.OldOID == "" {
		// What a project begins with, before its first run.
		if s, refusal := protocol.DecodeState(next); refusal == nil && s.Run() == "" {
			return nil
		}
	}
	if d == protocol.DocState {
		say(RuleStateUnconfirmed, restoreHint, "no operation of a run led to this state")
	} else {
		say(RuleOrchestratorOwned, restoreHint, "only this program writes it")
	}
	return nil
}

// blob reads a file's content; "" is a file that is not there.
func (j *judge) blob(oid gitstore.OID) ([]byte, error) {
	if oid == "" {
		return nil, nil
	}
	_, data, err := j.repo.Objects().Read(j.ctx, oid)
	return data, err
}

// readConfig decodes the configuration a commit holds; nil when it has none. A
// configuration that breaks a rule still protects what it names.
func readConfig(ctx context.Context, repo *gitstore.Repository, commit gitstore.OID, prefix string) (*protocol.Config, error) {
	if commit == "" {
		return nil, nil
	}
	data, _, err := repo.FileAt(ctx, commit, prefix+protocol.ConfigPath)
	if err != nil || data == nil {
		return nil, err
	}
	c, _, err := protocol.DecodeConfig(data)
	var refusal *protocol.Error
	if errors.As(err, &refusal) {
		return nil, nil // it governs nothing, and other commands say why
	}
	return c, err
}
