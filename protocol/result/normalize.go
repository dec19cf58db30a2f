// Normalisation of staged turn results: the order of the rules and the record of what they did
// (docs/spec/results.md#normalisation).

package result

import (
	"fmt"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// NormalizationEvent records one rewrite of the staged document. Original is
// nil when the member was absent or null, Normalized is nil when it was removed.
type NormalizationEvent struct {
	Field      string // path of the member, e.g. decisions[0].id
	Original   ojson.Value
	Normalized ojson.Value
	Rationale  string // stable token
}

// Note describes the rewrite in one line for a person.
func (e NormalizationEvent) Note() string {
	switch {
	case e.Original == nil:
		return fmt.Sprintf("[normalized] %s: set to %s (%s)", e.Field, wire.Shown(e.Normalized), e.Rationale)
	case e.Normalized == nil:
		return fmt.Sprintf("[normalized] %s: %s removed (%s)", e.Field, wire.Shown(e.Original), e.Rationale)
	}
	return fmt.Sprintf("[normalized] %s: %s became %s (%s)", e.Field, wire.Shown(e.Original), wire.Shown(e.Normalized),
		e.Rationale)
}

// normalizer applies the rules to one document.
type normalizer struct {
	in  Input
	cfg *config.Config
	doc *ojson.Object // a copy that may be changed

	phase     string
	route     *config.Route // of phase; nil when the phase has no routing
	role      string        // the assigned role, else the one the document names
	authority string        // of role; "" when the role is unknown
	events    []NormalizationEvent
}

func newNormalizer(in Input, doc *ojson.Object) *normalizer {
	n := &normalizer{in: in, cfg: in.Config, doc: doc, role: doc.String("role")}
	if in.Turn != nil && in.Turn.AssignedRole != "" {
		n.role = in.Turn.AssignedRole
	}
	if in.State != nil {
		n.phase = in.State.Phase
		n.route = in.Config.Route(n.phase)
	}
	if role := n.cfg.Role(n.role); role != nil {
		n.authority = role.WriteAuthority
	}
	return n
}

// Object returns the rewrite as data: member, before, after (null where there was or is nothing) and the rule that
// made it.
func (e NormalizationEvent) Object() *ojson.Object {
	return ojson.NewObject("member", e.Field, "before", e.Original, "after", e.Normalized, "rule", e.Rationale)
}

// Repairs returns the rewrites as data, in order; never nil.
func Repairs(events []NormalizationEvent) []*ojson.Object {
	out := make([]*ojson.Object, len(events))
	for i := range events {
		out[i] = events[i].Object()
	}
	return out
}

// run applies the rules. Their order is part of the protocol: later ones judge
// what earlier ones left.
func (n *normalizer) run() {
	n.adoptSidecar() // docs/spec/results.md#idle-expansion
	if n.cfg.StrictResults() {
		// Results are not repaired: what would be repaired is left for the stages to refuse. The operator's
		// permission is not a repair.
		if n.in.NormalizeReview {
			n.emptyWorkspace()
		}
		return
	}
	n.idleShapes()           // docs/spec/results.md#idle-expansion
	n.runID()                // N1
	n.filesModified()        // N2
	n.missingArrays()        // N3 N4
	n.runtimeID()            // N5
	n.summary()              // N6
	n.missingArtifact()      // N7
	n.missingNextRole()      // N8
	n.statusSynonym()        // N9
	n.fileObjects()          // N10
	n.decisions()            // N11-N14
	n.verificationStatus()   // N15
	n.structuredEvidence()   // N16
	n.expectedExitCodes()    // N17
	n.missingArtifactType()  // N18
	n.emptyWorkspace()       // N19
	n.objections()           // N20 N21
	n.missingStatus()        // N22
	n.artifactObjects()      // N23
	n.falseVisionExhausted() // N24
	n.gateAsPhase()          // N25
	n.reviewAffirmation()    // N26
	n.reviewRequest()        // N27
	n.skippedPhase()         // N28
	n.reviewTarget()         // N29
	n.nextRole()             // N30 N31
}

// changed records a rewrite. It copies the values, because the document keeps changing.
func (n *normalizer) changed(field string, original, normalized ojson.Value, rationale string) {
	n.events = append(n.events,
		NormalizationEvent{field, ojson.CloneValue(original), ojson.CloneValue(ojson.Of(normalized)), rationale})
}

// set replaces a top-level member and records it.
func (n *normalizer) set(member string, value ojson.Value, rationale string) {
	old, _ := n.doc.Get(member)
	n.doc.Set(member, value)
	n.changed(member, old, value, rationale)
}

// remove deletes a top-level member and records it when it had a value.
func (n *normalizer) remove(member, rationale string) {
	old, _ := n.doc.Get(member)
	n.doc.Delete(member)
	if old != nil {
		n.changed(member, old, nil, rationale)
	}
}

func (n *normalizer) get(member string) ojson.Value {
	return n.doc.Value(member)
}

// array returns a copy of an array member, already put back into the document, that may be changed in place; or
// nil.
func (n *normalizer) array(member string) []any {
	a := slices.Clone(n.doc.Array(member))
	if a != nil {
		n.doc.Set(member, a)
	}
	return a
}

// allowed returns allowed_next_roles of the current phase.
func (n *normalizer) allowed() []string {
	if n.route == nil {
		return nil
	}
	return n.route.AllowedNextRoles
}

// preferredNext returns the first allowed role that is not the acting one, else the first allowed, else "".
func (n *normalizer) preferredNext() string {
	allowed := n.allowed()
	for _, r := range allowed {
		if r != n.role {
			return r
		}
	}
	if len(allowed) > 0 {
		return allowed[0]
	}
	return ""
}
