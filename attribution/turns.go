// The turns of the recorded runs, as far as they matter for the lines of files.

package attribution

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/proof"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// maxRuns is how many runs are searched, newest first.
const maxRuns = 500

// Turn is an accepted or an active turn.
type Turn struct {
	Run, ID, Role, Runtime, Phase string
	Row                           *ojson.Object // of history.jsonl; nil for an active turn
	Record                        *chain.RunRecord
	Prefix                        string // of the run's project in the repository, "" or ending in "/"

	files      []string              // declared, from the root of the work tree
	marks      *ojson.Object         // fingerprints at acceptance by path in the project; nil in old rows
	keys       map[string]string     // path in the project by path from the root
	baseline   object.OID            // HEAD when it was assigned, "" when unknown
	head       object.OID            // HEAD when it was accepted, "" when unknown
	checkpoint object.OID            // "" for none
	applied    map[string]object.OID // by path: the commit in which a person applied the turn's proposal
	took       map[string]*Turn      // by path: the turn whose proposal it applied as its own work
	beside     []string              // turns that were active when it was assigned
	assigned   int
	accepted   int
	started    time.Time
	silent     bool // active without a staged result: it may have written anything
	own        *ownRange
	begun      map[string]bool // files with uncommitted work when it was assigned; nil until requested
}

// Active reports whether the turn has not been accepted yet.
func (t *Turn) Active() bool { return t.Row == nil }

// Checkpoint returns the commit recorded for the turn's files, "" for none.
func (t *Turn) Checkpoint() object.OID { return t.checkpoint }

// commitOf returns the commit with what the turn did to a file: its checkpoint, or the one in which a person
// applied its proposal; "" for none.
func (t *Turn) commitOf(path string) object.OID {
	if id := t.applied[path]; id != "" {
		return id
	}
	return t.checkpoint
}

// declares reports whether the turn names the file.
func (t *Turn) declares(path string) bool { return t.silent || slices.Contains(t.files, path) }

// mark returns the fingerprint of a file when the turn was accepted. known is false when rows of that time had
// none; "" with known means that the file was not among the changes.
func (t *Turn) mark(path string) (fingerprint string, known bool) {
	if t.marks == nil {
		return "", false
	}
	return t.marks.String(t.keys[path]), true
}

// marked reports whether the file had the SHA-256 sum, in hexadecimal digits, when the turn was accepted.
func (t *Turn) marked(path, sum string) bool {
	m, known := t.mark(path)
	return known && m == "sha256:"+sum
}

// declare adds a file by its path in the project.
func (t *Turn) declare(prefix, name string) {
	path := prefix + name
	if _, ok := t.keys[path]; !ok {
		t.files = append(t.files, path)
		t.keys[path] = name
	}
}

// elsewhere also matches the turn's files with those of these names that end the same. The run is of another
// project of this repository, or of this one under another name or path, which is not recorded. Files that are not
// the turn's fail on the evidence.
func (t *Turn) elsewhere(names map[string]bool) {
	for _, own := range slices.Clone(t.files) {
		for path := range names {
			if key := t.keys[own]; strings.HasSuffix(path, "/"+key) || path == key {
				t.declare(strings.TrimSuffix(path, key), key)
			}
		}
	}
}

// maxOps is how many operations of a run are searched for the start of a turn.
const maxOps = 20_000

// mixed reports whether the file already had uncommitted changes when the turn was assigned, so that the author of
// each line was never observed. Roles that write code get a clean tree (docs/spec/observation.md#a-clean-start), so
// only documents of reviewers are checked.
func (t *Turn) mixed(path string) (bool, error) {
	key := t.keys[path]
	if t.Active() || !wire.ReviewPath(key) {
		return false, nil
	}
	if t.begun == nil {
		was, err := t.Record.TurnBefore(t.ID, maxOps)
		if err != nil {
			return false, err
		}
		t.begun = make(map[string]bool)
		if was != nil && was.Baseline != nil {
			for _, p := range was.Baseline.DirtySnapshot.Keys() {
				t.begun[p] = true
			}
		}
	}
	return t.begun[key], nil
}

