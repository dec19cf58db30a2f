// The API for an initiative: its files, what its gates wait for, its repositories.

package dashboard

import (
	"bufio"
	"net/http"
	"os"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/coordinator"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	multirepo "github.com/git-agentxchain/git-agentxchain/protocol/initiative"
	agentrun "github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

func (s *Server) coordinatorAPI(on func(string, func(*ask)), rows func(string, func(*model) *ledger, bool)) {
	file := func(path, name string) {
		on("coordinator/"+path, func(a *ask) {
			if o := a.m.object(name); o != nil {
				writeJSON(a.w, http.StatusOK, o)
			} else {
				noResource(a.w)
			}
		})
	}
	file("state", multirepo.StatePath)
	file("barriers", multirepo.BarriersPath)
	rows("coordinator/history", func(m *model) *ledger { return m.coHistory }, false)
	rows("coordinator/ledger", func(m *model) *ledger { return m.coLedger }, false)
	rows("coordinator/barrier-ledger", func(m *model) *ledger { return m.coBarriers }, false)
	rows("coordinator/hooks/audit", func(m *model) *ledger { return m.coHooks }, false)
	rows("coordinator/hooks/annotations", func(m *model) *ledger { return m.coNotes }, false)
	on("coordinator/events", (*ask).coordinatorEvents)
	on("coordinator/blockers", (*ask).blockers)
	on("coordinator/repo-status", (*ask).repoStatus)
	on("coordinator/timeouts", (*ask).coordinatorTimeouts)
}

// initiative returns the standing, or answers why there is none.
func (a *ask) initiative() *coordinator.Standing {
	err := a.s.InitiativeErr
	switch {
	case !a.m.has(multirepo.ConfigFile):
		message := "There is no " + multirepo.ConfigFile + " here; git agentxchain multi init makes one."
		writeJSON(a.w, http.StatusNotFound, object("ok", false, "code", "coordinator_config_missing", "error", message,
			"errors", []string{"config_missing: " + message}))
		return nil
	case err != nil:
		c := protocolError(err)
		switch {
		case c != nil && c.code == multirepo.CodeNoCoordinator:
			apiError(a.w, http.StatusNotFound, "coordinator_state_missing", err.Error())
		case c != nil && (c.code == multirepo.CodeInvalidConfig || c.code == multirepo.CodeWorkstreamCycle):
			writeJSON(a.w, http.StatusUnprocessableEntity, object("ok", false, "code", "coordinator_config_invalid",
				"error", err.Error(), "errors", problemLines(err)))
		default:
			apiError(a.w, http.StatusInternalServerError, "coordinator_state_unreadable", err.Error())
		}
		return nil
	case a.s.Standing != nil && a.s.Standing.Unread != nil:
		e := a.s.Standing.Unread
		writeJSON(a.w, http.StatusUnprocessableEntity,
			object("ok", false, "code", "coordinator_config_invalid", "error", e.Error(), "errors", problemLines(e)))
		return nil
	}
	return a.s.Standing
}

func problemLines(err error) []string {
	// What the coordinator returns is not wrapped.
	if e, ok := err.(*wire.Error); ok && len(e.Problems) > 0 { //nolint:errorlint // see above
		return multirepo.Lines(e.Problems)
	}
	return []string{err.Error()}
}

// blockers answers GET /api/coordinator/blockers.
func (a *ask) blockers() {
	in := a.initiative()
	if in == nil {
		return
	}
	st := in.State
	phase, completion := multirepo.EvaluatePhase(&in.Workspace, in.Children,
		""), multirepo.EvaluateCompletion(&in.Workspace, in.Children)
	mode, active := "phase_transition", phase
	switch {
	case st.PendingGate != nil:
		mode = "pending_gate"
		if st.PendingGate.GateType == multirepo.GateCompletion {
			active = completion
		}
	case in.Config.NextPhase(st.Phase) == "":
		mode, active = "run_completion", completion
	}
	var pending any
	if st.PendingGate != nil {
		pending = ojson.Marshal(st.PendingGate)
	}
	next := ojson.List(in.Next, func(x multirepo.Action) *ojson.Object {
		return x.Object(coordinator.Program)
	})
	writeJSON(a.w, http.StatusOK, object("mode", mode, "super_run_id", st.SuperRunID, "status", string(st.Status),
		"phase", st.Phase, "blocked_reason", ojson.OrNull(st.BlockedReason), "pending_gate", pending,
		"active", active.Object(), "next_actions", next,
		"evaluations", object("phase_transition", phase.Object(), "run_completion", completion.Object()),
		"gate_approvals", in.Gate.Value()))
}

// repoStatus answers GET /api/coordinator/repo-status.
func (a *ask) repoStatus() {
	if in := a.initiative(); in != nil {
		out := ojson.List(in.Repos(), func(r *ojson.Object) *ojson.Object {
			return object("repo_id", r.String("repo_id"), "run_id", r.Value("run_id"),
				"status", r.String("status"), "phase", r.Value("phase"), "details", r.Value("details"))
		})
		writeJSON(a.w, http.StatusOK, out)
	}
}

// coordinatorTimeouts answers GET /api/coordinator/timeouts.
func (a *ask) coordinatorTimeouts() {
	in := a.initiative()
	if in == nil {
		return
	}
	repos := []*ojson.Object{}
	configured, exceeded, warned, events := 0, 0, 0, 0
	for _, r := range in.Repos() {
		id := r.String("repo_id")
		c := in.Children[id]
		path := ""
		if repo := in.Config.Repo(id); repo != nil {
			path = repo.Path
		}
		row := object("repo_id", id, "path", path, "run_id", r.Value("run_id"), "status", r.String("status"),
			"phase", r.Value("phase"), "details", r.Value("details"), "configured", false, "config", nil, "live", nil,
			"events", []any{}, "error", nil)
		switch {
		case c == nil || c.Config == nil:
			row.Set("error", object("code", "config_missing", "error", "Its configuration cannot be read."))
		case c.State == nil:
			row.Set("error", object("code", "state_missing", "error", "Its state cannot be read."))
		case c.Config.Timeouts != nil:
			configured++
			live := liveTimeouts(c.State, c.Config, a)
			if len(live.Array("exceeded")) > 0 {
				exceeded++
			}
			if len(live.Array("warnings")) > 0 {
				warned++
			}
			row.Set("configured", true)
			row.Set("config", timeoutConfig(c.Config))
			row.Set("live", live)
		}
		if c != nil {
			list := timeoutRows(c.Path)
			events += len(list)
			row.Set("events", list)
		}
		repos = append(repos, row)
	}
	own := []*ojson.Object{}
	for _, e := range a.m.coLedger.entries() {
		if strings.HasPrefix(e.Kind, "timeout") && len(own) < 500 {
			own = append(own, a.m.coLedger.decode([]entry{e})...)
		}
	}
	st := in.State
	writeJSON(a.w, http.StatusOK, object("ok", true, "super_run_id", st.SuperRunID, "status", string(st.Status),
		"phase", st.Phase, "blocked_reason", ojson.OrNull(st.BlockedReason),
		"summary", object("repo_count", len(repos), "configured_repo_count", configured,
			"repos_with_live_exceeded", exceeded, "repos_with_live_warnings", warned, "repo_event_count", events,
			"coordinator_event_count", len(own)), "coordinator_events", own, "repos", repos))
}

// timeoutRows returns the rows of a repository's decision ledger about time limits.
func timeoutRows(dir string) []*ojson.Object {
	out := []*ojson.Object{}
	eachRow(dir, wire.LedgerDecisions.Path(), func(raw []byte) {
		if o, err := agentrun.DecodeLedgerLine(raw); err == nil && strings.HasPrefix(o.String("type"), "timeout") &&
			len(out) < 200 {
			out = append(out, o)
		}
	})
	return out
}

// eachRow reads the lines of a file in a repository of the initiative. A child's files are shown as
// they are.
func eachRow(dir, name string, f func(raw []byte)) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return
	}
	defer func() { _ = root.Close() }()
	file, _, err := openRegular(root, name)
	if err != nil || file == nil {
		return
	}
	defer func() { _ = file.Close() }()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, maxRow)
	for n := 0; lines.Scan() && n < maxRows; n++ {
		f(slices.Clone(lines.Bytes()))
	}
}

