// Consent: which people said yes to a decision, and the proof where the configuration
// asks for one (docs/spec/approvals.md#who-counts).

package protocol

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/attest"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/external"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Codes of consents that do not count.
const (
	CodeApproverNotAllowed = "approver_not_allowed" // not one of the people the configuration names
	CodeApproverIsAuthor   = "approver_is_author"   // not_author, and they made the change
	CodeAlreadyApproved    = "already_approved"     // each person counts once
	CodeSignatureRequired  = "signature_required"   // the configuration wants a signed statement
	CodeStatementExpired   = "statement_expired"
	CodeStatementReplayed  = "statement_replayed" // its nonce was used, or it answers something else
	CodeStatementMismatch  = "statement_mismatch" // it is about other bytes
)

// Consent is what a person who decides hands in: themselves, and the signed statements
// of theirs and of others. The zero value is a person without any proof.
type Consent struct {
	Statements []*evidence.Blob `json:"statements,omitempty"` // DSSE envelopes
	// Alone: the statements speak; who hands them in says nothing of their own.
	Alone bool `json:"alone,omitempty"`

	Base    *Base    `json:"base,omitempty"`    // nil where neither rule nor statement needs it
	Authors []string `json:"authors,omitempty"` // e-mail addresses of who made the change; read with not_author
	Answers string   `json:"answers,omitempty"` // the operation that asked for the decision
	Tree    string   `json:"tree,omitempty"`    // of the commit that is decided on
}

// Base is where the signers were read: a protected branch, or the commit the run began
// at. What an agent or a pull request changes after it does not count.
type Base struct {
	Ref     string              `json:"ref,omitempty"` // the protected branch, "" for the beginning of the run
	Commit  string              `json:"commit"`
	Config  *evidence.Blob      `json:"config,omitempty"` // agentxchain.json of the protected branch; nil when it has none
	Signers []evidence.FileBlob `json:"signers"`
}

func (c *Consent) blobs() []*evidence.Blob {
	if c == nil {
		return nil
	}
	out := slices.Clone(c.Statements)
	if c.Base != nil {
		out = append(out, c.Base.Config)
		for i := range c.Base.Signers {
			out = append(out, c.Base.Signers[i].Blob)
		}
	}
	return out
}

// decision is what a consent is about.
type decision struct {
	kind     attest.Decision
	gate     string
	gateType string
	phase    string
	to       string
	evidence []evidence.FileBlob
	rules    []*config.GateRule // all of them have to hold; nil leaves it to any person
	votes    []*run.Vote        // of people who agreed before
}

// Moment is when a decision is made: of which run, by which rules, at which commit, and
// who asks.
type Moment struct {
	Run    string
	Spent  []string // nonces of the statements that the run has used
	Config *config.Config
	Head   string // the commit that is checked out
	Actor  evidence.Actor
	Now    time.Time
}

// maxSkew is how far the clock of another machine may be ahead.
const maxSkew = 5 * time.Minute

// maxStatements bounds the statements of one decision.
const maxStatements = 100

// MaxStatementBytes bounds one envelope.
const MaxStatementBytes = 256 << 10

