// The members that a configuration can have, by path, and setting one of them.

package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// layout lists the members of docs/spec/configuration.md. A star means a name that the document chooses, or the
// index or id of an element.
func layout() []string {
	const approvers, when = "principals,threshold", "gate_passed,roles_participated,all_phases_visited,credentialed_gate"
	return []string{
		"schema_version", "template", "project.{id,name,goal,default_branch}",
		"roles.*.{title,mandate,write_authority,runtime,decision_authority}",
		"runtimes.*.{type,capabilities,command,args,cwd,env,prompt_transport,timeout_ms,timeout_seconds,transport,tool_name," +
			"url,headers,provider,model,auth_env,base_url,max_output_tokens,context_window_tokens,retry_policy,cost,isolation}",
		"runtimes.*.capabilities.{can_write_files,proposal_support,workflow_artifact_ownership}",
		"routing.*.{entry_role,allowed_next_roles,exit_gate,max_concurrent_turns,timeout_minutes,timeout_action}",
		"gates.*.{requires_files,requires_verification_pass,requires_human_approval,credentialed,gate_actions}",
		"gates.*.gate_actions.*.{run,label,timeout_ms}",
		"policies.*.{id,rule,action,message}", "policies.*.params.{limit,limit_usd,allowed}",
		"policies.*.scope.{phases,roles}",
		"approval_policy.phase_transitions.{default,rules}",
		"approval_policy.phase_transitions.rules.*.{from_phase,to_phase,action}",
		"approval_policy.phase_transitions.rules.*.when.{" + when + "}",
		"approval_policy.run_completion.action", "approval_policy.run_completion.when.{" + when + "}",
		"authority.{signoff_documents}", "authority.approvers.*.{" + approvers + "}",
		"authority.gates.*.{by,threshold,signed,not_author}", "authority.acts.{by,threshold,signed,not_author}",
		"workflow_kit.phases.*.{template,artifacts}",
		"workflow_kit.phases.*.artifacts.*.{path,semantics,semantics_config,owned_by,required}",
		"workflow_kit.phases.*.artifacts.*.semantics_config.required_sections",
		"budget.{per_turn_max_usd,per_run_max_usd,on_exceed,cost_rates}",
		"budget.cost_rates.*.{input_per_1m,output_per_1m}",
		"timeouts.{per_turn_minutes,per_phase_minutes,per_run_minutes,action}",
		"hooks.*", "notifications.{webhooks,approval_sla}", "schedules.*", "prompts.*", "retention", "files",
		"dashboard",
		"rules.{challenge_required,max_turn_retries,max_deadlock_cycles,enforce_routing,strict_verification,objections_block,result_repair}",
		"run_loop.{non_progress_threshold,max_turns,startup_watchdog_ms,startup_heartbeat_ms,liveness_heartbeat_ms,stale_turn_threshold_ms}",
		"git_hooks.{protected,protected_branches,require_turn}",
		"gate_semantic_coverage_mode", "intent_coverage_mode",
	}
}

// node is a member together with the members it can have.
type node struct {
	names []string // in the order of layout, without the star
	in    map[string]*node
}

func (n *node) child(name string) *node {
	c := n.in[name]
	if c == nil {
		c = &node{in: make(map[string]*node)}
		n.in[name] = c
		if name != "*" {
			n.names = append(n.names, name)
		}
	}
	return c
}

func layoutTree() *node {
	root := &node{in: make(map[string]*node)}
	for _, line := range layout() {
		head, list, many := strings.Cut(line, "{")
		at := root
		for name := range strings.SplitSeq(strings.TrimSuffix(head, "."), ".") {
			at = at.child(name)
		}
		if many {
			for name := range strings.SplitSeq(strings.TrimSuffix(list, "}"), ",") {
				at.child(name)
			}
		}
	}
	return root
}

// SetMember returns a copy of a configuration document with one member set. path is dotted; a name that contains
// dots is written in double quotes. An element of a list is named by its index, starting at 0, or by its id:
// policies.max-turns.action. A null value removes the member. Setting the index equal to the length of a list
// appends an element.
//
// Error: invalid_argument, for a path that neither the document nor the protocol knows; it names the nearest ones.
func SetMember(doc *ojson.Object, path string, value ojson.Value) (*ojson.Object, *wire.Error) {
	names, refusal := splitPath(path)
	if refusal != nil {
		return nil, refusal
	}
	out, refusal := setIn(doc, names, nil, layoutTree(), value)
	if refusal != nil {
		return nil, refusal
	}
	return out.(*ojson.Object), nil
}

