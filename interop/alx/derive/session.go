// Sessions: one governed run as its initiator sees it (docs/serve.md#sessions).

package derive

import (
	"fmt"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/interop/alx"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Session returns the session of a run.
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

// Progress returns the completed phases divided by all phases, 0 to 1.
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

// NextStep returns what a person should do next: a command that can be pasted into a shell in the
// repository, with the reason behind it as a comment; only a comment while there is nothing to do
// but wait. It is "" when no action is needed.
func NextStep(o *Origin, f *Facts, l Live) string {
	if o.Failed != nil {
		return step("", strings.TrimSpace(o.Failed.Hint))
	}
	switch Status(o, f, l) {
	case alx.StatusCompleted:
		if l.Branch != "" {
			return step("git merge "+quoted(l.Branch), "takes over what was done")
		}
		return ""
	case alx.StatusFailed:
		return ""
	case alx.StatusActive:
		switch {
		case l.Ahead > 0:
			return step("", fmt.Sprintf("wait: %s carried out before this one", runs(l.Ahead)))
		case l.Ahead == 0 && !l.Driven:
			return step("", "wait: this run is carried out next")
		}
		return ""
	}
	if l.Stopped != nil && (f.State == nil || f.State.Status == wire.StatusActive) {
		if strings.HasPrefix(l.Stopped.Hint, "git ") {
			return l.command(step(l.Stopped.Hint, l.Stopped.Message))
		}
		return step("", l.Stopped.Message+" "+l.Stopped.Hint)
	}
	if f.State == nil {
		return ""
	}
	if t := f.manual(); t != nil && f.State.Status == wire.StatusActive {
		return l.command(step("git agentxchain accept "+t.TurnID,
			fmt.Sprintf("once a person has done the work of %s and staged the result at %s",
				wire.BundleDir(t.TurnID)+"/PROMPT.md", wire.StagingPath(t.TurnID))))
	}
	n := protocol.NextStep(f.State, f.Config, "")
	if n == nil {
		return ""
	}
	return l.command(step(n.Command, n.Reason))
}

// step returns a command with its reason as a comment, and nothing for a hint that does not begin
// with a command.
func step(command, reason string) string {
	reason = oneLine(reason, 300)
	switch {
	case command == "" && strings.HasPrefix(reason, "git "):
		return reason
	case reason == "":
		return command
	case command == "":
		return "# " + reason
	}
	return command + " # " + reason
}

func runs(n int) string {
	if n == 1 {
		return "1 run is"
	}
	return fmt.Sprintf("%d runs are", n)
}

// command makes the commands in a text apply to the run's work tree.
func (l Live) command(text string) string {
	if l.Dir == "" {
		return text
	}
	return strings.ReplaceAll(text, "git agentxchain ", "git -C "+quoted(l.Dir)+" agentxchain ")
}

// quoted returns a word of a shell command.
func quoted(s string) string {
	if strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-+=@:") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// summary describes the session in a sentence: what was accepted last, else where it stands.
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
