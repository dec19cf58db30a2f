// Whose approval passes the gate that waits: who must approve, by which rules, and what they sign
// (docs/coordinator.md#who-may-approve).

package coordinator

import (
	"context"
	"fmt"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/agreement"
	"github.com/git-agentxchain/git-agentxchain/protocol/attest"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/initiative"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner/consent"
)

// CodeNotRecorded means that a signed approval cannot name its subject: the gate's request or the run of a
// repository is in no record.
const CodeNotRecorded = "not_recorded"

// governing returns the configuration of a commit or a protected branch, nil if it has none. An unreadable one lets
// no gate pass: its requirements are unknown.
func governing(b *agreement.Base) (*initiative.Config, *wire.Error) {
	if b == nil || b.Config == nil {
		return nil, nil
	}
	cfg, problems, e := initiative.Decode(b.Config.Data)
	if e == nil {
		e = initiative.ConfigError(problems)
	}
	if e != nil {
		e.Message = fmt.Sprintf("The %s of commit %.12s, by which people approve, cannot be used. %s",
			initiative.ConfigFile, b.Commit, e.Message)
		e.Hint = "correct it on the protected branch, else: " + Program + " multi abandon --reason TEXT"
	}
	return cfg, e
}

// baseOf reads a place; nil if none of its commits is here.
func baseOf(ctx context.Context, p consent.Place) (*agreement.Base, *initiative.Config, error) {
	p.Config = initiative.ConfigFile
	base, _, err := p.Base(ctx)
	if err != nil || base.Commit == "" {
		return nil, nil, err
	}
	cfg, e := governing(base)
	if e != nil {
		return nil, nil, e
	}
	return base, cfg, nil
}

// protectedBy returns the place of the branch whose signers and rules count: the one named by the configuration of
// the beginning. If that names none, or one that is gone because it was renamed, it is the one named by the
// configuration here. Branch is "" if none is protected.
func protectedBy(ctx context.Context, home *git.Repository, on string, founded, here *initiative.Config) (p consent.Place,
	err error) {
	for _, cfg := range []*initiative.Config{founded, here} {
		if !protects(cfg) {
			continue
		}
		at := consent.Place{Repo: home, On: on, Branch: cfg.ProtectedBranch}
		if at.Names, err = at.Sources(ctx); err != nil {
			return p, err
		}
		known := slices.ContainsFunc(at.Names, func(name string) bool {
			tip, rerr := home.ReadRef(ctx, name)
			return rerr == nil && tip != ""
		})
		if p.Branch == "" || known {
			p = at
		}
		if known {
			break
		}
	}
	return p, nil
}

// protects reports whether a configuration names a protected branch.
func protects(cfg *initiative.Config) bool { return cfg != nil && cfg.ProtectedBranch != "" }

// groundsNow returns the rules for a decision now; a judges those before it.
func (c *Coordinator) groundsNow(ctx context.Context, a *approvals, d *Documents) (*initiative.Grounds, error) {
	out := &initiative.Grounds{Base: a.base, Configs: []*initiative.Config{d.Config, a.founded}}
	if a.home == nil || !protects(a.founded) && !protects(d.Config) {
		return out, nil
	}
	_, on, err := a.home.Checkout(ctx)
	if err != nil {
		return nil, err
	}
	p, err := protectedBy(ctx, a.home, on, a.founded, d.Config)
	if err != nil {
		return nil, err
	}
	base, cfg, err := baseOf(ctx, p)
	if err != nil {
		return nil, err
	}
	switch {
	case base != nil:
		out.Base, out.Configs = base, append(out.Configs, cfg)
	case p.Branch != on: // a workspace that was never pushed has it only as its own branch
		return nil, &wire.Error{
			Code:    CodeUnapproved,
			Field:   "authority.protected_branch",
			Message: fmt.Sprintf("Branch %s says who may approve, and no commit of it is here.", wire.OneLine(p.Branch)),
			Hint: "git fetch brings it, in a clone of one branch after git remote set-branches --add origin " +
				wire.ShellWord(p.Branch) + "; if it was renamed, name it in authority.protected_branch of " + initiative.ConfigFile +
				"; if it is gone for good: " + Program + " multi abandon --reason TEXT",
		}
	}
	return out, nil
}

