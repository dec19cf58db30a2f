// An initiative on another machine: its record comes with a sync, and the files of the
// workspace follow it (docs/coordinator.md#on-another-machine).

package coordinator

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/gitstore/travel"
	"github.com/git-agentxchain/git-agentxchain/internal/faults"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/initiative"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// SyncOptions of Sync.
type SyncOptions struct {
	Remote string
	Forget []string
	NoPush bool
}

// Sync brings the initiatives of this workspace and of a remote of its repository together. The
// files of the workspace follow; where it has no initiative, the newest that goes on is brought.
//
// Errors: those of travel.SyncInitiatives; not_a_git_repository where nothing is recorded in
// git; inside_dispatched_turn.
func (c *Coordinator) Sync(ctx context.Context, opt SyncOptions) (*travel.Synced, error) {
	tx, home, err := c.travelling(ctx, "sync")
	if err != nil {
		return nil, err
	}
	tx.Close() // a server may take its time, and other commands need not wait for it
	c.fetchRemotes(ctx, tx.Docs, home)
	y, err := travel.SyncInitiatives(ctx, home.Repository(), travel.InitiativeSync{
		Remote:  opt.Remote,
		Project: tx.Docs.Config.ProjectID,
		Forget:  opt.Forget,
		NoPush:  opt.NoPush,
		Exclusive: func(ctx context.Context, land func(context.Context) error) (err error) {
			if tx, _, err = c.travelling(ctx, "sync"); err != nil {
				return err
			}
			defer tx.Close()
			return land(ctx)
		},
		Judge: func(ctx context.Context, name string, from, to object.OID) error {
			return c.vouched(ctx, tx, from, to)
		},
		Join: func(ctx context.Context, base, here, there object.OID) (object.OID, error) {
			return c.joined(ctx, tx, base, here, there)
		},
		Follow: func(ctx context.Context, name string, to object.OID) error {
			if tx.Docs.State == nil || tx.Docs.State.SuperRunID != name {
				return nil
			}
			_, err := c.place(ctx, tx, to)
			return err
		},
	})
	if err != nil {
		return y, err
	}
	return y, c.takeUp(ctx, y)
}

// joined is the change with which this side goes on where both went on from base; "" where they cannot be brought
// together. What was only counted or requested here the next command counts and requests again; what people said here to
// the gate that waits is put on top of there, where it counts beside what was said there. Without a base the files came here by another way
// than the record, as part of a branch: then they have to be those of a change there.
func (c *Coordinator) joined(ctx context.Context, tx *Tx, base, here, there object.OID) (object.OID, error) {
	repo := c.repository(ctx).Repository()
	now, err := record.InitiativeFiles(ctx, repo, here)
	if err != nil {
		return "", err
	}
	if base == "" {
		if op, err := record.InitiativeChange(ctx, repo, there, now); op == "" {
			return "", err
		}
		return there, nil
	}
	was, err := record.InitiativeFiles(ctx, repo, base)
	if err != nil {
		return "", err
	}
	theirs, err := record.InitiativeFiles(ctx, repo, there)
	if err != nil {
		return "", err
	}
	grown := make(map[string][]*ojson.Object)
	for name := range now {
		switch name {
		case initiative.HistoryPath, initiative.DecisionsPath:
			rest, onward := bytes.CutPrefix(now[name], was[name])
			rows, bad := decodeRows(name, rest)
			if !onward || len(bad) > 0 {
				return "", nil
			}
			grown[name] = rows
		case initiative.BarrierLedgerPath, initiative.BarriersPath, initiative.StatePath,
			initiative.HookAuditPath, initiative.HookNotesPath: // they follow from what is counted
		default:
			if !bytes.Equal(was[name], now[name]) && !bytes.Equal(theirs[name], now[name]) {
				return "", nil
			}
		}
	}
	before, err := stateOf(was)
	if err != nil {
		return "", err
	}
	after, err := stateOf(now)
	if err != nil {
		return "", err
	}
	votes, asked, ok := initiative.Repeatable(grown[initiative.HistoryPath])
	waits := before.Status == initiative.StatusActive && after.Status == initiative.StatusPaused && asked > 0
	switch {
	case !ok || len(grown[initiative.DecisionsPath]) != asked || before.Status != after.Status && !waits:
		return "", nil
	case len(votes) > 0:
		return c.withVotes(ctx, tx, votes, there)
	}
	return there, nil
}

