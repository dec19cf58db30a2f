package whatif

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
)

// mutated reads the names of the rows of fixtures/mutate.
func mutated(t *testing.T) []string {
	t.Helper()
	data, err := os.ReadFile("../../fixtures/mutate/mutations.txt")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for line := range strings.Lines(string(data)) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "= "); ok {
			out = append(out, name)
		}
	}
	if len(out) < 500 {
		t.Fatalf("found %d rows, expected the table", len(out))
	}
	return out
}

// changedRule has rules of the table that a member of the configuration switches off or on.
type changedRule struct {
	past    func(*testing.T) (*Past, *config.Config)
	sets    []any    // paths and values
	rules   []string // that then differ
	refuses bool
	rows    []string
}

var changedRules = []changedRule{
	{acceptedCompletion, []any{"roles.dev.write_authority", "review_only"}, []string{"result.artifact"}, true,
		[]string{
			"artifact: a reviewer may change products", "artifact: a reviewer may deliver anything",
			"artifact: plans and reviews are products of a reviewer", "artifact: everyone has a workspace"}},
	{acceptedCompletion, []any{"roles.dev.write_authority", "proposed"}, []string{"result.artifact"}, true, []string{
		"artifact: one who proposes cannot hand over a patch"}},
	{acceptedCompletion, []any{"gates.built.requires_human_approval", true}, []string{"gate.person", "gate"}, false,
		[]string{
			"gate: no person is asked", "gate: a person is asked before everything else"}},
	{acceptedCompletion, []any{"rules.strict_verification", true}, []string{"gate.verification", "gate"}, true,
		[]string{
			"gate: an attested pass is none", "gate: verification is not asked for", "gate: a pass is none"}},
	{acceptedCompletion, []any{"gates.built.requires_files", `["src/a.go"]`}, []string{"gate.file"}, false, []string{
		"gate: files may be missing", "gate: required files are not those of the gate"}},
	{acceptedCompletion, []any{"workflow_kit", kit(`"required":true`)}, []string{"gate.file"}, false, []string{
		"gate: files of the kit are never required", "gate: documents of the kit are not read"}},
	{acceptedCompletion, []any{"workflow_kit",
		`{"phases":{"build":{"artifacts":[{"path":".planning/notes.md","owned_by":"qa"}]}}}`},
		[]string{"gate.ownership", "gate"}, true, []string{
			"gate: nobody owns a document", "gate: an owner never takes part",
			"gate: an owner takes part in any phase"}},
	{acceptedCompletion, []any{"routing.build.exit_gate", "planned"}, []string{"gate.person"}, false, []string{
		"gate: no gate closes"}},
	{acceptedByPM, []any{"rules.challenge_required", true}, []string{"result.protocol"}, true, []string{
		"protocol: a reviewer need not object", "protocol: a reviewer must object whatever the rules say"}},
	{acceptedByPM, []any{"routing.plan.allowed_next_roles", `["pm","qa"]`}, []string{"result.protocol"}, true,
		[]string{
			"protocol: anyone may follow"}},
	{acceptedRepair, []any{"rules.result_repair", "strict"}, []string{"result.assignment"}, true, []string{
		"strict: results are repaired all the same"}},
	{secondAssignment, []any{"routing.build.max_concurrent_turns", 1}, []string{"turns.capacity"}, false, []string{
		"assign: a phase has no limit", "assign: the limit of a phase is not looked at",
		"assign: a phase that is full takes one more",
		"assign: every phase has the highest limit"}},
}

func kit(members string) string {
	return `{"phases":{"build":{"artifacts":[{"path":"docs/b.md",` + members + `}]}}}`
}

func acceptedCompletion(t *testing.T) (*Past, *config.Config) { return recordedAcceptance(t) }

// acceptedByPM returns the result of a reviewer without objections, who proposes dev.
func acceptedByPM(t *testing.T) (*Past, *config.Config) {
	cfg := threeRoles(t, "rules.result_repair", "strict")
	return played(t, cfg, assignedPM, func(w *World) *protocol.Decided {
		turn := w.State.OnlyTurn()
		return w.Accept(turn, w.Result(turn, ojson.NewObject("objections", []any{}, "proposed_next_role", "dev")), nil)
	})
}

// acceptedRepair returns a result that the reference's repairs completed.
func acceptedRepair(t *testing.T) (*Past, *config.Config) {
	return played(t, threeRoles(t), assignedPM, func(w *World) *protocol.Decided {
		turn := w.State.OnlyTurn()
		return w.Accept(turn, w.Result(turn, ojson.NewObject("run_id", "run_of_another")), nil)
	})
}

// secondAssignment assigns a turn of the second phase beside another one.
func secondAssignment(t *testing.T) (*Past, *config.Config) {
	cfg := threeRoles(t, "routing.build.max_concurrent_turns", 2)
	return played(t, cfg, func(w *World) *World {
		for _, e := range []Event{{EventAsk, "pm"}, {Kind: EventApprove}} {
			w, _ = w.Next(e)
		}
		w.Assign("dev")
		return w
	}, func(w *World) *protocol.Decided { return w.Assign("qa") })
}

