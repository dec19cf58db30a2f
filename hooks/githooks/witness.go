// What runs confirm. Only runs that passed the verifier of operations count.

package githooks

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/proof"
	"github.com/git-agentxchain/git-agentxchain/internal/ledgermerge"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/ledger"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// maxRuns bounds how many runs are asked about a record.
const maxRuns = 64

// witness says what the runs of a repository hold. It reads and verifies nothing until asked. The origin of a
// record does not count: a parent commit, a remote-tracking branch and a remote can all be made by hand.
type witness struct {
	g     *guarded
	runs  []*chain.RunRecord // at most maxRuns of them
	all   []*chain.RunRecord
	read  bool
	whole *witness            // of the whole repository; nil for that itself
	part  string              // prefix of the project, when it is one's
	parts map[string]*witness // by prefix

	proofs  map[object.OID]string // operation -> why it is not believed, "" for a proven one
	texts   map[wire.Ledger]*confirmed
	docs    map[wire.Document]map[object.OID]bool
	work    map[string]bool // files that accepted turns say they changed
	signed  map[string]bool // documents as people approved them, path and digest
	configs map[string]bool // digests of adopted rules
}

// confirmed has the digests of records that runs hold; runs from next on are not read yet.
type confirmed struct {
	known map[string]bool
	next  int
}

// of returns the witness of one project: the runs of another one say nothing about its files and rules.
func (w *witness) of(prefix string) *witness {
	p := w.parts[prefix]
	if p == nil {
		if w.parts == nil {
			w.parts = make(map[string]*witness)
		}
		p = &witness{g: w.g, whole: w, part: prefix}
		w.parts[prefix] = p
	}
	return p
}

// list returns the runs of the repository or the project, proven or not, the one that moved last first.
func (w *witness) list() ([]*chain.RunRecord, error) {
	if w.read {
		return w.runs, nil
	}
	if w.whole == nil {
		runs, err := chain.RunRecords(w.g.ctx, w.g.repo)
		if err != nil {
			return nil, err
		}
		w.see(runs)
		return w.runs, nil
	}
	if _, err := w.whole.list(); err != nil {
		return nil, err
	}
	var own []*chain.RunRecord
	for _, r := range w.whole.all {
		beside, err := w.g.beside(w.part, r)
		if err != nil {
			return nil, err
		}
		if !beside {
			own = append(own, r)
		}
		if len(own) == maxRuns {
			break
		}
	}
	w.see(own)
	return w.runs, nil
}

func (w *witness) see(runs []*chain.RunRecord) {
	w.all, w.runs, w.read = runs, runs[:min(len(runs), maxRuns)], true
}

// proven yields the verified runs.
func (w *witness) proven() iter.Seq2[*chain.RunRecord, error] {
	return func(yield func(*chain.RunRecord, error) bool) {
		runs, err := w.list()
		if err != nil {
			yield(nil, err)
			return
		}
		for _, r := range runs {
			why, err := w.prove(r)
			if err != nil {
				yield(nil, err)
				return
			}
			if why == "" && !yield(r, nil) {
				return
			}
		}
	}
}

// prove returns why a run is not believed, "" when it is.
func (w *witness) prove(r *chain.RunRecord) (string, error) {
	if w.whole != nil {
		return w.whole.prove(r)
	}
	if why, known := w.proofs[r.Op]; known {
		return why, nil
	}
	why, err := w.g.throughDoor(r)
	if err != nil {
		return "", err
	}
	if w.proofs == nil {
		w.proofs = make(map[object.OID]string)
	}
	w.proofs[r.Op] = why
	return why, nil
}

// unproven says why the first unbelieved run is not believed, "" when all are.
func (w *witness) unproven() (string, error) {
	runs, err := w.list()
	if err != nil {
		return "", err
	}
	for _, r := range runs {
		if why, err := w.prove(r); err != nil || why != "" {
			return why, err
		}
	}
	return "", nil
}

