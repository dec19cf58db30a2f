// The repositories of an initiative: inside the workspace, with a placeholder for each that could not be exported
// (docs/reports.md#replay-export).

package replay

import (
	"os"
	"path"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

const (
	multiConfig = "agentxchain-multi.json"
	multiState  = ".agentxchain/multirepo/state.json"
	replayRole  = "replay"
)

// coordinator gives every repository its place and makes the initiative's own files name it.
func (l *layer) coordinator(children []child) error {
	config := l.head.Object("config").Clone()
	if config == nil {
		config = &ojson.Object{}
	}
	repos := config.Object("repos")
	for _, c := range children {
		r := Repo{ID: c.id, Path: c.dir}
		if !c.ok {
			if r.Placeholder = c.failure; r.Placeholder == "" {
				r.Placeholder = "it could not be exported"
			}
			if err := l.placeholder(c, config); err != nil {
				return err
			}
		}
		l.w.Repos = append(l.w.Repos, r)
		if entry := repos.Object(c.id); entry != nil {
			entry.Set("path", "./"+c.dir)
		} else if repos.Has(c.id) {
			repos.Set(c.id, "./"+c.dir)
		}
	}
	// The repositories' paths on the exporting machine are dropped: here they would lead out of the workspace.
	if err := l.root.Remove(multiConfig); err != nil && !os.IsNotExist(err) {
		return failed(err)
	}
	return l.document(multiConfig, config)
}

// phases returns the phases of the initiative in order.
func phases(config *ojson.Object) []string {
	list := slices.Clone(config.Object("routing").Keys())
	if len(list) == 0 {
		for _, v := range config.Object("workstreams").All() {
			w, _ := v.(*ojson.Object)
			if p := w.String("phase"); p != "" && !slices.Contains(list, p) {
				list = append(list, p)
			}
		}
	}
	if len(list) == 0 {
		list = []string{"planning"}
	}
	return list
}

func (l *layer) placeholder(c child, config *ojson.Object) error {
	order := phases(config)
	routing := &ojson.Object{}
	for _, p := range order {
		routing.Set(p, ojson.NewObject("entry_role", replayRole, "allowed_next_roles", []string{replayRole, "human"}))
	}
	recorded := l.superState().Object("repo_runs").Object(c.id)
	or := func(key string, other any) any {
		if s := recorded.String(key); s != "" {
			return s
		}
		return other
	}
	empty := func() *ojson.Object { return &ojson.Object{} }
	documents := []struct {
		name string
		doc  *ojson.Object
	}{
		{wire.ConfigPath, ojson.NewObject("schema_version", "1.0", "template", "generic",
			"project", ojson.NewObject("id", c.id+"-replay-placeholder", "name", c.id+" Replay Placeholder"),
			"roles", ojson.NewObject(replayRole, ojson.NewObject("title", "Replay Placeholder",
				"mandate", "Stand in for a repository that was not exported.", "write_authority", "review_only",
				"runtime", "replay-placeholder")),
			"runtimes", ojson.NewObject("replay-placeholder", ojson.NewObject("type", "manual")),
			"routing", routing, "gates", empty(),
			"prompts", ojson.NewObject(replayRole, ".agentxchain/prompts/replay.md"),
			"rules", ojson.NewObject("challenge_required", true, "max_turn_retries", 2, "max_deadlock_cycles", 2))},
		{".agentxchain/state.json", ojson.NewObject("schema_version", "1.1", "run_id", or("run_id", nil),
			"project_id", c.id+"-replay-placeholder", "status", or("status", "blocked"),
			"phase", or("phase", order[0]), "accepted_integration_ref", nil, "active_turns", empty(),
			"turn_sequence", 0, "retained_turns", empty(), "last_completed_turn_id", nil, "blocked_on", nil,
			"blocked_reason", nil, "escalation", nil, "phase_gate_status", empty(), "budget_reservations", empty(),
			"budget_status", ojson.NewObject("spent_usd", 0, "remaining_usd", nil))},
	}
	for _, d := range documents {
		if err := l.document(path.Join(c.dir, d.name), d.doc); err != nil {
			return err
		}
	}
	texts := [][2]string{
		{".agentxchain/history.jsonl", ""},
		{".agentxchain/events.jsonl", ""},
		{".agentxchain/decision-ledger.jsonl", ""},
		{".agentxchain/prompts/replay.md",
			"# Placeholder\n\nThis repository could not be exported. What is here stands in for it, so that the initiative can be looked at.\n"},
	}
	for _, t := range texts {
		if err := l.told(path.Join(c.dir, t[0]), "text", t[1]); err != nil {
			return err
		}
	}
	l.w.Files += len(documents) + len(texts)
	return nil
}

// superState returns the initiative's state as laid out, nil without one.
func (l *layer) superState() *ojson.Object {
	data, err := l.root.ReadFile(multiState)
	if err != nil || len(data) > maxValue {
		return nil
	}
	o, _ := ojson.DecodeObject(data)
	return o
}
