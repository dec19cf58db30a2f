// Who may pass a gate: the member authority of agentxchain.json. It is our addition; other implementations ignore
// it.

package config

import (
	"math"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Authority names the people whose approval counts (docs/spec/configuration.md#authority).
type Authority struct {
	Approvers   ojson.Map[*Approvers]
	Gates       ojson.Map[*GateAuthority]
	Acts        *GateAuthority // for acts that overrule the record: unblock, config adopt, …; nil: any person
	PersonSigns bool           // signoff_documents is person: a turn cannot write a sign-off
}

// Approvers is a group of people.
type Approvers struct {
	Principals []string // e-mail addresses, each once
	Threshold  int      // how many different people have to agree; at least 1
}

// GateAuthority says whose approval a gate needs.
type GateAuthority struct {
	By        string // name of the group
	Threshold int    // 0: the group's threshold
	Signed    bool   // only a signed statement counts
	NotAuthor bool   // the author of the change does not count
}

// GateRule says whose approval counts, with the group resolved.
type GateRule struct {
	Group      string
	Principals []string
	Threshold  int
	Signed     bool
	NotAuthor  bool
}

// SignoffPerson is the value of signoff_documents that leaves signing to people.
const SignoffPerson = "person"

// MaxPrincipals bounds a group of approvers.
const MaxPrincipals = 1000

func (d *decoder) authority() {
	o := d.top("authority", ProblemAuthority)
	if o == nil {
		return
	}
	s := d.section(o, "authority", ProblemAuthority)
	a := s.whoPasses(func(gate string) bool { return d.cfg.Gate(gate) != nil })
	d.cfg.Authority = a
	s.enum("signoff_documents", false, "", SignoffPerson)
	// An unreadable word must not allow agents to sign.
	a.PersonSigns = s.o.Has("signoff_documents")
	if acts := s.object("acts"); acts.o != nil {
		a.Acts = &GateAuthority{}
		acts.gateAuthority(a, a.Acts)
	}
}

// DecodeAuthority reads from the member authority of a document other than agentxchain.json who passes its gates;
// nil when it has none. gate reports whether a gate exists.
func DecodeAuthority(document *ojson.Object, gate func(string) bool) (*Authority, wire.Problems) {
	d := &decoder{cfg: &Config{Raw: document}}
	o := d.top("authority", ProblemAuthority)
	if o == nil {
		return nil, d.problems
	}
	return d.section(o, "authority", ProblemAuthority).whoPasses(gate), d.problems
}

// whoPasses reads the groups of people and whose approval each gate needs.
func (s section) whoPasses(gate func(string) bool) *Authority {
	a := &Authority{}
	for e := range s.object("approvers").entries() {
		g := &Approvers{Threshold: 1}
		a.Approvers.Set(e.key, g)
		e.named("a group of approvers")
		if e.valid() {
			e.approvers(g)
		}
	}
	for e := range s.object("gates").entries() {
		g := &GateAuthority{}
		a.Gates.Set(e.key, g)
		if !gate(e.key) {
			s.d.add(ProblemUndeclaredGate, e.path, e.key, "%s names the gate %s, which is not in gates",
				e.path, ojson.Shown(e.key))
		}
		if e.valid() {
			e.gateAuthority(a, g)
		}
	}
	return a
}

func (s section) approvers(g *Approvers) {
	list, ok := s.array("principals")
	if !ok {
		if !s.o.Has("principals") {
			s.missing("principals", "a list of e-mail addresses")
		}
		return
	}
	switch {
	case len(list) == 0:
		s.d.add(s.code, s.at("principals"), "", "%s is empty: no person could ever approve", s.at("principals"))
	case len(list) > MaxPrincipals:
		s.d.add(s.code, s.at("principals"), "", "%s has %d entries; %d are the most",
			s.at("principals"), len(list), MaxPrincipals)
		return
	}
	for _, p := range s.texts("principals") {
		p = wire.Trim(p)
		if slices.Contains(g.Principals, p) {
			s.d.add(s.code, s.at("principals"), p, "%s names %s twice; each person counts once",
				s.at("principals"), ojson.Shown(p))
			continue
		}
		g.Principals = append(g.Principals, p)
	}
	if n := s.integer("threshold", 1, math.MaxInt); n != nil {
		g.Threshold = *n
	}
	s.reachable(g.Threshold, len(g.Principals))
}

// reachable reports a finding when the threshold exceeds the number of people.
func (s section) reachable(threshold, people int) {
	if people > 0 && threshold > people {
		s.d.add(s.code, s.at("threshold"), "", "%s is %d, but the group has %d member(s)",
			s.at("threshold"), threshold, people)
	}
}

// gateAuthority reads who approves. An unreadable member makes the rule stricter, not weaker.
func (s section) gateAuthority(a *Authority, g *GateAuthority) {
	g.By = s.text("by", true)
	if n := s.integer("threshold", 1, math.MaxInt); n != nil {
		g.Threshold = *n
	}
	g.Signed = s.boolean("signed", false) || s.notFlag("signed")
	g.NotAuthor = s.boolean("not_author", false) || s.notFlag("not_author")
	if g.By == "" {
		return
	}
	group, ok := a.Approvers.Get(g.By)
	if !ok {
		s.d.add(s.code, s.at("by"), g.By, "%s names %s, which is not in authority.approvers",
			s.at("by"), ojson.Shown(g.By))
		return
	}
	if g.Threshold > 0 {
		s.reachable(g.Threshold, len(group.Principals))
	}
}

// notFlag reports whether a member exists and is not a flag.
func (s section) notFlag(key string) bool {
	v, ok := s.value(key)
	_, flag := v.(bool)
	return ok && !flag
}

// GateRule returns whose approval the gate needs; nil when the configuration accepts any person.
func (c *Config) GateRule(gate string) *GateRule { return c.Authority.GateRule(gate) }

// GateRule returns whose approval the gate needs; nil when any person may approve, as without an Authority.
func (a *Authority) GateRule(gate string) *GateRule {
	if a == nil {
		return nil
	}
	return a.rule(a.Gates.Value(gate))
}

// ActRule returns who may overrule the record; nil when any person may.
func (c *Config) ActRule() *GateRule {
	if c.Authority == nil {
		return nil
	}
	return c.Authority.rule(c.Authority.Acts)
}

func (a *Authority) rule(g *GateAuthority) *GateRule {
	if g == nil {
		return nil
	}
	r := &GateRule{
		Group:     g.By,
		Threshold: 1,
		Signed:    g.Signed,
		NotAuthor: g.NotAuthor,
	}
	if group, ok := a.Approvers.Get(g.By); ok {
		r.Principals, r.Threshold = group.Principals, group.Threshold
	}
	if g.Threshold > 0 {
		r.Threshold = g.Threshold
	}
	return r
}

// PersonSigns reports whether only a person may sign a sign-off document.
func (c *Config) PersonSigns() bool { return c.Authority != nil && c.Authority.PersonSigns }

// People lists those who may decide, for use in a sentence.
func (r *GateRule) People() string { return wire.ListSome(r.Principals, 5) }

// ProtectedBranch returns the branch whose files of signers count; "" when none is protected.
func (c *Config) ProtectedBranch() string {
	branch := ""
	for _, p := range c.ProtectedBranches {
		if wire.MatchPath(p, c.Project.DefaultBranch) {
			return c.Project.DefaultBranch
		}
		if branch == "" && !strings.ContainsAny(p, "*?[\\") {
			branch = p
		}
	}
	return branch
}
