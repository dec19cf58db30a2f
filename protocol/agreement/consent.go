// Consent: which people agreed to a decision, and the proof where the configuration asks for one
// (docs/spec/approvals.md#who-counts).

package agreement

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
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
	CodeStatementReplayed  = "statement_replayed" // its nonce was used before, or it answers something else
	CodeStatementMismatch  = "statement_mismatch" // it is about other bytes
)

// Consent is what the deciding person hands in: their identity, and their own and others' signed statements. The
// zero value is a person without any proof.
type Consent struct {
	Statements []*evidence.Blob `json:"statements,omitempty"` // DSSE envelopes
	// Alone: only the statements count; the person who hands them in adds no approval of their own.
	Alone bool `json:"alone,omitempty"`

	Base    *Base    `json:"base,omitempty"`    // nil where no rule and no statement needs it
	Authors []string `json:"authors,omitempty"` // e-mail addresses of the change's authors; read with not_author
	Answers string   `json:"answers,omitempty"` // the operation that asked for the decision
	Tree    string   `json:"tree,omitempty"`    // tree of the commit that is decided on
}

// Base is the commit from which the signers were read: of a protected branch, or where the run began. Later changes
// by an agent or a pull request do not count.
type Base struct {
	Ref    string `json:"ref,omitempty"` // the protected branch, "" for the start of the run
	Commit string `json:"commit"`
	// agentxchain.json of the protected branch; nil when it has none
	Config  *evidence.Blob      `json:"config,omitempty"`
	Signers []evidence.FileBlob `json:"signers"`
}

