// Tests of attribution between concurrent turns (docs/spec/observation.md#concurrent-turns).

package result

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
)

// acceptedRow is a history row; files are path, marker pairs.
func acceptedRow(id, role string, sequence int, concurrent []string, files ...string) *ojson.Object {
	markers := &ojson.Object{}
	var paths []string
	for i := 0; i+1 < len(files); i += 2 {
		paths = append(paths, files[i])
		markers.Set(files[i], files[i+1])
	}
	return ojson.NewObject("turn_id", id, "run_id", "run_1", "role", role, "status", "completed",
		"accepted_sequence", sequence, "concurrent_with", concurrent,
		"observed_artifact", ojson.NewObject("files_changed", paths, "file_markers", markers))
}

func markersOf(pairs ...string) *ojson.Map[string] {
	m := &ojson.Map[string]{}
	for i := 0; i+1 < len(pairs); i += 2 {
		m.Set(pairs[i], pairs[i+1])
	}
	return m
}

func activeOf(turns ...*run.Turn) *ojson.Map[*run.Turn] {
	m := &ojson.Map[*run.Turn]{}
	for _, t := range turns {
		m.Set(t.TurnID, t)
	}
	return m
}

func TestAttribute(t *testing.T) {
	turn := &run.Turn{
		TurnID:           "t1",
		RunID:            "run_1",
		AssignedRole:     "dev",
		AssignedSequence: 2,
		ConcurrentWith:   []string{"s1", "p1"},
	}
	observed := []string{"a", "b", "c", "d", "e"}
	markers := markersOf("a", "m1", "b", "m2", "c", "m3", "d", "m4", "e", "m5")
	foreign := acceptedRow("s1", "qa", 9, nil, "a", "m1")
	foreign.Set("run_id", "run_0")
	reissued := acceptedRow("s1", "qa", 9, nil, "a", "m1")
	reissued.Set("status", "reissued")
	tests := []struct {
		name     string
		rows     []*ojson.Object
		active   *ojson.Map[*run.Turn]
		declared []string
		siblings []SiblingClaim
		want     Attribution
	}{
		{name: "alone", want: Attribution{Files: observed}},
		{
			name: "accepted siblings",
			rows: []*ojson.Object{
				acceptedRow("s1", "qa", 4, nil, "a", "m1", "b", "other"),
				acceptedRow("s2", "ops", 5, []string{"t1"}, "c", "m3"),
				acceptedRow("s3", "ops", 6, nil, "d", "m4"),
				acceptedRow("s1", "qa", 1, nil, "e", "m5"),
			},
			want: Attribution{
				Files:         []string{"b", "d", "e"},
				Siblings:      []string{"a", "c"},
				AcceptedFiles: []string{"a", "b", "c"},
			},
		},
		{name: "another run", rows: []*ojson.Object{foreign}, want: Attribution{Files: observed}},
		{name: "reissued row", rows: []*ojson.Object{reissued}, want: Attribution{Files: observed}},
		{
			name:     "pending sibling",
			active:   activeOf(turn, &run.Turn{TurnID: "p1"}),
			declared: []string{"a"},
			siblings: []SiblingClaim{{"p1", []string{"a", "b"}}},
			want: Attribution{
				Files:      []string{"a", "c", "d", "e"},
				Siblings:   []string{"b"},
				Pending:    []SiblingClaim{{"p1", []string{"a", "b"}}},
				Unaccepted: true,
			},
		},
		{
			name:     "later sibling",
			active:   activeOf(turn, &run.Turn{TurnID: "p2", ConcurrentWith: []string{"t1"}}),
			siblings: []SiblingClaim{{"p2", []string{"c"}}},
			want: Attribution{
				Files:      []string{"a", "b", "d", "e"},
				Siblings:   []string{"c"},
				Pending:    []SiblingClaim{{"p2", []string{"c"}}},
				Unaccepted: true,
			},
		},
		{
			name:     "claim of a turn that is not active",
			active:   activeOf(turn),
			siblings: []SiblingClaim{{"p1", []string{"c"}}},
			want:     Attribution{Files: observed},
		},
		{
			name:     "claim of a stranger",
			active:   activeOf(turn, &run.Turn{TurnID: "x"}),
			siblings: []SiblingClaim{{"x", []string{"c"}}},
			want:     Attribution{Files: observed},
		},
		{
			name:   "sibling without result",
			active: activeOf(turn, &run.Turn{TurnID: "p1"}),
			want:   Attribution{Files: observed, Unaccepted: true},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := Attribute(AttributionInput{
				Turn:     turn,
				Active:   tt.active,
				Rows:     tt.rows,
				Observed: observed,
				Markers:  markers,
				Declared: tt.declared,
				Siblings: tt.siblings,
			})
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAttributeNeedsMarkers(t *testing.T) {
	turn := &run.Turn{TurnID: "t1", ConcurrentWith: []string{"s1"}}
	row := acceptedRow("s1", "qa", 4, nil, "a", "")
	got := Attribute(AttributionInput{
		Turn:     turn,
		Rows:     []*ojson.Object{row, nil, ojson.NewObject("turn_id", 7)},
		Observed: []string{"a"},
	})
	if diff := cmp.Diff([]string{"a"}, got.Files); diff != "" {
		t.Error(diff)
	}
}

// TestAttributeIsPartition: every observed path is attributed exactly once.
func TestAttributeIsPartition(t *testing.T) {
	path := rapid.SampledFrom([]string{"a", "b", "c", "d"})
	marker := rapid.SampledFrom([]string{"", "m1", "m2"})
	rapid.Check(t, func(t *rapid.T) {
		turn := &run.Turn{TurnID: "t1", ConcurrentWith: []string{"s1"}, AssignedSequence: 3}
		in := AttributionInput{
			Turn:     turn,
			Observed: rapid.SliceOfDistinct(path, rapid.ID[string]).Draw(t, "observed"),
			Markers:  &ojson.Map[string]{},
			Declared: rapid.SliceOf(path).Draw(t, "declared"),
			Active:   activeOf(turn, &run.Turn{TurnID: "s1"}),
			Siblings: []SiblingClaim{{"s1", rapid.SliceOf(path).Draw(t, "claimed")}},
		}
		for _, p := range in.Observed {
			in.Markers.Set(p, marker.Draw(t, "marker"))
		}
		for range rapid.IntRange(0, 3).Draw(t, "rows") {
			in.Rows = append(in.Rows, acceptedRow("s1", "qa", rapid.IntRange(0, 9).Draw(t, "sequence"), nil,
				path.Draw(t, "path"), marker.Draw(t, "row marker")))
		}
		got := Attribute(in)
		all := append(slices.Clone(got.Files), got.Siblings...)
		slices.Sort(all)
		want := slices.Sorted(slices.Values(in.Observed))
		if !slices.Equal(all, want) {
			t.Fatalf("observed %q, attributed %q and %q", want, got.Files, got.Siblings)
		}
	})
}
