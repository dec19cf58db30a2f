// stageReport and stageContext: the output and input of the validation stages.

package result

import (
	"fmt"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// maxStageProblems bounds the findings of one stage: a result with 10,000 bad
// entries is refused for the first of them.
const maxStageProblems = 100

// stageReport collects the findings of one stage.
type stageReport struct {
	problems wire.Problems
	warnings []string
}

// errorf adds a finding; the message gets no prefix, so it must name the field itself.
func (r *stageReport) errorf(code, field, value, format string, args ...any) {
	if len(r.problems) < maxStageProblems {
		r.problems = append(r.problems, wire.Problem{
			Code:    code,
			Field:   field,
			Value:   value,
			Message: fmt.Sprintf(format, args...),
		})
	}
}

func (r *stageReport) warnf(format string, args ...any) {
	r.warnings = append(r.warnings, fmt.Sprintf(format, args...))
}

// failed returns the refusal at stage.
func (r *stageReport) failed(stage string) *Validation {
	return &Validation{Stage: stage, Class: stage + "_error", Errors: r.problems, Warnings: r.warnings}
}

// stageContext is what stages B to E judge.
type stageContext struct {
	in        Input
	doc       *ojson.Object // normalised
	result    *Result       // view of doc
	phase     string
	route     *config.Route // of phase, or nil
	authority string        // of the result's role; "" when unknown: no authority rule applies
}

// indexed names an array item.
func indexed(field string, i int) string { return fmt.Sprintf("%s[%d]", field, i) }

// quoteList joins names for a message, at most five of them.
func quoteList(names []string) string {
	const most = 5
	s := ""
	for i, name := range names {
		if i == most {
			return s + fmt.Sprintf(" and %d more", len(names)-most)
		}
		if i > 0 {
			s += ", "
		}
		s += wire.Shown(name)
	}
	return s
}
