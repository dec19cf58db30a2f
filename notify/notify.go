// The webhooks and reminders of a project's configuration (docs/notifications.md#webhooks).

package notify

import (
	"slices"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
)

// Events that a webhook may subscribe to (docs/notifications.md#webhooks);
// config.NotificationEvents lists them.
const (
	RunBlocked        = "run_blocked"
	OperatorEscalated = "operator_escalation_raised"
	EscalationLifted  = "escalation_resolved"
	HumanRaised       = "human_escalation_raised"
	HumanResolved     = "human_escalation_resolved"
	PhasePending      = "phase_transition_pending"
	CompletionPending = "run_completion_pending"
	RunCompleted      = "run_completed"
	ApprovalReminder  = "approval_sla_reminder"
)

// Config is the notifications section of a configuration.
type Config struct {
	Webhooks []Webhook // in the order of the configuration, which is that of delivery
	SLA      *SLA      // nil when there is none or it is switched off
}

// Webhook is one address that receives events.
type Webhook struct {
	Name    string
	URL     string
	Events  []string
	Timeout time.Duration // of one attempt
	Headers *ojson.Object // values may hold ${NAME}; nil when absent
	Env     *ojson.Object // overlays the environment for them; nil when absent
}

// SLA says when to send reminders of a waiting approval.
type SLA struct {
	Thresholds []int64 // seconds, ascending
}

// Read reads the section; nil is an empty one. It leaves out what the configuration check would
// refuse.
func Read(section *ojson.Object) Config {
	var c Config
	for _, o := range section.Objects("webhooks") {
		ms, _ := o.Int("timeout_ms")
		w := Webhook{Name: o.String("name"), URL: o.String("url"), Events: o.Strings("events"),
			Timeout: time.Duration(ms) * time.Millisecond, Headers: o.Object("headers"), Env: o.Object("env")}
		if w.Name != "" && w.URL != "" && ms > 0 {
			c.Webhooks = append(c.Webhooks, w)
		}
	}
	if o := section.Object("approval_sla"); o != nil {
		if enabled, ok := o.Get("enabled"); !ok || enabled == true {
			c.SLA = readSLA(o)
		}
	}
	return c
}

func readSLA(o *ojson.Object) *SLA {
	s := &SLA{}
	for _, v := range o.Array("reminder_after_seconds") {
		n, _ := v.(ojson.Number)
		if sec, ok := n.Int64(); ok && sec > 0 {
			s.Thresholds = append(s.Thresholds, sec)
		}
	}
	if len(s.Thresholds) == 0 {
		return nil
	}
	return s
}

// Subscribed reports whether any webhook subscribes to the event.
func (c Config) Subscribed(event string) bool {
	return slices.ContainsFunc(c.Webhooks, func(w Webhook) bool { return slices.Contains(w.Events, event) })
}

// Reminding reports whether reminders of waiting approvals are sent at all.
func (c Config) Reminding() bool { return c.SLA != nil && c.Subscribed(ApprovalReminder) }

// Event is one event to send.
type Event struct {
	Type    string
	Payload *ojson.Object // as docs/notifications.md#webhooks has it for the type
	Turn    *run.Turn     // the turn it is about, or nil
	Only    []string      // names of the webhooks to send it to; nil: all that subscribe
}

// Project is the project that the events are about.
type Project struct {
	ID   string // "" is sent as unknown
	Name string // "" is sent as Unknown
	Root string // absolute directory
}

// ProjectOf returns the project of a configuration.
func ProjectOf(cfg *config.Config, root string) Project {
	return Project{ID: cfg.Project.ID, Name: cfg.Project.Name, Root: root}
}

// Run is the run when the event happened; empty members are sent as null.
type Run struct{ ID, Status, Phase string }

// RunOf describes the run of a state.
func RunOf(s *run.State) Run {
	return Run{ID: s.Run(), Status: string(s.Status), Phase: s.Phase}
}
