// The status of a run: what stops it, what comes next, whether it could ship, who has to look
// (docs/reports.md#what-a-report-says).

package account

import (
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	agentrun "github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/restore"
)

// recovery returns the recorded way out of a block, nil if there is none.
func (m *runModel) recovery() *ojson.Object {
	b := m.state.Object("blocked_reason")
	r := b.Object("recovery")
	if r == nil {
		return nil
	}
	var retained any
	if v, ok := r.Value("turn_retained").(bool); ok {
		retained = v
	}
	guidance := []any{}
	if list := r.Array("runtime_guidance"); list != nil {
		guidance = list
	}
	return ojson.NewObject("category", ojson.OrNull(b.String("category")),
		"typed_reason", ojson.OrNull(r.String("typed_reason")), "owner", ojson.OrNull(r.String("owner")),
		"recovery_action", ojson.OrNull(r.String("recovery_action")), "detail", ojson.OrNull(r.String("detail")),
		"turn_retained", retained, "blocked_at", ojson.OrNull(b.String("blocked_at")),
		"turn_id", ojson.OrNull(b.String("turn_id")), "runtime_guidance", guidance)
}

// nextActions returns the commands that continue the run, [{command, reason}]. It returns none if the rules cannot
// read the artifact's state or configuration.
func (m *runModel) nextActions() []*ojson.Object {
	out := []*ojson.Object{}
	if m.state == nil || m.config == nil {
		return out
	}
	state, bad := agentrun.DecodeStateObject(m.state)
	if state == nil || len(bad) > 0 {
		return out
	}
	config, _ := config.DecodeObject(m.config)
	if config == nil {
		return out
	}
	for _, a := range protocol.NextActions(state, config, "") {
		out = append(out, ojson.NewObject("command", a.Command, "reason", a.Reason))
	}
	return out
}

// kit returns the artifacts that the workflow requires in the current phase: nil without a workflow kit.
func (m *runModel) kit() any {
	kit, phase := m.config.Object("workflow_kit"), m.summary.String("phase")
	if kit == nil || phase == "" {
		return nil
	}
	entry := ojson.OrNull(m.config.Object("routing").Object(phase).String("entry_role"))
	out := []*ojson.Object{}
	for _, a := range kit.Object("phases").Object(phase).Objects("artifacts") {
		path := a.String("path")
		if path == "" {
			continue
		}
		required := true
		if v, ok := a.Value("required").(bool); ok {
			required = v
		}
		owner, resolution := ojson.OrNull(a.String("owned_by")), "explicit"
		if owner == nil {
			owner, resolution = entry, "entry_role"
		}
		out = append(out, ojson.NewObject("path", path, "required", required,
			"semantics", ojson.OrNull(a.String("semantics")), "owned_by", owner, "owner_resolution", resolution,
			"exists", m.a.Files[path] != nil))
	}
	slices.SortStableFunc(out, func(a, b *ojson.Object) int {
		return restore.Collate(a.String("path"), b.String("path"))
	})
	return out
}

