// Sessions: one governed run as its initiator sees it (docs/serve.md#sessions).

package derive

import (
	"fmt"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/interop/alx"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Session is the session of a run.
func Session(o *Origin, f *Facts, l Live, events []alx.RunEvent) alx.Session {
	s := alx.Session{
		SessionID:   o.SessionID,
		UserID:      o.UserID,
		Intent:      o.Intent,
		Status:      Status(o, f, l),
		Progress:    Progress(f),
		NextStep:    NextStep(o, f, l),
		ExecutionID: f.Run,
		CreatedAt:   o.CreatedAt,
		UpdatedAt:   o.CreatedAt,
	}
	if n := len(events); n > 0 {
		s.UpdatedAt = events[n-1].At
		if s.CreatedAt == "" {
			s.CreatedAt = events[0].At
		}
	}
	s.Summary = summary(o, f, l, s.Status)
	return s
}

// Progress is completed phases by all phases, 0 to 1.
func Progress(f *Facts) float64 {
	if f.State == nil || f.Config == nil {
		return 0
	}
	if f.State.Status == wire.StatusCompleted {
		return 1
	}
	phases := f.Config.Phases()
	for i, p := range phases {
		if p == f.State.Phase {
			return float64(i) / float64(len(phases))
		}
	}
	return 0
}

// NextStep is what a person should do next, with the command; "" when no action is
// needed.
func NextStep(o *Origin, f *Facts, l Live) string {
	if o.Failed != nil {
		return strings.TrimSpace(o.Failed.Hint)
	}
	switch Status(o, f, l) {
	case alx.StatusCompleted:
		if l.Branch != "" {
			return "git merge " + quoted(l.Branch) + ": takes over what was done"
		}
		return ""
	case alx.StatusFailed:
		return ""
	case alx.StatusActive:
		switch {
		case l.Ahead > 0:
			return fmt.Sprintf("wait: %s carried out before this one", runs(l.Ahead))
		case l.Ahead == 0 && !l.Driven:
			return "wait: this run is carried out next"
		}
		return ""
	}
	if l.Stopped != nil && (f.State == nil || f.State.Status == wire.StatusActive) {
		return l.command(strings.TrimSpace(l.Stopped.Message + " " + l.Stopped.Hint))
	}
	if f.State == nil {
		return ""
	}
	if t := f.manual(); t != nil && f.State.Status == wire.StatusActive {
		return l.command(fmt.Sprintf("git agentxchain accept %s: once a person has done the work of %s and staged the result at %s",
			t.TurnID, wire.BundleDir(t.TurnID)+"/PROMPT.md", wire.StagingPath(t.TurnID)))
	}
	n := protocol.NextStep(f.State, f.Config, "")
	if n == nil {
		return ""
	}
	if n.Reason == "" {
		return l.command(n.Command)
	}
	return l.command(n.Command + ": " + oneLine(n.Reason, 300))
}

func runs(n int) string {
	if n == 1 {
		return "1 run is"
	}
	return fmt.Sprintf("%d runs are", n)
}

// command makes commands of a text go to the run's work tree.
func (l Live) command(text string) string {
	if l.Dir == "" {
		return text
	}
	return strings.ReplaceAll(text, "git agentxchain ", "git -C "+quoted(l.Dir)+" agentxchain ")
}

// quoted is a word of a shell command.
func quoted(s string) string {
	if strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-+=@:") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// summary is the session in a sentence: what was accepted last, else where it stands.
func summary(o *Origin, f *Facts, l Live, status alx.SessionStatus) string {
	if o.Failed != nil {
		return "not carried out: " + oneLine(o.Failed.Message, 300)
	}
	if last := lastSummary(f); last != "" {
		return last
	}
	switch {
	case f.State == nil && l.Stopped != nil:
		return "not begun: " + oneLine(l.Stopped.Message, 300)
	case f.State == nil:
		return "waits to be begun"
	case status == alx.StatusBlocked && l.Stopped != nil:
		return "stopped: " + oneLine(l.Stopped.Message, 300)
	case status == alx.StatusBlocked && f.State.BlockedOn != nil:
		return "blocked on " + oneLine(*f.State.BlockedOn, 200)
	}
	return "in phase " + f.State.Phase + ", nothing is accepted yet"
}

func lastSummary(f *Facts) string {
	turns := f.accepted()
	if len(turns) == 0 {
		return ""
	}
	return turns[len(turns)-1].String("summary")
}
