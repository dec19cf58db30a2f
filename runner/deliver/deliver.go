// Package deliver sends what a command has to tell webhooks: events, reminders of waiting approvals, and the record
// of the outcome (docs/notifications.md#webhooks). Package notify decides what is sent, the runner when.
package deliver

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/lockfile"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/notify"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner/trust"
)

// Options says how a command delivers.
type Options struct {
	Sender  notify.Sender
	Total   time.Duration // for everything
	Dir     string        // of the project
	Now     func() time.Time
	Trusted func(ctx context.Context) bool                            // this machine trusts the webhooks
	Only    func(ctx context.Context) (*lockfile.Lock, error)         // the one process that evaluates reminders; else locked
	Record  func(ctx context.Context, rows []protocol.AuditRow) error // in the run
}

// Delivery is the delivery of a command's notifications.
type Delivery struct {
	opt     Options
	ctx     context.Context // ends with the command or when the time is up
	cancel  context.CancelFunc
	asked   bool // trust was looked at
	trusted bool
	rows    []protocol.AuditRow
	missed  ojson.Map[[]string] // "webhook: why" -> events
	trouble string              // why reminders could not be evaluated
}

// New begins a delivery, which Finish ends.
func New(ctx context.Context, opt Options) *Delivery {
	own, cancel := context.WithTimeout(ctx, opt.Total)
	return &Delivery{opt: opt, ctx: own, cancel: cancel}
}

// Once makes Send try each webhook only once.
func (d *Delivery) Once() { d.opt.Sender.Attempts = 1 }

// Send sends one event. The error means that nothing was sent: the webhooks are not trusted or the
// event does not exist.
func (d *Delivery) Send(e notify.Event, run notify.Run) (notify.Emission, error) {
	if !d.asked {
		// Interrupted or not, whether they are trusted is a question of fact.
		d.asked, d.trusted = true, d.opt.Trusted(context.WithoutCancel(d.ctx))
	}
	if !d.trusted {
		return notify.Emission{}, &wire.Error{
			Code:    trust.CodeHooksUntrusted,
			Field:   "notifications.webhooks",
			Message: "agentxchain.json names webhooks that are not trusted on this machine; nothing was sent.",
			Hint:    "git agentxchain hooks trust",
		}
	}
	out, err := d.opt.Sender.Emit(d.ctx, e, run)
	for _, res := range out.Results {
		d.rows = append(d.rows, protocol.AuditRow{Ledger: wire.LedgerNotifications, Row: res.Row})
		if !res.Delivered {
			key := res.Webhook + ": " + text.Brief(res.Row.String("message"), 200)
			d.missed.Set(key, append(d.missed.Value(key), e.Type))
		}
	}
	return out, err
}

// Remind sends the reminders that are due.
func (d *Delivery) Remind(s *run.State) {
	if s == nil || !d.opt.Sender.Config.Reminding() {
		return
	}
	root, err := os.OpenRoot(d.opt.Dir)
	if err == nil {
		defer func() { _ = root.Close() }()
		err = notify.Remind(root, d.opt.Sender.Config, s, d.opt.Now(), d.lockReminders,
			func(e notify.Event) ([]notify.Result, bool) {
				out, err := d.Send(e, notify.RunOf(s))
				return out.Results, err == nil
			})
	}
	if err != nil {
		d.trouble = err.Error()
	}
}

// lockReminders makes the caller the process that evaluates reminders; nil when another one does.
func (d *Delivery) lockReminders() (unlock func(), err error) {
	l, err := d.opt.Only(d.ctx)
	if fail.CodeOf(err) == fail.CodeLocked {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return func() { _ = l.Release() }, nil
}

// Finish records the outcome of the deliveries, in a short operation of its own, and returns what a
// person should know.
func (d *Delivery) Finish(s *run.State) []string {
	d.cancel()
	var notices []string
	if d.asked && !d.trusted {
		notices = append(notices,
			"webhooks were not called: they are not trusted on this machine (git agentxchain hooks trust)")
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
	if err := d.opt.Record(ctx, d.rows); err != nil {
		notices = append(notices,
			"the outcome of the notifications could not be recorded: "+text.Brief(err.Error(), 300))
	}
	return notices
}