// ship says whether the run could be shipped. A report never says that it can, because an artifact does not say
// whether the release is aligned.
func (m *runModel) ship() *ojson.Object {
	type dimension struct{ standing, reason string }
	dims := []dimension{}
	add := func(standing, reason string) { dims = append(dims, dimension{standing, reason}) }

	status := m.summary.String("status")
	switch status {
	case "completed":
		add("pass", "")
	case "failed", "blocked", "idle":
		add("fail", "The run is "+status+".")
	default:
		add("pending", "The run is not completed.")
	}

	order := m.summary.Strings("workflow_phase_order")
	final := len(order) > 0 && m.summary.String("phase") == order[len(order)-1]
	gates := m.state.Object("phase_gate_status")
	switch verdict := m.verdict(); {
	case gates.String("qa_ship_verdict") == "passed":
		add("pass", "")
	case gates.String("qa_ship_verdict") == "failed":
		add("fail", "Gate qa_ship_verdict failed.")
	case verdict:
		add("pass", "")
	case final:
		add("fail", "The last phase is reached, and the ship verdict is not affirmative.")
	default:
		add("pending", "There is no affirmative ship verdict yet.")
	}

	var failed, open []string
	for _, g := range sortedNames(m.config.Object("gates").Keys()) {
		switch gates.String(g) {
		case "passed":
		case "failed":
			failed = append(failed, g)
		default:
			open = append(open, g)
		}
	}
	switch {
	case len(failed) > 0:
		add("fail", "Gates failed: "+strings.Join(failed, ", ")+".")
	case len(open) > 0:
		add("pending", "Gates not passed yet: "+strings.Join(open, ", ")+".")
	default:
		add("pass", "")
	}

	add("pending", "Whether the release is aligned is not in an artifact.")

	passed, bad := 0, 0
	for _, r := range m.accepted() {
		switch r.Object("verification").String("status") {
		case "pass", "attested_pass":
			passed++
		case "fail":
			bad++
		}
	}
	switch {
	case bad > 0:
		add("fail", "A turn's own verification failed.")
	case passed > 0:
		add("pass", "")
	default:
		add("pending", "No turn carried a verification out.")
	}

	overall, good := "pass", 0
	reasons := []string{}
	for _, d := range dims {
		switch {
		case d.standing == "pass":
			good++
			continue
		case d.standing == "fail":
			overall = "fail"
		case overall == "pass":
			overall = "pending"
		}
		reasons = append(reasons, d.reason)
	}
	return ojson.NewObject("overall", overall, "dimensions_passed", good, "dimensions_total", len(dims),
		"blocking_reasons", reasons)
}

// verdict reads the line "## Verdict: ..." of the ship verdict and reports whether it is affirmative.
func (m *runModel) verdict() bool {
	f := m.a.Files[pathVerdict]
	if f == nil {
		return false
	}
	body, _ := f.Data.(string)
	for line := range strings.Lines(body) {
		rest, ok := strings.CutPrefix(strings.TrimSpace(line), "##")
		if !ok {
			continue
		}
		if key, value, ok := strings.Cut(rest, ":"); ok && strings.EqualFold(strings.TrimSpace(key), "verdict") {
			value = strings.ToLower(strings.TrimSpace(value))
			return value == "yes" || value == "ship" || value == "ship it"
		}
	}
	return false
}

// attention returns what waits for a person: {overall, items_count, blocking_count, categories}.
func (m *runModel) attention() *ojson.Object {
	var categories []string
	items, blocking := 0, 0
	add := func(category string) {
		items, blocking = items+1, blocking+1
		categories = append(categories, category)
	}
	for _, k := range [...]string{"pending_phase_transition", "pending_run_completion"} {
		p := m.state.Object(k)
		if p == nil {
			continue
		}
		if m.config.Object("gates").Object(p.String("gate")).Bool("credentialed") {
			add("credentialed_gate")
		} else {
			add("approval")
		}
	}
	switch on := m.state.String("blocked_on"); {
	case on == "budget:exhausted", strings.HasPrefix(on, "policy:"):
		add("budget_policy")
	case strings.HasPrefix(on, "gate_action:"), strings.HasPrefix(on, "human:"):
		add("manual_action")
	}
	overall := "clear"
	if items > 0 {
		overall = "attention"
	}
	return ojson.NewObject("overall", overall, "items_count", items, "blocking_count", blocking,
		"categories", sortedNames(categories))
}

// charters returns which roles have a mandate; nil without a configuration.
func (m *runModel) charters() *ojson.Object {
	if m.config == nil {
		return nil
	}
	roles := m.config.Object("roles")
	bad := []string{}
	for id, v := range roles.All() {
		r, _ := v.(*ojson.Object)
		if strings.TrimSpace(r.String("title")) == "" || strings.TrimSpace(r.String("mandate")) == "" {
			bad = append(bad, id)
		}
	}
	slices.SortFunc(bad, restore.CodeUnits)
	return ojson.NewObject("total", roles.Len(), "well_formed", roles.Len()-len(bad), "incomplete", len(bad),
		"incomplete_role_ids", bad)
}
