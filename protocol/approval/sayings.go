// What people, policies and other tools said about a run's decisions, read from its record
// (docs/spec/approvals.md#what-was-said).

package approval

import (
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/agreement"
	"github.com/git-agentxchain/git-agentxchain/protocol/attest"
	"github.com/git-agentxchain/git-agentxchain/protocol/commits"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/external"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Act is a recorded operation of a run that may decide something.
type Act struct {
	Op            string           // commit id
	Record        *protocol.Record // with evidence, for approvals
	Config        *config.Config   // the configuration recorded with it
	AuthorityBase string           // of the state after it, "" for none
	Rows          []*ojson.Object  // rows it added to the decision ledger
	Claims        []external.Claim // claims of another tool's step
}

// Decides reports whether operations of that name are acts.
func Decides(name string) bool {
	switch name {
	case protocol.OpAccept, protocol.OpRetry, protocol.OpExternal, protocol.OpDeny, protocol.OpWithdraw,
		protocol.OpAbandon, protocol.OpConfirm, commits.OpReconcile,
		(*protocol.ApprovePhase)(nil).Name(), (*protocol.ApproveCompletion)(nil).Name(),
		(*protocol.AdoptConfig)(nil).Name(), (*protocol.Reactivate)(nil).Name(), (*protocol.RejectTurn)(nil).Name():
		return true
	}
	return false
}

// Who said something.
const (
	ByPerson = "person"
	ByPolicy = "policy"     // approval_policy passed a gate that waits for people
	ByTool   = "other_tool" // another tool did what only a person may; a claim
)

// Saying is what one person, policy or tool said about one decision.
type Saying struct {
	Op        string
	At        string
	By        string // ByPerson, ByPolicy, ByTool
	Decision  string // approve, deny, withdraw, confirm, adopt_config, unblock, abandon, accept_working
	Gate      string // "" where no gate is decided
	GateType  string
	Phase     string
	To        string
	Principal string // e-mail address
	Name      string
	Statement string // sha256:<hex> of the signed statement, "" for none
	KeyID     string // key that signed it
	Terminal  bool
	Reason    string
	Evidence  *ojson.Object // path -> sha256:<hex> or missing; nil for none
}

// Sayings returns what was said in the acts of a run, oldest first.
func Sayings(acts []*Act) []*Saying {
	var out []*Saying
	known := map[string]bool{} // votes that an earlier act brought
	for _, a := range acts {
		for _, row := range a.Rows {
			for _, s := range SayingsOf(row, known) {
				s.Op = a.Op
				if a.Record.Name == protocol.OpExternal {
					s.By = ByTool // a row that another tool wrote proves nothing
				}
				out = append(out, s)
			}
		}
		if signed := a.signedSayings(); len(signed) > 0 {
			out = append(slices.DeleteFunc(out, func(s *Saying) bool { return s.Op == a.Op }), signed...)
			continue
		}
		switch a.Record.Name {
		case protocol.OpExternal:
			if a.Record.Detail.Object("accepted_by") != nil {
				out = append(out, a.said("accept_working", a.Record.Detail.String("reason")))
			}
		case (*protocol.AdoptConfig)(nil).Name():
			out = append(out, a.said("adopt_config", ""))
		case (*protocol.Reactivate)(nil).Name():
			if op, ok := a.Record.Op.(*protocol.Reactivate); !ok || !op.AcceptAsIs && wire.TrimSpace(op.Reason) == "" {
				out = append(out, a.said("unblock", "")) // otherwise its row says so
			}
		}
		for _, c := range a.Claims {
			s := a.said(claimedDecision(c), c.String())
			s.By, s.Gate, s.Principal, s.Name, s.Terminal = ByTool, c.Gate, "", "", false
			out = append(out, s)
		}
	}
	return out
}

// said returns what the person who asked for the operation said.
func (a *Act) said(decision, reason string) *Saying {
	who := a.Record.Env.Actor
	return &Saying{
		Op:        a.Op,
		At:        a.Record.Env.Time(),
		By:        ByPerson,
		Decision:  decision,
		Principal: who.Email,
		Name:      who.Name,
		Terminal:  who.Terminal,
		Reason:    reason,
	}
}

// signedSayings returns the statements handed in with an act that overrules the record, and the approval of the
// person who handed them in where it also counts. Approvals have rows of their own.
func (a *Act) signedSayings() []*Saying {
	d, c := protocol.Asks(a.Record.Op, nil, "")
	if c == nil || len(c.Statements) == 0 {
		return nil
	}
	var out []*Saying
	alone := c.Alone
	for _, b := range c.Statements {
		s := a.said(string(d.Kind), "")
		s.Statement, s.Principal, s.Name, s.Terminal = "sha256:"+b.Digest, "", "", false
		if env, refusal := attest.DecodeDSSE(b.Data); refusal == nil {
			s.KeyID = env.Signer()
			if st, refusal := attest.DecodeStatement(env.Payload); refusal == nil {
				s.At, s.Principal, s.Reason = wire.FormatTime(st.IssuedAt), st.Principal, st.Reason
				s.Terminal = st.Asked == attest.AskedTerminal
			}
		}
		alone = alone || agreement.SamePerson(s.Principal, a.Record.Env.Actor.Email)
		out = append(out, s)
	}
	if !alone {
		out = append(out, a.said(string(d.Kind), ""))
	}
	return out
}

func claimedDecision(c external.Claim) string {
	switch c.Kind {
	case external.ClaimGate, external.ClaimApproval, external.ClaimPhase, external.ClaimCompleted:
		return "approve"
	case external.ClaimActive:
		return "unblock"
	case external.ClaimAbandoned:
		return "abandon"
	case external.ClaimRules:
		return "adopt_config"
	}
	return c.Kind
}

// SayingsOf reads a row of the decision ledger; a row that decides nothing yields none. It skips votes that an
// earlier row reported; known remembers them.
func SayingsOf(row *ojson.Object, known map[string]bool) []*Saying {
	s := &Saying{
		At:       row.String("timestamp"),
		By:       ByPerson,
		Gate:     row.String("gate_id"),
		GateType: row.String("gate_type"),
		Phase:    row.String("from_phase"),
		To:       row.String("to_phase"),
		Terminal: row.Bool("terminal"),
		Reason:   row.String("reason"),
		Evidence: row.Object("evidence"),
	}
	who := ""
	switch row.String("type") {
	case "human_approval", "human_approval_vote":
		s.Decision, who = "approve", "approved_by"
	case "human_denial":
		s.Decision, who = "deny", "denied_by"
	case "approval_withdrawn":
		s.Decision, who = "withdraw", "withdrawn_by"
	case "external_confirmed":
		s.Decision, who = "confirm", "confirmed_by"
	case "run_abandoned":
		s.Decision, who = "abandon", "abandoned_by"
	case "human_unblock":
		s.Decision, who = "unblock", "unblocked_by"
	case "commits_reconciled":
		s.Decision, who, s.Phase = "reconcile", "reconciled_by", row.String("phase")
	case "human_rejection":
		s.Decision, who = "reject", "rejected_by"
	case "human_overrule":
		s.Decision, who = "accept_as_is", "overruled_by"
		s.Gate, s.GateType, s.Phase = row.String("blocked_on"), row.String("kind"), row.String("phase")
	case "approval_policy":
		s.Decision, s.By = "approve", ByPolicy
		return []*Saying{s}
	default:
		return nil
	}
	s.Principal, s.Name = row.Object(who).String("email"), row.Object(who).String("name")
	votes := votesOf(row)
	if len(votes) == 0 {
		return []*Saying{s}
	}
	var out []*Saying
	for _, v := range votes {
		id := strings.Join([]string{v.Principal, v.At, v.Content, v.Statement}, "\x00")
		if known[id] {
			continue
		}
		known[id] = true
		one := *s
		one.Principal, one.Name, one.Terminal, one.Reason = v.Principal, v.Name, v.Terminal, v.Reason
		one.Statement, one.KeyID, one.At = v.Statement, v.KeyID, v.At
		out = append(out, &one)
	}
	return out
}

// votesOf returns the votes of a row and skips invalid ones.
func votesOf(row *ojson.Object) []*run.Vote {
	var out []*run.Vote
	for _, o := range row.Objects("votes") {
		v := &run.Vote{}
		if errs := ojson.Unmarshal(o, v); len(errs) == 0 {
			out = append(out, v)
		}
	}
	return out
}

// overrulePhase returns the phase in which a person took something as it is, "" for other acts.
func (a *Act) overrulePhase() string {
	for _, row := range a.Rows {
		if row.String("type") == "human_overrule" {
			return row.String("phase")
		}
	}
	return ""
}

// approvalRow returns the row in which an act records an approval, or nil.
func (a *Act) approvalRow() *ojson.Object {
	i := slices.IndexFunc(a.Rows, func(row *ojson.Object) bool { return isApproval(row) })
	if i < 0 {
		return nil
	}
	return a.Rows[i]
}

func isApproval(row *ojson.Object) bool {
	kind := row.String("type")
	return kind == "human_approval" || kind == "human_approval_vote"
}

// approval returns the approval in an approving act, nil for other acts.
func (a *Act) approval() *protocol.Approval {
	switch op := a.Record.Op.(type) {
	case *protocol.ApprovePhase:
		return &op.Approval
	case *protocol.ApproveCompletion:
		return &op.Approval
	}
	return nil
}

// Statements returns the signed statements that people handed in with the act.
func (a *Act) Statements() []*evidence.Blob {
	c := a.consent()
	if c == nil {
		return nil
	}
	return c.Statements
}