// asking returns what people must approve at the gate that waits; nil if any person may and no signature is needed.
func (c *Coordinator) asking(ctx context.Context, a *approvals, s *Seen, proves bool) (*initiative.Yes, error) {
	g, err := c.groundsNow(ctx, a, s.Documents)
	if err != nil {
		return nil, err
	}
	y := &initiative.Yes{
		Rules:  initiative.RulesOf(s.State.Phase, s.State.PendingGate.To, g.Configs...),
		Digest: s.Config.RulesDigest(),
	}
	if len(y.Rules) == 0 && !proves {
		return nil, nil
	}
	if e := a.behind(ctx, s); e != nil {
		return nil, e
	}
	y.Consent.Base = g.Base
	if a.home != nil {
		asked, err := record.InitiativeAsked(ctx, a.home, a.tip, s.State.PendingGate.RequestedAt)
		if err != nil {
			return nil, err
		}
		y.Consent.Answers = string(asked)
	}
	_, y.Votes, _ = a.passages(ctx, s.History)
	y.Repositories = standing(s)
	return y, nil
}

// behind refuses a yes if the protected branch lacks the commit that was known at the request: elsewhere the yes
// would be judged by that commit.
func (a *approvals) behind(ctx context.Context, s *Seen) *wire.Error {
	b := s.History.AskedBy()
	if b == nil || b.Ref == "" || len(a.protected.Names) == 0 {
		return nil
	}
	_, refusal := a.grounds(ctx, &initiative.Yes{Consent: agreement.Consent{Base: b}}, "")
	if refusal == nil || refusal.Code != CodeUnapproved {
		return refusal
	}
	return &wire.Error{
		Code:  CodeUnapproved,
		Field: "pending_gate",
		Message: fmt.Sprintf("The gate was requested at commit %.12s of the protected branch, which it does not have here.",
			b.Commit),
		Hint: refusal.Hint + "; if the branch was rewritten: " + Program + " multi approve-gate --deny --reason TEXT, and " +
			"the gate is requested again",
	}
}

// judgingHere is judging with what is recorded here.
func (c *Coordinator) judgingHere(ctx context.Context, st *initiative.State) (*approvals, error) {
	tip := object.OID("")
	if home := c.repository(ctx); home != nil {
		var err error
		if tip, err = home.Repository().ReadRef(ctx, record.InitiativeRefPrefix+st.SuperRunID); err != nil {
			return nil, err
		}
	}
	return c.judging(ctx, st, tip, nil, false)
}

// standing returns the positions of the runs of the gate's repositories, as far as they are recorded.
func standing(s *Seen) []attest.Repository {
	var out []attest.Repository
	for _, id := range initiative.Reevaluate(&s.Workspace, s.Children).RequiredRepos {
		if child := s.Children[id]; child != nil && child.Op != "" {
			out = append(out, attest.Repository{ID: id, Operation: child.Op})
		}
	}
	return out
}

