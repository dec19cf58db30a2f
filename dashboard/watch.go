// What is watched, which part of the API a file belongs to, and when to look again.

package dashboard

import (
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/filewatch"
	"github.com/git-agentxchain/git-agentxchain/protocol/gates"
	multirepo "github.com/git-agentxchain/git-agentxchain/protocol/initiative"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes"
	"github.com/git-agentxchain/git-agentxchain/runner/status"
)

// again is how often everything is looked at although no file has changed: agents fall silent, and
// trust and branches change elsewhere.
var again = 15 * time.Second

// maxWatched bounds how many foreign files are watched.
const maxWatched = 2000

// watch refreshes the snapshot when files change, until ctx ends.
func (m *model) watch(ctx context.Context) {
	if m.opt.Replay != nil {
		<-ctx.Done() // it cannot change
		return
	}
	m.check.start(ctx)
	defer m.check.running.Wait()
	tick := time.NewTicker(again)
	defer tick.Stop()
	// A write between a look at the run and the watch's first look at a new file does not count as
	// a change: so everything is looked at once more.
	settled := make(chan struct{}, 1)
	known := make(map[string]bool)
	changes := filewatch.Watch(ctx, m.opt.Every, func() []string {
		paths := m.watched()
		more := false
		for _, p := range paths {
			more = more || !known[p]
			known[p] = true
		}
		if more {
			time.AfterFunc(m.opt.Every/2, func() {
				select {
				case settled <- struct{}{}:
				default:
				}
			})
		}
		return paths
	})
	for {
		var resources []string
		select {
		case <-ctx.Done():
			return
		case <-settled:
			before := m.fingerprint()
			if m.refresh(ctx) == nil && m.fingerprint() != before {
				m.hub.tell(m.now().Version, []string{"/api/state", "/api/history", "/api/ledger", "/api/events"})
				m.check.wake()
			}
			continue
		case paths, ok := <-changes:
			if !ok {
				return
			}
			for _, p := range paths {
				for _, r := range m.resources(p) {
					if !slices.Contains(resources, r) {
						resources = append(resources, r)
					}
				}
			}
		case <-m.check.news:
			m.hub.tell(m.now().Version, []string{"/integrity"})
			continue
		case <-tick.C:
			before := m.fingerprint()
			if m.refresh(ctx) == nil && (m.stateChanged() || m.fingerprint() != before) {
				m.hub.tell(m.now().Version, []string{"/api/state"})
			}
			continue
		}
		if m.refresh(ctx) == nil {
			m.hub.tell(m.now().Version, resources)
			m.check.wake()
		}
	}
}

// fingerprint changes with what was read: the ledgers, the state, open conflicts, the active turns and
// the verdicts of gates.
func (m *model) fingerprint() string {
	s := m.now()
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(m.byPath)) {
		fmt.Fprint(&b, m.byPath[name].bytes(), " ")
	}
	fmt.Fprint(&b, len(s.Ops), s.SightErr, s.InitiativeErr)
	if s.Sight != nil && s.Sight.View != nil {
		fmt.Fprintf(&b, "%x %d", sha256.Sum256(s.Sight.View.State.Encode()), s.Sight.Conflicts)
		for _, t := range s.Sight.Turns {
			fmt.Fprint(&b, t.Turn.TurnID, t.Staged, t.Overdue)
		}
		for _, g := range s.Sight.Gates {
			fmt.Fprint(&b, g.ID, g.Status, g.Result.Passed, g.Result.MissingFiles)
		}
	}
	return b.String()
}

// stateChanged reports whether time alone has led to something that people should see: an agent
// that fell silent.
func (m *model) stateChanged() bool {
	s := m.now()
	return s.Sight != nil && (len(s.Sight.Lost) > 0 ||
		slices.ContainsFunc(s.Sight.Turns, func(t status.Turn) bool { return t.Overdue }))
}

