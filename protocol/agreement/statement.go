// The signed statements handed in for a decision, each checked against the decision and the moment.

package agreement

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/protocol/attest"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// MaxSkew is how far the clock of another machine may be ahead.
const MaxSkew = 5 * time.Minute

// Stated is a valid statement.
type Stated struct {
	Vote     *run.Vote
	Nonce    string
	envelope *evidence.Blob
}

// statements judges every statement that is handed in: its signature, its subject, its time, and that it was not
// used before.
func (m *Moment) statements(c *Consent, d *Decision, content string) ([]Stated, *wire.Error) {
	if len(c.Statements) == 0 {
		return nil, nil
	}
	signers, problems := c.Base.Keys()
	if len(problems) > 0 {
		return nil, &wire.Error{
			Code:     wire.CodeInvalidConfig,
			Field:    problems[0].Field,
			Problems: problems,
			Message:  "The files of signers cannot be read: " + problems.Join(),
			Hint:     "correct them on the protected branch",
		}
	}
	var out []Stated
	for _, b := range c.Statements {
		s, refusal := m.Statement(signers, c, d, b)
		if refusal != nil {
			return nil, refusal
		}
		if slices.ContainsFunc(out, func(o Stated) bool { return o.Nonce == s.Nonce }) {
			return nil, d.replayed("it is handed in twice")
		}
		s.Vote.Content = content
		out = append(out, s)
	}
	return out, nil
}

// Keys returns the signers that the files of a base list; a base may be nil.
func (b *Base) Keys() (*attest.Signers, wire.Problems) {
	files := map[string][]byte{}
	if b != nil {
		for _, f := range b.Signers {
			if f.Blob != nil {
				files[f.Path] = f.Blob.Data
			}
		}
	}
	return attest.ParseSigners(files)
}

// Statement judges one signed statement: whether its signer is allowed, both now and at the time it states, and
// whether it is about this decision.
func (m *Moment) Statement(signers *attest.Signers, c *Consent, d *Decision, b *evidence.Blob) (Stated, *wire.Error) {
	env, refusal := attest.DecodeDSSE(b.Data)
	if refusal != nil {
		return Stated{}, refusal
	}
	st, refusal := attest.DecodeStatement(env.Payload)
	if refusal != nil {
		return Stated{}, refusal
	}
	// The time of issue is only the signer's word: an expired key could be used to sign for yesterday. So the key
	// must also be valid now.
	var sig *attest.Signature
	for _, at := range []time.Time{st.IssuedAt, m.Now} {
		if sig, refusal = signers.Verify(env, at); refusal != nil {
			return Stated{}, c.Base.wayIn(d, env.Format, refusal)
		}
		if refusal := sig.SpeaksFor(st.Principal); refusal != nil {
			return Stated{}, c.Base.wayIn(d, env.Format, refusal)
		}
	}
	if refusal := m.answers(c, d, st); refusal != nil {
		return Stated{}, refusal
	}
	return Stated{
		Vote: &run.Vote{
			Principal: st.Principal,
			At:        wire.FormatTime(st.IssuedAt),
			Statement: "sha256:" + b.Digest,
			KeyID:     sig.KeyID,
			Key:       sig.Key,
			Terminal:  st.Asked == attest.AskedTerminal,
			Reason:    st.Reason,
		},
		Nonce:    st.Nonce,
		envelope: b,
	}, nil
}

// wayIn says where a signer has to be listed to count: without a protected branch, what is committed during a run
// counts only for later runs.
func (b *Base) wayIn(d *Decision, format string, refusal *wire.Error) *wire.Error {
	keys := []string{wire.CodeSignerUnknown, wire.CodeSignerExpired, wire.CodeSignerRevoked}
	if !slices.Contains(keys, refusal.Code) || b == nil || b.Ref != "" || b.Commit == "" {
		return refusal
	}
	what, end := "run", "abandon"
	if d.Initiative {
		what, end = "initiative", "multi abandon"
	}
	refusal.Hint = fmt.Sprintf("sign with a key of %s as committed at %.10s, where the %[3]s began; "+
		"another counts once it is committed there and ",
		attest.SignersPath(format), b.Commit, what)
	if !d.Initiative {
		refusal.Hint += "those who decide now adopt it (git agentxchain config adopt --sign), or "
	}
	refusal.Hint += fmt.Sprintf("a new %s has begun (git agentxchain %s --reason TEXT ends this one)", what, end)
	return refusal
}