// recordedWhole refuses a signature for a request that is not recorded, or for a repository that is not.
func recordedWhole(s *Seen, y *initiative.Yes) *wire.Error {
	if y.Consent.Answers == "" {
		return &wire.Error{
			Code:    CodeNotRecorded,
			Field:   "pending_gate",
			Message: "No git repository records that the gate waits, so no statement can answer it.",
			Hint:    Program + " multi status says why; a workspace without a repository gets one with: git init",
		}
	}
	if y.Consent.Base.Commit == "" {
		return &wire.Error{
			Code:    CodeNotRecorded,
			Field:   fieldBeginning,
			Message: "The initiative began without authority, so there are no signers by which a statement could be judged.",
			Hint: "name a protected branch in authority of " + initiative.ConfigFile + ", or begin another initiative: " +
				Program + " multi abandon --reason TEXT, then " + Program + " multi init",
		}
	}
	for _, id := range initiative.Reevaluate(&s.Workspace, s.Children).RequiredRepos {
		if child := s.Children[id]; child != nil && child.Op == "" {
			return &wire.Error{
				Code:    CodeNotRecorded,
				Field:   "repos." + id,
				Message: fmt.Sprintf("The run of repository %s is not recorded as it is, so no statement can be about it.", id),
				Hint:    "git agentxchain -C " + wire.ShellWord(child.Path) + " doctor",
			}
		}
	}
	return nil
}

// collectYes collects the proof of a person who approves: statements that were submitted, and one that is signed now.
func (c *Coordinator) collectYes(ctx context.Context, s *Seen, opt consent.Options, env protocol.Env) (*initiative.Yes, error) {
	a, err := c.judgingHere(ctx, s.State)
	if err != nil {
		return nil, err
	}
	y, err := c.asking(ctx, a, s, opt.Proves())
	if err != nil || y == nil {
		return y, err
	}
	if _, lapsed := y.Lapsed(s.State, s.History); len(lapsed) > 0 {
		return nil, lapsed[0].Why
	}
	if !opt.Proves() {
		return y, nil
	}
	if e := recordedWhole(s, y); e != nil {
		return nil, e
	}
	d := y.Question(s.State)
	if opt.Sign {
		// Do not ask for a key, or its passphrase, if the signature would not count.
		if e := d.Excludes(env.Actor.Email); e != nil {
			return nil, e
		}
	}
	if y.Consent.Statements, err = opt.HandedIn(); err != nil {
		return nil, err
	}
	if !opt.Sign {
		y.Consent.Alone = true
		return y, nil
	}
	signed, err := opt.SignNow(ctx, c.store.dir, &attest.Statement{
		Decision:     d.Kind,
		Run:          s.State.SuperRunID,
		Project:      s.Config.ProjectID,
		Gate:         d.Gate,
		GateType:     d.GateType,
		Phase:        d.Phase,
		To:           d.To,
		Operation:    y.Consent.Answers,
		Config:       y.Digest,
		Repositories: d.Repositories,
	}, &env, c.opt.Seed())
	if err != nil {
		return nil, err
	}
	if opt.Only {
		return nil, &consent.Signed{Gate: d.Gate, GateType: d.GateType, Statement: signed}
	}
	y.Consent.Statements = append(y.Consent.Statements, evidence.NewBlob(signed))
	return y, nil
}

// beginning returns the commit that says who may approve in a new initiative, "" if its configuration names no
// people. Only what is committed counts, so that it cannot be changed in between.
func (c *Coordinator) beginning(ctx context.Context, cfg *initiative.Config) (string, error) {
	if cfg.Authority == nil {
		return "", nil
	}
	refuse := func(message, hint string) (string, error) {
		return "", &wire.Error{Code: CodeStartFailed, Field: "authority", Message: message, Hint: hint}
	}
	home := c.repository(ctx)
	if home == nil {
		return refuse("authority names who may approve, and the workspace is in no git repository that could prove it.",
			"git init "+wire.ShellWord(c.store.dir)+", commit "+initiative.ConfigFile+", then: "+Program+" multi init")
	}
	head := string(home.Repository().Head(ctx))
	var committed *initiative.Config
	if head != "" {
		_, cfg, err := baseOf(ctx, consent.Place{Repo: home.Repository(), Pinned: &head})
		if err != nil {
			return "", err
		}
		committed = cfg
	}
	if !initiative.SameAuthority(cfg, committed) {
		return refuse("authority of "+initiative.ConfigFile+" is not committed as it is here, and what is committed counts.",
			"commit it, and the files of signers where gates ask for signatures, then: "+Program+" multi init")
	}
	return head, nil
}
