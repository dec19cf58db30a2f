// Tests of conflict detection (docs/spec/observation.md#conflicts).

package result

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

func conflictConfig(edit func(*config.Config)) *config.Config {
	c := &config.Config{}
	c.Routing.Set("planning", &config.Route{Phase: "planning", EntryRole: "ops"})
	if edit != nil {
		edit(c)
	}
	return c
}

func TestDetectConflict(t *testing.T) {
	turn := &run.Turn{TurnID: "t1", RunID: "run_1", AssignedRole: "ops", Attempt: 2, AssignedSequence: 3}
	row := func(id, role string, sequence int, paths ...string) *ojson.Object {
		var files []string
		for _, p := range paths {
			files = append(files, p, "m")
		}
		return acceptedRow(id, role, sequence, nil, files...)
	}
	tests := []struct {
		name                 string
		edit                 func(*config.Config)
		rows                 []*ojson.Object
		attributed           []string
		declared, observed   []string
		conflict, forwardRev string
	}{
		{name: "no history", attributed: []string{"a"}, conflict: "null", forwardRev: "null"},
		{
			name:       "older turn",
			rows:       []*ojson.Object{row("x", "dev", 3, "a")},
			attributed: []string{"a"},
			conflict:   "null",
			forwardRev: "null",
		},
		{
			name:       "no overlap",
			rows:       []*ojson.Object{row("x", "dev", 4, "b")},
			attributed: []string{"a"},
			conflict:   "null",
			forwardRev: "null",
		},
		{
			name:       "half",
			rows:       []*ojson.Object{row("x", "dev", 4, "a", "q")},
			attributed: []string{"a"},
			declared:   []string{"c", "d"},
			observed:   []string{"a", "c"},
			forwardRev: "null",
			conflict: `{"type":"file_conflict","conflicting_turn":{"turn_id":"t1","role":"ops","attempt":2,"files_changed":["a","c"]},` +
				`"accepted_since":[{"turn_id":"x","role":"dev","accepted_sequence":4,"files_changed":["a"]}],"conflicting_files":["a"],"non_conflicting_files":["c"],` +
				`"forward_revision_files":[],"forward_revision_turns":[],"overlap_ratio":0.5,"suggested_resolution":"human_merge"}`,
		},
		{
			name:       "forward and conflict",
			attributed: []string{".planning/P.md", "src/a", "src/c"},
			forwardRev: `{"files":[".planning/P.md"],"accepted_since_turn_ids":["x","y"],` +
				`"accepted_since":[{"turn_id":"x","role":"ops","accepted_sequence":8,"files_changed":[".planning/P.md"]},{"turn_id":"y","role":"ops","accepted_sequence":9,"files_changed":[".planning/P.md"]}]}`,
			rows: []*ojson.Object{row("x", "ops", 8, ".planning/P.md", "src/a"), row("y", "ops", 9, ".planning/P.md"),
				row("z", "dev", 10, "src/a", "src/a", "q")},
			conflict: `{"type":"file_conflict","conflicting_turn":{"turn_id":"t1","role":"ops","attempt":2,"files_changed":[".planning/P.md","src/a","src/c"]},` +
				`"accepted_since":[{"turn_id":"x","role":"ops","accepted_sequence":8,"files_changed":["src/a"]},{"turn_id":"z","role":"dev","accepted_sequence":10,"files_changed":["src/a"]}],` +
				`"conflicting_files":["src/a"],"non_conflicting_files":["src/c"],"forward_revision_files":[".planning/P.md"],` +
				`"forward_revision_turns":[{"turn_id":"x","role":"ops","accepted_sequence":8,"files_changed":[".planning/P.md"]},{"turn_id":"y","role":"ops","accepted_sequence":9,"files_changed":[".planning/P.md"]}],` +
				`"overlap_ratio":0.3333333333333333,"suggested_resolution":"reject_and_reassign"}`,
		},
		{
			name:       "revised by one, contended by another",
			attributed: []string{".planning/P.md"},
			forwardRev: "null",
			rows:       []*ojson.Object{row("x", "ops", 8, ".planning/P.md"), row("z", "dev", 9, ".planning/P.md")},
			conflict: `{"type":"file_conflict","conflicting_turn":{"turn_id":"t1","role":"ops","attempt":2,"files_changed":[".planning/P.md"]},` +
				`"accepted_since":[{"turn_id":"z","role":"dev","accepted_sequence":9,"files_changed":[".planning/P.md"]}],"conflicting_files":[".planning/P.md"],"non_conflicting_files":[],` +
				`"forward_revision_files":[],"forward_revision_turns":[],"overlap_ratio":1,"suggested_resolution":"human_merge"}`,
		},
		{
			name:       "owned by the kit",
			edit:       func(c *config.Config) { declared(c, "x", config.Artifact{Path: "doc.md", OwnedBy: "ops"}) },
			rows:       []*ojson.Object{row("x", "ops", 8, "doc.md")},
			attributed: []string{"doc.md"},
			conflict:   "null",
			forwardRev: `{"files":["doc.md"],"accepted_since_turn_ids":["x"],"accepted_since":[{"turn_id":"x","role":"ops","accepted_sequence":8,"files_changed":["doc.md"]}]}`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := DetectConflict(ConflictInput{
				Config:     conflictConfig(tt.edit),
				Turn:       turn,
				Rows:       tt.rows,
				Attributed: tt.attributed,
				Declared:   tt.declared,
				Observed:   tt.observed,
			})
			if s := string(ojson.Compact(got.Conflict)); s != tt.conflict {
				t.Errorf("conflict\n got %s\nwant %s", s, tt.conflict)
			}
			if s := string(ojson.Compact(got.ForwardRevision)); s != tt.forwardRev {
				t.Errorf("forward revision\n got %s\nwant %s", s, tt.forwardRev)
			}
		})
	}
}

