// The single entry point to verification: operations of a run are believed after this has checked them, not because
// a ref leads to them.

package proof

import (
	"context"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/external"
	"github.com/git-agentxchain/git-agentxchain/protocol/join"
)

// Verdict is what is known about a run's chain of operations up to one of them.
type Verdict struct {
	Run string
	Op  object.OID // the operation in question
	// Findings lists what is invalid; it is empty when the chain is sound. They are those of Check with replay: the
	// shape of the chain, messages against records, evidence, ledgers that only grow, every operation by replay.
	Findings []Finding
	// Good is the newest operation before the first invalid one, "" when there is none or everything is valid.
	Good object.OID
	// Open lists the claims of operations that cannot be replayed (another tool's work, a restore, working files a
	// person adopted) and that no person has confirmed since, oldest first. Such a run may be read; nothing may
	// build on it.
	Open []Claim
	// Arrived lists approvals and confirmations among the operations checked now: the others were made by this
	// clone, or were checked before.
	Arrived []Arrival
	Checked int  // operations checked now
	Lost    bool // the run does not contain the operation from which to check; also a finding

	Past []Arrival // decisions of earlier checks and of this one, the newest few
}

// Claim is an unconfirmed claim and the operation that makes it.
type Claim struct {
	external.Claim
	Op object.OID // "" for a claim in the working files that no operation has recorded yet
}

// Arrival is a person's decision that reached this clone through the run's ref.
type Arrival struct {
	Op    object.OID
	Name  string // the operation: approve_transition, approve_completion, reactivate, confirm
	Gate  string // what was approved, "" when it was not a gate
	Actor evidence.Actor
	At    string // wire time
}

// Sound reports whether every operation is valid.
func (v *Verdict) Sound() bool { return len(v.Findings) == 0 }

// Err is nil for a sound chain, else record_unproven: which operation is invalid, why, and the command that leads
// back to the last valid one.
func (v *Verdict) Err() error {
	if v.Sound() {
		return nil
	}
	f := v.Findings[0]
	e := fail.Errorf(record.CodeUnproven, nil, "operation %s of run %s is not believed: %s", f.Op.Short(), v.Run,
		f.Message)
	if v.Good == "" {
		return e.WithHint("look at it with git agentxchain fsck --replay --run %s; no operation of the run is valid: fetch its ref from a clone you trust", v.Run)
	}
	if back := object.WayBack(f.Code, "REMOTE"); back != "" {
		return e.WithHint("%s; where no remote has it, git agentxchain repair --from-op %s --run %s goes back to the last valid operation and keeps what it drops", back, v.Good.Short(), v.Run)
	}
	return e.WithHint("look at it with git agentxchain fsck --replay --run %s; git agentxchain repair --from-op %s --run %s goes back to the last valid operation and keeps what it drops", v.Run, v.Good.Short(), v.Run)
}

// Verify checks the chain of a run from the newest operation that is known to be sound up to op, "" for the tip of
// the run's ref. It notes what it found sound in the git directory (see verified); a note saves time and is not a
// proof, and fsck does not read it.
//
// An invalid chain is a Verdict with Findings, not an error. Errors say that the check could not be made: no_run,
// git's own, a cancelled context.
//
// The repository may be bare, and op may be in the quarantine of a push that is being received.
func Verify(ctx context.Context, r *git.Repository, run string, op object.OID) (*Verdict, error) {
	if op == "" {
		var err error
		if op, err = chain.Tip(ctx, r, run); err != nil {
			return nil, err
		}
		if op == "" {
			return nil, chain.NoRun(run)
		}
	}
	notes := readVerified(r, run)
	if open, ok := notes.find(op); ok {
		return &Verdict{Run: run, Op: op, Open: open, Past: notes.arrived}, nil
	}
	if v, _ := r.Unsound.Load().(*Verdict); v != nil && v.Run == run && v.Op == op {
		return v, nil
	}
	f := &checker{repo: r, ctx: ctx, opt: Options{Replay: true}, report: &Report{}, first: true}
	v, err := f.verify(record.NewReader(ctx, r), run, op, notes.find)
	if err != nil {
		return nil, err
	}
	if !v.Sound() {
		// What the objects themselves show stays true; a missing object may arrive later.
		if c := v.Findings[0].Code; c == FindRecord || c == record.CodeStateTampered {
			r.Unsound.Store(v)
		}
		return v, nil
	}
	noteVerified(r, notes, v)
	v.Past = notes.arrived
	return v, nil
}

// Believe returns an error for an invalid chain.
func Believe(ctx context.Context, repo *git.Repository, run string, op object.OID) error {
	v, err := Verify(ctx, repo, run, op)
	if err != nil {
		return err
	}
	return v.Err()
}

// VerifyStrictly checks the operations after since, "" for all of them, up to op. Another tool's operations must
// satisfy the rules of absorbing, their rows must support each other, and a run that contains since neither as it was
// nor decided again in a join is a finding. It reads no note.
func VerifyStrictly(r *record.Reader, repo *git.Repository, run string, op, since object.OID) (*Verdict, error) {
	f := &checker{repo: repo, ctx: r.Context(), opt: Options{Replay: true}, report: &Report{}, strict: true}
	chained := make(map[object.OID]bool)
	v, err := f.verify(r, run, op, func(at object.OID) ([]Claim, bool) {
		chained[at] = true
		return nil, at == since
	})
	if err == nil && since != "" && !chained[since] && !joined(r, op, since, chained) {
		v.Lost = true
		v.Findings = append(v.Findings, Finding{
			Code:    record.CodeChainBroken,
			Run:     run,
			Op:      op,
			Message: "the run no longer contains operation " + since.Short() + ", which it had",
		})
	}
	return v, err
}

