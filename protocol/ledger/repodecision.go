// Repo decisions outlive their run; overriding one needs authority (docs/spec/results.md#decisions,
// docs/spec/state.md#repository-decisions).

package ledger

import (
	"fmt"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/result"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Sources of a decision authority (docs/spec/state.md#repository-decisions).
const (
	AuthorityConfigured   = "configured"
	AuthorityHumanDefault = "human_default"
	AuthorityUnknownRole  = "unknown_role"
)

// humanAuthority is the level of "human" when the configuration gives none.
const humanAuthority = 100

// Codes of a refused override.
const (
	ProblemOverrideUnknown    = "override_target_unknown"
	ProblemOverrideSpent      = "override_target_overridden"
	ProblemOverrideInactive   = "override_target_inactive"
	ProblemOverrideAuthority  = "override_authority_too_low"
	ProblemOverrideDuplicated = "override_duplicated"
)

// Authority is what a role may override.
type Authority struct {
	Level  int // 0..99, 100 for a human by default
	Source string
	Role   string
}

// DecisionAuthority returns the role's authority. The second value is false for
// a role that declares none: it takes no part in authority checks.
func DecisionAuthority(cfg *config.Config, role string) (Authority, bool) {
	r := cfg.Role(role)
	switch {
	case r != nil && r.DecisionAuthority != nil:
		return Authority{*r.DecisionAuthority, AuthorityConfigured, role}, true
	case role == "human":
		return Authority{humanAuthority, AuthorityHumanDefault, role}, true
	case r == nil:
		return Authority{0, AuthorityUnknownRole, role}, true
	}
	return Authority{}, false
}

// CheckOverride checks whether role may make the decision d, which overrides one of rows. The warning is about an
// override that is allowed only because the role that made the old decision is gone from the configuration.
func CheckOverride(cfg *config.Config, rows []run.Line, role string, d result.Decision) (warning string,
	err *wire.Error) {
	target := repoDecision(rows, d.Overrides)
	refuse := func(code, format string, args ...any) (string, *wire.Error) {
		msg := fmt.Sprintf("Decision %s cannot override %s: ", d.ID, d.Overrides) + fmt.Sprintf(format, args...)
		return "", &wire.Error{
			Code:     wire.CodeOverrideFailed,
			Stage:    "override_validation",
			Class:    "protocol_error",
			Field:    "decisions",
			Message:  msg,
			Problems: []wire.Problem{{Code: code, Field: "decisions", Value: d.Overrides, Message: msg}},
		}
	}
	if target == nil {
		return refuse(ProblemOverrideUnknown, "no repo decision has this id.")
	}
	if by := target.String("overridden_by"); by != "" {
		return refuse(ProblemOverrideSpent, "%s has overridden it already.", by)
	}
	if status := target.String("status"); status == "overridden" {
		return refuse(ProblemOverrideSpent, "it is overridden already.")
	} else if status != "active" {
		return refuse(ProblemOverrideInactive, "its status is %s, and only active decisions can be overridden.",
			wire.Quoted(status))
	}
	maker := target.String("role")
	if maker == role {
		return "", nil
	}
	mine, minePresent := DecisionAuthority(cfg, role)
	theirs, theirsPresent := DecisionAuthority(cfg, maker)
	if !minePresent || !theirsPresent {
		return "", nil
	}
	if mine.Level < theirs.Level {
		return refuse(ProblemOverrideAuthority,
			"role %s has decision authority %d, and role %s, which made it, has %d.", wire.Quoted(role), mine.Level,
			wire.Quoted(maker), theirs.Level)
	}
	if theirs.Source == AuthorityUnknownRole {
		warning = fmt.Sprintf("Decision %s overrides %s of role %s, which is no longer configured.", d.ID, d.Overrides,
			wire.Quoted(maker))
	}
	return warning, nil
}

// CheckOverrides applies CheckOverride to all decisions of a turn result; it also refuses two decisions that
// override the same one.
func CheckOverrides(cfg *config.Config, rows []run.Line, role string, decisions []result.Decision) (warnings []string,
	err *wire.Error) {
	taken := make(map[string]string)
	for _, d := range decisions {
		if d.Overrides == "" {
			continue
		}
		warning, err := CheckOverride(cfg, rows, role, d)
		if err != nil {
			return warnings, err
		}
		if other, ok := taken[d.Overrides]; ok {
			msg := fmt.Sprintf("Decisions %s and %s of one result both override %s.", other, d.ID, d.Overrides)
			return warnings, &wire.Error{
				Code:    wire.CodeOverrideFailed,
				Stage:   "override_validation",
				Class:   "protocol_error",
				Field:   "decisions",
				Message: msg,
				Problems: []wire.Problem{{
					Code:    ProblemOverrideDuplicated,
					Field:   "decisions",
					Value:   d.Overrides,
					Message: msg,
				}},
			}
		}
		taken[d.Overrides] = d.ID
		if warning != "" {
			warnings = append(warnings, warning)
		}
	}
	return warnings, nil
}

// repoDecision returns the first row with the id: rows written by other tools
// may repeat one.
func repoDecision(rows []run.Line, id string) *ojson.Object {
	for _, l := range rows {
		if id != "" && l.Row.String("id") == id {
			return l.Row
		}
	}
	return nil
}

// DurableIDs returns the ids of all repo decisions, including overridden ones: an override finds its target by the
// first row with the id.
func DurableIDs(rows []run.Line) *run.DecisionIDs {
	if len(rows) == 0 {
		return nil
	}
	d := &run.DecisionIDs{}
	for _, l := range rows {
		d.Add(l.Row.String("id"))
	}
	return d
}

// PromoteDecisions returns the rows that accepted decisions add to repo-decisions.jsonl, and the changes to rows
// they override. A decision is promoted when it is durable or overrides another; every row with the overridden id
// is marked, and an already marked row stays as it is.
func PromoteDecisions(rows []run.Line, decisions []result.Decision, turn *run.Turn,
	run, phase, at string) (added []*ojson.Object, amends []Amend) {
	amended := make(map[int]bool)
	for _, d := range decisions {
		if !result.Promoted(&d) {
			continue
		}
		durability := d.Durability
		if durability == "" {
			durability = "repo"
		}
		added = append(added, ojson.NewObject("id", d.ID, "run_id", run, "turn_id", turn.TurnID,
			"role", turn.AssignedRole, "phase", phase,
			"category", d.Category, "statement", d.Statement, "rationale", d.Rationale, "durability", durability,
			"overrides", ojson.OrNull(d.Overrides), "status", "active", "overridden_by", nil, "created_at", at))
		if d.Overrides == "" {
			continue
		}
		for i, l := range rows {
			if l.Row.String("id") != d.Overrides || amended[i] || l.Row.String("status") == "overridden" {
				continue
			}
			amended[i] = true
			row := l.Row.Clone()
			row.Set("status", "overridden")
			row.Set("overridden_by", d.ID)
			amends = append(amends, Amend{Ledger: wire.LedgerRepoDecisions, Old: l.Raw, New: ojson.Compact(row)})
		}
	}
	return added, amends
}

// RepoDecisionsSummary returns the read model of docs/spec/state.md#repository-decisions; nil without decisions.
func RepoDecisionsSummary(cfg *config.Config, rows []run.Line) *ojson.Object {
	if len(rows) == 0 {
		return nil
	}
	var active, overridden []*ojson.Object
	var categories []string
	var top *Authority
	superseding, succeeded := 0, 0
	for _, l := range rows {
		row := l.Row
		role := row.String("role")
		authority, known := DecisionAuthority(cfg, role)
		switch row.String("status") {
		case "active":
			active = append(active, summaryEntry(row, authority, known, "id", "category", "statement", "role",
				"run_id", "overrides", "durability"))
			if c := row.String("category"); c != "" && !slices.Contains(categories, c) {
				categories = append(categories, c)
			}
			if row.String("overrides") != "" {
				superseding++
			}
			if known && (top == nil || authority.Level > top.Level) {
				top = &authority
			}
		case "overridden":
			overridden = append(overridden, summaryEntry(row, authority, known, "id", "overridden_by", "statement",
				"overrides", "durability", "role"))
			if row.String("overridden_by") != "" {
				succeeded++
			}
		}
	}
	wire.SortPaths(categories)
	operator := ojson.NewObject("active_categories", categories, "highest_active_authority_level", nil,
		"highest_active_authority_role", nil, "highest_active_authority_source", nil)
	if top != nil {
		operator.Set("highest_active_authority_level", top.Level)
		operator.Set("highest_active_authority_role", top.Role)
		operator.Set("highest_active_authority_source", top.Source)
	}
	operator.Set("superseding_active_count", superseding)
	operator.Set("overridden_with_successor_count", succeeded)
	return ojson.NewObject("total", len(rows), "active_count", len(active), "overridden_count", len(overridden),
		"active", active, "overridden", overridden, "operator_summary", operator)
}

// summaryEntry copies the members that a row has, with defaults for those it must show, and adds the authority of
// the role that decided.
func summaryEntry(row *ojson.Object, a Authority, known bool, members ...string) *ojson.Object {
	o := &ojson.Object{}
	for _, m := range members {
		v, ok := row.Get(m)
		switch {
		case m == "durability" && row.String(m) == "":
			o.Set(m, "repo")
		case ok:
			o.Set(m, ojson.CloneValue(v))
		case m == "overrides" || m == "overridden_by":
			o.Set(m, nil)
		}
	}
	o.Set("authority_level", nil)
	o.Set("authority_source", nil)
	if known {
		o.Set("authority_level", a.Level)
		o.Set("authority_source", a.Source)
	}
	return o
}
