// Whose yes a range may rest on: people and keys that its base lists. The runs with work in a range bring rules and
// signers of their own, and who proposes the range could have written both.

package attribution

import (
	"context"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/internal/projectfile"
	"github.com/git-agentxchain/git-agentxchain/protocol/attest"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Listed are the people and keys that a commit of the project lists.
type Listed struct {
	cfg     *config.Config // nil where the commit has none that may govern
	signers *attest.Signers
}

// ReadListed reads them at a commit, in the project's directory.
func ReadListed(ctx context.Context, repo *git.Repository, commit object.OID) (*Listed, error) {
	paths := append(wire.SignerFiles(), wire.ConfigPath)
	names := make([]string, len(paths))
	for i, p := range paths {
		names[i] = string(commit) + ":" + repo.Prefix + p
	}
	l, files := &Listed{}, make(map[string][]byte)
	err := repo.ReadNamed(ctx, names, func(i int, o git.Named) {
		switch {
		case !o.Found || o.Kind != "blob" || len(o.Data) > projectfile.MaxGate:
		case paths[i] == wire.ConfigPath:
			l.cfg = config.DecodeGoverning(slices.Clone(o.Data))
		default:
			files[paths[i]] = slices.Clone(o.Data)
		}
	})
	if err != nil {
		return nil, err
	}
	l.signers, _ = attest.ParseSigners(files)
	return l, nil
}

// Lets reports whether the commit lets this person say yes to the gate: its authority names them where it names people
// for the gate, and its signers hold the key of a signed statement, nil for none.
func (l *Listed) Lets(gate, principal string, statement []byte) bool {
	if rule := l.rule(gate); rule != nil {
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

// Need is how many people the commit asks for at the gate, 0 where it names none.
func (l *Listed) Need(gate string) int {
	if rule := l.rule(gate); rule != nil {
		return max(rule.Threshold, 1)
	}
	return 0
}

func (l *Listed) rule(gate string) *config.GateRule {
	if l.cfg == nil {
		return nil
	}
	return l.cfg.GateRule(gate)
}