// withVotes is a change on top of there to which votes were added; there itself where they add nothing, and "" where one
// cannot be added.
func (c *Coordinator) withVotes(ctx context.Context, tx *Tx, votes []*ojson.Object,
	there object.OID) (object.OID, error) {
	repo := c.repository(ctx).Repository()
	files, err := record.InitiativeFiles(ctx, repo, there)
	if err != nil {
		return "", err
	}
	st, err := stateOf(files)
	if err != nil {
		return "", err
	}
	a, err := c.judging(ctx, st, there, tx.Docs.Config, false)
	if refusalOf(err) != nil {
		return there, nil // it is refused in a moment, and says why
	} else if err != nil {
		return "", err
	}
	y := a.history(files[initiative.HistoryPath]).Join(st, votes, st.SuperRunID, a.ground(ctx))
	if y == nil {
		return "", nil
	}
	if y.Over > 0 {
		c.note("what was said here to the gate adds nothing to what was said elsewhere: it was decided on there, or asked again")
	}
	ch := y.Change
	if ch.Empty() {
		return there, nil
	}
	env := c.env(ctx)
	ch.State.UpdatedAt = env.Time()
	history := bytes.Clone(files[initiative.HistoryPath])
	for _, row := range ch.History {
		history = append(append(history, ojson.Compact(row)...), '\n')
	}
	files[initiative.HistoryPath] = history
	files[initiative.StatePath] = ojson.Pretty(ch.State.Object())
	g := ch.State.PendingGate
	op, err := record.WriteInitiative(ctx, repo, record.Initiative{
		Run:     st.SuperRunID,
		Op:      "join_votes",
		Subject: fmt.Sprintf("Joined what two machines said to gate %s: %d agree", g.Gate, len(g.Votes)),
		State:   files[initiative.StatePath],
		Files:   files,
		Env:     env,
	}, there)
	if err != nil {
		return "", err
	}
	for _, v := range y.Votes {
		c.note(fmt.Sprintf("the yes of %s to gate %s counts beside those of other machines", v.Who(), g.Gate))
	}
	return op, nil
}

// takeUp goes on with the newest initiative in a workspace that has none, or one that has ended.
func (c *Coordinator) takeUp(ctx context.Context, y *travel.Synced) error {
	tx, home, err := c.travelling(ctx, "sync")
	if err != nil {
		return err
	}
	defer tx.Close()
	if st := tx.Docs.State; st != nil && !st.Over() {
		return nil
	}
	name, op, err := c.goesOn(ctx, home)
	if err != nil || name == "" || tx.Docs.State != nil && name == tx.Docs.State.SuperRunID {
		return err
	}
	// Its ref may have come here by another way than this sync.
	if err := record.VerifyInitiative(ctx, home.Repository(), name, op, "", tx.Docs.Config.ProjectID); err != nil {
		return err
	}
	if err := c.vouched(ctx, tx, "", op); err != nil {
		return err
	}
	if err := c.enterRepos(ctx, tx, op); err != nil {
		return err
	}
	if _, err := c.place(ctx, tx, op); err != nil {
		return err
	}
	y.Entered, y.Over = name, tx.Docs.State.Over()
	return nil
}

// travelling takes the lock for a command that brings an initiative from elsewhere, and brings files and record together.
func (c *Coordinator) travelling(ctx context.Context, purpose string) (*Tx, *gitstore.Store, error) {
	tx, home, err := c.arriving(ctx, purpose)
	if err != nil {
		return nil, nil, err
	}
	if err := c.catchUpRecord(ctx, tx); err != nil {
		tx.Close()
		return nil, nil, err
	}
	return tx, home, nil
}

// arriving is travelling that leaves files and record as they are.
func (c *Coordinator) arriving(ctx context.Context, purpose string) (*Tx, *gitstore.Store, error) {
	tx, err := c.lock(ctx, purpose, true)
	if err != nil {
		return nil, nil, err
	}
	closed := func(err error) (*Tx, *gitstore.Store, error) {
		tx.Close()
		return nil, nil, err
	}
	if e := personOnly(c.env(ctx).Actor, "bring an initiative from elsewhere", Program+" "+purpose); e != nil {
		return closed(e)
	}
	home := c.repository(ctx)
	if home == nil {
		return closed(&wire.Error{
			Code:    fail.CodeNotRepository,
			Field:   "workspace",
			Message: "The workspace is in no git repository, so its initiatives are recorded nowhere and cannot travel.",
			Hint:    "git init " + wire.ShellWord(c.store.Dir()),
		})
	}
	if e := unresolved(tx.Docs); e != nil {
		return closed(e)
	}
	return tx, home, nil
}