// coordinatorEvents answers GET /api/coordinator/events?type&since&repo_id&limit: the events of all
// repositories by time.
func (a *ask) coordinatorEvents() {
	in := a.initiative()
	if in == nil {
		return
	}
	release, ok := a.srv.slot(a.r.Context())
	if !ok {
		return
	}
	defer release()
	limit := a.limit(100)
	if limit == 0 {
		limit = 100
	}
	if limit < 0 || limit > 50_000 {
		limit = 50_000
	}
	var types []string
	if t := a.q.Get("type"); t != "" {
		types = strings.Split(t, ",")
	}
	since, only := instant(a.q.Get("since")), a.q.Get("repo_id")
	var all []*ojson.Object
	for _, id := range in.Config.Repos.Keys() {
		path, ok := in.Roots.Path(id)
		if !ok || only != "" && id != only {
			continue
		}
		var own []*ojson.Object
		eachRow(path, wire.LedgerEvents.Path(), func(raw []byte) {
			o, err := agentrun.DecodeLedgerLine(raw)
			if err != nil || len(types) > 0 && !contains(types, firstText(o, "event_type", "type")) ||
				!since.IsZero() && !timeOf(o, "timestamp").After(since) {
				return
			}
			o.Set("repo_id", id)
			if own = append(own, o); len(own) > 2*limit {
				own = slices.Clone(own[len(own)-limit:])
			}
		})
		all = append(all, own...)
	}
	slices.SortStableFunc(all, func(x, y *ojson.Object) int {
		if c := timeOf(x, "timestamp").Compare(timeOf(y, "timestamp")); c != 0 {
			return c
		}
		return strings.Compare(x.String("event_id"), y.String("event_id"))
	})
	writeJSON(a.w, http.StatusOK, append([]*ojson.Object{}, all[max(0, len(all)-limit):]...))
}