// sharedWith returns a turn that worked at the same time and also declares the file, so that the author of each
// line was never observed; nil for none.
func (b *book) sharedWith(t *Turn, path string) *Turn {
	for _, u := range b.byRun[t.Run] {
		if u == t || u.Active() && !slices.Contains(t.beside, u.ID) || !slices.Contains(u.files, path) {
			continue
		}
		if u.Active() || u.assigned < t.accepted && u.accepted > t.assigned {
			return u
		}
	}
	return nil
}

// book has every known turn, newest run first, and newest first within a run.
type book struct {
	turns []*Turn
	byID  map[string]*Turn
	byRun map[string][]*Turn
}

// readBook reads the turns of the recorded runs. An unreadable run is an error: leaving it out could turn a turn's
// line into a person's. Where the projects are is read in the commits at, the first that has one.
func readBook(ctx context.Context, repo *git.Repository, q *Query, names map[string]bool, at ...string) (*book,
	error) {
	records, err := chain.EveryRunRecord(ctx, repo)
	if err != nil {
		return nil, err
	}
	b := &book{byID: make(map[string]*Turn), byRun: make(map[string][]*Turn)}
	places := newPlaces(ctx, repo, at)
	seen, foreign := make(map[string]bool), make(map[string]bool)
	for _, rec := range records[:min(len(records), maxRuns)] {
		if err := proof.Believe(ctx, repo, rec.Run, rec.Op); err != nil {
			return nil, err
		}
		state, err := rec.State(nil)
		if err != nil {
			return nil, err
		}
		prefix, known := places.of(state.ProjectID)
		for id, t := range state.ActiveTurns.All() {
			if t != nil && b.byID[id] == nil {
				b.add(activeTurn(rec, state, id, t, prefix, q.Staged))
			}
		}
		if seen[rec.Run] {
			continue // a later run of the same work tree keeps its rows
		}
		in := func(commits ...object.OID) string { return places.then(state.ProjectID, prefix, commits) }
		if err := b.readRows(rec, in, seen); err != nil {
			return nil, err
		}
		seen[rec.Run] = true
		if !known && (q.ProjectID == "" || state.ProjectID != q.ProjectID) {
			foreign[rec.Run] = true
		}
	}
	for _, t := range b.turns {
		if len(foreign) > 0 && foreign[t.Record.Run] {
			t.elsewhere(names)
		}
	}
	return b, nil
}

func (b *book) add(t *Turn) {
	b.turns = append(b.turns, t)
	b.byID[t.ID] = t
	b.byRun[t.Run] = append(b.byRun[t.Run], t)
}

// readRows reads the accepted turns of a run; in tells where its project was in the first of several commits that is
// here.
func (b *book) readRows(rec *chain.RunRecord, in func(...object.OID) string, seen map[string]bool) error {
	data, err := rec.Ledger(wire.LedgerHistory)
	if err != nil {
		return err
	}
	proposed := false
	for end := len(data); end > 0; {
		i := bytes.LastIndexByte(data[:end-1], '\n') + 1
		line := bytes.TrimSuffix(data[i:end], []byte{'\n'})
		end = i
		row, err := ojson.DecodeObject(line)
		if err != nil {
			continue // fsck reports it
		}
		proposed = proposed || strings.HasPrefix(row.Object("artifact").String("ref"), protocol.ProposalDir(""))
		id := row.String("turn_id")
		switch {
		case id == "" || b.byID[id] != nil && !b.byID[id].Active(), row.String("status") == run.HistoryReissued:
		default:
			t := acceptedTurn(rec, row, in)
			b.add(t)
			seen[t.Run] = true
		}
	}
	if proposed {
		return b.readProposals(rec)
	}
	return nil
}

// readProposals adds to turns with proposals the files that people applied, and the commits of that
// (docs/spec/observation.md#a-proposal-is-decided).
func (b *book) readProposals(rec *chain.RunRecord) error {
	return eachRow(rec, wire.LedgerDecisions, func(row *ojson.Object) {
		t := b.byID[row.String("turn_id")]
		if t == nil || t.Record != rec || row.String("category") != "proposal" || row.String("action") != "applied" {
			return
		}
		if by := row.String("in_turn"); by != "" { // the work of that turn, which declared it
			if taker := b.byID[by]; taker != nil && taker.Record == rec {
				taker.tookOver(taker.Prefix, row.Strings("files"), t)
			}
			return
		}
		if t.applied == nil {
			t.applied = make(map[string]object.OID)
			t.marks = nil // the row's marks are of the proposal's own files
		}
		for _, p := range row.Strings("files") {
			t.declare(t.Prefix, p)
			if t.applied[t.Prefix+p] == "" { // each row names all files applied so far
				t.applied[t.Prefix+p] = object.OID(row.String("commit"))
			}
		}
	})
}

