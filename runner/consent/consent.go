// Who says yes, with proof where the configuration or the person asks for it.

package consent

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/history"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/internal/projectfile"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/agreement"
	"github.com/git-agentxchain/git-agentxchain/protocol/attest"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Options says how a person proves their identity. The zero value proves nothing.
type Options struct {
	Sign       bool          // sign a statement as git signs commits
	Only       bool          // with Sign: decide nothing; the error is a *Signed
	Statements [][]byte      // statements signed before or elsewhere: DSSE envelopes
	Expires    time.Duration // how long the newly signed statement counts; a day when 0
	Asked      attest.Asked  // terminal, automation, mcp, page; derived from Options.Terminal when ""
}

// Signed is the error that ends a decision when only the statement was wanted.
type Signed struct {
	Gate, GateType string // "" for an act that overrules the record
	Statement      []byte
}

func (*Signed) Error() string { return "the statement is signed, and nothing is decided" }

// Proves reports whether a statement is handed in or to be signed.
func (o *Options) Proves() bool { return o.Sign || len(o.Statements) > 0 }

// Needed reports whether a decision under cfg needs more than the word of the person who gives the command.
func (o *Options) Needed(cfg *config.Config) bool {
	return o.Proves() || cfg.Authority != nil || cfg.ProtectedBranch() != ""
}

// Question is the decision that a consent is gathered for.
type Question struct {
	Decision attest.Decision
	Gate     string
	GateType string
	Phase    string
	To       string
	By       string // turn that asked, "" for none
	Evidence []evidence.FileBlob
	Reason   string
	Rules    func(*agreement.Consent) []*config.GateRule // the rules that apply, given the protected branch
}

// Scene is the run that is decided on, and the operation that asks.
type Scene struct {
	Store *gitstore.Store
	View  *gitstore.View
	Env   protocol.Env
	Nonce string // of the newly signed statement
}

// Gather gathers what the engine judges a person's word by, nil when nothing asks for it. It asks
// git only for what a rule or a statement needs.
func (c *Scene) Gather(ctx context.Context, q Question, opt Options) (*agreement.Consent, error) {
	out := &agreement.Consent{}
	if !opt.Needed(c.View.Config) {
		return nil, nil
	}
	var err error
	if opt.Proves() || c.View.Config.ProtectedBranch() != "" || q.Gate != "" && agreement.AnySigned(c.View.State.GateVotes) {
		if out.Base, out.Tree, err = c.base(ctx); err != nil {
			return nil, err
		}
	}
	if err := c.deniedVotes(ctx, q); err != nil {
		return nil, err
	}
	rules := q.Rules(out)
	if err := c.lapsed(q, out.Base, rules); err != nil {
		return nil, err
	}
	for _, r := range rules {
		if r.NotAuthor {
			if out.Authors, err = c.Authors(ctx, q.By); err != nil {
				return nil, err
			}
			break
		}
	}
	if !opt.Proves() {
		return out, nil
	}
	if opt.Sign {
		// Ask for no key or passphrase when the signature would not count.
		d := &agreement.Decision{
			Kind:     q.Decision,
			Gate:     q.Gate,
			GateType: q.GateType,
			Phase:    q.Phase,
			To:       q.To,
			Rules:    rules,
		}
		if refusal := d.Excludes(c.Env.Actor.Email); refusal != nil {
			return nil, refusal
		}
	}
	// After a withdrawal the gate asks again: no statement from before it counts. Nor does one from before a denial,
	// where a restore has brought the gate back as it was.
	asked, err := c.newest(ctx, q.By, protocol.OpAccept, protocol.OpWithdraw, protocol.OpDeny)
	if err != nil {
		return nil, err
	}
	if out.Answers = string(c.View.Op); asked != nil {
		out.Answers = string(asked.Op)
	}
	if out.Statements, err = opt.HandedIn(); err != nil {
		return nil, err
	}
	if !opt.Sign {
		out.Alone = true
		return out, nil
	}
	signed, err := c.sign(ctx, q, out, opt)
	if err != nil {
		return nil, err
	}
	out.Statements = append(out.Statements, evidence.NewBlob(signed))
	return out, nil
}

// statementLife is how long a statement counts when the person does not say.
const statementLife = 24 * time.Hour

// sign makes the statement of the person who asks and lets git's own program sign it.
func (c *Scene) sign(ctx context.Context, q Question, out *agreement.Consent, opt Options) ([]byte, error) {
	st := &attest.Statement{
		Decision:  q.Decision,
		Run:       c.View.Run,
		Project:   c.View.Config.Project.ID,
		Gate:      q.Gate,
		GateType:  q.GateType,
		Phase:     q.Phase,
		To:        q.To,
		Operation: out.Answers,
		Config:    config.RulesDigest(c.View.Config),
		Commit:    c.Env.Git.Head,
		Tree:      out.Tree,
		Reason:    q.Reason,
		Evidence:  agreement.Evidence(q.Evidence),
	}
	return opt.SignNow(ctx, c.Store.Dir(), st, &c.Env, c.Nonce)
}

// HandedIn returns the statements that were signed before or elsewhere.
func (o *Options) HandedIn() ([]*evidence.Blob, error) {
	var out []*evidence.Blob
	for _, s := range o.Statements {
		if len(s) > agreement.MaxStatementBytes {
			return nil, &wire.Error{
				Code:  wire.CodeInvalidArgument,
				Field: "statement",
				Message: fmt.Sprintf("The statement has %d bytes; the limit is %d.", len(s),
					agreement.MaxStatementBytes),
			}
		}
		out = append(out, evidence.NewBlob(s))
	}
	return out, nil
}

