// The index: every session in memory, updated when a run's ref has moved.

package server

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

// How often refs are checked: those of runs that we carry out, all others that are not over, and
// the list of runs.
const (
	lookDriven = 100 * time.Millisecond
	lookOther  = 500 * time.Millisecond
	lookRuns   = 2 * time.Second
)

// index holds the sessions. Requests read it and never git.
type index struct {
	reader *runner.Runner
	git    sync.Mutex // the reader, one look at a time

	mu       sync.RWMutex
	byID     map[string]*session
	byRun    map[string]*session
	byKey    map[string]*session // user id, NUL, idempotency key
	listed   []*session          // newest first
	unsorted bool

	others map[string]bool // runs of other projects of the repository

	tables os.FileInfo // of a reftable repository, as last seen
}

func newIndex(r *runner.Runner) *index {
	return &index{
		reader: r,
		byID:   make(map[string]*session),
		byRun:  make(map[string]*session),
		byKey:  make(map[string]*session),
		others: make(map[string]bool),
	}
}

func keyOf(user, key string) string { return user + "\x00" + key }

// add adds a session, which must have something to show already.
func (x *index) add(s *session) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.byID[s.id()] = s
	x.byRun[s.facts.Run] = s
	if s.rec != nil && s.rec.IdempotencyKey != "" {
		x.byKey[keyOf(s.rec.UserID, s.rec.IdempotencyKey)] = s
	}
	x.listed = append(x.listed, s)
	x.unsorted = true
}

// session finds a session by its id, or by that of its run.
func (x *index) session(id string) *session {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if s := x.byID[id]; s != nil {
		return s
	}
	return x.byRun[id]
}

func (x *index) run(id string) *session {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.byRun[id]
}

func (x *index) key(user, key string) *session {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.byKey[keyOf(user, key)]
}

// all returns the sessions, newest first. The caller must not change the slice.
func (x *index) all() []*session {
	x.mu.RLock()
	if !x.unsorted {
		defer x.mu.RUnlock()
		return x.listed
	}
	x.mu.RUnlock()
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.unsorted {
		x.listed = slices.Clone(x.listed) // readers of the old one keep it
		slices.SortFunc(x.listed, newestFirst)
		x.unsorted = false
	}
	return x.listed
}

func newestFirst(a, b *session) int {
	switch {
	case a.order > b.order:
		return -1
	case a.order < b.order:
		return 1
	}
	return strings.Compare(a.id(), b.id())
}

// unknown returns the runs of the project that have a ref and no session of ours.
func (x *index) unknown(ctx context.Context) (runs []string, err error) {
	x.git.Lock()
	defer x.git.Unlock()
	refs, err := x.reader.Record().Runs(ctx)
	if err != nil {
		return nil, err
	}
	name := func(ref runner.Ref) string { return strings.TrimPrefix(ref.Name, runner.RunRefPrefix) }
	others := make(map[string]bool) // without those that are gone: they may come back
	refs = slices.DeleteFunc(refs, func(ref runner.Ref) bool {
		if x.others[name(ref)] {
			others[name(ref)] = true
		}
		return others[name(ref)] || x.run(name(ref)) != nil
	})
	if x.others = others; len(refs) == 0 {
		return nil, nil
	}
	own, _, err := x.reader.Record().OwnRuns(ctx)
	for _, ref := range refs {
		if slices.ContainsFunc(own, func(o runner.Ref) bool { return o.Name == ref.Name }) {
			runs = append(runs, name(ref))
		} else if err == nil {
			x.others[name(ref)] = true
		}
	}
	return runs, err
}

// discover adds runs that have a ref and no session of ours.
func (x *index) discover(ctx context.Context) error {
	runs, err := x.unknown(ctx)
	if err != nil {
		return err
	}
	for _, run := range runs {
		s := newSession(nil, run)
		s.mu.Lock()
		if err := x.read(ctx, s); err == nil {
			s.order = createdAt(s.facts.State)
			s.show()
		}
		s.mu.Unlock()
		if s.look() != nil {
			x.add(s)
		}
	}
	return nil
}

