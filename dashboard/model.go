// The read model: one snapshot of everything that is shown, replaced on change.

package dashboard

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/git-agentxchain/git-agentxchain/coordinator"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	multirepo "github.com/git-agentxchain/git-agentxchain/protocol/initiative"
	agentrun "github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/restore"
	"github.com/git-agentxchain/git-agentxchain/runner"
	"github.com/git-agentxchain/git-agentxchain/runner/lookback"
	"github.com/git-agentxchain/git-agentxchain/runner/status"
)

// snapshot is what was seen at one moment. It is never changed.
type snapshot struct {
	Version uint64
	At      time.Time

	Governed bool          // there is an agentxchain.json
	Sight    *status.Sight // nil when there is none, or SightErr is set
	SightErr error
	Ops      []runner.OpInfo // of the run's record, newest first; nil without a record
	OpsErr   error
	phases   []string // of Ops, from the oldest: the phase in which each happened
	pictures sync.Map // of the run: phase, "" for all, to *timeline.Drawing

	Initiative    bool // there is an agentxchain-multi.json or its directory
	Standing      *coordinator.Standing
	InitiativeErr error
}

// source is what is shown: a live project, or the workspace of an artifact.
type source interface {
	// sight returns where the run stands, without changing anything.
	sight(ctx context.Context) (*status.Sight, error)
	// operations returns the record's operations, newest first, given the previous ones; nil when
	// there is no record.
	operations(ctx context.Context, before []runner.OpInfo) ([]runner.OpInfo, error)
	// initiative returns where the initiative stands.
	initiative(ctx context.Context) (*coordinator.Standing, error)
	// operation reads one operation in full; errNoRecord in a replay.
	operation(ctx context.Context, id string) (*runner.OpDetail, error)
	// explain judges again the outcome of a turn, a gate or an operation; ops is the record from
	// its beginning. errNoRecord in a replay.
	explain(ctx context.Context, ops []runner.OpInfo, of string) (*lookback.Explanation, error)
	// diff reads what a commit changed; errNoRecord in a replay.
	diff(ctx context.Context, commit string) ([]runner.FileStat, []byte, bool, error)
	// work reads how files now differ from a commit; errNoRecord in a replay.
	work(ctx context.Context, commit string, names []string) ([]runner.FileStat, []byte, bool, error)
	// log returns what the agent of a turn printed in one of so many attempts, nil when it
	// left nothing on this machine.
	log(turn string, attempts int) ([]byte, error)
	// fsck checks the record; errNoRecord in a replay.
	fsck(ctx context.Context) (*runner.FsckReport, error)
	close() error
}

var errNoRecord = errors.New("an artifact has the files of a run and not its record in git")

// model keeps the snapshot up to date.
type model struct {
	dir    string
	root   *os.Root
	src    source
	opt    Options
	hub    *hub
	check  *checker
	cur    atomic.Pointer[snapshot]
	busy   sync.Mutex // one refresh at a time
	byPath map[string]*ledger

	history, events, decisions, hookAudit, hookNotes, runHistory, repoDecisions, escalations, notifications *ledger
	coHistory, coLedger, coBarriers, coHooks, coNotes                                                       *ledger
}

func newModel(ctx context.Context, opt Options) (_ *model, err error) {
	m := &model{opt: opt, hub: newHub(), byPath: make(map[string]*ledger)}
	if opt.Replay != nil {
		m.src, m.dir = &replayed{dir: opt.Dir, now: opt.Now}, opt.Dir
	} else {
		m.src, m.dir, err = openLive(ctx, opt)
	}
	if err != nil {
		return nil, err
	}
	if m.root, err = os.OpenRoot(m.dir); err != nil {
		_ = m.src.close()
		return nil,
			&wire.Error{Code: "io_failed", Message: "The directory " + m.dir + " cannot be read: " + reason(err) + "."}
	}
	add := func(path string, digest func(*ojson.Object, *entry)) *ledger {
		l := newLedger(m.root, path, digest)
		l.reset()
		m.byPath[path] = l
		return l
	}
	m.history, m.events, m.decisions = add(wire.LedgerHistory.Path(),
		digestHistory), add(wire.LedgerEvents.Path(), digestEvent), add(wire.LedgerDecisions.Path(), digestDecision)
	m.hookAudit, m.hookNotes = add(wire.LedgerHookAudit.Path(),
		digestHook), add(wire.LedgerHookAnnotations.Path(), digestHook)
	m.runHistory, m.repoDecisions = add(wire.LedgerRunHistory.Path(),
		digestAny), add(wire.LedgerRepoDecisions.Path(), digestDecision)
	m.escalations, m.notifications = add(wire.LedgerEscalations.Path(),
		digestAny), add(wire.LedgerNotifications.Path(), digestAny)
	m.coHistory, m.coLedger, m.coBarriers = add(multirepo.HistoryPath,
		digestAny), add(multirepo.DecisionsPath, digestDecision), add(multirepo.BarrierLedgerPath, digestAny)
	m.coHooks, m.coNotes = add(multirepo.HookAuditPath, digestHook), add(multirepo.HookNotesPath, digestHook)
	m.check = newChecker(m.src, opt.Now)
	if err := m.refresh(ctx); err != nil {
		_ = m.close()
		return nil, err
	}
	if s := m.now(); !s.Governed && !s.Initiative {
		_ = m.close()
		return nil, notGoverned(m.dir)
	}
	return m, nil
}

