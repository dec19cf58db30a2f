// Lease: the right of one runner to carry out one turn, for a time (docs/leases.md).

package run

import (
	"fmt"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// CodeLeaseRefused means that a turn is under a lease of somebody else, or that the
// lease it was asked for under does not hold any more. The member
// lease_rejection_reason of the details is one of the Reject constants.
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
	LeaseMember           = "lease" // of an active turn: what was last issued for it
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

// Lease in the strict form: members, names and order are those of docs/leases.md. Times
// are Unix milliseconds.
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
	Extra        ojson.Extra   // of a later version; none is written by this one
}

// NewLease makes the lease of a turn for a runner. epoch counts how often the turn
// has changed hands and is at least its attempt; after is the issue time of the
// token before, 0 without one.
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

// Restore is the lease for another session of the same runner: same id, new token,
// issued after this one and after the time after.
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

// With is the lease in another status.
func (l *Lease) With(status string) *Lease {
	next := *l
	next.Status = status
	return &next
}

// Epoch counts how often the turn has changed hands, this lease included; 0 when
// the lease is of another implementation.
func (l *Lease) Epoch() int {
	n, _ := l.Extensions.Object(leaseExtensionsMember).Int("epoch")
	return n
}

// Live reports whether the lease is held: not ended, and its time is not up.
func (l *Lease) Live(now time.Time) bool { return l.Open() && now.UnixMilli() < l.ExpiresAtMS }

// Open reports whether nobody has ended the lease, whatever its time.
func (l *Lease) Open() bool { return l.Status == LeaseIssued || l.Status == LeaseActive }

// ExpiresAt is the end of the lease.
func (l *Lease) ExpiresAt() time.Time { return time.UnixMilli(l.ExpiresAtMS).UTC() }

// Cancellation is when and why the runner was asked to give the lease up; at is 0
// when it was not.
func (l *Lease) Cancellation() (reason string, at int64) {
	c := l.Extensions.Object(leaseExtensionsMember).Object("cancellation")
	ms, _ := c.Int("requested_at_ms")
	return c.String("reason"), int64(ms)
}

// Cancelling is the lease with the request to give it up.
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

// Object is the lease as an object, for an event or an answer.
func (l *Lease) Object() *ojson.Object { return ojson.Marshal(l) }

// Encode is the canonical document: two-space indent, declared order, final LF.
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

// Check is the well-formedness of docs/leases.md.
func (l *Lease) Check() error {
	for _, m := range []struct{ name, id string }{{"lease_id", l.LeaseID}, {"run_id", l.RunID}, {"plan_id", l.PlanID},
		{"step_id", l.StepID}, {"task_id", l.TaskID}} {
		if m.id == "" || m.id == "." || m.id == ".." || strings.ContainsAny(m.id, "/\\\x00\n") || len(m.id) > 400 {
			return fmt.Errorf("%s %q is no safe id", m.name, Clip(m.id, 60))
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
	return fmt.Errorf("%q is no status of a lease", Clip(l.Status, 40))
}

// TurnLease is what the run has on record of the newest lease of an active turn:
// {lease_id, token, issued_at_ms, epoch, runner_id, session_id}; nil when the turn
// was never leased. Whether that lease still holds, its ref says.
func TurnLease(turn *Turn) *ojson.Object {
	if turn == nil {
		return nil
	}
	o, _ := turn.Extra.Value(LeaseMember).(*ojson.Object)
	return o
}
