// Reminders of approvals that have waited too long, and the record of those sent
// (docs/notifications.md#reminders).

package notify

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/durable"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// RemindersPath is where the sent reminders are kept: a JSON array of strings, never part of the
// governed state.
const RemindersPath = ".agentxchain/sla-reminders.json"

const (
	maxReminders = 1 << 20 // bytes of the file
	maxFailures  = 3       // evaluations that try a webhook for one reminder
)

// Approval types.
const (
	approvalPhase      = "pending_phase_transition"
	approvalCompletion = "pending_run_completion"
)

// approval is a pending approval and the time since which it waits.
type approval struct {
	kind, since    string
	from, to, gate string
	asked          time.Time
	run            string
}

// approvals lists what waits for a person. An approval without a readable requested_at gets no
// reminder: how long it has waited is unknown.
func approvals(s *run.State) []approval {
	var out []approval
	if p := s.PendingPhaseTransition; p != nil {
		out = append(out, approval{kind: approvalPhase, since: p.RequestedAt, from: p.From, to: p.To, gate: p.Gate})
	}
	if p := s.PendingRunCompletion; p != nil {
		out = append(out, approval{kind: approvalCompletion, since: p.RequestedAt, gate: p.Gate})
	}
	known := out[:0]
	for _, a := range out {
		if at, err := wire.ParseTime(a.since); err == nil {
			a.asked, a.run = at, s.Run()
			known = append(known, a)
		}
	}
	return known
}

// key names one reminder. It begins like the reference's keys, so that the reference removes it
// when it resolves the approval; the rest distinguishes runs and the approvals of one run.
func (a *approval) key(threshold int64) string {
	return fmt.Sprintf("%s:%d:%s:%s", a.kind, threshold, a.run, a.since)
}

// Reminder is a reminder that is due.
type Reminder struct {
	Event Event
	key   string
}

// Sent holds the reminders that were sent. A reminder that a webhook did not get has a key for it
// with the number of failures, <reminder>#<webhook>=<n>: it is sent again to that webhook alone, in
// at most three evaluations.
type Sent struct {
	keys    []string
	changed bool
}

// parseSent reads the file; anything but an array counts as empty, and anything but a string is
// dropped.
func parseSent(data []byte) *Sent {
	s := &Sent{}
	v, err := ojson.Decode(data)
	if err != nil {
		return s
	}
	list, _ := v.([]any)
	for _, e := range list {
		if key, ok := e.(string); ok && !slices.Contains(s.keys, key) {
			s.keys = append(s.keys, key)
		}
	}
	return s
}

// encode returns the content of the file.
func (s *Sent) encode() []byte {
	list := make([]any, len(s.keys))
	for i, k := range s.keys {
		list[i] = k
	}
	return ojson.Pretty(list)
}

// due returns the reminders that are due at now, and forgets those of approvals that no longer
// wait. Keys that do not belong to a reminder stay.
func (s *Sent) due(c Config, st *run.State, now time.Time) []Reminder {
	waiting := approvals(st)
	s.forget(waiting)
	if !c.Reminding() {
		return nil
	}
	var out []Reminder
	for i := range waiting {
		a := &waiting[i]
		elapsed := int64(now.Sub(a.asked) / time.Second)
		for j, threshold := range c.SLA.Thresholds {
			if elapsed < threshold {
				break
			}
			key := a.key(threshold)
			only, sent := s.retry(key), slices.Contains(s.keys, key)
			if sent && len(only) == 0 {
				continue
			}
			p := ojson.NewObject("approval_type", a.kind, "requested_at", a.since, "elapsed_seconds", elapsed,
				"threshold_seconds", threshold, "reminder_index", j+1, "total_thresholds", len(c.SLA.Thresholds))
			for _, m := range []struct{ key, value string }{
				{"from_phase", a.from},
				{"to_phase", a.to},
				{"gate", a.gate},
			} {
				if m.value != "" {
					p.Set(m.key, m.value)
				}
			}
			out = append(out, Reminder{Event: Event{Type: ApprovalReminder, Payload: p, Only: only}, key: key})
		}
	}
	return out
}

// forget drops the keys of approvals that no longer wait, including the reference's own when no
// approval of their type waits.
func (s *Sent) forget(waiting []approval) {
	keep := slices.DeleteFunc(slices.Clone(s.keys), func(key string) bool {
		kind, rest, _ := strings.Cut(key, ":")
		if kind != approvalPhase && kind != approvalCompletion {
			return false
		}
		_, who, ours := strings.Cut(rest, ":")
		return !slices.ContainsFunc(waiting, func(a approval) bool {
			id := a.run + ":" + a.since
			return a.kind == kind && (!ours || who == id || strings.HasPrefix(who, id+"#"))
		})
	})
	s.changed = s.changed || len(keep) != len(s.keys)
	s.keys = keep
}

// failures returns how often a webhook did not get the reminder, and where that is noted.
func (s *Sent) failures(key, webhook string) (n, at int) {
	prefix := key + "#" + webhook + "="
	for i, k := range s.keys {
		if rest, ok := strings.CutPrefix(k, prefix); ok {
			n, _ = strconv.Atoi(rest)
			return n, i
		}
	}
	return 0, -1
}

// retry lists the webhooks to try again for a reminder.
func (s *Sent) retry(key string) []string {
	var out []string
	for _, k := range s.keys {
		rest, ok := strings.CutPrefix(k, key+"#")
		if !ok {
			continue
		}
		if webhook, count, ok := strings.Cut(rest, "="); ok {
			if n, _ := strconv.Atoi(count); n < maxFailures {
				out = append(out, webhook)
			}
		}
	}
	return out
}

// record notes the outcome of a reminder.
func (s *Sent) record(r Reminder, results []Result) {
	if !slices.Contains(s.keys, r.key) {
		s.keys = append(s.keys, r.key)
	}
	s.changed = true
	for _, res := range results {
		n, at := s.failures(r.key, res.Webhook)
		if at >= 0 {
			s.keys = slices.Delete(s.keys, at, at+1)
		}
		if !res.Delivered {
			s.keys = append(s.keys, fmt.Sprintf("%s#%s=%d", r.key, res.Webhook, n+1))
		}
	}
}

// Remind evaluates reminders while it keeps other evaluations of the project at root from the file: it passes
// due ones to send and notes their outcome. When send returns false, nothing was sent and they stay due. lock
// keeps other evaluations away until its result is called, and returns nil when one is under way, which then
// sends them.
func Remind(root *os.Root, c Config, st *run.State, now time.Time, lock func() (unlock func(), err error),
	send func(Event) ([]Result, bool)) error {
	data, err := readReminders(root)
	if err != nil {
		return err
	}
	sent := parseSent(data)
	due := sent.due(c, st, now)
	if len(due) == 0 && !sent.changed {
		return nil
	}
	unlock, err := lock()
	if err != nil || unlock == nil {
		return err
	}
	defer unlock()
	// What another evaluation has noted meanwhile counts.
	if data, err = readReminders(root); err != nil {
		return err
	}
	sent = parseSent(data)
	for _, r := range sent.due(c, st, now) {
		results, ok := send(r.Event)
		if !ok {
			break
		}
		sent.record(r, results)
	}
	if !sent.changed {
		return nil
	}
	return durable.WriteFileRoot(root, RemindersPath, sent.encode(), 0o644)
}

func readReminders(root *os.Root) ([]byte, error) {
	f, err := root.Open(RemindersPath)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", RemindersPath)
	}
	return io.ReadAll(io.LimitReader(f, maxReminders))
}
