// Verifies again, without this machine's keys, what people said about a run's decisions
// (docs/spec/approvals.md#verification-offline).

package approval

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/agreement"
	"github.com/git-agentxchain/git-agentxchain/protocol/attest"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Codes of findings of Verify, besides those that refuse a statement.
const (
	FindStatementMissing = "statement_missing"  // a vote names a statement that is not in the record
	FindThreshold        = "threshold_unmet"    // fewer people agreed than the rules require
	FindBaseDiffers      = "base_differs"       // the base commit has other signers than the record
	FindBaseAbsent       = "base_unavailable"   // note: the base commit is not here
	FindTreeDiffers      = "tree_differs"       // the commit that was approved has another tree
	FindUnsigned         = "unsigned"           // note: no rule wants a signature, and there is none
	FindByPolicy         = "approved_by_policy" // note: approval_policy passed the gate
	FindByTool           = "approved_by_tool"   // note: another tool did it, and a person confirmed it
	FindUnconfirmed      = "unconfirmed"        // another tool did it, and no person has confirmed it
	FindSignersUnproven  = "signers_unproven"   // note: an artifact says itself who may sign
)

// Finding is an error in what was said, or something unproven.
type Finding struct {
	Code      string
	Op        string // operation, "" in an artifact
	Gate      string
	Principal string
	Statement string
	Message   string
	Note      bool // for information: nothing is wrong
}

// The standing of a saying.
const (
	StandsProven    = "proven"    // signed, and everything is valid
	StandsUnsigned  = "unsigned"  // a name, which proves nothing
	StandsFails     = "fails"     // there is a finding
	StandsPolicy    = "policy"    // no person said it
	StandsClaimed   = "claimed"   // another tool's word
	StandsConfirmed = "confirmed" // another tool's word that a person has confirmed
)

// Judged is a saying with its standing.
type Judged struct {
	*Saying
	Stands string
}

// Report is the verdict on what was said in one run.
type Report struct {
	Run        string // or the initiative
	Initiative bool
	Sayings    []Judged
	Findings   []Finding
	Statements int // number of verified statements
	Witnesses  []*Witnessed
}

// LostWitnessed reports whether the run lacks an operation that a witness saw.
func (r *Report) LostWitnessed() bool {
	return slices.ContainsFunc(r.Witnesses, func(w *Witnessed) bool { return w.Code == FindWitnessLost })
}

// Clean reports whether nothing is wrong.
func (r *Report) Clean() bool {
	if r.LostWitnessed() {
		return false
	}
	return !slices.ContainsFunc(r.Findings, func(f Finding) bool { return !f.Note })
}

// ChainOp is an operation of a run as described by its commit message.
type ChainOp struct {
	Index int // from the run's first
	Name  string
	Turn  string
}

// BaseFacts is what a repository knows of the commits that approvals name.
type BaseFacts struct {
	// Signers are the files of signers at a commit, path -> sha256 hex. A missing commit has no entry.
	Signers map[string]map[string]string
	Trees   map[string]string // commit -> tree, of the existing commits
}

// Commits returns the commits to look up for Verify: those from which the signers were read, and those that were
// approved.
func Commits(acts []*Act) (bases, approved []string) {
	for _, a := range acts {
		c := a.consent()
		if c == nil || len(c.Statements) == 0 {
			continue
		}
		if c.Base != nil {
			bases = append(bases, c.Base.Commit)
		}
		approved = append(approved, a.Record.Env.Git.Head)
	}
	for _, list := range []*[]string{&bases, &approved} {
		slices.Sort(*list)
		*list = slices.DeleteFunc(slices.Compact(*list), func(id string) bool { return !objectID(id) })
	}
	return bases, approved
}

func objectID(id string) bool {
	_, err := hex.DecodeString(id)
	return err == nil && (len(id) == 40 || len(id) == 64)
}

// consent returns what people handed in with an approving act, or nil.
func (a *Act) consent() *agreement.Consent {
	if ap := a.approval(); ap != nil {
		return ap.Consent
	}
	_, c := protocol.Asks(a.Record.Op, nil, "")
	return c
}