// catchUpRecord brings files and record together: files of an earlier change, or of one that was given up for that of a
// remote, are late and follow; anything else that the record lacks, by another implementation or by a command that
// was killed, is recorded.
func (c *Coordinator) catchUpRecord(ctx context.Context, tx *Tx) error {
	home := c.repository(ctx)
	if home == nil || tx.Docs.State == nil {
		return nil
	}
	c.keepBeginning(ctx, tx.Docs.State)
	in, err := c.initiative(ctx, tx.Docs, "external", "Took in what was not recorded yet")
	if err == nil {
		var tip, at object.OID
		tip, at, err = record.InitiativeAt(ctx, home.Repository(), in)
		known := in.Files[initiative.HistoryPath]
		if err == nil && tip != "" && at == "" {
			if at, err = record.InitiativeGivenUp(ctx, home.Repository(), in); at != "" {
				known = nil // of what went on from elsewhere
				c.note("a command that was killed had gone over to the changes of a remote, and the files follow; those that were " +
					"here are kept under " + record.LostRefPrefix + record.InitiativeNames + in.Run)
			}
		}
		switch {
		case err != nil:
		case at == "" || at == tip:
			if err := c.recordable(ctx, tx, &in, tip, at); err != nil {
				return err
			}
		default:
			if err := c.recordable(ctx, tx, &in, tip, at); err != nil {
				return err // what comes after them is judged below, and they are not
			}
			if err := record.VerifyInitiative(ctx, home.Repository(), in.Run, tip, "",
				tx.Docs.Config.ProjectID); err != nil {
				return err
			}
			files, err := record.InitiativeFiles(ctx, home.Repository(), tip)
			if err != nil {
				return err
			}
			st, err := stateOf(files)
			if err != nil {
				return err
			}
			if err := c.approved(ctx, st, files[initiative.HistoryPath], known, tip, tx.Docs.Config,
				false); err != nil {
				return err
			}
			_, err = c.place(ctx, tx, tip)
			return err
		}
	}
	if err != nil {
		c.note("the initiative could not be recorded in git: " + err.Error())
		return nil
	}
	c.record(ctx, tx.Docs, in.Op, in.Subject)
	return nil
}

// goesOn is the newest initiative that is recorded here and has not ended, else the newest.
func (c *Coordinator) goesOn(ctx context.Context, home *gitstore.Store) (string, object.OID, error) {
	tips, err := travel.InitiativeTips(ctx, home.Repository())
	if err != nil {
		return "", "", err
	}
	name, op := "", object.OID("")
	for _, t := range tips {
		if t.Remote != "" {
			continue
		}
		files, err := record.InitiativeFiles(ctx, home.Repository(), t.Op)
		if err != nil {
			return "", "", err
		}
		st, err := stateOf(files)
		if err != nil {
			continue
		}
		if name == "" || !st.Over() {
			if name, op = t.Name, t.Op; !st.Over() {
				break
			}
		}
	}
	return name, op, nil
}

func stateOf(files map[string][]byte) (*initiative.State, error) {
	doc, err := ojson.DecodeObject(files[initiative.StatePath])
	if err != nil {
		return nil, err
	}
	st, e := initiative.DecodeState(doc)
	if e != nil {
		return nil, e
	}
	return st, nil
}

// vouched refuses a record whose new acceptances the repositories do not bear out: they are the
// authority on what they accepted.
func (c *Coordinator) vouched(ctx context.Context, tx *Tx, from, to object.OID) error {
	repo := c.repository(ctx).Repository()
	files, err := record.InitiativeFiles(ctx, repo, to)
	if err != nil {
		return err
	}
	var before []byte
	if from != "" {
		was, err := record.InitiativeFiles(ctx, repo, from)
		if err != nil {
			return err
		}
		before = was[initiative.HistoryPath]
	}
	return c.vouch(ctx, tx, files, before, to, from == "")
}

