// Notifications: what an operation has to tell is sent after its lock is
// released, and what became of it is recorded (docs/notifications.md#webhooks).

package runner

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/notify"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner/trust"
)

// news is what a command has to tell when it is done.
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

// note keeps what a committed operation has to tell. Without webhooks and without
// an escalation it costs nothing.
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

// escalationNotices are the lines a person at the terminal always gets to see.
// How they begin is wire (docs/notifications.md#human-escalations).
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

// notify tells what a command has to tell. It runs when the lock is released: a
// slow webhook holds up nobody else. Nothing that goes wrong here is an error of
// the command.
func (r *Runner) notify(ctx context.Context, done *Done) {
	n := done.news
	if n == nil {
		return
	}
	notices := n.notices
	if len(n.events) > 0 || n.config.Reminding() {
		d := r.delivering(ctx, n.cfg, n.config, notify.TotalTime)
		for _, item := range n.events {
			if _, err := d.send(item.event, item.run); err != nil {
				break
			}
		}
		d.remind(done.State)
		notices = append(notices, d.finish(done.State)...)
	}
	done.Notices = append(slices.Clip(done.Notices), notices...)
}

// Remind sends the reminders of approvals that have waited too long, as status
// does, and returns what a person should know of it. Without reminders in the
// configuration nothing is read.
func (r *Runner) Remind(ctx context.Context, v *gitstore.View) []string {
	if v.State == nil || v.Config == nil || v.Config.Notifications == nil || len(v.ConfigProblems) > 0 {
		return nil
	}
	config := notify.Read(v.Config.Notifications)
	if !config.Reminding() {
		return nil
	}
	d := r.delivering(ctx, v.Config, config, notify.StatusTime)
	d.sender.Attempts = 1
	d.remind(v.State)
	return d.finish(v.State)
}

// Emitted is the outcome of EmitNotifications. OK means that nothing was wrong with
// the event; what became of it at each webhook is in Results.
type Emitted struct {
	Outcome
	Emission
}

// EmitNotifications tells the webhooks that subscribe to an event about the
// current run and records what became of it (docs/runner.md#support). Errors: an unknown
// event (invalid_argument), webhooks that are not trusted (hooks_untrusted), and
// those of reading the run. That a webhook was not reached is in the results.
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
	d := r.delivering(ctx, v.Config, config, notify.TotalTime)
	out.Emission, err = d.send(e, notify.RunOf(v.State))
	d.finish(v.State)
	return err
}

// delivering is the delivery of a command's notifications.
type delivering struct {
	r       *Runner
	ctx     context.Context // ends with the command or when the time is up
	cancel  context.CancelFunc
	cfg     *config.Config
	sender  notify.Sender
	asked   bool // trust was looked at
	trusted bool
	rows    []protocol.AuditRow
	missed  ojson.Map[[]string] // "webhook: why" -> events
	trouble string              // why reminders could not be evaluated
}

func (r *Runner) delivering(ctx context.Context, cfg *config.Config, config notify.Config,
	total time.Duration) *delivering {
	own, cancel := context.WithTimeout(ctx, total)
	d := &delivering{r: r, ctx: own, cancel: cancel, cfg: cfg}
	d.sender = notify.Sender{
		Config:  config,
		Project: notify.ProjectOf(cfg, r.store.Dir()),
		Now:     r.opt.Now,
		Lookup: func(name string) (string, bool) {
			v := r.opt.Getenv(name) // a secret that is set to nothing is not set
			return v, v != ""
		},
	}
	return d
}

// send tells one event. The error is that nothing was sent: the webhooks are not
// trusted or nobody knows the event.
func (d *delivering) send(e notify.Event, run notify.Run) (notify.Emission, error) {
	if !d.asked {
		// Interrupted or not, whether they are trusted is a question of fact.
		d.asked, d.trusted = true, d.r.trusted(context.WithoutCancel(d.ctx), d.cfg)
	}
	if !d.trusted {
		return notify.Emission{}, &wire.Error{
			Code:    trust.CodeHooksUntrusted,
			Field:   "notifications.webhooks",
			Message: "agentxchain.json names webhooks that this machine has not been told to trust; nothing was sent.",
			Hint:    "git agentxchain hooks trust",
		}
	}
	out, err := d.sender.Emit(d.ctx, e, run)
	for _, res := range out.Results {
		d.rows = append(d.rows, protocol.AuditRow{Ledger: wire.LedgerNotifications, Row: res.Row})
		if !res.Delivered {
			key := res.Webhook + ": " + text.Brief(res.Row.String("message"), 200)
			d.missed.Set(key, append(d.missed.Value(key), e.Type))
		}
	}
	return out, err
}

// remind sends the reminders that are due.
func (d *delivering) remind(s *run.State) {
	if s == nil || !d.sender.Config.Reminding() {
		return
	}
	root, err := os.OpenRoot(d.r.store.Dir())
	if err == nil {
		defer func() { _ = root.Close() }()
		err = notify.Remind(root, d.sender.Config, s, d.r.Now(), d.lockReminders,
			func(e notify.Event) ([]notify.Result, bool) {
				out, err := d.send(e, notify.RunOf(s))
				return out.Results, err == nil
			})
	}
	if err != nil {
		d.trouble = err.Error()
	}
}

// lockReminders makes the caller the one that evaluates reminders; nil when another process does.
func (d *delivering) lockReminders() (unlock func(), err error) {
	l, err := d.r.only(d.ctx, "sla-reminders.lock", "reminders")
	if fail.CodeOf(err) == fail.CodeLocked {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return func() { _ = l.Release() }, nil
}

// finish records what became of the deliveries, in a short operation of its own,
// and says what a person should know.
func (d *delivering) finish(s *run.State) []string {
	d.cancel()
	var notices []string
	if d.asked && !d.trusted {
		notices = append(notices,
			"webhooks were not told: they are not trusted on this machine (git agentxchain hooks trust)")
	}
	for why, events := range d.missed.All() {
		notices = append(notices, fmt.Sprintf("webhook %s (%s)", why, strings.Join(events, ", ")))
	}
	if d.trouble != "" {
		notices = append(notices, "approval reminders could not be evaluated: "+text.Brief(d.trouble, 300))
	}
	if len(d.rows) == 0 || s.Run() == "" {
		return notices
	}
	// An interruption ends the sending, not the record of it.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(d.ctx), 30*time.Second)
	defer cancel()
	_, err := d.r.do(ctx, "audit", func(context.Context, *change) (*plan, error) {
		return &plan{op: &protocol.Audit{Rows: d.rows}}, nil
	})
	if err != nil {
		notices = append(notices,
			"what became of the notifications could not be recorded: "+text.Brief(err.Error(), 300))
	}
	return notices
}