// Content digests what a decision is about: a yes to other bytes does not count for these.
func (m *Moment) content(d *decision) string {
	h := sha256.New()
	_, _ = fmt.Fprintf(h, "%s\x00%s\x00%s\x00", config.RulesDigest(m.Config), d.gate, m.Head)
	for _, f := range d.evidence {
		digest := run.DocumentMissing
		if f.Blob != nil {
			digest = f.Blob.Digest
		}
		_, _ = fmt.Fprintf(h, "%s\x00%s\x00", f.Path, digest)
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}

// agreement is what the people who said yes come to.
type agreement struct {
	votes   []*run.Vote // that count
	dropped []*run.Vote // given for content that has changed since
	need    int
	nonces  []string            // of the statements among them
	files   []evidence.FileBlob // to keep in the record
}

func (a *agreement) reached() bool { return len(a.votes) >= a.need }

// agree counts the people who consent to a decision. Every statement that is handed in
// has to hold, also where no rule asks for one.
func (m *Moment) agree(c *Consent, d *decision) (*agreement, *wire.Error) {
	out := &agreement{need: 1}
	for _, r := range d.rules {
		out.need = max(out.need, r.Threshold)
	}
	content := m.content(d)
	for _, v := range d.votes {
		if v.Content == content {
			out.votes = append(out.votes, v)
		} else {
			out.dropped = append(out.dropped, v)
		}
	}
	if c == nil {
		c = &Consent{}
	}
	if len(c.Statements) > maxStatements {
		return nil, &wire.Error{
			Code:    wire.CodeInvalidArgument,
			Field:   "statements",
			Message: fmt.Sprintf("%d statements are more than one decision takes (%d).", len(c.Statements), maxStatements),
		}
	}
	given, refusal := m.statements(c, d, content)
	if refusal != nil {
		return nil, refusal
	}
	if len(given) == 0 || !c.Alone {
		own, refusal := m.unsigned(d, given, content)
		if refusal != nil {
			return nil, refusal
		}
		if own != nil {
			given = append(given, stated{vote: own})
		}
	}
	for _, s := range given {
		if refusal := admit(c, d, s.vote); refusal != nil {
			return nil, refusal
		}
		// One key may be listed for several addresses; it is one person all the same.
		if slices.ContainsFunc(out.votes, func(v *run.Vote) bool {
			return samePerson(v.Principal, s.vote.Principal) || v.Key != "" && v.Key == s.vote.Key
		}) {
			return nil, &wire.Error{
				Code:  CodeAlreadyApproved,
				Field: "principal",
				Message: fmt.Sprintf("%s has approved this already; each person counts once (%d of %d).",
					s.vote.Principal, len(out.votes), out.need),
				Hint: "git agentxchain approve --show",
			}
		}
		out.votes = append(out.votes, s.vote)
		if s.nonce != "" {
			out.nonces = append(out.nonces, s.nonce)
			out.files = append(out.files, evidence.FileBlob{Path: StatementPath(s.vote.Statement), Blob: s.envelope})
		}
	}
	if len(out.files) > 0 && c.Base != nil {
		for _, f := range c.Base.Signers {
			if f.Blob != nil {
				out.files = append(out.files, evidence.FileBlob{Path: SignersPath(f), Blob: f.Blob})
			}
		}
	}
	return out, nil
}

// StatementPath is where the record keeps a signed statement, digest being
// sha256:<hex> of its envelope.
func StatementPath(digest string) string {
	return wire.ApprovalsDir + "/" + strings.TrimPrefix(digest, "sha256:") + ".json"
}

// SignersPath is where the record keeps a file of signers as it was judged by.
func SignersPath(f evidence.FileBlob) string {
	return wire.ApprovalsDir + "/signers/" + f.Blob.Digest + "/" + strings.TrimPrefix(f.Path, ".agentxchain/")
}

// stated is one statement that holds.
type stated struct {
	vote     *run.Vote
	nonce    string
	envelope *evidence.Blob
}

// unsigned is the word of the person who asks, nil where a statement of theirs is among
// those given.
func (m *Moment) unsigned(d *decision, given []stated, content string) (*run.Vote, *wire.Error) {
	me := m.Actor
	for _, s := range given {
		if samePerson(s.vote.Principal, me.Email) {
			return nil, nil
		}
	}
	for _, r := range d.rules {
		if r.Signed {
			if len(given) > 0 {
				return nil, nil // others' statements are handed in; nothing unsigned counts
			}
			return nil, d.unsignedBy(r)
		}
	}
	return &run.Vote{
		Principal: me.Email,
		Name:      me.Name,
		At:        wire.FormatTime(m.Now),
		Content:   content,
		Terminal:  me.Terminal,
	}, nil
}

// unsignedBy refuses what is not signed where a rule wants that.
func (d *decision) unsignedBy(r *config.GateRule) *wire.Error {
	return &wire.Error{
		Code:    CodeSignatureRequired,
		Field:   "gates." + d.gate,
		Message: fmt.Sprintf("%s needs a signed statement by %s.", d.subject(), r.People()),
		Hint:    d.command() + " --sign",
	}
}

// statements judges every statement that is handed in: its signature, what it is about,
// its time and that it was not used before.
func (m *Moment) statements(c *Consent, d *decision, content string) ([]stated, *wire.Error) {
	if len(c.Statements) == 0 {
		return nil, nil
	}
	files := map[string][]byte{}
	if c.Base != nil {
		for _, f := range c.Base.Signers {
			if f.Blob != nil {
				files[f.Path] = f.Blob.Data
			}
		}
	}
	signers, problems := attest.ParseSigners(files)
	if len(problems) > 0 {
		return nil, &wire.Error{
			Code:     wire.CodeInvalidConfig,
			Field:    problems[0].Field,
			Problems: problems,
			Message:  "The files of signers cannot be read: " + problems.Join(),
			Hint:     "correct them on the protected branch",
		}
	}
	var out []stated
	for _, b := range c.Statements {
		s, refusal := m.statement(signers, c, d, b)
		if refusal != nil {
			return nil, refusal
		}
		if slices.ContainsFunc(out, func(o stated) bool { return o.nonce == s.nonce }) {
			return nil, replayed("it is handed in twice")
		}
		s.vote.Content = content
		out = append(out, s)
	}
	return out, nil
}

func (m *Moment) statement(signers *attest.Signers, c *Consent, d *decision, b *evidence.Blob) (stated, *wire.Error) {
	env, refusal := attest.DecodeDSSE(b.Data)
	if refusal != nil {
		return stated{}, refusal
	}
	st, refusal := attest.DecodeStatement(env.Payload)
	if refusal != nil {
		return stated{}, refusal
	}
	// When it was issued is the signer's word: a key that has run out could have signed
	// for yesterday. It has to be good now as well.
	var sig *attest.Signature
	for _, at := range []time.Time{st.IssuedAt, m.Now} {
		if sig, refusal = signers.Verify(env, at); refusal != nil {
			return stated{}, refusal
		}
		if refusal := sig.SpeaksFor(st.Principal); refusal != nil {
			return stated{}, refusal
		}
	}
	if refusal := m.answers(c, d, st); refusal != nil {
		return stated{}, refusal
	}
	return stated{
		vote: &run.Vote{
			Principal: st.Principal,
			At:        wire.FormatTime(st.IssuedAt),
			Statement: "sha256:" + b.Digest,
			KeyID:     sig.KeyID,
			Key:       sig.Key,
			Terminal:  st.Asked == attest.AskedTerminal,
			Reason:    st.Reason,
		},
		nonce:    st.Nonce,
		envelope: b,
	}, nil
}

// answers holds a statement against the decision it is used for.
func (m *Moment) answers(c *Consent, d *decision, st *attest.Statement) *wire.Error {
	switch {
	case slices.Contains(m.Spent, st.Nonce):
		return replayed("this run has used it")
	case st.Run != m.Run:
		return replayed("it is about run " + st.Run)
	case st.Decision != d.kind:
		return replayed("it says " + string(st.Decision))
	case st.Gate != d.gate || st.GateType != d.gateType || st.Phase != d.phase || st.To != d.to:
		return replayed(fmt.Sprintf("it is about gate %q of phase %q", st.Gate, st.Phase))
	case st.Operation != c.Answers:
		return replayed(fmt.Sprintf("it answers operation %.12s", st.Operation))
	case !st.ExpiresAt.After(m.Now):
		return &wire.Error{
			Code:    CodeStatementExpired,
			Field:   "expires_at",
			Message: "The statement expired at " + wire.FormatTime(st.ExpiresAt) + ".",
			Hint:    d.command() + " --sign",
		}
	case st.IssuedAt.After(m.Now.Add(maxSkew)):
		return mismatch("it was made at "+wire.FormatTime(st.IssuedAt)+", which is still to come", d)
	case st.Config != config.RulesDigest(m.Config):
		return mismatch("the configuration has changed since", d)
	case st.Commit != m.Head || st.Tree != c.Tree:
		return mismatch(fmt.Sprintf("it is about commit %.12s", st.Commit), d)
	}
	return d.sameEvidence(st.Evidence)
}

// Evidence are the files of a decision as a statement names them: those that are there,
// by path.
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

// sameEvidence holds the files a statement names against those decided on.
func (d *decision) sameEvidence(stated []attest.File) *wire.Error {
	now := Evidence(d.evidence)
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

func replayed(why string) *wire.Error {
	return &wire.Error{
		Code:    CodeStatementReplayed,
		Field:   "statement",
		Message: "The statement does not count here: " + why + ".",
		Hint:    "git agentxchain approve --sign",
	}
}

func mismatch(why string, d *decision) *wire.Error {
	return &wire.Error{
		Code:    CodeStatementMismatch,
		Field:   "statement",
		Message: "The statement is about something else: " + why + ".",
		Hint:    d.command() + " --show, then " + d.command() + " --sign",
	}
}

// admit holds one person against every rule.
func admit(c *Consent, d *decision, v *run.Vote) *wire.Error {
	for _, r := range d.rules {
		same := func(p string) bool { return samePerson(p, v.Principal) }
		switch {
		case !slices.ContainsFunc(r.Principals, same):
			who := v.Principal
			if who == "" {
				who = "A person without user.email"
			}
			return &wire.Error{
				Code:    CodeApproverNotAllowed,
				Field:   "gates." + d.gate,
				Message: fmt.Sprintf("%s is not among those who decide on %s: %s.", who, d.subject(), r.People()),
				Hint:    "ask one of them, or change authority in agentxchain.json and run: git agentxchain config adopt",
				Details: ojson.NewObject("principal", v.Principal, "group", r.Group, "principals", r.Principals),
			}
		case r.Signed && v.Statement == "":
			return d.unsignedBy(r)
		case r.NotAuthor && slices.ContainsFunc(c.Authors, same):
			return &wire.Error{
				Code:    CodeApproverIsAuthor,
				Field:   "gates." + d.gate,
				Message: fmt.Sprintf("%s made the change; %s is decided by another person.", v.Principal, d.subject()),
				Hint:    "ask one of: " + r.People(),
			}
		}
	}
	return nil
}

// samePerson compares e-mail addresses; letters count without their case.
func samePerson(a, b string) bool { return a != "" && strings.EqualFold(a, b) }

// subject is the decision in words, to begin a sentence with.
func (d *decision) subject() string {
	if d.gate == "" || d.kind == attest.AcceptAsIs {
		return "The act"
	}
	return "gate " + wire.Quoted(d.gate)
}

func (d *decision) command() string {
	switch d.kind {
	case attest.AdoptConfig:
		return "git agentxchain config adopt"
	case attest.Unblock:
		return "git agentxchain unblock"
	case attest.AcceptAsIs:
		return "git agentxchain unblock --accept-as-is --reason TEXT"
	case attest.Reconcile:
		return "git agentxchain reconcile"
	case attest.AcceptWorking:
		return "git agentxchain confirm"
	}
	return "git agentxchain approve"
}

// GateRules are the rules that an approval of the gate has to hold: those the run is
// judged by and those of the protected branch, so that neither weakens the other.
func GateRules(cfg *config.Config, c *Consent, gate string) []*config.GateRule {
	var out []*config.GateRule
	if r := cfg.GateRule(gate); r != nil {
		out = append(out, r)
	}
	if base := c.baseConfig(); base != nil {
		if r := base.GateRule(gate); r != nil {
			out = append(out, r)
		}
	}
	return out
}

// baseConfig is the configuration of the protected branch, nil without one.
func (c *Consent) baseConfig() *config.Config {
	if c == nil || c.Base == nil || c.Base.Config == nil {
		return nil
	}
	return config.DecodeGoverning(c.Base.Config.Data)
}

func (c *Consent) statements() []*evidence.Blob {
	if c == nil {
		return nil
	}
	return c.Statements
}

// ActRules are the rules of an act that overrules the record.
func ActRules(cfg *config.Config, c *Consent) []*config.GateRule {
	var out []*config.GateRule
	for _, cfg := range []*config.Config{cfg, c.baseConfig()} {
		if cfg != nil && cfg.ActRule() != nil {
			out = append(out, cfg.ActRule())
		}
	}
	return out
}

// ConfirmationRules are the rules a confirmation has to hold: those of acts, and those of
// every gate that was passed without us.
func ConfirmationRules(cfg *config.Config, c *Consent, claims []external.Claim) []*config.GateRule {
	out := ActRules(cfg, c)
	for _, claim := range claims {
		if claim.Kind == external.ClaimGate || claim.Kind == external.ClaimApproval {
			out = append(out, GateRules(cfg, c, claim.Gate)...)
		}
	}
	return out
}

// AdoptionRules are the rules that putting other rules in force has to hold: those of the
// rules before it. To change who approves takes everybody who
// approves.
func AdoptionRules(was, now *config.Config, c *Consent) []*config.GateRule {
	if was == nil || was.Authority == nil {
		return ActRules(now, c)
	}
	out := ActRules(was, c)
	if !AuthorityChanged(was, now) {
		return out
	}
	for id := range was.Authority.Gates.All() {
		out = append(out, was.GateRule(id))
	}
	return out
}

// AuthorityChanged reports a difference in who may approve.
func AuthorityChanged(was, now *config.Config) bool {
	return slices.ContainsFunc(config.RuleChanges(was, now), func(c config.RuleChange) bool {
		return c.Pointer == "/authority" || strings.HasPrefix(c.Pointer, "/authority/")
	})
}