// Verify judges everything that was said in a run's acts again, oldest first. chain has all operations of the run
// by commit id.
func Verify(runID string, acts []*Act, chain map[string]ChainOp, facts BaseFacts) *Report {
	v := &verifier{
		report:  &Report{Run: runID},
		chain:   chain,
		facts:   facts,
		signers: map[string]*attest.Signers{},
		proven:  map[string]*run.Vote{},
		failed:  map[string]bool{},

		provenIn: map[string]string{},
		refusals: refusals(chain),
	}
	confirmed := -1 // index of the newest operation that a person's confirmation covers
	for _, a := range acts {
		if c, ok := a.Record.Op.(*protocol.Confirm); ok {
			if op, known := chain[c.Upto]; known {
				confirmed = max(confirmed, op.Index)
			}
		}
		if a.approval() != nil {
			v.approval(a)
		} else {
			v.act(a)
		}
	}
	for _, s := range Sayings(acts) {
		v.report.Sayings = append(v.report.Sayings, Judged{s, v.stands(s, chain[s.Op].Index <= confirmed)})
	}
	return v.report
}

type verifier struct {
	report  *Report
	spent   []string // used nonces
	chain   map[string]ChainOp
	facts   BaseFacts
	signers map[string]*attest.Signers // by the digests of their files
	proven  map[string]*run.Vote       // by digest of the statement
	failed  map[string]bool            // statements, and operations, with a finding
	absent  string                     // the missing base commit that was reported last

	provenIn map[string]string // statement -> the operation that handed it in
	refusals []int             // indexes of the operations that took an approval back or denied a gate
}

func (v *verifier) find(a *Act, f Finding) {
	f.Op = a.Op
	if row := a.approvalRow(); f.Gate == "" && row != nil {
		f.Gate = row.String("gate_id")
	}
	if !f.Note {
		v.failed[cmp.Or(f.Statement, a.Op)] = true
	}
	v.report.Findings = append(v.report.Findings, f)
}

// stands returns the standing of a saying, and reports sayings without proof.
func (v *verifier) stands(s *Saying, confirmed bool) string {
	note := Finding{
		Op:        s.Op,
		Gate:      s.Gate,
		Principal: s.Principal,
		Note:      true,
	}
	where := "the decision"
	if s.Gate != "" {
		where = "gate " + wire.Quoted(s.Gate)
	}
	switch {
	case s.By == ByPolicy:
		note.Code, note.Message = FindByPolicy, where+" was passed by approval_policy; no person said yes"
	case s.By == ByTool && confirmed:
		note.Code, note.Message = FindByTool,
			"another tool did what only a person may ("+s.Reason+"); a person confirmed it"
	case s.By == ByTool:
		note.Code, note.Note = FindUnconfirmed, false
		note.Message = "another tool did what only a person may (" + s.Reason + "), and no person has confirmed it"
	case s.Statement != "" && (v.failed[s.Statement] || v.proven[s.Statement] == nil), v.failed[s.Op]:
		return StandsFails
	case s.Statement != "":
		return StandsProven
	case s.Decision != "approve":
		return StandsUnsigned
	default:
		note.Code = FindUnsigned
		note.Message = where + " was approved without a signature by " +
			cmp.Or(s.Principal, s.Name, "a person without a name") + ": a name from git's configuration proves nothing"
	}
	v.report.Findings = append(v.report.Findings, note)
	switch {
	case s.By == ByPolicy:
		return StandsPolicy
	case s.By == ByTool && confirmed:
		return StandsConfirmed
	case s.By == ByTool:
		return StandsClaimed
	}
	return StandsUnsigned
}

// moment returns the moment of an act.
func (v *verifier) moment(a *Act) *agreement.Moment {
	env := &a.Record.Env
	return &agreement.Moment{
		Run:   v.report.Run,
		Spent: v.spent,
		Rules: config.RulesDigest(a.Config),
		Head:  env.Git.Head,
		Actor: env.Actor,
		Now:   env.Now,
	}
}

// approval judges one approving act: each statement as the engine does, then what the engine takes as given, then
// whether enough people agreed.
func (v *verifier) approval(a *Act) {
	row, c := a.approvalRow(), a.consent()
	if row == nil {
		return // a gate action failed: nothing was approved
	}
	d := v.decided(a, row)
	m := v.moment(a)
	if c != nil && len(c.Statements) > 0 {
		v.baseOf(a, c)
		signers := v.signersOf(c)
		for _, b := range c.Statements {
			v.statement(a, m, signers, c, d, b)
		}
	}
	v.agreed(a, m, d, row)
}

