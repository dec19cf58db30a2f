// Judges changed paths: the rules for a commit wherever it is made.

package githooks

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/history"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"golang.org/x/text/unicode/norm"
)

// judge checks the changes of one commit of one project against what governs it and what the runs hold. It reads
// nothing until a change needs it.
type judge struct {
	ctx     context.Context
	repo    *git.Repository
	prefix  string
	report  func(Finding)
	witness *witness
	// strict: what no run confirms is refused even if no run is known. A server judges this way; a clone may not
	// have fetched the runs yet.
	strict bool

	commitContext
}

// commitContext is the context in which one commit is judged.
type commitContext struct {
	commit   string      // "" for the index
	parents  []*governor // what governs each parent, nil for an ungoverned one
	config   *config.Config
	patterns []string // that no commit may touch; of every parent and of the active run
	vouched  []bool   // by parent: its contents were judged by rules at least as strict
	arrivals map[object.OID]string
	// ignores reads the project's .gitignore as the commit has it.
	ignores func() ([]byte, error)
}

// edit is one changed path with its contents in every parent of the commit.
type edit struct {
	history.TreeChange              // against the first parent
	others             []object.OID // contents in the other parents, "" where the path is missing
}

// cameVouched reports whether the path is unchanged from a parent whose history was judged by the rules that apply
// here.
func (j *judge) cameVouched(e edit) bool {
	if len(e.others) == 0 {
		return false // one parent: a change is a change
	}
	for i, was := range append([]object.OID{e.OldOID}, e.others...) {
		if was == e.NewOID && i < len(j.vouched) && j.vouched[i] {
			return true
		}
	}
	return false
}

type sayer = func(rule, hint, format string, args ...any)

const (
	restoreHint = "git agentxchain repair --from-ref, then stage the file again"
	recordHint  = "git agentxchain fsck names what differs; a run that came from elsewhere: git fetch REMOTE 'refs/agentxchain/runs/*:refs/agentxchain/runs/*'"
	lookHint    = "git agentxchain fsck --replay shows what is wrong with the run"
)

// change judges one path.
func (j *judge) change(e edit) error {
	say := func(rule, hint, format string, args ...any) {
		j.report(Finding{
			Rule:    rule,
			Path:    e.Path,
			Commit:  j.commit,
			Message: fmt.Sprintf(format, args...),
			Hint:    hint,
		})
	}
	gone := e.NewOID == ""
	path, ok := j.inProject(e, say)
	if !ok {
		return nil
	}
	if of, disguised := wire.Disguise(path); disguised && !gone {
		say(RuleDisguisedPath, "git mv it to an honest name, or leave it out: git rm --cached -- '"+e.Path+"'",
			"some systems open it as %s", of)
		return nil
	}
	j.protected(e, path, say)
	kind := wire.GovernedPath(path)
	switch {
	case gone:
	case wire.GovernedDirectory(path):
		say(RuleDisguisedPath, "put the directory itself there",
			"a governed directory must be a directory, not a file, a link or a submodule")
		return nil
	case kind != wire.NotGoverned && !plainFile(e.NewMode):
		say(RuleDisguisedPath, "put the file itself there", "a governed file must be a plain file, not a link")
		return nil
	}
	if kind == wire.NotGoverned || kind == wire.GovernedConfig {
		return nil // the configuration is judged with the commit
	}
	runs, err := j.witness.list()
	if err != nil {
		return err
	}
	if gone {
		if refused, err := j.removed(e, path, kind, say); err != nil || refused {
			return err
		}
	}
	ledger := ledgerOf(path)
	if len(runs) == 0 && !j.strict && (ledger == "" || !ledger.JSONL()) && !strings.HasPrefix(path, multirepoDir) {
		return nil // no record here could contradict it
	}
	switch {
	case ledger == wire.LedgerTalk:
		return j.talk(e, say)
	case ledger != "":
		return j.ledger(e, ledger, say)
	case gone:
		return nil
	case path == string(wire.DocHumanTasks):
		return j.tasks(e, say)
	case kind == wire.GovernedState:
		return j.document(e, wire.Document(path), say)
	case kind == wire.GovernedWork:
		return j.work(e, path, say)
	}
	return j.own(e, path, say)
}

