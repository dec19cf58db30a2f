// Intent coverage: a turn bound to an intent has to answer each item of its
// acceptance contract (docs/spec/lifecycle.md#accepting-a-turn step 18).

package protocol

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// coverIntent refuses a result that leaves contract items unanswered. An item is
// answered by an intent_response entry, or when at least half of its words of
// four letters and more occur in the result.
func (a *acceptance) coverIntent(doc *ojson.Object) *wire.Error {
	ctx := a.turn.IntakeContext
	items := ctx.Strings("acceptance_contract")
	if len(items) == 0 || a.res.Status != wire.ResultCompleted {
		return nil
	}
	answered := make(map[string]bool)
	for _, r := range a.res.Raw.Objects("intent_response") {
		switch r.String("status") {
		case "addressed", "deferred", "rejected":
			answered[strings.ToLower(wire.TrimSpace(r.String("item")))] = true
		}
	}
	// What the result says of the items themselves is read above: quoting an item
	// with no answer to it is no answer.
	said := doc.Clone()
	said.Delete("intent_response")
	text := strings.ToLower(string(ojson.Compact(said)))
	var open []string
	for _, item := range items {
		if answered[strings.ToLower(wire.TrimSpace(item))] || mentioned(item, text) {
			continue
		}
		open = append(open, item)
	}
	if len(open) == 0 {
		return nil
	}
	message := fmt.Sprintf("The result does not answer %d item(s) of its intent: %s.", len(open), wire.ListSome(open, 3))
	if a.t.cfg.IntentCoverageMode == "lenient" || a.t.cfg.IntentCoverageMode == "" && ctx.Has("priority") && ctx.String("priority") != "p0" {
		a.warnings = append(a.warnings, message)
		return nil
	}
	e := &wire.Error{Code: wire.CodeIntentCoverage, Stage: "intent_coverage", Class: "intent_coverage_error", Field: "intent_response", Message: message,
		Hint: "answer each item in intent_response with status addressed, deferred or rejected", Details: ojson.NewObject("open_items", open)}
	for _, item := range open {
		e.Problems = append(e.Problems, wire.Problem{Code: wire.CodeIntentCoverage, Field: "intent_response", Value: item, Message: "Not answered: " + wire.OneLine(item)})
	}
	return e
}

func mentioned(item, text string) bool {
	words := strings.FieldsFunc(strings.ToLower(item), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
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