func createdAt(st *run.State) int64 {
	if st == nil || st.CreatedAt == nil {
		return 0
	}
	at, err := wire.ParseTime(*st.CreatedAt)
	if err != nil {
		return 0
	}
	return at.UnixNano()
}

// refresh updates a session.
func (x *index) refresh(ctx context.Context, s *session) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	was := s.tip
	err := x.read(ctx, s)
	if err == nil && s.tip != was {
		s.show()
	}
	return err
}

// read brings the facts of a session up to its run's ref. What has been read stays; only additions
// are read, unless rows were changed (a checkpoint amends one). The caller holds the session's
// lock.
func (x *index) read(ctx context.Context, s *session) error {
	x.git.Lock()
	defer x.git.Unlock()
	tip, err := x.reader.RunTip(ctx, s.facts.Run)
	if err != nil || tip == "" || tip == s.tip {
		return err
	}
	at, err := x.reader.OpenRun(ctx, s.facts.Run, tip)
	if err != nil {
		return err
	}
	events, added, err := ledger(at, s.at, wire.LedgerEvents)
	if err != nil {
		return err
	}
	history, more, err := ledger(at, s.at, wire.LedgerHistory)
	if err != nil {
		return err
	}
	state, err := at.State()
	if err != nil {
		return err
	}
	raw, err := at.ConfigBytes()
	if err != nil {
		return err
	}
	if s.facts.Config == nil || !bytes.Equal(raw, s.config) {
		if s.facts.Config, _, err = config.Decode(raw); err != nil {
			return err
		}
		s.config = raw
	}
	s.facts.State, _ = run.RepairState(state, s.facts.Config)
	events = s.rows(events)
	if !added && len(s.facts.Events) > 0 {
		// Read again from the first row: events are only ever added, so the known ones come first.
		events = events[min(len(s.facts.Events), len(events)):]
	}
	s.facts.Events = append(s.facts.Events, events...)
	s.log.Add(events...)
	if history = s.rows(history); more {
		history = append(slices.Clip(s.facts.History), history...)
	}
	s.facts.History = history
	s.tip, s.at = tip, at
	if s.rec == nil {
		s.describe()
	}
	if s.facts.State.Status.Ended() {
		s.at = nil // nothing will be added, and it holds trees in memory
	}
	return nil
}

// ledger reads what was added to a ledger since an earlier look, or all of it; added says which.
func ledger(at, since *runner.RecordedRun, l wire.Ledger) (rows []*ojson.Object, added bool, err error) {
	if since != nil {
		lines, ok, err := at.Appended(l, since)
		if err != nil {
			return nil, false, err
		}
		if ok {
			for _, line := range lines {
				rows = append(rows, line.Row)
			}
			return rows, true, nil
		}
	}
	for line, err := range at.Rows(l) {
		if err != nil {
			return nil, false, err
		}
		rows = append(rows, line.Row)
	}
	return rows, false, nil
}

// describe derives a run that did not start here from its own record.
func (s *session) describe() {
	s.origin.Intent = s.facts.Config.Project.Goal
	if s.facts.State.CreatedAt != nil {
		s.origin.CreatedAt = *s.facts.State.CreatedAt
	}
}

// moved reports whether any refs may have moved since the last call, in a repository where looking
// at one takes a git process.
func (x *index) moved() bool {
	repo := x.reader.Record().Repository()
	if repo.RefFormat != "reftable" {
		return true
	}
	fi, err := os.Stat(filepath.Join(repo.CommonDir, "reftable", "tables.list"))
	if err != nil {
		return true
	}
	same := x.tables != nil && os.SameFile(x.tables, fi) && x.tables.ModTime().Equal(fi.ModTime()) &&
		x.tables.Size() == fi.Size()
	x.tables = fi
	return !same
}