func assignedPM(w *World) *World {
	w.Assign("pm")
	return w
}

// played returns the last operation of a play, as a record would give it back.
func played(t *testing.T, cfg *config.Config, first func(*World) *World, last func(*World) *protocol.Decided) (*Past,
	*config.Config) {
	t.Helper()
	w, err := NewWorld(cfg)
	if err != nil {
		t.Fatal(err)
	}
	w = first(w)
	before := w.Play
	if f := last(w).Failure(); f != nil {
		t.Fatal(f)
	}
	return &Past{Op: "op", Record: protocol.NewRecord(w.last, w.env),
		Before: &protocol.Snapshot{Config: cfg, State: before.State, Index: before.Index}}, cfg
}

// unswitched says for groups of rows, and for single ones, why no member of a configuration has the effect of the
// mutation. A row of changedRules needs no reason.
var unswitched = map[string]string{
	"schema":        "the form of a result is the protocol's",
	"normalisation": "rules.result_repair takes all repairs together, which a row of changedRules does",
	"overrides":     "what a repair may not touch is the protocol's",
	"strict":        "what strict refuses is one list; rules.result_repair switches all of it",
	"validation":    "how a result is read is the protocol's",
	"verification":  "the form of verification is the protocol's; what a gate asks of it is a row of changedRules",
	"artifact":      "which artifact fits what was changed is the protocol's; the role's authority is a row of changedRules",
	"protocol":      "requests and delegations of a result are held against the phases, which the recorded state stands in",
	"semantics":     "what a document must say is the protocol's; the text of the time is no part of the record",
	"gate":          "requests, order and the words of a refusal are the engine's; what a gate asks for is a row of changedRules",
	"config":        "such a configuration is refused before anything is judged",
	"transition":    "which status follows which is the protocol's",
	"assign":        "status, delegations and counters come from the recorded state",
	"accept":        "what an acceptance writes is the engine's",
	"approve":       "whether something waits comes from the recorded state",
	"resume":        "whether something is blocked comes from the recorded state",
	"init":          "the first state is made anew from the configuration, never judged by it",
	"delegation":    "delegations come from the recorded results and state",
	"hooks":         "what a hook answered is recorded; its process is not run again",
	"adapter":       "the adapter of conformance is not part of a run",
	"ledger":        "what is written down is not decided by the configuration",
	"event":         "what is written down is not decided by the configuration",
	"timeline":      "what is written down is not decided by the configuration",
	"history":       "what is written down is not decided by the configuration",
	"manifest":      "bundles are sealed outside of the engine",
	"sealing":       "bundles are sealed outside of the engine",
	"assignment":    "bundles are written outside of the engine",
	"coordinator":   "initiatives have a configuration of their own",
	"barrier":       "initiatives have a configuration of their own",
	"projection":    "initiatives have a configuration of their own",
	"a changed bundle is refused in every project":                "the look at the bundle is recorded evidence",
	"a bundle that was sealed anew passes for the dispatched one": "the look at the bundle is recorded evidence",
}

// A member of the configuration switches each row of the mutation table here, or a reason says why none does.
func TestEveryRowIsSwitchedOrSaysWhy(t *testing.T) {
	switched, used := make(map[string]bool), make(map[string]bool)
	for _, c := range changedRules {
		for _, r := range c.rows {
			switched[r] = false
		}
	}
	for _, row := range mutated(t) {
		group, _, grouped := strings.Cut(row, ":")
		if grouped {
			group, _, _ = strings.Cut(group, " ") // normalisation N9
		}
		if _, ok := switched[row]; ok {
			switched[row] = true
			continue
		}
		used[group] = true
		if unswitched[group] == "" {
			t.Errorf("the row %q is not among changedRules, and nothing says why", row)
		}
	}
	for row, found := range switched {
		if !found {
			t.Errorf("the table has no row %q", row)
		}
	}
	for group := range unswitched {
		if !used[group] {
			t.Errorf("a reason is for %q, which the table does not have", group)
		}
	}
}

// A rule that a member of the configuration switches shows in what if, where it should.
func TestRowsOfTheMutationTable(t *testing.T) {
	for _, c := range changedRules {
		t.Run(c.rows[0], func(t *testing.T) {
			past, cfg := c.past(t)
			other := withMembers(t, cfg.Raw, c.sets...)
			if same := past.Under(cfg, true); len(same.Differences) > 0 {
				t.Fatalf("the recorded configuration differs in %+v", same.Differences)
			}
			got := past.Under(other, true)
			refuses := slices.ContainsFunc(got.Differences, func(d Difference) bool { return d.Refuses })
			for _, r := range c.rules {
				if !slices.ContainsFunc(got.Differences, func(d Difference) bool { return d.Rule == r }) {
					t.Errorf("%s does not differ, only %+v", r, got.Differences)
				}
			}
			if refuses != c.refuses {
				t.Errorf("refuses %v: %+v", refuses, got.Differences)
			}
		})
	}
}