// record reports whether a proven run has a record of a ledger.
func (w *witness) record(l wire.Ledger, text string) (bool, error) {
	c := w.texts[l]
	if c == nil {
		c = &confirmed{known: make(map[string]bool)}
		if w.texts == nil {
			w.texts = make(map[wire.Ledger]*confirmed)
		}
		w.texts[l] = c
	}
	runs, err := w.list()
	if err != nil {
		return false, err
	}
	for !c.known[text] && c.next < len(runs) {
		r := runs[c.next]
		c.next++
		why, err := w.prove(r)
		if err != nil {
			return false, err
		}
		if why != "" {
			continue
		}
		data, err := r.Ledger(l)
		if err != nil {
			return false, err
		}
		for t := range ledgermerge.Texts(data, l == wire.LedgerHistory) {
			c.known[t] = true
		}
	}
	return c.known[text], nil
}

// talk reports whether data is, or once was, a proven run's TALK.md.
func (w *witness) talk(data []byte) (bool, error) {
	for r, err := range w.proven() {
		if err != nil {
			return false, err
		}
		all, err := r.Ledger(wire.LedgerTalk)
		if err != nil || bytes.HasPrefix(all, data) {
			return err == nil, err
		}
	}
	return false, nil
}

// versions returns the versions of a document that proven runs recorded.
func (w *witness) versions(d wire.Document) (map[object.OID]bool, error) {
	if known, ok := w.docs[d]; ok {
		return known, nil
	}
	out := make(map[object.OID]bool)
	for r, err := range w.proven() {
		if err != nil {
			return nil, err
		}
		list, err := r.Versions(d, maxOps)
		if err != nil {
			return nil, err
		}
		for _, oid := range list {
			out[oid] = true
		}
	}
	if w.docs == nil {
		w.docs = make(map[wire.Document]map[object.OID]bool)
	}
	w.docs[d] = out
	return out, nil
}

// tasks reports whether a proven run recorded these managed sections of HUMAN_TASKS.md.
func (w *witness) tasks(data []byte) (bool, error) {
	sections := ledger.ManagedTasks(data)
	if sections == "" {
		return true, nil
	}
	versions, err := w.versions(wire.DocHumanTasks)
	if err != nil {
		return false, err
	}
	for oid := range versions {
		_, recorded, err := w.g.repo.Objects().Read(w.g.ctx, oid)
		if err != nil {
			return false, err
		}
		if ledger.ManagedTasks(recorded) == sections {
			return true, nil
		}
	}
	return false, nil
}

// evidence reports whether an operation of a proven run wrote a review, report or proposal with this content, or an
// accepted turn of one names it.
func (w *witness) evidence(path string, content object.OID) (bool, error) {
	for r, err := range w.proven() {
		if err != nil {
			return false, err
		}
		if ok, err := r.HoldsFile(path, content); err != nil || ok {
			return ok, err
		}
	}
	if w.work == nil {
		work := make(map[string]bool)
		err := w.rows(wire.LedgerHistory, func(row *ojson.Object) {
			for _, f := range row.Strings("files_changed") {
				work[f] = true
			}
		})
		if err != nil {
			return false, err
		}
		w.work = work
	}
	return w.work[path], nil
}

// rows passes see each row in the ledger of a proven run.
func (w *witness) rows(l wire.Ledger, see func(*ojson.Object)) error {
	for r, err := range w.proven() {
		if err != nil {
			return err
		}
		data, err := r.Ledger(l)
		if err != nil {
			return err
		}
		for line := range bytes.Lines(data) {
			if row, err := ojson.DecodeObject(bytes.TrimSuffix(line, []byte{'\n'})); err == nil {
				see(row)
			}
		}
	}
	return nil
}

// approved reports whether a document is as a person approved it in a proven run: approve writes the sign-off line,
// and no turn takes part in that.
func (w *witness) approved(path string, content object.OID) (bool, error) {
	if w.signed == nil {
		signed := make(map[string]bool)
		err := w.rows(wire.LedgerDecisions, func(row *ojson.Object) {
			if row.String("type") != "human_approval" {
				return
			}
			files := row.Object("evidence")
			for _, p := range files.Keys() {
				signed[p+"\x00"+files.String(p)] = true
			}
		})
		if err != nil {
			return false, err
		}
		w.signed = signed
	}
	if len(w.signed) == 0 {
		return false, nil
	}
	_, data, err := w.g.repo.Objects().Read(w.g.ctx, content)
	return err == nil && w.signed[path+"\x00"+wire.Digest(data)], err
}