func notGoverned(dir string) error {
	return &wire.Error{Code: "not_a_project", Message: "There is nothing governed in " + dir + ": neither " +
		wire.ConfigPath + " nor " + multirepo.ConfigFile + ".",
		Hint: "git agentxchain init"}
}

func (m *model) close() error {
	var err error
	if m.root != nil {
		err = m.root.Close()
	}
	return errors.Join(err, m.src.close())
}

// now returns the newest snapshot.
func (m *model) now() *snapshot { return m.cur.Load() }

// refresh looks at everything again. Only ctx's end is an error: what cannot be read is part of the
// snapshot.
func (m *model) refresh(ctx context.Context) error {
	m.busy.Lock()
	defer m.busy.Unlock()
	before := m.cur.Load()
	if before == nil {
		before = &snapshot{}
	}
	s := &snapshot{Version: before.Version + 1, At: m.opt.Now()}
	var wg sync.WaitGroup
	for _, l := range m.byPath {
		wg.Go(func() { _ = l.refresh() }) // an unreadable ledger has no rows, and its page says so
	}
	wg.Wait()
	s.Governed = m.has(wire.ConfigPath)
	s.Initiative = m.has(multirepo.ConfigFile) || m.has(multirepo.StatePath)
	if s.Governed {
		s.Sight, s.SightErr = m.src.sight(ctx)
		s.Ops, s.OpsErr = m.src.operations(ctx, before.Ops)
		s.phases = m.phasesOf(s)
	}
	if err := m.gone(s); err != nil {
		s.SightErr = err
	}
	if s.Initiative {
		s.Standing, s.InitiativeErr = m.src.initiative(ctx)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	m.cur.Store(s)
	return nil
}

const codeDirectory = "directory_unusable"

// gone tells of a project that was taken away while we show it, nil of one that is there.
func (m *model) gone(s *snapshot) error {
	now, err := os.Stat(m.dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &wire.Error{Code: codeDirectory, Message: "The directory " + m.dir + " is gone.",
			Hint: "bring it back; or where the project is now: git agentxchain dashboard stop, then git agentxchain " +
				"dashboard"}
	case err == nil:
		// Cloned anew, for example: the files that we have open are those of the earlier one.
		if ours, err := m.root.Stat("."); err == nil && !os.SameFile(ours, now) {
			return &wire.Error{Code: codeDirectory,
				Message: "The directory " + m.dir + " is another one than when this dashboard began.",
				Hint: "end it, with Ctrl-C where it runs or by its process id " + strconv.Itoa(os.Getpid()) +
					", then: git agentxchain dashboard"}
		}
	}
	if !s.Governed && !s.Initiative {
		return &wire.Error{Code: "not_a_project", Message: wire.ConfigPath + " is gone.",
			Hint: "git restore " + wire.ConfigPath}
	}
	return nil
}

// phasesOf returns the phase in which each operation happened: that of its turn, and for one that
// is about no turn the phase of the turns around it.
func (m *model) phasesOf(s *snapshot) []string {
	out := make([]string, len(s.Ops))
	now := ""
	for i := range out {
		op := &s.Ops[len(s.Ops)-1-i]
		if op.Turn != "" {
			if e, ok := m.history.ofTurn(op.Turn); ok {
				now = e.Phase
			} else if e, ok := m.events.ofTurn(op.Turn); ok {
				now = e.Phase
			}
		}
		out[i] = now
	}
	return out
}

func (m *model) has(name string) bool {
	fi, err := m.root.Stat(filepath.FromSlash(name))
	return err == nil && fi.Mode().IsRegular()
}

// object reads a JSON document of the project, nil when it is absent or not an object.
func (m *model) object(name string) *ojson.Object {
	data, err := readSmall(m.root, name, maxDocument)
	if err != nil || data == nil {
		return nil
	}
	o, err := ojson.DecodeObject(data)
	if err != nil {
		return nil
	}
	return o
}

const maxDocument = 32 << 20

// decode decodes rows of a ledger; it leaves out those that were changed meanwhile.
func (l *ledger) decode(rows []entry) []*ojson.Object {
	out := make([]*ojson.Object, 0, len(rows))
	_ = l.each(rows, func(raw []byte) bool {
		if o, err := agentrun.DecodeLedgerLine(slices.Clone(raw)); err == nil {
			out = append(out, o)
		}
		return true
	})
	return out
}

// decisionSummary returns docs/export.md#what-is-in-it of the lasting decisions, nil without any.
func (m *model) decisionSummary() *ojson.Object {
	return restore.DecisionSummary(m.repoDecisions.decode(m.repoDecisions.entries()), m.object(wire.ConfigPath))
}