// Blobs returns the bytes that the consent refers to, which a record keeps; entries may be nil.
func (c *Consent) Blobs() []*evidence.Blob {
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

// Given returns the statements, or none.
func (c *Consent) Given() []*evidence.Blob {
	if c == nil {
		return nil
	}
	return c.Statements
}

// maxStatements bounds the statements of one decision.
const maxStatements = 100

// MaxStatementBytes bounds one envelope.
const MaxStatementBytes = 256 << 10

// Tally is the count of the people who agreed.
type Tally struct {
	Votes   []*run.Vote // the votes that count
	Dropped []*run.Vote // given for content that has changed since
	Need    int
	Nonces  []string            // nonces of the statements among them
	Files   []evidence.FileBlob // to keep in the record
}

// Reached reports whether as many people agree as the rules need.
func (a *Tally) Reached() bool { return len(a.Votes) >= a.Need }

// Counted returns the tally of the people who agreed before.
func (m *Moment) Counted(d *Decision) *Tally {
	out := &Tally{Need: 1}
	for _, r := range d.Rules {
		out.Need = max(out.Need, r.Threshold)
	}
	content := m.Content(d)
	for _, v := range d.Votes {
		if v.Content == content {
			out.Votes = append(out.Votes, v)
		} else {
			out.Dropped = append(out.Dropped, v)
		}
	}
	return out
}

// Agree counts the people who consent to a decision. Every statement that is handed in must be valid, even where no
// rule asks for one.
func (m *Moment) Agree(c *Consent, d *Decision) (*Tally, *wire.Error) {
	out, content := m.Counted(d), m.Content(d)
	if c == nil {
		c = &Consent{}
	}
	if len(c.Statements) > maxStatements {
		return nil, &wire.Error{
			Code:  wire.CodeInvalidArgument,
			Field: "statements",
			Message: fmt.Sprintf("%d statements are more than one decision takes (%d).", len(c.Statements),
				maxStatements),
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
			given = append(given, Stated{Vote: own})
		}
	}
	for _, s := range given {
		if refusal := Admit(c, d, s.Vote); refusal != nil {
			return nil, refusal
		}
		// One key may be listed for several addresses; it is still one person.
		if i := slices.IndexFunc(out.Votes, func(v *run.Vote) bool {
			return SamePerson(v.Principal, s.Vote.Principal) || v.Key != "" && v.Key == s.Vote.Key
		}); i >= 0 {
			who, once := s.Vote.Principal+" has", "person"
			if first := out.Votes[i].Principal; !SamePerson(first, s.Vote.Principal) {
				who, once = "The key of "+s.Vote.Principal+" is that of "+first+", who has", "key"
			}
			return nil, &wire.Error{
				Code:  CodeAlreadyApproved,
				Field: "principal",
				Message: fmt.Sprintf("%s approved this already; each %s counts once (%d of %d).", who, once, len(out.Votes),
					out.Need),
				Hint: d.shows(),
			}
		}
		out.Votes = append(out.Votes, s.Vote)
		if s.Nonce != "" {
			out.Nonces = append(out.Nonces, s.Nonce)
			out.Files = append(out.Files, evidence.FileBlob{Path: StatementPath(s.Vote.Statement), Blob: s.envelope})
		}
	}
	if len(out.Files) > 0 && c.Base != nil {
		for _, f := range c.Base.Signers {
			if f.Blob != nil {
				out.Files = append(out.Files, evidence.FileBlob{Path: SignersPath(f), Blob: f.Blob})
			}
		}
	}
	return out, nil
}

// StatementPath returns the path at which the record keeps a signed statement; digest is sha256:<hex> of its
// envelope.
func StatementPath(digest string) string {
	return wire.ApprovalsDir + "/" + strings.TrimPrefix(digest, "sha256:") + ".json"
}

// SignersPath returns the path at which the record keeps a file of signers as it was used.
func SignersPath(f evidence.FileBlob) string {
	return wire.ApprovalsDir + "/signers/" + f.Blob.Digest + "/" + strings.TrimPrefix(f.Path, ".agentxchain/")
}

// unsigned returns the approval of the person who asks, nil where a statement of theirs was given.
func (m *Moment) unsigned(d *Decision, given []Stated, content string) (*run.Vote, *wire.Error) {
	me := m.Actor
	for _, s := range given {
		if SamePerson(s.Vote.Principal, me.Email) {
			return nil, nil
		}
	}
	for _, r := range d.Rules {
		if r.Signed {
			if len(given) > 0 {
				return nil, nil // others' statements are handed in; nothing unsigned counts
			}
			// A signature would not help a person whom no rule names.
			return nil, cmp.Or(d.Excludes(me.Email), d.unsignedBy(r))
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

// Excludes refuses a person whom a rule does not name among those who decide; nil for a person whom all rules name.
func (d *Decision) Excludes(principal string) *wire.Error {
	for _, r := range d.Rules {
		if refusal := d.excludes(r, principal); refusal != nil {
			return refusal
		}
	}
	return nil
}

func (d *Decision) excludes(r *config.GateRule, principal string) *wire.Error {
	if Names(r, principal) {
		return nil
	}
	who, hint := principal, "ask one of them: "+d.adds()
	switch left := d.everyRule(r.Principals); {
	case len(left) < r.Threshold:
		hint = "too few people are left whose yes would count: name those who left again, or " + d.ends()
	case len(left) < len(r.Principals):
		hint = "ask " + wire.ListSome(left, 5) + ": " + d.adds()
	}
	if who == "" || who == wire.NoEmail {
		who, hint = "A person without user.email", "git config user.email ADDRESS says who you are"
	}
	return &wire.Error{
		Code:    CodeApproverNotAllowed,
		Field:   "gates." + d.Gate,
		Message: fmt.Sprintf("%s is not among those who decide on %s: %s.", who, d.Subject(), r.People()),
		Hint:    hint,
		Details: ojson.NewObject("principal", principal, "group", r.Group, "principals", r.Principals),
	}
}

// everyRule returns the people among those given whom every rule names.
func (d *Decision) everyRule(people []string) []string {
	return slices.DeleteFunc(slices.Clone(people), func(p string) bool {
		return slices.ContainsFunc(d.Rules, func(r *config.GateRule) bool { return !Names(r, p) })
	})
}

// TooFew says what to do if a rule that excludes authors needs more people than are left: to change who decides, those very
// people would have to agree as well. It returns "" if enough are left.
func TooFew(r *config.GateRule, authors []string) string {
	left := Others(r.Principals, authors)
	if !r.NotAuthor || len(left) >= r.Threshold {
		return ""
	}
	who := "all of them have made a part of it"
	if len(left) > 0 {
		who = fmt.Sprintf("it needs %d who made no part of it, and there is only %s", r.Threshold, wire.ListSome(left, 3))
	}
	return who + ": add people to authority in agentxchain.json, commit that, end this run with " +
		"git agentxchain abandon --reason TEXT, and begin another"
}

// Admit checks one person against every rule.
func Admit(c *Consent, d *Decision, v *run.Vote) *wire.Error {
	for _, r := range d.Rules {
		if refusal := d.excludes(r, v.Principal); refusal != nil {
			return refusal
		}
		same := func(p string) bool { return SamePerson(p, v.Principal) }
		switch {
		case r.Signed && v.Statement == "":
			return d.unsignedBy(r)
		case r.NotAuthor && slices.ContainsFunc(c.Authors, same):
			hint := TooFew(r, c.Authors)
			if hint == "" {
				hint = "ask one of: " + wire.ListSome(Others(r.Principals, c.Authors), 5)
			}
			return &wire.Error{
				Code:    CodeApproverIsAuthor,
				Field:   "gates." + d.Gate,
				Message: fmt.Sprintf("%s made the change; %s is decided by another person.", v.Principal, d.Subject()),
				Hint:    hint,
			}
		}
	}
	return nil
}