// joined reports whether every operation up to since that the run ending at op lacks is in it decided again. The
// records tell, not the trailers that name an origin: anyone can write those. An operation that did not hold in the
// join, or cannot be read, is missing. chained lists the operations of the run.
func joined(r *record.Reader, op, since object.OID, chained map[object.OID]bool) bool {
	lost, base := recordsUntil(r, since, func(at object.OID) bool { return chained[at] })
	if base == "" {
		return false
	}
	made, end := recordsUntil(r, op, func(at object.OID) bool { return at == base })
	if end == "" {
		return false
	}
	for _, was := range lost {
		if !slices.ContainsFunc(made, func(now *protocol.Record) bool { return join.Again(was, now) }) {
			return false
		}
	}
	return true
}

// recordsUntil returns the records of the operations from op back to the one at which stop returns true, and that one:
// "" if there is none or something is unreadable.
func recordsUntil(r *record.Reader, op object.OID, stop func(object.OID) bool) (list []*protocol.Record,
	base object.OID) {
	for !stop(op) {
		info, err := chain.Operation(r, op)
		if err != nil || len(info.Parents) == 0 || len(list) == MaxVerified || r.Context().Err() != nil {
			return nil, ""
		}
		rec, err := r.Record(info.Tree)
		if err != nil {
			return nil, ""
		}
		list, op = append(list, rec), info.Parents[0]
	}
	return list, op
}

// MaxVerified bounds the operations of one run that are checked at once.
const MaxVerified = 200000

// verify checks the operations from the newest one that known knows up to tip. known returns the claims that are
// open after an operation.
func (f *checker) verify(r *record.Reader, run string, tip object.OID, known func(object.OID) ([]Claim,
	bool)) (*Verdict,
	error) {
	v := &Verdict{Run: run, Op: tip}
	list, met, err := f.chainTo(r, run, tip, func(op object.OID) bool {
		open, ok := known(op)
		if ok {
			v.Open = open
		}
		return ok
	})
	if err != nil {
		return nil, err
	}
	from := 0
	if met {
		from = 1 // the first of the list is known
	}
	f.shape(run, list, from)
	if err := f.span(run, list, from); err != nil {
		return nil, err
	}
	v.Checked = len(list) - from
	v.Open = f.fold(list[from:], v.Open)
	v.Arrived = f.arrivals(list[from:])
	for _, x := range f.report.Findings {
		if !x.Note {
			v.Findings = append(v.Findings, x)
		}
	}
	v.sortFindings(list)
	return v, nil
}

// sortFindings sorts the findings along the chain and sets Good to the newest operation before the first of them.
func (v *Verdict) sortFindings(list []chain.OpInfo) {
	if len(v.Findings) == 0 {
		return
	}
	at := make(map[object.OID]int, len(list))
	for i, op := range list {
		at[op.Op] = i
	}
	slices.SortStableFunc(v.Findings, func(a, b Finding) int { return at[a.Op] - at[b.Op] })
	if i := at[v.Findings[0].Op]; i > 0 {
		v.Good = list[i-1].Op
	}
}

// chainTo lists the operations up to tip, oldest first: from the first one, or from the newest for which stop
// returns true, which met reports. An unreadable operation is a finding, and the list then begins after it.
func (f *checker) chainTo(r *record.Reader, run string, tip object.OID,
	stop func(object.OID) bool) (list []chain.OpInfo,
	met bool, err error) {
	for op := tip; op != "" && !met; {
		if f.ctx.Err() != nil {
			return nil, false, context.Cause(f.ctx)
		}
		if len(list) == MaxVerified {
			return nil, false, fail.Errorf(record.CodeChainBroken, nil,
				"run %s has more than %d operations that were not checked", run, MaxVerified)
		}
		met = stop(op)
		info, err := chain.Operation(r, op)
		if err != nil {
			if err := f.fault(run, op, err); err != nil {
				return nil, false, err
			}
			break
		}
		list = append(list, info)
		if op = ""; len(info.Parents) > 0 {
			op = info.Parents[0]
		}
	}
	slices.Reverse(list)
	return list, met, nil
}

// fold returns the claims that are open after the operations of list, given those open before.
func (f *checker) fold(list []chain.OpInfo, before []Claim) []Claim {
	open := slices.Clip(before)
	for _, op := range list {
		f.mu.Lock()
		seen := f.seen[op.Op]
		f.mu.Unlock()
		if seen.confirms {
			open = nil
			continue
		}
		for _, c := range seen.claims {
			open = append(open, Claim{Claim: c, Op: op.Op})
		}
	}
	return open
}

// arrivals returns the decisions of people in the operations of list.
func (f *checker) arrivals(list []chain.OpInfo) []Arrival {
	var out []Arrival
	for _, op := range list {
		f.mu.Lock()
		seen := f.seen[op.Op]
		f.mu.Unlock()
		if seen.decision != nil {
			out = append(out, *seen.decision)
		}
	}
	return out
}

// ArrivalNotices describes the decisions of people that came with a chain.
func ArrivalNotices(arrived []Arrival) []string {
	var out []string
	for _, a := range arrived {
		out = append(out, a.String()+", which came from elsewhere")
	}
	return out
}

// String describes who decided what.
func (a Arrival) String() string {
	what := a.Name
	switch {
	case a.Gate != "":
		what = "gate " + a.Gate + " was approved"
	case a.Name == "reactivate":
		what = "the run was unblocked"
	case a.Name == protocol.OpConfirm:
		what = "another tool's work was confirmed"
	}
	return text.OneLine(what + " by " + a.Actor.Name + " <" + a.Actor.Email + "> at " + a.At + " (operation " +
		a.Op.Short() + ")")
}