// vouch is vouched for files; before is the history of which the acceptances are known to count, and op the change that
// recorded them: "" for those of an artifact, which has the runs of the repositories too. anew says that nothing of the
// initiative was believed here before.
func (c *Coordinator) vouch(ctx context.Context, tx *Tx, files map[string][]byte, before []byte, op object.OID,
	anew bool) error {
	st, err := stateOf(files)
	if err != nil {
		return err
	}
	if err := c.approved(ctx, st, files[initiative.HistoryPath], before, op, tx.Docs.Config, anew); err != nil {
		return err
	}
	rows, _ := decodeRows(initiative.HistoryPath, bytes.TrimPrefix(files[initiative.HistoryPath], before))
	var claims []*ojson.Object
	for _, row := range initiative.NewHistory(rows, st.SuperRunID).Rows() {
		if initiative.IsProjection(row) {
			claims = append(claims, row)
		}
	}
	if len(claims) == 0 {
		return nil
	}
	opt := ReadOptions{Acceptances: true, Untouched: true}
	c.fetched(ctx, tx.Docs, &opt)
	children, refused := ReadChildren(ctx, tx.Docs.Config, tx.Docs.Roots, opt)
	recorded := make(map[string]runsOf)
	for _, row := range claims {
		repo, turn := row.String("repo_id"), row.String("repo_turn_id")
		if child := children[repo]; child != nil && child.Accepted(turn) != nil {
			continue
		}
		if recorded[repo] == nil {
			recorded[repo] = c.acceptedIn(ctx, tx.Docs, repo)
		}
		if recorded[repo][row.String("repo_run_id")][turn] {
			continue
		}
		e := &wire.Error{
			Code:  CodeForged,
			Field: "repos." + repo,
			Message: fmt.Sprintf(
				"The record says that %s accepted turn %s, and the clone of %s here does not record that.",
				ojson.Shown(repo), ojson.Shown(turn), ojson.Shown(repo)),
		}
		in, bring := "REPOSITORY", " sync"
		if dir, ok := tx.Docs.Roots.Path(repo); ok {
			in = wire.ShellWord(dir)
		}
		if op == "" {
			bring = " restore FILE --repo " + wire.ShellWord(repo) + ", with this artifact; or" + bring
		}
		e.Hint = "bring the runs of the repository first: " + Program + " -C " + in + bring
		if tx.Docs.Roots.Remote(repo) != "" {
			e.Hint = "in the clone of it that accepted the turn: " + Program + " sync; then here: " + Program + " sync"
		}
		for _, p := range refused {
			if p.Value == repo {
				e.Problems = append(e.Problems, p)
			}
		}
		return e
	}
	return nil
}

// runsOf are the turns that recorded runs of a repository have accepted, by run.
type runsOf map[string]map[string]bool

// acceptedIn reads the recorded runs of a clone, which may be in no run, or in another than the
// one that the initiative went on with. Of a repository that is only on its server it reads what was fetched.
func (c *Coordinator) acceptedIn(ctx context.Context, d *Documents, repo string) runsOf {
	runs := make(runsOf)
	if home := c.repository(ctx); home != nil && d.Roots.Remote(repo) != "" {
		fetched, _ := travel.FetchedRuns(ctx, home.Repository(), repo) // proven before they were kept
		for _, rec := range fetched {
			rows, _ := recordedRows(rec, wire.LedgerHistory)
			runs[rec.Run] = acceptedTurns(rows)
		}
		return runs
	}
	dir, ok := d.Roots.Path(repo)
	if !ok {
		return runs
	}
	store, err := gitstore.OpenForeign(ctx, dir, gitstore.Options{Now: c.opt.Now})
	if err != nil {
		return runs
	}
	defer func() { _ = store.Close() }()
	tips, err := chain.RunTips(ctx, store.Repository(), 0)
	if err != nil {
		return runs
	}
	for _, t := range tips {
		rec, err := store.OpenRun(ctx, t.Run, "") // only what holds
		if err != nil {
			continue
		}
		var rows []*ojson.Object
		for line, err := range rec.Rows(wire.LedgerHistory) {
			if err != nil {
				break
			}
			rows = append(rows, line.Row)
		}
		runs[t.Run] = acceptedTurns(rows)
	}
	return runs
}

func acceptedTurns(history []*ojson.Object) map[string]bool {
	turns := make(map[string]bool)
	for _, row := range history {
		if run.SaysAccepted(row) {
			turns[row.String("turn_id")] = true
		}
	}
	return turns
}

// enterRepos brings the working files of repositories that have the run of an initiative in
// their record alone.
func (c *Coordinator) enterRepos(ctx context.Context, tx *Tx, op object.OID) error {
	files, err := record.InitiativeFiles(ctx, c.repository(ctx).Repository(), op)
	if err != nil {
		return err
	}
	st, err := stateOf(files)
	if err != nil {
		return err
	}
	s := c.see(ctx, tx.Docs, false)
	for id := range s.Config.Repos.All() {
		dir, ok := s.Roots.Path(id)
		if child := s.Children[id]; !ok || child == nil || !child.Fresh || st.RunOf(id) == "" {
			continue
		}
		name, _, p := c.arrived(ctx, id, dir)
		switch {
		case p != nil:
			c.note(p.Message)
		case name == st.RunOf(id):
			if err := c.enter(ctx, s, id, name); err != nil {
				return err
			}
		default:
			c.note(fmt.Sprintf("repository %s: its run %s is not here; bring it: %s -C %s sync", id, st.RunOf(id),
				Program, wire.ShellWord(dir)))
		}
	}
	return nil
}