// SignNow signs a statement of the person who asks, now, as git signs commits in dir.
func (o *Options) SignNow(ctx context.Context, dir string, st *attest.Statement, env *protocol.Env,
	nonce string) ([]byte, error) {
	life := o.Expires
	if life <= 0 {
		life = statementLife
	}
	st.Principal, st.Nonce = env.Actor.Email, nonce
	st.IssuedAt, st.ExpiresAt = env.Now, env.Now.Add(life)
	if st.Asked = o.Asked; st.Asked == "" {
		st.Asked = attest.AskedAutomation
		if env.Actor.Terminal {
			st.Asked = attest.AskedTerminal
		}
	}
	payload, refusal := st.Encode()
	if refusal != nil {
		return nil, refusal
	}
	return SignPayload(ctx, dir, payload)
}

// lapsed refuses to build on earlier approvals of the gate that would be refused now.
func (c *Scene) lapsed(q Question, base *agreement.Base, rules []*config.GateRule) error {
	votes := c.View.State.GateVotes
	if q.Gate == "" || len(votes) == 0 {
		return nil
	}
	now := &agreement.Moment{Rules: config.RulesDigest(c.View.Config), Head: c.Env.Git.Head}
	d := &agreement.Decision{Kind: q.Decision, Gate: q.Gate, Evidence: q.Evidence, Rules: rules, Votes: votes}
	if refusal := agreement.RefuseLapsed(base, d, now.Counted(d).Votes, c.statementOf); refusal != nil {
		return refusal
	}
	return nil
}

// At returns the scene of a view in the work tree as it is, for looking alone.
func At(ctx context.Context, store *gitstore.Store, view *gitstore.View) (*Scene, error) {
	at := &Scene{Store: store, View: view}
	head, on, err := store.Repository().Checkout(ctx)
	at.Env.Git.Head, at.Env.Git.Branch = string(head), on
	return at, err
}

// Lapsed divides the approvals of the waiting gate that were given to the present files into those that count and those
// that would be refused now.
func (c *Scene) Lapsed(ctx context.Context, votes []*run.Vote) (counting []*run.Vote, lapsed []agreement.Lapse,
	err error) {
	given := &agreement.Consent{}
	if given.Base, _, err = c.base(ctx); err != nil {
		return nil, nil, err
	}
	gate := run.PendingGate(c.View.State)
	d := &agreement.Decision{Kind: attest.Approve, Gate: gate, Rules: agreement.GateRules(c.View.Config, given, gate)}
	counting, lapsed = agreement.Lapsed(given.Base, d, votes, c.statementOf)
	return counting, lapsed, nil
}

// statementOf returns the statement by which an approval was given, nil if the file is gone or is another.
func (c *Scene) statementOf(v *run.Vote) []byte {
	data, err := projectfile.Read(c.Store.Dir(), agreement.StatementPath(v.Statement), agreement.MaxStatementBytes)
	if err != nil || "sha256:"+wire.SHA256(data) != v.Statement {
		return nil
	}
	return data
}

// deniedVotes refuses to continue with votes from before a denial, which a restore has brought back: the gate has
// received no answer since.
func (c *Scene) deniedVotes(ctx context.Context, q Question) error {
	votes := c.View.State.GateVotes
	if q.Gate == "" || len(votes) == 0 {
		return nil
	}
	last, err := c.newest(ctx, q.By, protocol.OpAccept, protocol.OpWithdraw, protocol.OpDeny,
		(*protocol.ApprovePhase)(nil).Name(), (*protocol.ApproveCompletion)(nil).Name())
	if err != nil || last == nil || last.Name != protocol.OpDeny {
		return err
	}
	return &wire.Error{
		Code:  agreement.CodeStatementReplayed,
		Field: "gates." + q.Gate,
		Message: fmt.Sprintf("The approval of gate %s by %s is from before a person denied it; a restore brought it back.",
			wire.Quoted(q.Gate), votes[0].Who()),
		Hint: "git agentxchain approve --deny --reason TEXT closes the gate again; the next turn asks again",
	}
}

// newest finds the newest operation with one of the names that accepted the given turn or is not an acceptance, nil
// when there is none. The request of a waiting gate is only a few operations old.
func (c *Scene) newest(ctx context.Context, turn string, names ...string) (*chain.OpInfo, error) {
	if turn == "" {
		return nil, nil
	}
	for op, err := range c.Store.Back(ctx, c.View.Run) {
		if err != nil {
			return nil, err
		}
		if slices.Contains(names, op.Name) && (op.Name != protocol.OpAccept || op.Turn == turn) {
			return &op, nil
		}
	}
	return nil, nil
}

// began returns the commit that the run began at. The state's authority_base changes once a person adopts other
// approvers or signers, but the authors of the commits before that still count.
func (c *Scene) began(ctx context.Context) (string, error) {
	ops, err := c.Store.Log(ctx, c.View.Run, 0)
	if err != nil {
		return "", err
	}
	if n := len(ops); n > 0 && ops[n-1].CodeHead != "" {
		return ops[n-1].CodeHead, nil
	}
	return wire.OrEmpty(c.View.State.AuthorityBase), nil
}

// Authors returns the addresses of all who made what is decided on: of the commits since the run
// began, and of the person who accepted the turn that asks.
func (c *Scene) Authors(ctx context.Context, turn string) ([]string, error) {
	base, err := c.began(ctx)
	if err != nil {
		return nil, err
	}
	out, err := history.AuthorsSince(ctx, c.Store.Repository(), object.OID(base), object.OID(c.Env.Git.Head))
	if err != nil {
		return nil, err
	}
	asked, err := c.newest(ctx, turn, protocol.OpAccept)
	if err != nil {
		return nil, err
	}
	if asked != nil {
		out = append(out, asked.Email)
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}