// act judges an act that overrules the record.
func (v *verifier) act(a *Act) {
	d, c := protocol.Asks(a.Record.Op, a.Config, a.overrulePhase())
	if d == nil || a.Config == nil {
		return
	}
	if op, ok := a.Record.Op.(*protocol.AdoptConfig); ok && op.Was == nil {
		return // recorded before authority was asked
	}
	m := v.moment(a)
	people, keys := map[string]bool{}, map[string]bool{}
	if c != nil && len(c.Statements) > 0 {
		v.baseOf(a, c)
		signers := v.signersOf(c)
		for _, b := range c.Statements {
			v.statement(a, m, signers, c, d, b)
			digest := "sha256:" + b.Digest
			if s := v.proven[digest]; s != nil && !v.failed[digest] && !keys[s.Key] {
				people[strings.ToLower(s.Principal)], keys[s.Key] = true, true
			}
		}
	}
	need, signed := 1, false
	for _, r := range d.Rules {
		need, signed = max(need, r.Threshold), signed || r.Signed
	}
	if !signed && (c == nil || !c.Alone) {
		people[strings.ToLower(a.Record.Env.Actor.Email)] = true
	}
	if len(d.Rules) > 0 && len(people) < need {
		v.find(a, Finding{
			Code: FindThreshold,
			Message: fmt.Sprintf("%s was agreed to by %d of %d people whose yes counts", d.Command(), len(people),
				need),
		})
	}
}

// decided returns the decision that an approval row is about.
func (v *verifier) decided(a *Act, row *ojson.Object) *agreement.Decision {
	return &agreement.Decision{
		Kind:     attest.Approve,
		Gate:     row.String("gate_id"),
		GateType: row.String("gate_type"),
		Phase:    row.String("from_phase"),
		To:       row.String("to_phase"),
		Evidence: a.approval().Files,
		Rules:    agreement.GateRules(a.Config, a.consent(), row.String("gate_id")),
	}
}

// signersOf parses the files of signers in the record, each set once.
func (v *verifier) signersOf(c *agreement.Consent) *attest.Signers {
	files := map[string][]byte{}
	key := ""
	if c.Base != nil {
		for _, f := range c.Base.Signers {
			if f.Blob != nil {
				files[f.Path] = f.Blob.Data
				key += f.Path + "\x00" + f.Blob.Digest + "\x00"
			}
		}
	}
	s := v.signers[key]
	if s == nil {
		s, _ = attest.ParseSigners(files)
		v.signers[key] = s
	}
	return s
}

func (v *verifier) statement(a *Act, m *agreement.Moment, signers *attest.Signers, c *agreement.Consent,
	d *agreement.Decision, b *evidence.Blob) {
	v.report.Statements++
	digest := "sha256:" + b.Digest
	fail := func(code, principal, message string) {
		v.find(a, Finding{
			Code:      code,
			Gate:      d.Gate,
			Principal: principal,
			Statement: digest,
			Message:   message,
		})
	}
	s, refusal := m.Statement(signers, c, d, b)
	if refusal != nil {
		who := ""
		if env, bad := attest.DecodeDSSE(b.Data); bad == nil {
			if st, bad := attest.DecodeStatement(env.Payload); bad == nil {
				who = st.Principal
			}
		}
		fail(refusal.Code, who, refusal.Message)
		return
	}
	v.spent = append(v.spent, s.Nonce)
	m.Spent = v.spent
	v.proven[digest], v.provenIn[digest] = s.Vote, a.Op
	v.answered(a, c, func(message string) { fail(agreement.CodeStatementReplayed, s.Vote.Principal, message) })
	if tree, here := v.facts.Trees[a.Record.Env.Git.Head]; here && tree != c.Tree {
		fail(FindTreeDiffers, s.Vote.Principal,
			fmt.Sprintf("commit %.12s has tree %.12s, and the statement is about %.12s", a.Record.Env.Git.Head, tree,
				c.Tree))
	}
	if refusal := agreement.Admit(c, d, s.Vote); refusal != nil {
		fail(refusal.Code, s.Vote.Principal, refusal.Message)
	}
}

// answered checks the operation that a statement answers against the chain, which no rule can see: it must be of
// this run, before the approval, and the one that asked.
func (v *verifier) answered(a *Act, c *agreement.Consent, fail func(message string)) {
	asked, known := v.chain[c.Answers]
	by := ""
	if row := a.approvalRow(); row != nil {
		by = row.String("requested_by_turn")
	}
	switch {
	case !known:
		fail(fmt.Sprintf("it answers operation %.12s, which is none of this run", c.Answers))
	case asked.Index >= v.chain[a.Op].Index:
		fail(fmt.Sprintf("it answers operation %.12s, which came after it", c.Answers))
	case a.approval() != nil && v.refusedSince(a, asked):
		fail(fmt.Sprintf("it answers operation %.12s, and a person said no since", c.Answers))
	case by != "" && asked.Name == protocol.OpAccept && asked.Turn != by:
		fail(fmt.Sprintf("it answers operation %.12s of turn %s, and turn %s asked for the gate", c.Answers,
			asked.Turn, by))
	}
}

