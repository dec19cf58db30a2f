// The answer to a solve request, from the accepted history (docs/serve.md#asking).

package derive

import (
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/interop/alx"
	"github.com/git-agentxchain/git-agentxchain/interop/alx/settle"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Solve returns the state of an execution at a moment. The caller sets the envelope's correlation
// id; now only measures a run that goes on.
func Solve(o *Origin, f *Facts, l Live, events []alx.RunEvent, now time.Time) (*alx.SolveResponse, error) {
	status := Status(o, f, l)
	turns := f.accepted()
	var spent ojson.Value
	if f.State != nil {
		spent = ojson.Float(f.State.BudgetStatus.SpentUSD)
	}
	settlement, _ := settle.Run(turns, spent)
	block, err := Block(o, f)
	if err != nil {
		return nil, err
	}
	r := &alx.SolveResponse{
		Envelope:       alx.NewEnvelope(true, o.CorrelationID),
		Success:        status == alx.StatusCompleted,
		ExecutionID:    f.Run,
		Artifact:       block,
		Result:         lastSummary(f),
		Confidence:     Confidence(f),
		Steps:          steps(f, settlement),
		IdempotencyKey: o.IdempotencyKey,
	}
	r.ConfidenceScore = &r.Confidence
	r.Execution = alx.Execution{Status: status, SessionID: o.SessionID, Turns: len(turns), Settlement: settlement}
	if f.State != nil {
		r.Execution.Phase = f.State.Phase
	}
	r.Execution.StartedAt, r.Execution.EndedAt, r.Execution.DurationMS = span(f, events, now)
	r.Learning = alx.Learning{Objections: objections(turns)}
	for _, e := range events {
		switch e.Type {
		case alx.TurnRejected:
			r.Learning.Rejections++
		case alx.RunPaused, alx.RunBlocked, alx.GatePending:
			r.Learning.Escalations++
		}
	}
	switch status {
	case alx.StatusFailed:
		r.OK, r.Error = false, o.Failed
		if r.Error == nil {
			r.Error = alx.Errorf(alx.CodeRunFailed, "The run ended without completing.")
		}
	case alx.StatusBlocked:
		r.OK, r.Error = false, alx.Errorf(alx.CodeRunBlocked, "The run is blocked and a person is needed.")
		r.Error.Hint = NextStep(o, f, l)
		if turn := f.blocking(); turn != "" {
			r.Error = r.Error.With("explain", l.command("git agentxchain explain "+turn))
		}
		if l.Stopped != nil {
			r.Error = l.Stopped
		}
	}
	if status != alx.StatusCompleted {
		r.Reason = NextStep(o, f, l)
	}
	return r, nil
}

// blocking returns the turn whose chains explain why a run is blocked: the active one, or the last one, whose
// acceptance blocked it; "" without any.
func (f *Facts) blocking() string {
	switch {
	case f.State == nil:
		return ""
	case f.State.ActiveTurns.Len() > 0:
		return f.State.ActiveTurns.Keys()[0]
	}
	return wire.OrEmpty(f.State.LastCompletedTurnID)
}

// span returns when a run began and ended, and how long it took or has taken.
func span(f *Facts, events []alx.RunEvent, now time.Time) (start, end string, ms int64) {
	if f.State != nil && f.State.CreatedAt != nil {
		start = *f.State.CreatedAt
	}
	if f.State != nil && f.State.CompletedAt != nil {
		end = *f.State.CompletedAt
	}
	if n := len(events); end == "" && n > 0 && events[n-1].Type.Ends() {
		end = events[n-1].At
	}
	from, err := wire.ParseTime(start)
	if err != nil {
		return start, end, 0
	}
	until := now
	if at, err := wire.ParseTime(end); err == nil {
		until = at
	}
	return start, end, max(0, until.Sub(from).Milliseconds())
}

// steps returns the judgements on turns, in the order they were made.
func steps(f *Facts, settlement *alx.Settlement) []alx.Step {
	out := []alx.Step{}
	cost := make(map[string]int64)
	if settlement != nil {
		for _, s := range settlement.Turns {
			cost[s.ID] = s.MicroUSD
		}
	}
	attempts := make(map[string]int)
	for _, e := range f.Events {
		turn := e.Object("turn").String("turn_id")
		s := alx.Step{
			Index:   len(out) + 1,
			TurnID:  turn,
			Role:    e.Object("turn").String("role_id"),
			Phase:   e.String("phase"),
			EndedAt: e.String("timestamp"),
		}
		switch e.String("event_type") {
		case run.EventTurnAccepted:
			row := f.row(turn)
			if row == nil {
				continue
			}
			s.Status, s.Summary, s.CostMicroUSD = alx.StepAccepted, row.String("summary"), cost[turn]
			s.Attempt = attempts[turn] + 1
			s.Runtime, s.Phase = row.String("runtime_id"), row.String("phase")
			s.Verification = row.Object("normalized_verification").String("status")
			s.StartedAt = row.String("started_at")
			ms, _ := row.Int("duration_ms")
			s.DurationMS = int64(ms)
		case run.EventTurnRejected:
			payload := e.Object("payload")
			s.Status, s.Summary = alx.StepRejected, reasonText(payload)
			if n, ok := payload.Int("attempt"); ok {
				s.Attempt = n
			}
			attempts[turn]++
		default:
			continue
		}
		out = append(out, s)
	}
	return out
}

func reasonText(payload *ojson.Object) string { return oneLine(payload.String("reason"), 1000) }
