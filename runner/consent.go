// Consent: who says yes, with the proof where the configuration or the person asks for it.

package runner

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/attest"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// ConsentOptions says how a person proves who decides. The zero value proves nothing.
type ConsentOptions struct {
	Sign       bool          // sign a statement as git signs commits
	Statements [][]byte      // statements signed before or elsewhere: DSSE envelopes
	Expires    time.Duration // how long the statement that is signed now counts; a day when 0
	Asked      attest.Asked  // terminal, automation, mcp, page; derived from Options.Terminal when ""
}

func (o *ConsentOptions) proves() bool { return o.Sign || len(o.Statements) > 0 }

// asking is the decision a consent is gathered for.
type asking struct {
	decision attest.Decision
	gate     string
	gateType string
	phase    string
	to       string
	by       string // turn that asked, "" for none
	evidence []evidence.FileBlob
	reason   string
	rules    func(*protocol.Consent) []*config.GateRule // that apply, given the protected branch
}

// consent gathers what the engine judges a person's word by. It asks git only for what a
// rule or a statement needs.
func (c *change) consent(ctx context.Context, a asking, opt ConsentOptions) (*protocol.Consent, error) {
	out := &protocol.Consent{}
	if !opt.proves() && c.view.Config.Authority == nil && !c.protects() {
		return nil, nil
	}
	var err error
	if opt.proves() || c.protects() {
		if out.Base, out.Tree, err = c.authorityBase(ctx); err != nil {
			return nil, err
		}
	}
	for _, r := range a.rules(out) {
		if r.NotAuthor {
			if out.Authors, err = c.authors(ctx, a.by); err != nil {
				return nil, err
			}
			break
		}
	}
	if !opt.proves() {
		return out, nil
	}
	asked, err := c.acceptedIn(ctx, a.by)
	if err != nil {
		return nil, err
	}
	if out.Answers = string(c.view.Op); asked != nil {
		out.Answers = string(asked.Op)
	}
	for _, s := range opt.Statements {
		if len(s) > protocol.MaxStatementBytes {
			return nil, &wire.Error{
				Code:    wire.CodeInvalidArgument,
				Field:   "statement",
				Message: fmt.Sprintf("A statement has %d bytes; %d are the most.", len(s), protocol.MaxStatementBytes),
			}
		}
		out.Statements = append(out.Statements, evidence.NewBlob(s))
	}
	if !opt.Sign {
		out.Alone = true
		return out, nil
	}
	signed, err := c.sign(ctx, a, out, opt)
	if err != nil {
		return nil, err
	}
	out.Statements = append(out.Statements, evidence.NewBlob(signed))
	return out, nil
}

// statementLife is how long a statement counts when the person does not say.
const statementLife = 24 * time.Hour

// sign makes the statement of the person who asks and has git's own program sign it.
func (c *change) sign(ctx context.Context, a asking, out *protocol.Consent, opt ConsentOptions) ([]byte, error) {
	st := &attest.Statement{
		Decision:  a.decision,
		Run:       c.view.Run,
		Project:   c.view.Config.Project.ID,
		Gate:      a.gate,
		GateType:  a.gateType,
		Phase:     a.phase,
		To:        a.to,
		Operation: out.Answers,
		Config:    config.RulesDigest(c.view.Config),
		Commit:    c.env.Git.Head,
		Tree:      out.Tree,
		Principal: c.env.Actor.Email,
		Reason:    a.reason,
		Nonce:     randomSeed(),
		IssuedAt:  c.env.Now,
		Asked:     opt.Asked,
		Evidence:  protocol.Evidence(a.evidence),
	}
	life := opt.Expires
	if life <= 0 {
		life = statementLife
	}
	st.ExpiresAt = st.IssuedAt.Add(life)
	if st.Asked == "" {
		st.Asked = attest.AskedAutomation
		if c.env.Actor.Terminal {
			st.Asked = attest.AskedTerminal
		}
	}
	payload, refusal := st.Encode()
	if refusal != nil {
		return nil, refusal
	}
	return signPayload(ctx, c.r.store.Dir(), payload)
}

// acceptedIn finds the operation that accepted a turn of the run, nil when there is none.
// A gate that waits was asked for a few operations ago.
func (c *change) acceptedIn(ctx context.Context, turn string) (*chain.OpInfo, error) {
	if turn == "" {
		return nil, nil
	}
	for _, limit := range []int{20, 0} {
		ops, err := c.r.store.Log(ctx, c.view.Run, limit)
		if err != nil {
			return nil, err
		}
		for i := range ops {
			if ops[i].Turn == turn && ops[i].Name == protocol.OpAccept {
				return &ops[i], nil
			}
		}
	}
	return nil, nil
}

// maxAuthors bounds the commits whose authors are read.
const maxAuthors = 10_000

// authors are the addresses of everybody who made what is decided on: of the commits
// since the run began, and of the person who accepted the turn that asks.
func (c *change) authors(ctx context.Context, turn string) ([]string, error) {
	out := []string{}
	base := ""
	if p := c.view.State.AuthorityBase; p != nil {
		base = *p
	}
	commits, more, err := c.r.store.Repository().CommitsSince(ctx, git.OID(base), git.OID(c.env.Git.Head), maxAuthors)
	if err != nil {
		return nil, err
	}
	if more {
		return nil, &wire.Error{
			Code:    wire.CodeInvalidArgument,
			Field:   "authors",
			Message: fmt.Sprintf("More than %d commits were made since the run began; their authors are not compared.", maxAuthors),
		}
	}
	for _, cm := range commits {
		if i := strings.LastIndexByte(cm.Author, '<'); i >= 0 {
			out = append(out, strings.TrimSuffix(cm.Author[i+1:], ">"))
		}
	}
	asked, err := c.acceptedIn(ctx, turn)
	if err != nil {
		return nil, err
	}
	if asked != nil {
		out = append(out, asked.Email)
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}
