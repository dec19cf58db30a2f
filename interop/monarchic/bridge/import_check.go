// Checking a plan against the protocol's own schemas and rules before it is imported.

package bridge

import (
	"slices"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/check"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// judge replaces the reader's findings of the same kind by those of the protocol's rules, as the
// reader reads only what it needs.
func (r *reader) judge(doc *ojson.Object, shape string) {
	findings := judged(doc, shape)
	if check.Valid(findings) {
		return
	}
	own := slices.DeleteFunc(r.bad.list, func(p wire.Problem) bool { return p.Code == CodePipelineInvalid })
	r.bad = faults{list: own, found: len(own)}
	if len(own) > 0 {
		r.bad.code = own[0].Code
	}
	for _, f := range findings {
		said := slices.ContainsFunc(own, func(p wire.Problem) bool { return p.Field == f.Pointer })
		if f.Severity == check.Error && !said {
			r.bad.add(CodePipelineInvalid, f.Pointer, f.Rule, "%s (%s).", f.Message, f.Rule)
		}
	}
}

// judged returns the findings for the document as the type it is. A task may belong to either
// family; it is valid if it is valid in one of them (docs/monarchic.md#types).
func judged(doc *ojson.Object, kind string) []check.Finding {
	var types []check.Type
	switch kind {
	case KindPipeline, KindPipelineLegacy:
		types = []check.Type{"pipeline_spec"}
	case KindCampaign:
		types = []check.Type{"client_boundary/campaign_pipeline_spec"}
	case KindPlan:
		types = []check.Type{"plan"}
	case KindStrictPlan:
		types = []check.Type{"client_boundary/plan"}
	case KindTask:
		types = []check.Type{"task", "client_boundary/task"}
	}
	var first []check.Finding
	for i, t := range types {
		findings, err := check.Value(t, doc)
		if err != nil {
			findings = []check.Finding{{Severity: check.Error, Rule: "type.unknown", Message: err.Error()}}
		}
		if check.Valid(findings) {
			return nil
		}
		if i == 0 {
			first = findings
		}
	}
	return first
}