// adopted reports whether a proven run adopted the rules of a configuration: by a person's operation for that, or
// by beginning under them when no run existed before. That a later run began under them is not a person's answer to
// the change. Settings, which are not rules, may differ.
func (w *witness) adopted(c *config.Config) (bool, error) {
	if w.configs == nil {
		w.configs = make(map[string]bool)
		runs, err := w.list()
		if err != nil {
			return false, err
		}
		for r, err := range w.proven() {
			if err != nil {
				return false, err
			}
			uses, err := r.Configs(maxOps)
			if err != nil {
				return false, err
			}
			for _, u := range uses {
				if u.Op != opConfigAdopt && !(u.First && u.After == "" && len(runs) == 1) {
					continue
				}
				rules, err := w.rules(u)
				if err != nil {
					return false, err
				}
				if rules != "" {
					w.configs[rules] = true
				}
			}
		}
	}
	return w.configs[config.RulesDigest(c)], nil
}

// adoptedBy reports whether a proven run adopted the rules of a configuration with the approval of as many people
// as authority.acts requires at a commit of the branch, with keys that are listed there.
func (w *witness) adoptedBy(c *config.Config, prefix string, at object.OID) (bool, error) {
	ctx, repo := w.g.ctx, w.g.repo
	listed, err := proof.ListedAt(ctx, repo, prefix, at)
	if err != nil {
		return false, err
	}
	want := config.RulesDigest(c)
	for r, err := range w.proven() {
		if err != nil {
			return false, err
		}
		uses, err := r.Configs(maxOps)
		if err != nil {
			return false, err
		}
		ops := make(map[string]bool)
		for _, u := range uses {
			if u.Op != opConfigAdopt {
				continue
			}
			rules, err := w.rules(u)
			if err != nil {
				return false, err
			}
			if rules != "" && rules == want {
				ops[string(u.At)] = true
			}
		}
		if len(ops) == 0 {
			continue
		}
		acts, err := proof.ReadActsAt(ctx, repo, r.Run, r.Op)
		if err != nil {
			return false, err
		}
		report, err := proof.VerifyApprovals(ctx, repo, prefix, acts)
		if err != nil {
			return false, err
		}
		if report.AgreedBy(ops, acts.Envelopes(), listed) {
			return true, nil
		}
	}
	return false, nil
}

// rules returns the digest of the rules under which operations were decided, "" where they may not govern: that is
// the digest of any broken configuration, and no adoption stands for one.
func (w *witness) rules(u chain.ConfigUse) (string, error) {
	_, data, err := w.g.repo.Objects().Read(w.g.ctx, u.Content)
	if err != nil {
		return "", err
	}
	return config.RulesDigest(config.DecodeGoverning(data)), nil
}

// opConfigAdopt is the operation by which a person adopts a configuration.
const opConfigAdopt = "config_adopt"

// protects returns the patterns under which the project's run that moved last was decided. They apply in addition to the
// committed ones: removing a pattern from the file does not remove it from the run.
func (w *witness) protects(committed object.OID) ([]string, error) {
	runs, err := w.list()
	if err != nil || len(runs) == 0 {
		return nil, err
	}
	data, content, err := runs[0].Config()
	if err != nil || content == committed || data == nil {
		return nil, err
	}
	c, _, err := config.Decode(data)
	if err != nil || c == nil {
		return nil, nil
	}
	return c.Protected, nil
}

// throughDoor says why a run is not believed, "" when every operation follows from the one before by the rules, and
// a person has confirmed what the rules cannot prove.
func (g *guarded) throughDoor(r *chain.RunRecord) (string, error) {
	v, err := proof.Verify(g.ctx, g.repo, r.Run, r.Op)
	if err != nil {
		return "", err
	}
	var refusal *wire.Error
	if err := v.Err(); errors.As(err, &refusal) {
		return refusal.Message, nil
	} else if err != nil {
		return err.Error(), nil
	}
	if len(v.Open) > 0 {
		return fmt.Sprintf("run %s: %s, which no operation of its own decided and no person has confirmed", r.Run,
			v.Open[0].Claim), nil
	}
	return "", nil
}

// union returns the elements of both lists once.
func union(a, b []string) []string {
	out := slices.Clone(a)
	for _, s := range b {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}
