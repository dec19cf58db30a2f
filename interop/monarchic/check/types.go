// The types of the protocol, by the names of their schema files.

package check

import (
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/git-agentxchain/git-agentxchain/interop/monarchic"
)

// Type names a type of the protocol by the path of its schema file without
// ".json".
type Type = monarchic.Type

func fileOf(t Type) string { return string(t) + ".json" }

// indexTypes returns the members of schema.json, in its order (docs/monarchic.md#types).
func indexTypes() []Type { return portableTypes()[:18] }

// otherPortableTypes returns the portable types that are not in the index.
func otherPortableTypes() []Type { return portableTypes()[18:] }

var portableTypes = sync.OnceValue(func() []Type { return slices.DeleteFunc(monarchic.Types(), Type.Strict) })

// strictTypes returns the strict types with Go structs, and those beyond the seed that are only
// recognised (docs/monarchic.md#types).
var strictTypes = sync.OnceValue(func() []Type {
	list := slices.DeleteFunc(monarchic.Types(), func(t Type) bool { return !t.Strict() })
	for _, t := range []Type{
		"client_boundary/bootstrap_intent", "client_boundary/bootstrap_plan",
		"client_boundary/bootstrap_planning_context", "client_boundary/publication_action",
		"client_boundary/moderation_decision", "client_boundary/map_operation_bundle",
		"service_boundary/principal_ref", "service_boundary/tenant_ref", "service_boundary/auth_context",
		"service_boundary/usage_record", "service_boundary/audit_export_manifest",
		"service_boundary/control_plane_queue_job",
	} {
		if !slices.Contains(list, t) {
			list = append(list, t)
		}
	}
	return list
})

// Types returns every type, portable ones first.
func Types() []Type {
	return slices.Concat(portableTypes(), strictTypes())
}

// ParseType reads a type's name as people write it: plan_step, PlanStep, plan_step.json,
// client_boundary/plan_step, client_boundary.PlanStep. A name that only the strict family has needs
// no surface.
func ParseType(name string) (Type, bool) {
	name = strings.TrimSuffix(strings.TrimSpace(name), ".json")
	surface, last, nested := strings.Cut(strings.ReplaceAll(name, ".", "/"), "/")
	if !nested {
		surface, last = "", surface
	}
	last = snake(last)
	full := last
	if nested {
		full = snake(surface) + "/" + last
	}
	all := Types()
	if slices.Contains(all, Type(full)) {
		return Type(full), true
	}
	if !nested {
		for _, t := range all {
			if strings.HasSuffix(string(t), "/"+last) {
				return t, true
			}
		}
	}
	return "", false
}

// snake turns PlanStep into plan_step and leaves plan_step alone.
func snake(s string) string {
	var b strings.Builder
	for i, r := range s {
		if unicode.IsUpper(r) && i > 0 && !strings.HasSuffix(b.String(), "_") {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