func (t *Turn) tookOver(prefix string, files []string, from *Turn) {
	if t.took == nil {
		t.took = make(map[string]*Turn)
	}
	for _, p := range files {
		t.took[prefix+p] = from
	}
}

// ProposedBy returns the turn whose proposal this turn applied to the file as its own work, or nil.
func (t *Turn) ProposedBy(path string) *Turn { return t.took[path] }

func acceptedTurn(rec *chain.RunRecord, row *ojson.Object, in func(...object.OID) string) *Turn {
	seen := row.Object("observed_artifact")
	t := &Turn{
		Run:        row.String("run_id"),
		ID:         row.String("turn_id"),
		Role:       row.String("role"),
		Runtime:    row.String("runtime_id"),
		Phase:      row.String("phase"),
		Row:        row,
		Record:     rec,
		marks:      seen.Object("file_markers"),
		keys:       make(map[string]string),
		beside:     row.Strings("concurrent_with"),
		baseline:   commitRef(seen.String("baseline_ref")),
		head:       commitRef(seen.String("accepted_ref")),
		checkpoint: object.OID(row.String("checkpoint_sha")),
	}
	if t.Run == "" {
		t.Run = rec.Run
	}
	t.Prefix = in(t.checkpoint, t.head, t.baseline)
	t.accepted, _ = row.Int("accepted_sequence")
	t.assigned, _ = row.Int("assigned_sequence")
	if at, err := wire.ParseTime(row.String("started_at")); err == nil {
		t.started = at
	}
	// A later attempt starts later than the turn's first commits.
	if at, err := wire.ParseTime(seen.String("baseline_at")); err == nil && at.Before(t.started) {
		t.started = at
	}
	for _, p := range row.Strings("files_changed") {
		t.declare(t.Prefix, p)
	}
	return t
}

func activeTurn(rec *chain.RunRecord, state *run.State, id string, a *run.Turn, prefix string,
	staged func(string) ([]string, bool)) *Turn {
	t := &Turn{
		Run:      rec.Run,
		ID:       id,
		Role:     a.AssignedRole,
		Runtime:  a.RuntimeID,
		Phase:    state.Phase,
		Record:   rec,
		Prefix:   prefix,
		keys:     make(map[string]string),
		beside:   a.ConcurrentWith,
		assigned: a.AssignedSequence,
		silent:   true,
	}
	if a.Baseline != nil && a.Baseline.HeadRef != nil {
		t.baseline = object.OID(*a.Baseline.HeadRef)
	}
	if at, err := wire.ParseTime(a.StartedAt); err == nil {
		t.started = at
	}
	if a.Baseline != nil {
		if at, err := wire.ParseTime(a.Baseline.CapturedAt); err == nil && at.Before(t.started) {
			t.started = at
		}
	}
	if staged != nil {
		if files, ok := staged(id); ok {
			t.silent = false
			for _, p := range files {
				t.declare(prefix, p)
			}
		}
	}
	return t
}

// commitRef reads "git:<sha>".
func commitRef(s string) object.OID {
	id, ok := strings.CutPrefix(s, "git:")
	if !ok {
		return ""
	}
	return object.OID(id)
}

// namedTurns returns the turns that a commit message names, in our form and in the reference's, also indented as in
// a squash.
func namedTurns(message string) []string {
	var ids []string
	for line := range strings.Lines(message) {
		key, value, ok := strings.Cut(strings.TrimSpace(line), ":")
		if !ok || !strings.EqualFold(key, "Agentxchain-Turn") && !strings.EqualFold(key, "Turn-ID") {
			continue
		}
		if value = strings.TrimSpace(value); value != "" && len(value) <= 200 && !slices.Contains(ids, value) {
			ids = append(ids, value)
		}
	}
	return ids
}
