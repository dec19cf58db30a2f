// Normalisation rules N15 to N17: the verification member.

package result

import (
	"fmt"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// N15.
func (n *normalizer) verificationStatus() {
	v := n.doc.Object("verification")
	if v == nil || v.Has("status") {
		return
	}
	status := "skipped"
	code, _ := v.Get("exit_code")
	if _, isNumber := code.(ojson.Number); isNumber {
		status = "fail"
		if falsy(code) {
			status = "pass"
		}
	}
	v.Set("status", status)
	n.changed("verification.status", nil, status, "verification_status_inferred_from_exit_code")
}

// N16: evidence that is a finding, not a command, is kept as text.
func (n *normalizer) structuredEvidence() {
	v := n.doc.Object("verification")
	items := v.Array("machine_evidence")
	var kept []any
	var texts []string
	for i, item := range items {
		o, _ := item.(*ojson.Object)
		if o == nil || isCommandEvidence(o) || wire.Blank(o.String("type")) {
			kept = append(kept, item)
			continue
		}
		text := evidenceText(o)
		texts = append(texts, text)
		n.changed(fmt.Sprintf("verification.machine_evidence[%d]", i), o, text,
			"structured_machine_evidence_moved_to_evidence_summary")
	}
	if len(texts) == 0 {
		return
	}
	if kept == nil {
		kept = []any{}
	}
	v.Set("machine_evidence", kept)
	summary := "Structured evidence: " + strings.Join(texts, "; ")
	if old := v.String("evidence_summary"); !wire.Blank(old) {
		summary = old + "\n" + summary
	}
	v.Set("evidence_summary", summary)
}

func isCommandEvidence(o *ojson.Object) bool {
	return nonBlank(o.Value("command")) && isInteger(o.Value("exit_code"))
}

// evidenceText formats a finding as [name=value, …], with long values shortened.
func evidenceText(o *ojson.Object) string {
	var parts []string
	part := func(name, value string) {
		value = wire.Trim(value)
		if value == "" {
			return
		}
		if short := wire.Cut(value, 220); short != value {
			value = wire.Cut(value, 217) + "..."
		}
		parts = append(parts, name+"="+value)
	}
	for _, name := range []string{"type", "path", "marker", "section", "result"} {
		part(name, o.String(name))
	}
	var clauses []string
	for _, c := range o.Array("contract") {
		text, ok := c.(string)
		if !ok {
			text = string(ojson.Compact(c))
		}
		clauses = append(clauses, text)
	}
	part("contract", strings.Join(clauses, " | "))
	if buckets, _ := o.Get("buckets_observed"); buckets != nil {
		part("buckets_observed", string(ojson.Compact(buckets)))
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// N17 took a failing command under a pass for an expected failure: it let failed tests pass a gate
// (docs/compatibility.md#where-we-differ-on-purpose). It applies only to results of a rule set that had it.
func (n *normalizer) expectedExitCodes() {
	v := n.doc.Object("verification")
	if !n.in.Earlier.InfersExitCodes || v.String("status") != "pass" {
		return
	}
	for i, item := range v.Array("machine_evidence") {
		o, _ := item.(*ojson.Object)
		code, _ := o.Get("exit_code")
		if _, isNumber := code.(ojson.Number); !isNumber || falsy(code) {
			continue
		}
		old, _ := o.Get("expected_exit_code")
		if isInteger(old) {
			continue
		}
		o.Set("expected_exit_code", code)
		n.changed(fmt.Sprintf("verification.machine_evidence[%d].expected_exit_code", i), old, code,
			"verification_pass_expected_exit_code_inferred")
	}
}
