// Whose approval counts according to a commit: a run has rules and signers of its own, and its author could have
// written both.

package approval

import (
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/attest"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Listed has the people and keys that a commit of the project lists.
type Listed struct {
	cfg     *config.Config // nil where the commit has none that may govern
	signers *attest.Signers
}

// ListedIn reads them from agentxchain.json and the files of signers, by path; missing files are omitted.
func ListedIn(files map[string][]byte) *Listed {
	signers, _ := attest.ParseSigners(files)
	return &Listed{config.DecodeGoverning(files[wire.ConfigPath]), signers}
}

// Lets reports whether the commit allows this person to approve the gate: its authority names them where it names
// people for the gate, and its signers have the key of the signed statement, if any (nil for none).
func (l *Listed) Lets(gate, principal string, statement []byte) bool {
	return l.lets(l.gate(gate), principal, statement)
}

// LetsAct is like Lets, for acts that overrule the record.
func (l *Listed) LetsAct(principal string, statement []byte) bool {
	return l.lets(l.acts(), principal, statement)
}

// Need returns how many people the commit requires at the gate, 0 where it names none.
func (l *Listed) Need(gate string) int { return need(l.gate(gate)) }

// NeedActs returns how many people it requires for acts that overrule the record, 0 where it names none.
func (l *Listed) NeedActs() int { return need(l.acts()) }

// Weaker reports whether other rules require less of the gate than the commit's configuration does.
func (l *Listed) Weaker(gate string, rules *config.Config) bool {
	at := ojson.Member("/gates", gate)
	return l.cfg != nil && l.cfg.Gates.Has(gate) &&
		slices.ContainsFunc(config.RuleChanges(l.cfg, rules), func(c config.RuleChange) bool {
			return c.Weakens && (strings.HasPrefix(at+"/", c.Pointer+"/") || strings.HasPrefix(c.Pointer, at+"/"))
		})
}

func (l *Listed) gate(gate string) *config.GateRule {
	if l.cfg == nil {
		return nil
	}
	return l.cfg.GateRule(gate)
}

func (l *Listed) acts() *config.GateRule {
	if l.cfg == nil {
		return nil
	}
	return l.cfg.ActRule()
}

func need(rule *config.GateRule) int {
	if rule == nil {
		return 0
	}
	return max(rule.Threshold, 1)
}

func (l *Listed) lets(rule *config.GateRule, principal string, statement []byte) bool {
	if rule != nil {
		if rule.Signed && statement == nil || !slices.ContainsFunc(rule.Principals, func(p string) bool {
			return strings.EqualFold(p, principal)
		}) {
			return false
		}
	}
	if statement == nil {
		return true
	}
	env, refusal := attest.DecodeDSSE(statement)
	if refusal != nil {
		return false
	}
	st, refusal := attest.DecodeStatement(env.Payload)
	if refusal != nil {
		return false
	}
	sig, refusal := l.signers.Verify(env, st.IssuedAt)
	return refusal == nil && sig.SpeaksFor(st.Principal) == nil && strings.EqualFold(st.Principal, principal)
}

// AgreedBy reports whether one of the given operations (commit ids), which overrule the record, has the approval of
// as many people as the commit requires, no person counted twice. envelopes are the statements by their digest.
func (r *Report) AgreedBy(ops map[string]bool, envelopes map[string][]byte, by *Listed) bool {
	people := make(map[string]map[string]bool)
	keys := make(map[[2]string]bool)
	for _, s := range r.Sayings {
		key := [2]string{s.Op, s.KeyID}
		if !ops[s.Op] || s.Stands != StandsProven && s.Stands != StandsUnsigned || s.KeyID != "" && keys[key] ||
			!by.LetsAct(s.Principal, envelopes[s.Statement]) {
			continue
		}
		if keys[key] = true; people[s.Op] == nil {
			people[s.Op] = make(map[string]bool)
		}
		if people[s.Op][strings.ToLower(s.Principal)] = true; len(people[s.Op]) >= max(by.NeedActs(), 1) {
			return true
		}
	}
	return false
}