// answers checks a statement against the decision it is used for.
func (m *Moment) answers(c *Consent, d *Decision, st *attest.Statement) *wire.Error {
	switch {
	case slices.Contains(m.Spent, st.Nonce):
		return d.replayed("this run has used it")
	case st.Run != m.Run:
		return d.replayed("it is about run " + st.Run)
	case st.Decision != d.Kind:
		return d.replayed("it says " + string(st.Decision))
	case st.Gate != d.Gate || st.GateType != d.GateType || st.Phase != d.Phase || st.To != d.To:
		return d.replayed(fmt.Sprintf("it is about gate %q of phase %q", st.Gate, st.Phase))
	case st.Operation != c.Answers:
		return d.replayed(fmt.Sprintf("it answers operation %.12s", st.Operation))
	case !st.ExpiresAt.After(m.Now):
		return &wire.Error{
			Code:    CodeStatementExpired,
			Field:   "expires_at",
			Message: "The statement expired at " + wire.FormatTime(st.ExpiresAt) + ".",
			Hint:    d.Command() + " --sign; if it was signed just now, set right the clock of that machine",
		}
	case st.IssuedAt.After(m.Now.Add(MaxSkew)):
		return &wire.Error{
			Code:  CodeStatementMismatch,
			Field: "issued_at",
			Message: "The statement was made at " + wire.FormatTime(st.IssuedAt) +
				", which is in the future by the clock here.",
			Hint: "set right the clock of that machine or of this one, then: " + d.Command() + " --sign",
		}
	case st.Config != m.Rules:
		return mismatch("the configuration has changed since", d)
	case st.Commit != m.Head || st.Tree != c.Tree:
		return mismatch(fmt.Sprintf("it is about commit %.12s", st.Commit), d)
	}
	if refusal := d.sameRepositories(st.Repositories); refusal != nil {
		return refusal
	}
	return d.sameEvidence(st.Evidence)
}

// Evidence returns the files of a decision as a statement names them: the existing ones, by path.
func Evidence(files []evidence.FileBlob) []attest.File {
	var out []attest.File
	for _, f := range files {
		if f.Blob != nil && !slices.ContainsFunc(out, func(e attest.File) bool { return e.Path == f.Path }) {
			out = append(out, attest.File{Path: f.Path, SHA256: f.Blob.Digest})
		}
	}
	slices.SortFunc(out, func(a, b attest.File) int { return strings.Compare(a.Path, b.Path) })
	return out
}

// sameRepositories refuses a statement about repositories that have moved since.
func (d *Decision) sameRepositories(stated []attest.Repository) *wire.Error {
	for _, r := range d.Repositories {
		i := slices.IndexFunc(stated, func(s attest.Repository) bool { return s.ID == r.ID })
		if i < 0 || stated[i].Operation != r.Operation {
			return mismatch("repository "+r.ID+" has moved since", d)
		}
	}
	if len(stated) != len(d.Repositories) {
		return mismatch("it names repositories that are not decided on", d)
	}
	return nil
}

func (d *Decision) sameEvidence(stated []attest.File) *wire.Error {
	now := Evidence(d.Evidence)
	for _, f := range now {
		i := slices.IndexFunc(stated, func(e attest.File) bool { return e.Path == f.Path })
		if i < 0 || stated[i].SHA256 != f.SHA256 {
			return mismatch(f.Path+" has changed since", d)
		}
	}
	if len(stated) != len(now) {
		return mismatch("it names documents that are not decided on", d)
	}
	return nil
}

func (d *Decision) replayed(why string) *wire.Error {
	sign := "git agentxchain approve"
	if d.Initiative {
		sign = d.Command()
	}
	return &wire.Error{
		Code:    CodeStatementReplayed,
		Field:   "statement",
		Message: "The statement does not count here: " + why + ".",
		Hint:    sign + " --sign",
	}
}

func mismatch(why string, d *Decision) *wire.Error {
	return &wire.Error{
		Code:    CodeStatementMismatch,
		Field:   "statement",
		Message: "The statement is about something else: " + why + ".",
		Hint:    d.Command() + " --show, then " + d.Command() + " --sign",
	}
}