// inProject returns the path in the project. It reports a path that some file system treats as one of the project,
// and one in place of a directory that leads to it.
func (j *judge) inProject(e edit, say sayer) (string, bool) {
	path, ok := strings.CutPrefix(e.Path, j.prefix)
	if ok || j.prefix == "" || e.NewOID == "" {
		return path, ok
	}
	if strings.HasPrefix(j.prefix, e.Path+"/") {
		say(RuleDisguisedPath, "put the directory itself there",
			"the governed project lies below it, so it must be a directory")
		return "", false
	}
	if !strings.HasPrefix(e.Path, j.prefix[:1]) ||
		strings.HasPrefix(strings.ToLower(e.Path), strings.ToLower(j.prefix)) || !isASCII(e.Path) ||
		strings.Contains(e.Path, "~") {
		if folded, ok := strings.CutPrefix(wire.FoldPath(e.Path), wire.FoldPath(j.prefix)+"/"); ok {
			if kind := wire.GovernedPath(folded); kind != wire.NotGoverned {
				say(RuleDisguisedPath, "git mv it to an honest name, or leave it out: git rm --cached -- '"+e.Path+"'",
					"some systems open it as %s", j.prefix+folded)
			}
		}
	}
	return "", false
}

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= 0x80 }) < 0
}

// protected checks a path against the patterns that no commit may touch.
func (j *judge) protected(e edit, path string, say sayer) {
	for _, p := range j.patterns {
		plain := wire.MatchPath(norm.NFC.String(p), norm.NFC.String(path))
		if !plain && !wire.MatchFolded(p, path) || j.cameVouched(e) {
			continue
		}
		if !plain && e.NewOID != "" {
			say(RuleDisguisedPath, "give it another name", "some systems open it as a file that %s protects (%s)",
				wire.ConfigPath, p)
			return
		}
		say(RuleProtectedPath, "git restore --staged -- '"+e.Path+
			"'; or take the pattern out of git_hooks.protected in "+wire.ConfigPath+
			" in a commit of its own, and while a run is under way adopt it: git agentxchain config adopt",
			"%s protects it (%s)", wire.ConfigPath, p)
		return
	}
}

func ledgerOf(path string) wire.Ledger {
	for _, l := range wire.Ledgers() {
		if l.Path() == path {
			return l
		}
	}
	return ""
}

// removed judges the removal of a governed file. git may stop tracking records that runs hold, when the commit says
// so: .gitignore names them. Otherwise every clone that takes the commit would lose its working files.
func (j *judge) removed(e edit, path string, kind wire.Governed, say sayer) (refused bool, err error) {
	if kind == wire.GovernedOwn {
		return false, nil // it should never have been there
	}
	if to := j.arrivals[e.OldOID]; to != "" && e.OldOID != "" {
		say(RuleGovernedRemoved, "git mv it back, or copy it: git restore --staged --source=HEAD -- '"+e.Path+"'",
			"it is moved to %s; commands and guards look for it where it was", to)
		return true, nil
	}
	if kind != wire.GovernedLedger && kind != wire.GovernedState {
		return false, nil
	}
	for i, was := range append([]object.OID{e.OldOID}, e.others...) {
		if was == "" && i < len(j.parents) && j.parents[i] != nil {
			return false, nil // it was removed on that side, and judged there
		}
	}
	text, err := j.ignores()
	if err != nil || ignoredBy(text, path) {
		return false, err
	}
	say(RuleGovernedRemoved, "git restore --staged --source=HEAD -- '"+e.Path+
		"'; to stop tracking it, name it in .gitignore in the same commit: git agentxchain doctor --fix",
		"it would go away from every clone that takes the commit")
	return true, nil
}

