// The operations on records: decisions, configurations, events (docs/conformance.md#becoming-a-target).

package conformance

import (
	"strconv"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/ledger"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// appendDecision checks one decision row and appends it to the ledger.
func appendDecision(w *workspace) (outcome, error) {
	entry, err := w.objectArg("entry")
	if err != nil {
		return nil, err
	}
	if entry == nil {
		return nil, badArg("entry", "an object", nil)
	}
	known := make(map[string]bool)
	for _, l := range w.ledgers[wire.LedgerDecisions] {
		known[l.Row.String("id")] = true
	}
	if e := ledger.ValidateDecisionEntry(entry, func(id string) bool { return known[id] }); e != nil {
		o := ojson.NewObject("result", "error", "error_type", e.Code, "error", e.Message)
		for k, v := range e.Details.All() {
			o.Set(k, v)
		}
		o.Set("ledger_length", len(w.ledgers[wire.LedgerDecisions]))
		o.Set("state_unchanged", w.stateUnchanged())
		return o, nil
	}
	w.take(ledger.Append{Ledger: wire.LedgerDecisions, Data: append(ojson.Compact(entry), '\n')})
	rows := w.ledgers[wire.LedgerDecisions]
	return ojson.NewObject("result", "success", "ledger_length", len(rows),
		"ledger_last_entry", rows[len(rows)-1].Row), nil
}

// validateConfig checks args.config, completed like a setup's.
func validateConfig(w *workspace) (outcome, error) {
	v, has := w.args.Get("config")
	if !has {
		return nil, badArg("config", "an object", nil)
	}
	raw, err := inflateConfig(v)
	if err != nil {
		return ojson.NewObject("result", "error", "error_type", wire.CodeInvalidConfig,
			"errors", []string{"config " + err.Error()}), nil
	}
	_, all := config.DecodeObject(raw)
	problems := subset(all)
	if len(problems) == 0 {
		return ojson.NewObject("result", "success", "errors", []any{}), nil
	}
	o := ojson.NewObject("result", "error")
	for k, v := range configError(problems[0], raw).All() {
		o.Set(k, v)
	}
	o.Set("errors", problems.Messages())
	o.Set("problems", problemRows(problems))
	return o, nil
}

// configError returns the first finding in the fixtures' vocabulary. Only an entry role counts as an undeclared
// role there (docs/conformance.md#becoming-a-target).
func configError(p wire.Problem, raw *ojson.Object) *ojson.Object {
	reference := func(key string) *ojson.Object {
		return ojson.NewObject("error_type", p.Code, "error_field", p.Field, key, p.Value)
	}
	switch {
	case p.Code == config.ProblemSchemaVersion, p.Code == config.ProblemLegacyConfig:
		actual := raw.Value("schema_version")
		// Versions are reported as text, numbers by value: 2.50 is "2.5".
		switch v := actual.(type) {
		case bool:
			actual = strconv.FormatBool(v)
		case ojson.Number:
			actual = string(v)
			if f, ok := v.Float64(); ok {
				actual = string(ojson.Float(f))
			}
		}
		return ojson.NewObject("error_type", config.ProblemSchemaVersion, "expected_version", "1.0",
			"actual_version", actual)
	case p.Code == config.ProblemUndeclaredRole && strings.HasSuffix(p.Field, ".entry_role"):
		return reference("referenced_role")
	case p.Code == config.ProblemUndeclaredRuntime:
		return reference("referenced_runtime")
	case p.Code == config.ProblemUndeclaredGate:
		return reference("referenced_gate")
	}
	return ojson.NewObject("error_type", wire.CodeInvalidConfig)
}

func validateEvent(w *workspace) (outcome, error) {
	code := ""
	errs := run.ValidateEvent(w.args.Value("event"))
	if len(errs) > 0 {
		code = run.CodeInvalidEvent
	}
	return checked(code, errs), nil
}

func validateEventOrdering(w *workspace) (outcome, error) {
	return checked(run.ValidateEventOrdering(w.args.Value("events"))), nil
}

func checked(code string, errs []string) outcome {
	if code == "" {
		return ojson.NewObject("result", "success", "errors", []any{})
	}
	return ojson.NewObject("result", "error", "error_type", code, "errors", errs)
}
