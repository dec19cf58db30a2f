// What a decision is about, and the moment at which it is made.

package agreement

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/protocol/attest"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Decision is what a consent is about.
type Decision struct {
	Kind     attest.Decision
	Gate     string
	GateType string
	Phase    string
	To       string
	Evidence []evidence.FileBlob
	Rules    []*config.GateRule // all of them must hold; nil: any person may decide
	Votes    []*run.Vote        // of people who agreed before

	// for a gate of an initiative: the state of its repositories' runs; nil for any other
	Repositories []attest.Repository
	Initiative   bool
}

// Moment is the circumstances of a decision: its run, its rules, its commit, and who asks.
type Moment struct {
	Run   string
	Spent []string // nonces of the statements that the run has used
	Rules string   // digest of the configuration in force
	Head  string   // the commit that is checked out
	Actor evidence.Actor
	Now   time.Time
}

// Content digests what a decision is about: approval of other bytes does not count for these.
func (m *Moment) Content(d *Decision) string {
	h := sha256.New()
	_, _ = fmt.Fprintf(h, "%s\x00%s\x00%s\x00", m.Rules, d.Gate, m.Head)
	for _, f := range d.Evidence {
		digest := run.DocumentMissing
		if f.Blob != nil {
			digest = f.Blob.Digest
		}
		_, _ = fmt.Fprintf(h, "%s\x00%s\x00", f.Path, digest)
	}
	for _, r := range d.Repositories {
		_, _ = fmt.Fprintf(h, "%s\x00%s\x00", r.ID, r.Operation)
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}

// unsignedBy refuses an unsigned approval where a rule wants a signature.
func (d *Decision) unsignedBy(r *config.GateRule) *wire.Error {
	return &wire.Error{
		Code:    CodeSignatureRequired,
		Field:   "gates." + d.Gate,
		Message: fmt.Sprintf("%s needs a signed statement by %s.", d.Subject(), r.People()),
		Hint:    d.Command() + " --sign",
	}
}

// SamePerson compares e-mail addresses, ignoring case.
func SamePerson(a, b string) bool { return a != "" && strings.EqualFold(a, b) }

// Others returns the people who are in one list but not in the other.
func Others(people, without []string) []string {
	return slices.DeleteFunc(slices.Clone(people), func(p string) bool {
		return slices.ContainsFunc(without, func(w string) bool { return SamePerson(p, w) })
	})
}

// Names reports whether a person is among those whose approval a rule counts.
func Names(r *config.GateRule, principal string) bool {
	return slices.ContainsFunc(r.Principals, func(p string) bool { return SamePerson(p, principal) })
}

// Unheard returns the people of a rule whose approval is not among the votes.
func Unheard(r *config.GateRule, votes []*run.Vote) []string {
	heard := make([]string, len(votes))
	for i, v := range votes {
		heard[i] = v.Principal
	}
	return Others(r.Principals, heard)
}

// Subject describes the decision in words.
func (d *Decision) Subject() string {
	if d.Gate == "" || d.Kind == attest.AcceptAsIs {
		return "the act"
	}
	return "gate " + wire.Quoted(d.Gate)
}

// Command returns the command that asks for the decision.
func (d *Decision) Command() string {
	if d.Initiative {
		return "git agentxchain multi approve-gate"
	}
	switch d.Kind {
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

// shows returns the command that shows who has agreed.
func (d *Decision) shows() string {
	if d.Initiative {
		return d.Command() + " --show"
	}
	return "git agentxchain approve --show"
}

// adds says how another person is added to those who are asked.
func (d *Decision) adds() string {
	if d.Initiative {
		return "another person counts once authority of agentxchain-multi.json names them and a new initiative has begun"
	}
	return "they may also add a person to authority in agentxchain.json, with git agentxchain config adopt"
}

// ends says how what cannot be decided any more is ended.
func (d *Decision) ends() string {
	if d.Initiative {
		return "end the initiative with git agentxchain multi abandon --reason TEXT"
	}
	return "end this run with git agentxchain abandon --reason TEXT, and begin another"
}
