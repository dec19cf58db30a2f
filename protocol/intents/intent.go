// Intent coverage: a turn bound to an intent must answer each item of its acceptance contract
// (docs/spec/lifecycle.md#accepting-a-turn step 18).

package intents

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Lenient reports whether items may be left unanswered with a warning.
func Lenient(c *config.Config, ctx *ojson.Object) bool {
	return c.IntentCoverageMode == "lenient" ||
		c.IntentCoverageMode == "" && ctx.Has("priority") && ctx.String("priority") != "p0"
}

// CheckAnswers returns the refusal of a completed result that leaves items of its turn's intent unanswered, or nil.
func CheckAnswers(c *config.Config, s *run.State, turn *run.Turn, doc *ojson.Object) *wire.Error {
	if doc.String("status") != wire.ResultCompleted || Lenient(c, turn.IntakeContext) {
		return nil
	}
	return Uncovered(c, s, turn, doc.Objects("intent_response"), doc)
}

// Uncovered names the items of a turn's intent that its result leaves unanswered. The run itself answers an item
// about a phase that it has left, or about a gate that should pass and has.
func Uncovered(c *config.Config, s *run.State, turn *run.Turn, answers []*ojson.Object,
	doc *ojson.Object) *wire.Error {
	ctx := turn.IntakeContext
	items := ctx.Strings("acceptance_contract")
	if len(items) == 0 {
		return nil
	}
	answered := make(map[string]bool)
	for _, r := range answers {
		switch r.String("status") {
		case "addressed", "deferred", "rejected":
			answered[strings.ToLower(wire.TrimSpace(r.String("item")))] = true
		}
	}
	// Answers to items are read above: quoting an item does not answer it.
	said := doc.Clone()
	said.Delete("intent_response")
	text := strings.ToLower(string(ojson.Compact(said)))
	var open []string
	for _, item := range items {
		if answered[strings.ToLower(wire.TrimSpace(item))] || mentioned(item, text) ||
			settledItem(c, s, item, ctx.String("phase_scope")) {
			continue
		}
		open = append(open, item)
	}
	if len(open) == 0 {
		return nil
	}
	e := &wire.Error{
		Code:  wire.CodeIntentCoverage,
		Stage: "intent_coverage",
		Class: "intent_coverage_error",
		Field: "intent_response",
		Message: fmt.Sprintf("The result does not answer %d item(s) of its intent: %s.", len(open),
			wire.ListSome(open, 3)),
		Hint:    "answer each item in intent_response with status addressed, deferred or rejected",
		Details: ojson.NewObject("open_items", open),
	}
	for _, item := range open {
		e.Problems = append(e.Problems, wire.Problem{
			Code:    wire.CodeIntentCoverage,
			Field:   "intent_response",
			Value:   item,
			Message: "Not answered: " + wire.OneLine(item),
		})
	}
	return e
}

// settledItem reports whether the run itself has answered an item.
func settledItem(c *config.Config, s *run.State, item, scope string) bool {
	lower := strings.ToLower(item)
	named := ""
	for phase, route := range c.Routing.All() {
		if route == nil || route.ExitGate == "" || !strings.Contains(lower, strings.ToLower(route.ExitGate)) {
			continue
		}
		status, _ := s.PhaseGateStatus.Get(route.ExitGate)
		if status == wire.GatePassed && (strings.Contains(lower, "pass") || strings.Contains(lower, "advance")) {
			return true
		}
		named = phase
	}
	at, of := slices.Index(c.Phases(), s.Phase), slices.Index(c.Phases(), cmp.Or(named, scope))
	return of >= 0 && at > of
}

func mentioned(item, text string) bool {
	words := strings.FieldsFunc(strings.ToLower(item), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	total, found := 0, 0
	for _, w := range words {
		if len([]rune(w)) < 4 {
			continue
		}
		total++
		if strings.Contains(text, w) {
			found++
		}
	}
	return total > 0 && 2*found >= total
}
