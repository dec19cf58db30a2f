// Record is an operation as the store keeps it, with all that is needed to apply it again.

package protocol

import (
	"fmt"
	"reflect"
	"sync"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/attempt"
	"github.com/git-agentxchain/git-agentxchain/protocol/change"
	"github.com/git-agentxchain/git-agentxchain/protocol/charters"
	"github.com/git-agentxchain/git-agentxchain/protocol/commits"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/intents"
	"github.com/git-agentxchain/git-agentxchain/protocol/leases"
	"github.com/git-agentxchain/git-agentxchain/protocol/mail"
)

// OpExternal is the name of the record the store writes when it absorbs a valid
// change made by another tool. It has no operation to replay.
const OpExternal = "external"

// Record is one operation with the environment it was applied in.
type Record struct {
	Rules  int
	Op     Operation // nil for OpExternal
	Name   string    // wire name of the operation
	Env    change.Env
	Detail *ojson.Object // what an external record absorbed, or nil
}

// NewRecord returns the record of op.
func NewRecord(op Operation, env change.Env) *Record {
	return &Record{Rules: ruleSet(env), Op: op, Name: op.Name(), Env: env}
}

type recordDoc struct {
	Rules  int               `json:"rules"`
	Op     string            `json:"op"`
	At     string            `json:"at"`
	Seed   string            `json:"seed"`
	Actor  evidence.Actor    `json:"actor"`
	Git    evidence.GitFacts `json:"git"`
	Args   *ojson.Object     `json:"args"`
	Detail *ojson.Object     `json:"detail,omitempty"`
}

// Encode returns the record's document and the evidence it refers to, by
// SHA-256 digest.
func (r *Record) Encode() (doc []byte, evidence map[string][]byte) {
	d := recordDoc{
		Rules:  r.Rules,
		Op:     r.Name,
		At:     r.Env.Time(),
		Seed:   r.Env.Seed,
		Actor:  r.Env.Actor,
		Git:    r.Env.Git,
		Detail: r.Detail,
	}
	evidence = make(map[string][]byte)
	if r.Op != nil {
		d.Args = ojson.Marshal(r.Op)
		for _, b := range r.Op.Blobs() {
			if b != nil {
				evidence[b.Digest] = b.Data
			}
		}
	}
	return ojson.Pretty(ojson.Marshal(&d)), evidence
}

// DecodeRecord reads a record; bytesOf is asked for each blob by digest and may be
// nil when the operation will not be applied.
func DecodeRecord(doc []byte, bytesOf func(digest string) ([]byte, error)) (*Record, error) {
	o, err := ojson.DecodeObject(doc)
	if err != nil {
		return nil, fmt.Errorf("operation record: %w", err)
	}
	var d recordDoc
	if errs := ojson.Unmarshal(o, &d); len(errs) > 0 {
		return nil, fmt.Errorf("operation record: %w", errs[0])
	}
	at, err := time.Parse(time.RFC3339Nano, d.At)
	if err != nil {
		return nil, fmt.Errorf("operation record: at: %w", err)
	}
	r := &Record{
		Rules:  d.Rules,
		Name:   d.Op,
		Detail: d.Detail,
		Env:    change.Env{Now: at.UTC(), Seed: d.Seed, Actor: d.Actor, Git: d.Git},
	}
	if d.Op == OpExternal || !Replays(d.Rules) {
		return r, nil
	}
	r.Env = r.Env.Under(d.Rules)
	blank, ok := operations()[d.Op]
	if !ok {
		return nil, fmt.Errorf("operation record: unknown operation %q", d.Op)
	}
	op := reflect.New(reflect.TypeOf(blank).Elem()).Interface().(Operation)
	if d.Args != nil {
		if errs := ojson.Unmarshal(d.Args, op); len(errs) > 0 {
			return nil, fmt.Errorf("operation record %s: %w", d.Op, errs[0])
		}
	}
	if bytesOf != nil {
		for _, b := range op.Blobs() {
			if b == nil {
				continue
			}
			if b.Data, err = bytesOf(b.Digest); err != nil {
				return nil, fmt.Errorf("operation record %s: evidence %s: %w", d.Op, b.Digest, err)
			}
			if got := evidence.NewBlob(b.Data); got.Digest != b.Digest || got.Size != b.Size {
				return nil, fmt.Errorf("operation record %s: evidence %s has other contents (%s)", d.Op, b.Digest,
					got.Digest)
			}
		}
	}
	r.Op = op
	return r, nil
}

// operations maps wire names to blank operations for decoding. Made once, when first
// asked for; not to be changed.
var operations = sync.OnceValue(func() map[string]Operation {
	ops := []Operation{&InitRun{}, &AssignTurn{}, &AcceptTurn{}, &RejectTurn{}, &ReissueTurn{}, &ApprovePhase{},
		&ApproveCompletion{}, &Escalate{}, &Block{}, &Reactivate{}, &commits.Checkpoint{}, &Audit{},
		&attempt.DispatchTurn{}, &attempt.RefreshBaseline{}, &attempt.AdvanceTurn{}, &attempt.Watch{},
		&attempt.DispatchTimeout{}, &mail.SendMessage{},
		&mail.AckMessage{}, &leases.RecordLease{}, &charters.QueueCharters{}, &Confirm{}, &AdoptConfig{}, &DenyGate{},
		&AbandonRun{},
		&WithdrawApproval{}, &RetryGate{}, &CloseObjection{}, &DecideProposal{}, &intents.InjectIntent{},
		&commits.ReconcileCommits{},
		&ClaimTurn{}}
	m := make(map[string]Operation, len(ops))
	for _, op := range ops {
		m[op.Name()] = op
	}
	return m
})