// place makes the coordinator's files those of a recorded change, and reads them again. It
// returns where the files are that were displaced, "" when they only went on.
func (c *Coordinator) place(ctx context.Context, tx *Tx, op object.OID) (kept string, err error) {
	files, err := record.InitiativeFiles(ctx, c.repository(ctx).Repository(), op)
	if err != nil {
		return "", err
	}
	if kept, err = c.placeFiles(tx, files, true); err == nil {
		c.keepBeginning(ctx, tx.Docs.State)
	}
	return kept, err
}

// placeFiles is place for files; whole says that contexts and reports that are not among them
// are no longer part of the initiative.
func (c *Coordinator) placeFiles(tx *Tx, files map[string][]byte, whole bool) (kept string, err error) {
	root := c.store.root
	if err := tx.held.Check(); err != nil {
		return "", err
	}
	var steps []step
	onward := true
	for _, name := range travelFiles() {
		now, err := readRegular(root, name, maxLedgerBytes)
		if err != nil {
			return "", failed(name, err)
		}
		data, want := files[name]
		if !want {
			data = now // a record without it says nothing of it
		}
		before := ""
		if now != nil {
			before = wire.SHA256(now)
		}
		switch {
		case now == nil && want && len(data) == 0:
			// An empty ledger is one too: without it the files would not be the record's.
			steps = append(steps, step{File: name})
		case bytes.Equal(now, data):
		case !strings.HasSuffix(name, ".jsonl"):
			steps = append(steps, step{File: name, Data: string(data), Before: before})
		case bytes.HasPrefix(data, now):
			steps = append(steps, step{File: name, Data: string(data[len(now):]), Append: true, Size: len(now)})
		default:
			onward = false
			steps = append(steps, step{File: name, Data: string(data), Before: before})
		}
	}
	if !onward {
		if kept, err = c.keepFiles(); err != nil {
			return "", err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if slices.Contains(travelFiles(), name) || name == initiative.ConfigFile {
			continue
		}
		if err := writeNew(root, initiative.File{Path: name, Data: files[name]}); err != nil {
			return kept, unwritten(err)
		}
	}
	faults.Point("coordinator.place.files")
	if err := carryOut(root, steps); err != nil {
		return kept, unwritten(err)
	}
	if whole {
		if err := c.dropFiles(files); err != nil {
			return kept, unwritten(err)
		}
	}
	if here, err := readRegular(root, initiative.ConfigFile, initiative.MaxConfigBytes); err == nil &&
		files[initiative.ConfigFile] != nil && !bytes.Equal(here, files[initiative.ConfigFile]) {
		c.note(initiative.ConfigFile +
			" here is not the one that the initiative went on with elsewhere; git pull brings what was committed")
	}
	d, e := read(root, c.store.dir, false)
	if e != nil {
		return kept, e
	}
	tx.Docs = d
	return kept, nil
}

// travelFiles are the files that make an initiative, ledgers first: everything else can be
// derived from them.
func travelFiles() []string {
	return append(initiative.Ledgers(), initiative.BarriersPath, initiative.StatePath)
}

// dropFiles moves contexts and reports aside that a record does not have.
func (c *Coordinator) dropFiles(files map[string][]byte) error {
	root := c.store.root
	names := append(filesBelow(root, initiative.ContextDir), filesBelow(root, initiative.ReportArchive)...)
	for _, name := range append(names, initiative.ReportPath) {
		if _, ok := files[name]; ok {
			continue
		}
		to := path.Join(c.displaced(), strings.TrimPrefix(name, initiative.Dir+"/"))
		if _, err := root.Lstat(name); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err := root.MkdirAll(path.Dir(to), 0o777); err != nil {
			return err
		}
		if err := root.Rename(name, to); err != nil {
			return err
		}
	}
	return nil
}

// displaced is the directory for files that a record takes the place of.
func (c *Coordinator) displaced() string {
	at := strings.NewReplacer(":", "", ".", "").Replace(wire.FormatTime(c.opt.Now()))
	return path.Join(initiative.Dir, "archive", "displaced-"+at)
}

// keepFiles copies the coordinator's files to a directory of their own.
func (c *Coordinator) keepFiles() (string, error) {
	dir := c.displaced()
	for _, name := range travelFiles() {
		data, err := readRegular(c.store.root, name, maxLedgerBytes)
		if err != nil {
			return "", failed(name, err)
		}
		if data == nil {
			continue
		}
		if err := writeNew(c.store.root, initiative.File{Path: path.Join(dir, path.Base(name)),
			Data: data}); err != nil {
			return "", unwritten(err)
		}
	}
	return dir, nil
}