// watched returns the files whose change matters, absolute.
func (m *model) watched() []string {
	names := []string{wire.ConfigPath, string(wire.DocState), string(wire.DocSession), string(wire.DocHumanTasks),
		multirepo.ConfigFile, multirepo.StatePath, multirepo.BarriersPath, multirepo.ReportPath,
		".agentxchain/SESSION_RECOVERY.md", ".agentxchain/reports", ".agentxchain/missions",
		".agentxchain/missions/plans", ".agentxchain/watch-results"}
	for name := range m.byPath {
		names = append(names, name)
	}
	s := m.now()
	if s.Sight != nil && s.Sight.View != nil {
		for _, phase := range s.Sight.View.Config.Phases() {
			for _, p := range gates.Files(s.Sight.View.Config, phase) {
				if clean, problem := wire.CleanPath(p); problem == "" {
					names = append(names, clean)
				}
			}
		}
		for id := range s.Sight.View.State.ActiveTurns.All() {
			names = append(names, wire.StagingPath(id), runtimes.ProgressPath(id))
		}
	}
	names = slices.DeleteFunc(names, func(n string) bool { return n == "" })
	slices.Sort(names)
	names = slices.Compact(names)
	if len(names) > maxWatched {
		names = names[:maxWatched]
	}
	out := make([]string, 0, len(names)+8)
	for _, n := range names {
		out = append(out, filepath.Join(m.dir, filepath.FromSlash(n)))
	}
	if s.Standing != nil && s.Standing.Roots != nil {
		for _, id := range s.Standing.Config.Repos.Keys() {
			if path, ok := s.Standing.Roots.Path(id); ok && len(out) < maxWatched {
				out = append(out, filepath.Join(path, filepath.FromSlash(string(wire.DocState))),
					filepath.Join(path, filepath.FromSlash(wire.LedgerEvents.Path())))
			}
		}
	}
	return out
}

// resources returns the addresses of the API in which a file shows (docs/dashboard.md#api).
func (m *model) resources(path string) []string {
	rel, err := filepath.Rel(m.dir, path)
	if err != nil || strings.HasPrefix(rel, "..") {
		return []string{"/api/coordinator/repo-status", "/api/coordinator/events", "/api/coordinator/blockers"}
	}
	switch name := filepath.ToSlash(rel); {
	case name == wire.LedgerHistory.Path():
		return []string{"/api/history"}
	case name == wire.LedgerDecisions.Path():
		return []string{"/api/ledger"}
	case name == wire.LedgerEvents.Path():
		return []string{"/api/events"}
	case name == wire.LedgerHookAudit.Path():
		return []string{"/api/hooks/audit"}
	case name == wire.LedgerHookAnnotations.Path():
		return []string{"/api/hooks/annotations"}
	case name == wire.LedgerRunHistory.Path():
		return []string{"/api/run-history"}
	case name == wire.LedgerRepoDecisions.Path():
		return []string{"/api/repo-decisions-summary"}
	case name == wire.LedgerNotifications.Path():
		return []string{"/api/notifications"}
	case name == string(wire.DocSession), strings.HasSuffix(name, "SESSION_RECOVERY.md"):
		return []string{"/api/continuity"}
	case strings.HasPrefix(name, multirepo.Dir), name == multirepo.ConfigFile:
		return coordinatorResources()
	case strings.HasPrefix(name, ".agentxchain/missions"):
		return []string{"/api/missions", "/api/plans"}
	case strings.HasPrefix(name, ".agentxchain/reports"):
		return []string{"/api/chain-reports", "/api/missions"}
	case strings.HasPrefix(name, ".agentxchain/watch-results"):
		return []string{"/api/watch-results"}
	}
	return []string{"/api/state", "/api/workflow-kit-artifacts", "/api/timeouts", "/api/connectors",
		"/api/gate-actions"}
}

func coordinatorResources() []string {
	return []string{"/api/coordinator/state", "/api/coordinator/history", "/api/coordinator/ledger",
		"/api/coordinator/barriers", "/api/coordinator/barrier-ledger", "/api/coordinator/hooks/audit",
		"/api/coordinator/hooks/annotations", "/api/coordinator/events", "/api/coordinator/blockers",
		"/api/coordinator/repo-status", "/api/coordinator/timeouts"}
}