// refusedSince reports whether a person took an approval back or denied the gate between an operation and the act:
// the gate was then asked again, even if a restore brought back its earlier state.
func (v *verifier) refusedSince(a *Act, asked ChainOp) bool {
	return slices.ContainsFunc(v.refusals, func(at int) bool {
		return asked.Index < at && at < v.chain[a.Op].Index
	})
}

func refusals(chain map[string]ChainOp) (at []int) {
	for _, op := range chain {
		if op.Name == protocol.OpWithdraw || op.Name == protocol.OpDeny {
			at = append(at, op.Index)
		}
	}
	return at
}

// baseOf compares the signers in the record with the commit that it names.
func (v *verifier) baseOf(a *Act, c *agreement.Consent) {
	if c.Base == nil || c.Base.Commit == "" {
		v.find(a, Finding{
			Code:    FindBaseDiffers,
			Message: "the record names no commit that its signers come from",
		})
		return
	}
	kept := map[string]string{}
	for _, f := range c.Base.Signers {
		if f.Blob != nil {
			kept[f.Path] = f.Blob.Digest
		}
	}
	// Adopting a configuration may move the base.
	_, adopts := a.Record.Op.(*protocol.AdoptConfig)
	if !adopts && c.Base.Ref == "" && a.AuthorityBase != "" && a.AuthorityBase != c.Base.Commit {
		v.find(a, Finding{
			Code: FindBaseDiffers,
			Message: fmt.Sprintf("its signers are those of commit %.12s; the run began at %.12s",
				c.Base.Commit, a.AuthorityBase),
		})
	}
	there, here := v.facts.Signers[c.Base.Commit]
	if !here {
		if v.absent != c.Base.Commit {
			v.find(a, Finding{
				Code: FindBaseAbsent,
				Note: true,
				Message: fmt.Sprintf(
					"commit %.12s, which the signers were read at, is not here; that it holds them is not proven",
					c.Base.Commit),
			})
		}
		v.absent = c.Base.Commit
		return
	}
	for _, path := range wire.SignerFiles() {
		if there[path] != kept[path] {
			v.find(a, Finding{
				Code: FindBaseDiffers,
				Message: fmt.Sprintf("commit %.12s has another %s than the one the approval was judged by",
					c.Base.Commit, path),
			})
		}
	}
}

// agreed counts the people of a row again.
func (v *verifier) agreed(a *Act, m *agreement.Moment, d *agreement.Decision, row *ojson.Object) {
	votes := votesOf(row)
	people, keys := map[string]bool{}, map[string]bool{}
	content := m.Content(d)
	for _, vote := range votes {
		mark := Finding{
			Principal: vote.Principal,
			Statement: vote.Statement,
		}
		proof := v.proven[vote.Statement]
		switch {
		case vote.Content != content:
			mark.Code = agreement.CodeStatementMismatch
			mark.Message = vote.Principal + " approved other bytes than those that passed"
		case vote.Statement == "":
			for _, r := range d.Rules {
				if r.Signed {
					mark.Code = agreement.CodeSignatureRequired
					mark.Message = "the approval by " + vote.Principal + " lacks the signature that the rule of " +
						d.Subject() + " wants"
				}
			}
		case proof != nil && v.refusedSince(a, v.chain[v.provenIn[vote.Statement]]):
			mark.Code = agreement.CodeStatementReplayed
			mark.Message = "the approval by " + vote.Principal + " was given before a person denied it"
		case proof == nil && !v.failed[vote.Statement]:
			mark.Code, mark.Message = FindStatementMissing, "the record does not hold the statement of "+vote.Principal
		case proof != nil && (!agreement.SamePerson(proof.Principal, vote.Principal) || proof.Key != vote.Key):
			mark.Code = agreement.CodeStatementMismatch
			mark.Message = "the statement counted for " + vote.Principal + " is by " + proof.Principal
		}
		if mark.Code != "" {
			v.find(a, mark)
		}
		if mark.Code == "" && !(vote.Key != "" && keys[vote.Key]) && !v.failed[vote.Statement] {
			people[strings.ToLower(vote.Principal)] = true
			keys[vote.Key] = true
		}
	}
	need := 1
	for _, r := range d.Rules {
		need = max(need, r.Threshold)
	}
	if row.String("type") != "human_approval" || len(d.Rules) == 0 || len(people) >= need {
		return
	}
	v.find(a, Finding{
		Code:    FindThreshold,
		Message: fmt.Sprintf("%s passed by %d of %d people whose yes counts", d.Subject(), len(people), need),
	})
}
