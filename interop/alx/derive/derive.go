// A run's record in the shapes of ALX: the facts and their origin.

package derive

import (
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/interop/alx"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/result"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Facts is what is recorded of one run. Rows are those of this run only, oldest first.
type Facts struct {
	Run     string
	Config  *config.Config  // nil before the run has begun
	State   *run.State      // nil before the run has begun
	Events  []*ojson.Object // events.jsonl
	History []*ojson.Object // history.jsonl, reissued turns included
}

// Origin says who asked for the run and for what. A run that did not start over the protocol has
// one too, made from its own record.
type Origin struct {
	SessionID      string
	UserID         string
	Intent         string
	CorrelationID  string
	IdempotencyKey string
	CreatedAt      string     // UTC, RFC 3339, milliseconds
	Failed         *alx.Error // the run could not be begun and never will; usually nil
	FailedAt       string
}

// Live is what is known about a run besides its record, while a server looks after it.
type Live struct {
	Ahead   int        // runs that are carried out before this one begins or goes on; -1 when it does not wait
	Driven  bool       // turns are being carried out
	Stopped *alx.Error // what made the server stop carrying out turns, other than the run itself; nil for nothing
	Branch  string     // branch with the work of a complete run; "" when it has no branch of its own
	Dir     string     // the run's work tree, as a person would type it; "" for the present directory
}

// accepted returns the accepted turns of the history in order.
func (f *Facts) accepted() []*ojson.Object {
	var out []*ojson.Object
	for _, row := range f.History {
		if run.AcceptedRow(row, f.Run) {
			out = append(out, row)
		}
	}
	return out
}

func (f *Facts) row(turn string) *ojson.Object {
	for _, row := range f.History {
		if row.String("turn_id") == turn && run.AcceptedRow(row, f.Run) {
			return row
		}
	}
	return nil
}

// Status returns where a session stands (docs/serve.md#sessions).
func Status(o *Origin, f *Facts, l Live) alx.SessionStatus {
	if o.Failed != nil {
		return alx.StatusFailed
	}
	if f.State == nil {
		if l.Stopped != nil {
			return alx.StatusBlocked
		}
		return alx.StatusActive
	}
	switch f.State.Status {
	case wire.StatusCompleted:
		return alx.StatusCompleted
	case wire.StatusFailed:
		return alx.StatusFailed
	case wire.StatusBlocked:
		return alx.StatusBlocked
	case wire.StatusPaused:
		return alx.StatusPaused
	}
	switch {
	case l.Stopped != nil:
		return alx.StatusBlocked
	case !l.Driven && l.Ahead < 0 && f.manual() != nil:
		return alx.StatusPaused
	}
	return alx.StatusActive
}

// manual returns an active turn that a person works on, nil for none.
func (f *Facts) manual() *run.Turn {
	if f.State == nil || f.Config == nil {
		return nil
	}
	for _, t := range f.State.ActiveTurns.All() {
		rt, ok := f.Config.Runtimes.Get(t.RuntimeID)
		if t.RuntimeID == config.RuntimeManual && !ok || ok && rt != nil && rt.Type == config.RuntimeManual {
			return t
		}
	}
	return nil
}

// Confidence returns the share of accepted turns whose verification is a pass with machine
// evidence, halved while an objection of high or blocking severity is open; 0 without an accepted
// turn (docs/serve.md#asking).
func Confidence(f *Facts) float64 {
	turns := f.accepted()
	if len(turns) == 0 {
		return 0
	}
	share := float64(verified(turns)) / float64(len(turns))
	if objections(turns).OpenHigh > 0 {
		share /= 2
	}
	return share
}

func verified(turns []*ojson.Object) int {
	n := 0
	for _, row := range turns {
		if row.Object("normalized_verification").String("status") == result.VerifyPass {
			n++
		}
	}
	return n
}

// objections counts objections: one is resolved when it is recorded as resolved, by the turn that
// raised it or by a later one that names it.
func objections(turns []*ojson.Object) alx.Objections {
	open := make(map[string]bool) // id to: whether it is serious
	seen := make(map[string]bool)
	n := alx.Objections{}
	for _, row := range turns {
		for _, o := range row.Objects("objections") {
			id := o.String("id")
			switch o.String("status") {
			case "", "raised", "acknowledged", "escalated":
				if !seen[id] {
					n.Raised++
				}
				seen[id] = true
				severity := o.String("severity")
				open[id] = severity == "high" || severity == "blocking"
			default:
				if !seen[id] {
					n.Raised++
				}
				seen[id] = true
				delete(open, id)
			}
		}
	}
	n.Resolved = len(seen) - len(open)
	for _, serious := range open {
		if serious {
			n.OpenHigh++
		}
	}
	return n
}

// oneLine folds white space and cuts a text to n bytes.
func oneLine(s string, n int) string { return text.Clip(strings.Join(strings.Fields(s), " "), n) }
