// The summary of decisions that outlive their run (docs/export.md#what-is-in-it).

package restore

import (
	"slices"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/ledger"
)

// summarizeDecisions returns the summary of the rows of repo-decisions.jsonl, nil without any. config is
// agentxchain.json as written.
func summarizeDecisions(rows []*ojson.Object, config *ojson.Object) *ojson.Object {
	if len(rows) == 0 {
		return nil
	}
	active, overridden := []any{}, []any{}
	var categories []string
	supersede, succeeded := 0, 0
	var top any // highest authority, its role and source
	var topRole, topSource any
	for _, row := range rows {
		level, source := authority(config, get(row, "role"))
		o := &ojson.Object{}
		set(o, "id", get(row, "id"))
		switch row.String("status") {
		case "active":
			for _, k := range [...]string{"category", "statement", "role", "run_id"} {
				set(o, k, get(row, k))
			}
			o.Set("overrides", orNull(get(row, "overrides")))
			o.Set("durability", or(get(row, "durability"), "repo"))
			o.Set("authority_level", level)
			o.Set("authority_source", source)
			active = append(active, o)
			if c := row.String("category"); c != "" && !slices.Contains(categories, c) {
				categories = append(categories, c)
			}
			if truthy(get(row, "overrides")) {
				supersede++
			}
			if level != nil && (top == nil || number(level) > number(top)) {
				top, topRole, topSource = level, orNull(get(row, "role")), source
			}
		case "overridden":
			set(o, "overridden_by", get(row, "overridden_by"))
			set(o, "statement", get(row, "statement"))
			o.Set("overrides", orNull(get(row, "overrides")))
			o.Set("durability", or(get(row, "durability"), "repo"))
			o.Set("role", orNull(get(row, "role")))
			o.Set("authority_level", level)
			o.Set("authority_source", source)
			overridden = append(overridden, o)
			if truthy(get(row, "overridden_by")) {
				succeeded++
			}
		}
	}
	slices.SortFunc(categories, codeUnits)
	if categories == nil {
		categories = []string{}
	}
	return ojson.NewObject("total", len(rows), "active_count", len(active), "overridden_count", len(overridden),
		"active", active, "overridden", overridden,
		"operator_summary", ojson.NewObject("active_categories", categories, "highest_active_authority_level", top,
			"highest_active_authority_role", topRole, "highest_active_authority_source", topSource,
			"superseding_active_count", supersede, "overridden_with_successor_count", succeeded))
}

// authority returns a role's authority level and its source, in an artifact's form; nil for none.
func authority(config *ojson.Object, role any) (level, source any) {
	declared := get(config, "roles")
	if !truthy(declared) {
		return nil, nil
	}
	roles := objectOf(declared) // if it is not an object there are no roles
	name, _ := role.(string)
	entry, known := roles.Get(name)
	if n, ok := get(objectOf(entry), "decision_authority").(ojson.Number); ok {
		return n, ledger.AuthorityConfigured
	}
	switch {
	case name == "human":
		return ojson.Int(100), ledger.AuthorityHumanDefault
	case !known || !truthy(entry):
		return ojson.Int(0), ledger.AuthorityUnknownRole
	}
	return nil, nil
}

func number(v any) float64 {
	n, _ := v.(ojson.Number)
	f, _ := n.Float64()
	return f
}