// ignoredBy reports whether a .gitignore names the path or a directory above it. It does not evaluate patterns: the
// block that init writes names every file.
func ignoredBy(text []byte, path string) bool {
	for line := range bytes.Lines(text) {
		name := strings.TrimSuffix(strings.TrimPrefix(strings.TrimRight(string(line), " \t\r\n"), "/"), "/")
		if name != "" && (name == path || strings.HasPrefix(path, name+"/")) {
			return true
		}
	}
	return false
}

// talk judges TALK.md, the only ledger that is text: it must match a run's present or earlier version.
func (j *judge) talk(e edit, say sayer) error {
	next, err := j.blob(e.NewOID)
	if err != nil || e.NewOID == "" {
		return err
	}
	ok, err := j.witness.talk(next)
	if err == nil && !ok {
		err = j.reportUnconfirmed(RuleOrchestratorOwned, say,
			"it is not the talk of any run; only this program appends to it")
	}
	return err
}

// tasks judges HUMAN_TASKS.md: people own it, except its managed sections.
func (j *judge) tasks(e edit, say sayer) error {
	next, err := j.blob(e.NewOID)
	if err != nil {
		return err
	}
	ok, err := j.witness.tasks(next)
	if err == nil && !ok {
		err = j.reportUnconfirmed(RuleOrchestratorOwned, say,
			"its managed sections are not what any run recorded; write outside of them")
	}
	return err
}

// document judges a state or another document: some operation must have recorded it.
func (j *judge) document(e edit, d wire.Document, say sayer) error {
	versions, err := j.witness.versions(d)
	if err != nil || versions[e.NewOID] {
		return err
	}
	if d != wire.DocState {
		return j.reportUnconfirmed(RuleOrchestratorOwned, say, "only this program writes it")
	}
	next, err := j.blob(e.NewOID)
	if err != nil || j.isFresh(next) {
		return err
	}
	return j.reportUnconfirmed(RuleStateUnconfirmed, say, "no operation of a run led to this state")
}

// isFresh reports whether data is the state of a project before its first run. No other state is valid without a
// run.
func (j *judge) isFresh(data []byte) bool {
	if j.config == nil {
		return false
	}
	have, err := ojson.DecodeObject(data)
	if err != nil {
		return false
	}
	want, err := ojson.DecodeObject(run.FreshState(j.config, "").Encode())
	return err == nil && ojson.Equal(have, want)
}

// work judges reviews, reports and proposals: an operation must have written them, or an accepted turn must declare
// them.
func (j *judge) work(e edit, path string, say sayer) error {
	ok, err := j.witness.evidence(path, e.NewOID)
	if err == nil && !ok {
		err = j.reportUnconfirmed(RuleOrchestratorOwned, say, "no run holds it and no accepted turn made it")
	}
	return err
}

const multirepoDir = ".agentxchain/multirepo/"

// own judges what only programs write and no run records. The coordinator's files must be recorded by an
// initiative.
func (j *judge) own(e edit, path string, say sayer) error {
	if strings.HasPrefix(path, multirepoDir) {
		held, known, err := record.InitiativeHolds(j.ctx, j.repo, path, e.NewOID)
		if err != nil || held {
			return err
		}
		if runs, err := j.witness.list(); err != nil || !known && !j.strict && len(runs) == 0 {
			return err
		}
		say(RuleOrchestratorOwned, "git restore --staged -- '"+e.Path+"'",
			"only the coordinator writes it, and no initiative recorded it so")
		return nil
	}
	say(RuleOrchestratorOwned, "git restore --staged -- '"+e.Path+"'", "only this program writes it")
	return nil
}

// reportUnconfirmed reports that no run confirms a file. When an unverified run might, that is the reason given.
func (j *judge) reportUnconfirmed(rule string, say sayer, text string) error {
	why, err := j.witness.unproven()
	if err != nil {
		return err
	}
	hint := restoreHint
	if why != "" {
		text, hint = text+"; not believed is "+why, lookHint
	}
	say(rule, hint, "%s", text)
	return nil
}

// blob reads a file's content; "" means a missing file.
func (j *judge) blob(oid object.OID) ([]byte, error) {
	if oid == "" {
		return nil, nil
	}
	_, data, err := j.repo.Objects().Read(j.ctx, oid)
	return data, err
}
