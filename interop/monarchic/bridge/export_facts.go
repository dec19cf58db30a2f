// What an export reads of a run: its ledgers, its state, and each turn's input and result.

package bridge

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/wire"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	protocolwire "github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

// Files of a dispatch bundle (docs/bundles.md).
const (
	assignmentFile = "ASSIGNMENT.json"
	promptFile     = "PROMPT.md"
)

// facts is a run as it was read.
type facts struct {
	rec     *runner.RecordedRun
	cfg     *config.Config
	config  *ojson.Object // agentxchain.json as it was written
	state   *run.State
	session *ojson.Object
	branch  string // of the checkout when the run began, "" when detached

	events      []run.Line // of the run, in log order
	byTurn      map[string][]run.Line
	decisions   []*ojson.Object          // of the run
	history     []*ojson.Object          // accepted turns
	accepted    map[string]*ojson.Object // the same by turn
	reissued    []*ojson.Object          // turns that were replaced by others
	escalations []*ojson.Object          // rows of human-escalations of the run, raised and resolved

	handed   map[string]*handed       // by turn
	rejected map[string][]string      // who rejected a turn, in order
	results  map[string]*ojson.Object // of accepted turns, as they were staged
	warnings []string
}

// handed is what a turn received with its newest dispatch.
type handed struct {
	assignment *ojson.Object // nil when it is not recorded
	prompt     string        // SHA-256 of PROMPT.md, of nothing when it is not recorded
}

func readFacts(ctx context.Context, r *runner.Runner, runID string) (*facts, error) {
	rec, err := r.OpenRun(ctx, runID, "")
	if err != nil {
		return nil, err
	}
	f := &facts{
		rec:      rec,
		byTurn:   make(map[string][]run.Line),
		accepted: make(map[string]*ojson.Object),
		handed:   make(map[string]*handed),
		rejected: make(map[string][]string),
		results:  make(map[string]*ojson.Object),
	}
	if f.cfg, err = rec.Config(); err != nil {
		return nil, err
	}
	f.config = f.cfg.Raw
	if f.state, err = rec.State(); err != nil {
		return nil, err
	}
	if f.state.Run() == "" {
		return nil, &protocolwire.Error{
			Code:    "no_run",
			Field:   "run_id",
			Message: "The project is idle: there is no run to export.",
			Hint:    "git agentxchain assign",
		}
	}
	if data, ok, err := rec.File(string(protocolwire.DocSession)); err != nil {
		return nil, err
	} else if ok {
		f.session, _ = ojson.DecodeObject(data) // it is only a hint
	}
	if err := f.ledgers(); err != nil {
		return nil, err
	}
	return f, f.operations(ctx, r)
}

// ledgers reads the rows of this run; ledgers outlive runs.
func (f *facts) ledgers() error {
	runID := f.state.Run()
	for line, err := range f.rec.Rows(protocolwire.LedgerEvents) {
		if err != nil {
			return err
		}
		if line.Row.String("run_id") == runID {
			f.events = append(f.events, line)
			if turn := line.Row.Object("turn").String("turn_id"); turn != "" {
				f.byTurn[turn] = append(f.byTurn[turn], line)
			}
		}
	}
	turns := make(map[string]bool)
	for line, err := range f.rec.Rows(protocolwire.LedgerHistory) {
		if err != nil {
			return err
		}
		row := line.Row
		id := row.String("turn_id")
		switch {
		case !wire.SafeID(id):
			// Not a turn of ours: nothing could be named after it.
			f.warnings = append(f.warnings, fmt.Sprintf(
				"a row of history names a turn %q, which is not a safe id; it is left out", text.ClipRunes(id, 80),
			))
			continue
		case run.AcceptedRow(row, runID):
			if f.accepted[id] != nil {
				f.warnings = append(f.warnings, fmt.Sprintf("turn %s is in history twice; the first row counts", id))
				continue
			}
			f.history, f.accepted[id] = append(f.history, row), row
		case row.String("run_id") == runID && row.String("status") == run.HistoryReissued:
			f.reissued = append(f.reissued, row)
		default:
			continue
		}
		turns[id] = true
	}
	for id := range f.state.ActiveTurns.All() {
		turns[id] = true
	}
	began := ""
	if f.state.CreatedAt != nil {
		began = *f.state.CreatedAt
	}
	// An entry names its run, or a turn of it; for the others the time decides.
	for line, err := range f.rec.Rows(protocolwire.LedgerDecisions) {
		if err != nil {
			return err
		}
		row := line.Row
		id, turn := row.String("run_id"), row.String("turn_id")
		if id == runID || id == "" && (turns[turn] || turn == "" && began != "" && !earlier(stampOf(row), began)) {
			f.decisions = append(f.decisions, row)
		}
	}
	open := make(map[string]bool)
	for line, err := range f.rec.Rows(protocolwire.LedgerEscalations) {
		if err != nil {
			return err
		}
		id := line.Row.String("escalation_id")
		if line.Row.String("run_id") == runID || open[id] {
			open[id] = true
			f.escalations = append(f.escalations, line.Row)
		}
	}
	return nil
}

