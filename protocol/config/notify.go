// Notifications and approval reminders (docs/notifications.md#webhooks).

package config

import (
	"fmt"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

const (
	maxWebhooks        = 8
	maxReminders       = 10
	minReminderSeconds = 300
)

// NotificationEvents returns the events a webhook may subscribe to.
func NotificationEvents() []string {
	return []string{"run_blocked", "operator_escalation_raised", "escalation_resolved", "human_escalation_raised",
		"human_escalation_resolved", "phase_transition_pending", "run_completion_pending", "run_completed",
		"approval_sla_reminder"}
}

func (d *decoder) notifications() {
	d.cfg.Notifications = d.top("notifications", ProblemNotification)
	s := d.section(d.cfg.Notifications, "notifications", ProblemNotification)
	s.only("webhooks", "approval_sla", "local")
	list, _ := s.array("webhooks")
	if len(list) > maxWebhooks {
		d.add(s.code, s.at("webhooks"), "", "%s must have at most %d entries, not %d", s.at("webhooks"), maxWebhooks,
			len(list))
	}
	names := map[string]bool{}
	for w := range s.items("webhooks", list) {
		w.uniqueName(names)
		w.webURL("url", true)
		w.events()
		w.deliveryTimeout()
		w.textMap("headers")
		w.textMap("env")
	}
	if sla := s.object("approval_sla"); sla.o != nil {
		sla.only("enabled", "reminder_after_seconds")
		sla.boolean("enabled", true)
		sla.reminders()
	}
}

// NotificationWarnings lists notification settings that are valid but have no effect: reminders without a recipient
// (docs/notifications.md#reminders).
func NotificationWarnings(c *Config) wire.Problems {
	sla := c.Notifications.Object("approval_sla")
	if enabled, ok := sla.Get("enabled"); sla == nil || ok && enabled == false {
		return nil
	}
	for _, w := range c.Notifications.Objects("webhooks") {
		if slices.Contains(w.Strings("events"), "approval_sla_reminder") {
			return nil
		}
	}
	return wire.Problems{{
		Code:    ProblemNotification,
		Field:   "notifications.approval_sla",
		Message: `notifications.approval_sla is set, but no webhook has "approval_sla_reminder" among its events: no reminder will be sent`,
	}}
}

// nonEmpty returns an array that must be there and have entries, nil after a finding.
func (s section) nonEmpty(key, want string) []any {
	v, ok := s.value(key)
	if !ok {
		s.missing(key, want)
		return nil
	}
	list, ok := v.([]any)
	if !ok || len(list) == 0 {
		s.fail(key, want, v)
		return nil
	}
	return list
}

func (s section) events() {
	const key, want = "events", "a non-empty array of event names"
	for i, e := range s.nonEmpty(key, want) {
		if t, ok := e.(string); !ok || !slices.Contains(NotificationEvents(), t) {
			s.fail(fmt.Sprintf("%s[%d]", key, i), oneOf(NotificationEvents()), e)
		}
	}
}

func (s section) reminders() {
	const key, want = "reminder_after_seconds", "a non-empty array of seconds"
	list := s.nonEmpty(key, want)
	if len(list) > maxReminders {
		s.d.add(s.code, s.at(key), "", "%s must have at most %d entries, not %d", s.at(key), maxReminders, len(list))
	}
	last := int64(0)
	for i, e := range list {
		item := fmt.Sprintf("%s[%d]", key, i)
		n, isNumber := e.(ojson.Number)
		sec, isInt := n.Int64()
		switch {
		case !isNumber || !isInt || sec < minReminderSeconds:
			s.fail(item, fmt.Sprintf("an integer of at least %d (seconds)", minReminderSeconds), e)
		case sec <= last:
			s.d.add(s.code, s.at(item), string(n), "%s must be greater than the entry before it (%d)", s.at(item),
				last)
		default:
			last = sec
		}
	}
}
