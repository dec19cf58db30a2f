// Notifications: they are sent after an operation's lock is released, and their delivery is
// recorded (docs/notifications.md#webhooks).

package runner

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/lockfile"
	"github.com/git-agentxchain/git-agentxchain/runner/deliver"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/notify"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// news is what a command has to notify about when it is done.
type news struct {
	cfg     *config.Config
	config  notify.Config
	notices []string // for the person at the terminal
	events  []newsItem
}

type newsItem struct {
	event notify.Event
	run   notify.Run // as it was then
}

// note keeps what a committed operation has to notify about. Without webhooks and without an
// escalation it costs nothing.
func (c *change) note(t *protocol.Transition, done *Done) {
	if _, audit := t.Result.(*protocol.AuditResult); audit {
		return
	}
	for _, a := range t.Appends {
		if a.Ledger == wire.LedgerEscalations {
			n := done.newsOf(c.view.Config)
			n.notices = append(n.notices, escalationNotices(a.Data)...)
		}
	}
	if c.view.Config.Notifications == nil {
		return
	}
	n := done.newsOf(c.view.Config)
	if len(n.config.Webhooks) == 0 {
		return
	}
	for _, e := range notify.Events(c.view.State, t) {
		if n.config.Subscribed(e.Type) {
			n.events = append(n.events, newsItem{e, notify.RunOf(t.State)})
		}
	}
}

func (d *Done) newsOf(cfg *config.Config) *news {
	if d.news == nil {
		d.news = &news{cfg: cfg, config: notify.Read(cfg.Notifications)}
	}
	return d.news
}

// escalationNotices returns the lines that a person at the terminal always gets to see. Their
// beginnings are part of the wire format (docs/notifications.md#human-escalations).
func escalationNotices(data []byte) []string {
	var out []string
	for line := range bytes.Lines(data) {
		row, err := ojson.DecodeObject(line)
		if err != nil {
			continue
		}
		switch id := row.String("escalation_id"); row.String("kind") {
		case "raised":
			out = append(out, fmt.Sprintf("[agentxchain] ⚠ HUMAN ESCALATION RAISED: %s", id))
		case "resolved":
			out = append(out, fmt.Sprintf("[agentxchain] ✓ HUMAN ESCALATION RESOLVED: %s", id))
		}
	}
	return out
}

// notify sends a command's notifications. It runs when the lock is released: a slow webhook holds
// up only this command. No failure here is an error of the command.
func (r *Runner) notify(ctx context.Context, done *Done) {
	n := done.news
	if n == nil {
		return
	}
	notices := n.notices
	if len(n.events) > 0 || n.config.Reminding() {
		d := r.delivery(ctx, n.cfg, n.config, notify.TotalTime)
		for _, item := range n.events {
			if _, err := d.Send(item.event, item.run); err != nil {
				break
			}
		}
		d.Remind(done.State)
		notices = append(notices, d.Finish(done.State)...)
	}
	done.Notices = append(slices.Clip(done.Notices), notices...)
}

// Remind sends the reminders of approvals that have waited too long, as status does, and returns
// what a person should know of it. Without reminders in the configuration it reads nothing.
func (r *Runner) Remind(ctx context.Context, v *gitstore.View) []string {
	if v.State == nil || v.Config == nil || v.Config.Notifications == nil || len(v.ConfigProblems) > 0 {
		return nil
	}
	config := notify.Read(v.Config.Notifications)
	if !config.Reminding() {
		return nil
	}
	d := r.delivery(ctx, v.Config, config, notify.StatusTime)
	d.Once()
	d.Remind(v.State)
	return d.Finish(v.State)
}

// Emitted is the outcome of EmitNotifications. OK means that nothing was wrong with the event;
// Results has the outcome at each webhook.
type Emitted struct {
	Outcome
	Emission
}

// EmitNotifications tells the webhooks that subscribe to an event about the current run and records
// the outcome (docs/runner.md#support). Errors: an unknown event (invalid_argument), untrusted
// webhooks (hooks_untrusted), and those of reading the run. An unreachable webhook is reported in
// the results.
func (r *Runner) EmitNotifications(ctx context.Context, event string, payload *Object, turn *Turn) (*Emitted, error) {
	out := &Emitted{}
	return out, out.settle(r.emit(ctx, out, notify.Event{Type: event, Payload: payload, Turn: turn}))
}

func (r *Runner) emit(ctx context.Context, out *Emitted, e notify.Event) error {
	v, err := r.View(ctx)
	if err != nil {
		return err
	}
	if len(v.ConfigProblems) > 0 {
		return config.Refusal(v.ConfigProblems)
	}
	config := notify.Read(v.Config.Notifications)
	if len(config.Webhooks) == 0 {
		return nil
	}
	d := r.delivery(ctx, v.Config, config, notify.TotalTime)
	out.Emission, err = d.Send(e, notify.RunOf(v.State))
	d.Finish(v.State)
	return err
}

// delivery returns the delivery of a command's notifications.
func (r *Runner) delivery(ctx context.Context, cfg *config.Config, config notify.Config,
	total time.Duration) *deliver.Delivery {
	return deliver.New(ctx, deliver.Options{
		Sender: notify.Sender{
			Config:  config,
			Project: notify.ProjectOf(cfg, r.store.Dir()),
			Now:     r.opt.Now,
			Lookup: func(name string) (string, bool) {
				v := r.opt.Getenv(name) // a secret that is set to nothing is not set
				return v, v != ""
			},
		},
		Total:   total,
		Dir:     r.store.Dir(),
		Now:     r.Now,
		Trusted: func(ctx context.Context) bool { return r.trusted(ctx, cfg) },
		Only: func(ctx context.Context) (*lockfile.Lock, error) {
			return r.only(ctx, "sla-reminders.lock", "reminders")
		},
		Record: func(ctx context.Context, rows []protocol.AuditRow) error {
			_, err := r.do(ctx, "audit", func(context.Context, *change) (*plan, error) {
				return &plan{op: &protocol.Audit{Rows: rows}}, nil
			})
			return err
		},
	})
}