func TestOwnFile(t *testing.T) {
	owned := conflictConfig(func(c *config.Config) {
		declared(c, "planning", config.Artifact{
			Path:    ".planning/A.md",
			OwnedBy: "dev",
		}, config.Artifact{Path: "shared.md", OwnedBy: "dev"}, config.Artifact{Path: "free.md"})
		declared(c, "qa", config.Artifact{Path: "shared.md", OwnedBy: "ops"})
	})
	for _, tt := range []struct {
		role, path string
		want       bool
	}{
		{"dev", ".planning/A.md", true},
		{"ops", ".planning/A.md", false}, // owned by another role, although ops plans
		{"ops", ".planning/B.md", true},
		{"dev", ".planning/B.md", false},
		{"ops", "src/a", false},
		{"ops", "shared.md", false}, // two owners
		{"ops", "free.md", false},
	} {
		if got := ownFile(owned, tt.role, tt.path); got != tt.want {
			t.Errorf("%s %s: %v", tt.role, tt.path, got)
		}
	}
	if ownFile(&config.Config{}, "ops", ".planning/B.md") {
		t.Error("owned without a planning phase")
	}
}

func TestConflictIgnoresOwnPastAndOtherRuns(t *testing.T) {
	turn := &run.Turn{TurnID: "t2", RunID: "run_1", AssignedRole: "ops", ReissuedFrom: "t1"}
	other := acceptedRow("x", "dev", 5, nil, "a", "m")
	other.Set("run_id", "run_0")
	reissued := acceptedRow("y", "dev", 5, nil, "a", "m")
	reissued.Set("status", "reissued")
	rows := []*ojson.Object{acceptedRow("t1", "dev", 5, nil, "a", "m"), acceptedRow("t2", "dev", 5, nil, "a", "m"),
		other, reissued, ojson.NewObject(), nil}
	if got := DetectConflict(ConflictInput{
		Config:     conflictConfig(nil),
		Turn:       turn,
		Rows:       rows,
		Attributed: []string{"a"},
	}); got.Conflict != nil || got.ForwardRevision != nil {
		t.Errorf("got %+v", got)
	}
}

func TestConflictSummary(t *testing.T) {
	got := DetectConflict(ConflictInput{
		Config:     conflictConfig(nil),
		Turn:       &run.Turn{TurnID: "t", AssignedRole: "ops"},
		Attributed: []string{"a"},
		Rows: []*ojson.Object{acceptedRow("x", "dev", 5, nil, "a", "m"),
			acceptedRow("y", "dev", 6, nil, "a", "m")},
	})
	if s, want := string(ojson.Compact(ConflictSummary(got.Conflict))),
		`{"conflicting_files":["a"],"accepted_since_turn_ids":["x","y"],"overlap_ratio":1}`; s != want {
		t.Errorf("got %s", s)
	}
	if s, want := string(ojson.Compact(ConflictSummary(nil))),
		`{"conflicting_files":[],"accepted_since_turn_ids":[],"overlap_ratio":0}`; s != want {
		t.Errorf("got %s", s)
	}
}

// TestConflictProperties: every candidate is in exactly one of the three lists,
// and the ratio is the share of the first.
func TestConflictProperties(t *testing.T) {
	path := rapid.SampledFrom([]string{"a", "b", ".planning/x", ".planning/y"})
	rapid.Check(t, func(t *rapid.T) {
		in := ConflictInput{
			Config:     conflictConfig(nil),
			Turn:       &run.Turn{TurnID: "t", AssignedRole: "ops", AssignedSequence: 2},
			Attributed: rapid.SliceOf(path).Draw(t, "attributed"),
			Declared:   rapid.SliceOf(path).Draw(t, "declared"),
			Observed:   rapid.SliceOf(path).Draw(t, "observed"),
		}
		for i := range rapid.IntRange(0, 4).Draw(t, "rows") {
			in.Rows = append(in.Rows,
				acceptedRow(string(rune('A'+i)), rapid.SampledFrom([]string{"ops", "dev"}).Draw(t, "role"), i+1, nil,
					path.Draw(t, "p"), "m", path.Draw(t, "p"), "m"))
		}
		got := DetectConflict(in)
		if got.Conflict == nil {
			return
		}
		c := got.Conflict
		candidates := c.Object("conflicting_turn").Strings("files_changed")
		all := slices.Concat(c.Strings("conflicting_files"), c.Strings("non_conflicting_files"),
			c.Strings("forward_revision_files"))
		wire.SortPaths(all)
		if !slices.Equal(all, candidates) {
			t.Fatalf("candidates %q, lists %q", candidates, all)
		}
		ratio, _ := c.Float("overlap_ratio")
		if want := float64(len(c.Strings("conflicting_files"))) / float64(len(candidates)); ratio != want ||
			ratio <= 0 || ratio > 1 {
			t.Fatalf("ratio %v, want %v", ratio, want)
		}
		if (c.String("suggested_resolution") == SuggestReassign) != (ratio < 0.5) {
			t.Fatalf("suggestion %s at %v", c.String("suggested_resolution"), ratio)
		}
	})
}

func declared(c *config.Config, phase string, artifacts ...config.Artifact) {
	c.WorkflowKit.Phases.Set(phase, artifacts)
}
