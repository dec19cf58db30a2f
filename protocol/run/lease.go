// Lease: the right of one runner to carry out one turn, for a time (docs/leases.md).

package run

import (
	"fmt"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// CodeLeaseRefused means that another runner holds the turn's lease, or that the lease under which the turn was
// asked for no longer holds. The member lease_rejection_reason of the details is one of the Reject constants.
const CodeLeaseRefused = "lease_refused"

// Lifecycle of a lease (docs/monarchic.md#types, LeaseLifecycleState).
const (
	LeaseIssued    = "issued"
	LeaseActive    = "active"
	LeaseReleased  = "released"
	LeaseExpired   = "expired"
	LeaseCancelled = "cancelled"
	LeaseRejected  = "rejected"
)

// Why a lease is refused (docs/monarchic.md#types, LeaseRejectionReason).
const (
	RejectStaleToken      = "stale_fencing_token"
	RejectExpired         = "lease_expired"
	RejectSession         = "session_mismatch"
	RejectUnknown         = "unknown_lease"
	RejectTerminal        = "step_already_terminal"
	RejectNotExecutable   = "run_not_executable"
	RejectDependency      = "dependency_blocked"
	RejectSuperseded      = "lease_superseded"
	LeaseIssuer           = "git-agentxchain"
	maxLeaseDocument      = 64 << 10
	LeaseMember           = "lease" // of an active turn: the newest lease issued for it
	leaseTokenDigits      = 4
	leaseFencePrefix      = "fence-"
	leaseIDPrefix         = "lease-"
	LeasePlanPrefix       = "plan-"
	leaseExtensionsMember = "agentxchain"
)

// FencingToken changes whenever a lease changes hands; IssuedAtMS is greater than
// that of every token before it in the same scope, whatever clocks say.
type FencingToken struct {
	Token      string        `json:"token"`
	IssuedAtMS int64         `json:"issued_at_ms"`
	Issuer     string        `json:"issuer"`
	Scope      string        `json:"scope"` // run:<run>/step:<turn>
	Extensions *ojson.Object `json:"extensions,omitempty"`
}

// Lease is a lease in the strict form: members, names and order are those of docs/leases.md. Times are Unix
// milliseconds.
type Lease struct {
	LeaseID      string        `json:"lease_id"`
	RunID        string        `json:"run_id"`
	PlanID       string        `json:"plan_id"`
	StepID       string        `json:"step_id"`
	TaskID       string        `json:"task_id"`
	RunnerID     string        `json:"runner_id"`
	SessionID    string        `json:"session_id"`
	FencingToken FencingToken  `json:"fencing_token"`
	IssuedAtMS   int64         `json:"issued_at_ms"`
	ExpiresAtMS  int64         `json:"expires_at_ms"`
	Status       string        `json:"status"`
	Extensions   *ojson.Object `json:"extensions,omitempty"`
	Extra        ojson.Extra   // of a later version; this version writes none
}

// NewLease returns the lease of a turn for a runner. epoch counts how often the turn has changed hands and is at
// least its attempt; after is the issue time of the previous token, 0 without one.
func NewLease(run, turn, runner, session string, epoch int, now time.Time, after int64, until time.Time) *Lease {
	l := &Lease{
		LeaseID:    fmt.Sprintf("%s%s-%d", leaseIDPrefix, turn, epoch),
		RunID:      run,
		PlanID:     LeasePlanPrefix + run,
		StepID:     turn,
		TaskID:     turn,
		RunnerID:   runner,
		SessionID:  session,
		Status:     LeaseIssued,
		Extensions: nil,
	}
	l.pass(epoch, now, after, until)
	return l
}

// Restore returns the lease for another session of the same runner: same id, and a new token, issued after this one
// and after the time after.
func (l *Lease) Restore(session string, epoch int, now time.Time, after int64, until time.Time) *Lease {
	next := *l
	next.SessionID = session
	next.pass(epoch, now, max(after, l.FencingToken.IssuedAtMS), until)
	return &next
}

func (l *Lease) pass(epoch int, now time.Time, after int64, until time.Time) {
	issued := max(now.UnixMilli(), after+1) // a clock that went back does not bring an old token back
	l.FencingToken = FencingToken{
		Token:      fmt.Sprintf("%s%s-%s-%0*d", leaseFencePrefix, l.RunID, l.StepID, leaseTokenDigits, epoch),
		IssuedAtMS: issued,
		Issuer:     LeaseIssuer,
		Scope:      "run:" + l.RunID + "/step:" + l.StepID,
	}
	l.IssuedAtMS, l.ExpiresAtMS = issued, max(until.UnixMilli(), issued)
	l.Extensions = ojson.NewObject(leaseExtensionsMember, ojson.NewObject("epoch", epoch))
}

// With returns the lease in another status.
func (l *Lease) With(status string) *Lease {
	next := *l
	next.Status = status
	return &next
}

// Epoch returns how often the turn has changed hands, this lease included; 0 for a lease of another implementation.
func (l *Lease) Epoch() int {
	n, _ := l.Extensions.Object(leaseExtensionsMember).Int("epoch")
	return n
}

// Live reports whether the lease is held: it was not ended and has not expired.
func (l *Lease) Live(now time.Time) bool { return l.Open() && now.UnixMilli() < l.ExpiresAtMS }

// Open reports whether the lease was not ended, expired or not.
func (l *Lease) Open() bool { return l.Status == LeaseIssued || l.Status == LeaseActive }

// ExpiresAt returns the end of the lease.
func (l *Lease) ExpiresAt() time.Time { return time.UnixMilli(l.ExpiresAtMS).UTC() }

// Cancellation says when and why the runner was asked to give the lease up; at is 0 when it was not.
func (l *Lease) Cancellation() (reason string, at int64) {
	c := l.Extensions.Object(leaseExtensionsMember).Object("cancellation")
	ms, _ := c.Int("requested_at_ms")
	return c.String("reason"), int64(ms)
}

// Cancelling returns the lease with the request to give it up.
func (l *Lease) Cancelling(reason string, now time.Time) *Lease {
	next := *l
	own := &ojson.Object{}
	if o := l.Extensions.Object(leaseExtensionsMember); o != nil {
		own = o.Clone()
	}
	own.Set("cancellation", ojson.NewObject("reason", reason, "requested_at_ms", int(now.UnixMilli())))
	ext := &ojson.Object{}
	if l.Extensions != nil {
		ext = l.Extensions.Clone()
	}
	ext.Set(leaseExtensionsMember, own)
	next.Extensions = ext
	return &next
}

// Object returns the lease as an object, for an event or an answer.
func (l *Lease) Object() *ojson.Object { return ojson.Marshal(l) }

// Encode returns the canonical document: two-space indent, declared order, final LF.
func (l *Lease) Encode() []byte { return ojson.Pretty(l.Object()) }

// DecodeLease reads a document of Encode, at most 64 KiB. The error says which
// member is wrong.
func DecodeLease(data []byte) (*Lease, error) {
	if len(data) > maxLeaseDocument {
		return nil, fmt.Errorf("a lease of %d bytes is larger than %d", len(data), maxLeaseDocument)
	}
	o, err := ojson.DecodeObject(data)
	if err != nil {
		return nil, err
	}
	l := &Lease{}
	if errs := ojson.Unmarshal(o, l); len(errs) > 0 {
		return nil, errs[0]
	}
	return l, l.Check()
}

// Check checks that the lease is well-formed (docs/leases.md).
func (l *Lease) Check() error {
	for _, m := range []struct{ name, id string }{{"lease_id", l.LeaseID}, {"run_id", l.RunID}, {"plan_id", l.PlanID},
		{"step_id", l.StepID}, {"task_id", l.TaskID}} {
		if m.id == "" || m.id == "." || m.id == ".." || strings.ContainsAny(m.id, "/\\\x00\n") || len(m.id) > 400 {
			return fmt.Errorf("%s %q is not a safe id", m.name, Clip(m.id, 60))
		}
	}
	switch {
	case l.RunnerID == "" || len(l.RunnerID) > 400:
		return fmt.Errorf("runner_id is empty or too long")
	case l.SessionID == "" || len(l.SessionID) > 400:
		return fmt.Errorf("session_id is empty or too long")
	case l.FencingToken.Token == "":
		return fmt.Errorf("fencing_token.token is empty")
	case l.IssuedAtMS > l.ExpiresAtMS:
		return fmt.Errorf("the lease ends before it was issued")
	}
	switch l.Status {
	case LeaseIssued, LeaseActive, LeaseReleased, LeaseExpired, LeaseCancelled, LeaseRejected:
		return nil
	}
	return fmt.Errorf("%q is not a status of a lease", Clip(l.Status, 40))
}

// TurnLease returns the run's record of the newest lease of an active turn: {lease_id, token, issued_at_ms, epoch,
// runner_id, session_id}; nil when the turn was never leased. The lease's ref says whether it still holds.
func TurnLease(turn *Turn) *ojson.Object {
	if turn == nil {
		return nil
	}
	o, _ := turn.Extra.Value(LeaseMember).(*ojson.Object)
	return o
}