func splitPath(path string) ([]string, *wire.Error) {
	bad := func(why string) ([]string, *wire.Error) {
		return nil, &wire.Error{Code: wire.CodeInvalidArgument, Field: path,
			Message: fmt.Sprintf("%s is not the path of a member: %s.", wire.Quoted(path), why),
			Hint:    "a path is like gates.qa_ship_verdict.requires_human_approval"}
	}
	var out []string
	for rest := path; ; {
		var name string
		if quoted, ok := strings.CutPrefix(rest, `"`); ok {
			var closed bool
			if name, rest, closed = strings.Cut(quoted, `"`); !closed {
				return bad("a quotation mark is missing")
			}
		} else {
			i := strings.IndexByte(rest, '.')
			if i < 0 {
				i = len(rest)
			}
			name, rest = rest[:i], rest[i:]
		}
		if name == "" {
			return bad("a name is empty")
		}
		out = append(out, name)
		if rest == "" {
			return out, nil
		}
		if rest[0] != '.' {
			return bad("a dot is missing")
		}
		rest = rest[1:]
	}
}

// setIn sets a member below v, whose path is at.
func setIn(v ojson.Value, names, at []string, know *node, value ojson.Value) (ojson.Value, *wire.Error) {
	if len(names) == 0 {
		return value, nil
	}
	name, here := names[0], append(slices.Clip(at), names[0])
	switch v := v.(type) {
	case []any:
		i := elementIndex(v, name)
		if i < 0 || i == len(v) && value == nil {
			return nil, unknownPath(here, elementNames(v))
		}
		list := slices.Clone(v)
		if i == len(list) {
			list = append(list, nil)
		}
		in, refusal := setIn(list[i], names[1:], here, below(know, name), value)
		if refusal != nil {
			return nil, refusal
		}
		list[i] = in
		if in == nil && len(names) == 1 {
			list = slices.Delete(list, i, i+1)
		}
		return list, nil
	case *ojson.Object, nil:
		o, _ := v.(*ojson.Object)
		old, there := o.Get(name)
		if !there && !known(know, name, len(names) == 1 && value != nil) {
			return nil, unknownPath(here, append(o.Keys(), namesOf(know)...))
		}
		in, refusal := setIn(old, names[1:], here, below(know, name), value)
		if refusal != nil {
			return nil, refusal
		}
		if o == nil {
			o = &ojson.Object{}
		} else {
			o = o.Clone()
		}
		if in == nil && len(names) == 1 {
			o.Delete(name)
		} else {
			o.Set(name, in)
		}
		return o, nil
	}
	return nil, &wire.Error{Code: wire.CodeInvalidArgument, Field: strings.Join(here, "."),
		Message: fmt.Sprintf("%s is %s and has no members.", strings.Join(at, "."), ojson.TypeName(v))}
}

// known reports whether a member that is not in the document can exist. A member whose name the document chooses
// can only be created whole.
func known(know *node, name string, whole bool) bool {
	if know == nil {
		return false
	}
	return know.in[name] != nil && name != "*" || know.in["*"] != nil && whole
}

func below(know *node, name string) *node {
	if know == nil {
		return nil
	}
	if n := know.in[name]; n != nil {
		return n
	}
	return know.in["*"]
}

func namesOf(know *node) []string {
	if know == nil {
		return nil
	}
	return know.names
}

func elementIndex(list []any, name string) int {
	if i, err := strconv.Atoi(name); err == nil {
		if i < 0 || i > len(list) {
			return -1
		}
		return i
	}
	return slices.IndexFunc(list, func(v any) bool {
		o, ok := v.(*ojson.Object)
		return ok && (o.String("id") == name || o.String("name") == name || o.String("path") == name)
	})
}

func elementNames(list []any) []string {
	out := make([]string, 0, len(list))
	for i, v := range list {
		o, _ := v.(*ojson.Object)
		if id := o.String("id"); id != "" {
			out = append(out, id)
		} else {
			out = append(out, strconv.Itoa(i))
		}
	}
	return out
}

// unknownPath refuses a path and suggests the names that begin alike or are similar, or else all names.
func unknownPath(at, names []string) *wire.Error {
	name, parent := at[len(at)-1], at[:len(at)-1]
	names = slices.Clone(names) // they may be the document's own
	slices.Sort(names)
	names = slices.Compact(names)
	near := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return !alike(name, n) })
	if len(near) == 0 {
		near = names
	}
	for i, n := range near {
		near[i] = strings.Join(append(slices.Clip(parent), n), ".")
	}
	e := &wire.Error{Code: wire.CodeInvalidArgument, Field: strings.Join(at, "."),
		Message: fmt.Sprintf("The configuration has no member %s.", strings.Join(at, ".")),
		Details: ojson.NewObject("near", near)}
	if len(near) > 0 {
		e.Hint = "there is " + wire.ListSome(near, 6)
	}
	return e
}

// alike reports whether one name contains a word of the other, or the two differ in a few letters.
func alike(a, b string) bool {
	for w := range strings.FieldsFuncSeq(a, func(r rune) bool { return r == '_' || r == '-' }) {
		if len(w) > 3 && strings.Contains(b, w) {
			return true
		}
	}
	return distance(a, b) <= max(1, min(3, len(a)/3))
}

// distance counts the bytes to insert, delete or replace (Levenshtein).
func distance(a, b string) int {
	if len(a) > 64 || len(b) > 64 {
		return len(a) + len(b)
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