// stampOf returns when a decision entry was made; entries of different kinds store it under
// different names.
func stampOf(row *ojson.Object) string {
	return cmp.Or(row.String("timestamp"), row.String("created_at"), row.String("failed_at"),
		row.String("reconciled_at"))
}

// earlier compares stamps; an unreadable one is earlier than any other.
func earlier(a, b string) bool {
	at, err := protocolwire.ParseTime(a)
	if err != nil {
		return true
	}
	bt, err := protocolwire.ParseTime(b)
	return err == nil && at.Before(bt)
}

// byTime orders stamps.
func byTime(a, b string) int {
	switch {
	case earlier(a, b):
		return -1
	case earlier(b, a):
		return 1
	}
	return 0
}

// operations reads from the chain what the newest operation no longer has: the bundles and results
// of turns that have ended.
func (f *facts) operations(ctx context.Context, r *runner.Runner) error {
	ops, err := r.Record().Log(ctx, f.rec.Run, 0)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(ops, func(o runner.OpInfo) bool { return o.Op == f.rec.Op })
	if at < 0 {
		return nil
	}
	ops = ops[at:]
	dispatched := make(map[string]runner.OpID)
	accepted := make(map[string]runner.OpID)
	for _, op := range slices.Backward(ops) {
		switch op.Name {
		case "assign_turn", "dispatch_turn", "reissue_turn", "reject_turn", "record_lease", "external":
			if op.Turn != "" {
				dispatched[op.Turn] = op.Op
			}
		}
		switch op.Name {
		case "reject_turn":
			f.rejected[op.Turn] = append(f.rejected[op.Turn], op.Actor)
		case "accept_turn":
			accepted[op.Turn] = op.Op // a refused acceptance comes before the one that held
		}
	}
	first, err := r.OpenRun(ctx, f.rec.Run, ops[len(ops)-1].Op)
	if err != nil {
		return err
	}
	if rec, err := first.Record(); err == nil {
		f.branch = rec.Object("git").String("branch")
	}
	for turn, op := range dispatched {
		if err := f.bundle(ctx, r, turn, op); err != nil {
			return err
		}
	}
	for turn, op := range accepted {
		if err := f.result(ctx, r, turn, op); err != nil {
			return err
		}
	}
	return nil
}

func (f *facts) bundle(ctx context.Context, r *runner.Runner, turn string, op runner.OpID) error {
	rec, err := r.OpenRun(ctx, f.rec.Run, op)
	if err != nil {
		return err
	}
	h := &handed{}
	dir := path.Join(protocolwire.DispatchDir, turn)
	data, ok, err := rec.File(dir + "/" + assignmentFile)
	if err != nil {
		return err
	}
	if ok {
		if h.assignment, err = ojson.DecodeObject(data); err != nil {
			f.warnings = append(f.warnings, fmt.Sprintf("the assignment of turn %s cannot be read: %v", turn, err))
		}
	}
	prompt, _, err := rec.File(dir + "/" + promptFile)
	if err != nil {
		return err
	}
	h.prompt = protocolwire.SHA256(prompt)
	f.handed[turn] = h
	return nil
}

func (f *facts) result(ctx context.Context, r *runner.Runner, turn string, op runner.OpID) error {
	rec, err := r.OpenRun(ctx, f.rec.Run, op)
	if err != nil {
		return err
	}
	record, err := rec.Record()
	if err != nil {
		return err
	}
	data, ok, err := rec.Evidence(record.Object("args").Object("staged").String("sha256"))
	if err != nil || !ok {
		return err
	}
	if doc, refusal := protocol.DecodeStaged(protocolwire.StagingPath(turn), data); refusal == nil {
		f.results[turn] = doc
	}
	return nil
}

// handedTo returns what a turn received, never nil.
func (f *facts) handedTo(turn string) *handed {
	if h := f.handed[turn]; h != nil {
		return h
	}
	return &handed{prompt: protocolwire.SHA256(nil)}
}

// cleanRemote removes from a remote's URL what may be secret. It returns "" for a path of this
// machine, which names nothing elsewhere.
func cleanRemote(raw string) string {
	raw = strings.TrimSpace(raw)
	if !strings.Contains(raw, "://") {
		host, repo, ok := strings.Cut(raw, ":")
		if !ok || strings.ContainsAny(host, `/\`) || len(host) < 2 {
			return ""
		}
		if _, after, found := strings.Cut(host, "@"); found {
			host = after
		}
		return host + ":" + repo
	}
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" || u.Scheme == "file" {
		return ""
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
}
