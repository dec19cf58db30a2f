// Tests of declared versus observed changes (docs/spec/observation.md#declared-against-observed).

package result

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

func resultOf(files []string, produced ...ProducedFile) *Result {
	return &Result{FilesChanged: files, Verification: Verification{ProducedFiles: produced}}
}

func TestEffectiveFiles(t *testing.T) {
	r := resultOf([]string{" a ", "b", "a", "", "TALK.md", ".agentxchain/staging/x"},
		ProducedFile{
			Path:        "out.bin ",
			Disposition: "artifact",
		}, ProducedFile{Path: "b", Disposition: "artifact"}, ProducedFile{Path: "cov", Disposition: "ignore"})
	if diff := cmp.Diff([]string{"a", "b", "out.bin"}, EffectiveFiles(r)); diff != "" {
		t.Error(diff)
	}
	if got := EffectiveFiles(resultOf(nil)); got == nil || len(got) != 0 {
		t.Errorf("got %#v", got)
	}
}

func TestCompareObserved(t *testing.T) {
	ignore := func(paths ...string) *Result {
		var produced []ProducedFile
		for _, p := range paths {
			produced = append(produced, ProducedFile{Path: p, Disposition: "ignore"})
		}
		return resultOf(nil, produced...)
	}
	tests := []struct {
		name      string
		authority string
		declared  []string
		result    *Result
		seen      Observation
		attr      *Attribution // nil: everything observed is the turn's
		unchecked []string
		verified  bool
		code      string
		problem   string
		files     []string // values of the problems
		effective []string
		leftover  []string
		warnings  int
	}{
		{
			name:      "not observed",
			authority: wire.Authoritative,
			declared:  []string{"a"},
			seen:      Observation{},
			effective: []string{"a"},
			warnings:  1,
		},
		{
			name:      "as declared",
			authority: wire.Authoritative,
			declared:  []string{"a"},
			seen:      Observation{FilesChanged: []string{"a"}, Dirty: []string{"a"}},
			effective: []string{"a"},
		},
		{
			name:      "dirty and undeclared",
			authority: wire.Authoritative,
			declared:  []string{"a"},
			seen:      Observation{FilesChanged: []string{"a", "b"}, Dirty: []string{"a", "b"}},
			code:      wire.CodeDirtyTreeMismatch,
			problem:   ProblemUnclassifiedDirt,
			files:     []string{"b"},
		},
		{
			name:      "dirty, undeclared, verification declared",
			authority: wire.Authoritative,
			declared:  []string{"a"},
			seen:      Observation{FilesChanged: []string{"a", "b"}, Dirty: []string{"a", "b"}},
			verified:  true,
			code:      wire.CodeUndeclaredOutputs,
			problem:   ProblemUnclassifiedDirt,
			files:     []string{"b"},
		},
		{
			name:      "committed and undeclared",
			authority: wire.Authoritative,
			declared:  []string{"a"},
			seen:      Observation{FilesChanged: []string{"a", "b"}, Dirty: []string{"a"}},
			code:      wire.CodeArtifactMismatch,
			problem:   ProblemUndeclaredChange,
			files:     []string{"b"},
		},
		{
			name:      "exempt dirt",
			authority: wire.Authoritative,
			declared:  []string{"a"},
			seen: Observation{
				FilesChanged: []string{"a"},
				Dirty:        []string{"a", "TALK.md", ".agentxchain/reviews/x.md"},
			},
			effective: []string{"a"},
		},
		{
			name:      "baseline dirt",
			authority: wire.Authoritative,
			declared:  []string{"a"},
			seen: Observation{
				FilesChanged:  []string{"a"},
				Dirty:         []string{"a", "old"},
				UnchangedDirt: []string{"old"},
			},
			effective: []string{"a"},
		},
		{
			name:      "earlier turn not checkpointed",
			authority: wire.Authoritative,
			declared:  []string{"a"},
			seen:      Observation{FilesChanged: []string{"a"}, Dirty: []string{"a", "old"}},
			unchecked: []string{"old"},
			effective: []string{"a"},
		},
		{
			name:      "accepted sibling",
			authority: wire.Authoritative,
			declared:  []string{"a"},
			seen:      Observation{FilesChanged: []string{"a", "s"}, Dirty: []string{"a", "s"}},
			attr: &Attribution{
				Files:         []string{"a"},
				Siblings:      []string{"s"},
				AcceptedFiles: []string{"s"},
			},
			effective: []string{"a"},
		},
		{
			name:      "pending sibling",
			authority: wire.Authoritative,
			declared:  []string{"a"},
			seen:      Observation{FilesChanged: []string{"a", "s"}, Dirty: []string{"a", "s", "t"}},
			attr: &Attribution{
				Files:      []string{"a"},
				Siblings:   []string{"s"},
				Pending:    []SiblingClaim{{"p", []string{"s", "t"}}},
				Unaccepted: true,
			},
			effective: []string{"a"},
		},
		{
			name:      "undeclared beside a sibling at work",
			authority: wire.Authoritative,
			declared:  []string{"a"},
			seen:      Observation{FilesChanged: []string{"a", "s"}, Dirty: []string{"a"}},
			attr:      &Attribution{Files: []string{"a", "s"}, Unaccepted: true},
			effective: []string{"a"},
			warnings:  1,
		},
		{
			name:      "phantom",
			authority: wire.Authoritative,
			declared:  []string{"a", "ghost"},
			seen:      Observation{FilesChanged: []string{"a"}, Dirty: []string{"a"}},
			effective: []string{"a"},
			warnings:  1,
		},
		{
			name:      "declared and left to a sibling",
			authority: wire.Authoritative,
			declared:  []string{"a", "s"},
			seen:      Observation{FilesChanged: []string{"a", "s"}, Dirty: []string{"a", "s"}},
			attr: &Attribution{
				Files:    []string{"a"},
				Siblings: []string{"s"},
			},
			effective: []string{"a", "s"},
			warnings:  1,
		},
		{
			name:      "ignorable output",
			authority: wire.Authoritative,
			declared:  []string{"a"},
			result:    ignore("cov"),
			seen:      Observation{FilesChanged: []string{"a", "cov"}, Dirty: []string{"a", "cov"}},
			verified:  true,
			effective: []string{"a"},
			leftover:  []string{"cov"},
			warnings:  1,
		},

		{
			name:      "reviewer",
			authority: wire.ReviewOnly,
			declared:  []string{".planning/r.md"},
			seen:      Observation{FilesChanged: []string{".planning/r.md", ".agentxchain/reviews/x"}},
			effective: []string{".planning/r.md"},
		},
		{
			name:      "reviewer changes code",
			authority: wire.ReviewOnly,
			seen:      Observation{FilesChanged: []string{"src/a", ".planning/r.md"}},
			code:      wire.CodeArtifactMismatch,
			problem:   ProblemForbiddenChange,
			files:     []string{"src/a"},
		},
		{
			name:      "reviewer declares nothing real",
			authority: wire.ReviewOnly,
			declared:  []string{".planning/r.md"},
			seen:      Observation{},
			code:      wire.CodeArtifactMismatch,
			problem:   ProblemPhantomChange,
			files:     []string{".planning/r.md"},
		},
		{
			name:      "reviewer's dirt of others is not looked at",
			authority: wire.ReviewOnly,
			seen:      Observation{Dirty: []string{"src/a"}},
		},
		{
			name:      "reviewer calls code an output",
			authority: wire.ReviewOnly,
			result:    ignore("src/a"),
			seen:      Observation{FilesChanged: []string{"src/a"}},
			code:      wire.CodeProducedFiles,
			problem:   ProblemLeftoverOutput,
			files:     []string{"src/a"},
		},

		{
			name:      "proposal",
			authority: wire.Proposed,
			declared:  []string{"src/a"},
			seen:      Observation{FilesChanged: []string{".agentxchain/proposed/t/PROPOSAL.md"}},
			effective: []string{"src/a"},
		},
		{
			name:      "proposer commits code",
			authority: wire.Proposed,
			declared:  []string{"src/a"},
			seen:      Observation{FilesChanged: []string{"src/a"}},
			code:      wire.CodeArtifactMismatch,
			problem:   ProblemForbiddenChange,
			files:     []string{"src/a"},
		},
		{
			name:      "proposer leaves dirt",
			authority: wire.Proposed,
			seen:      Observation{FilesChanged: []string{"src/a"}, Dirty: []string{"src/a"}},
			code:      wire.CodeDirtyTreeMismatch,
			problem:   ProblemUnclassifiedDirt,
			files:     []string{"src/a"},
		},
		{
			name:      "proposer plans",
			authority: wire.Proposed,
			declared:  []string{".planning/p.md"},
			seen:      Observation{FilesChanged: []string{".planning/p.md"}, Dirty: []string{".planning/p.md"}},
			effective: []string{".planning/p.md"},
		},
		{
			name:      "unknown authority",
			authority: "",
			declared:  []string{"src/a"},
			seen:      Observation{FilesChanged: []string{"src/a"}},
			code:      wire.CodeArtifactMismatch,
			problem:   ProblemForbiddenChange,
			files:     []string{"src/a"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.seen.Available = tt.name != "not observed"
			attr := Attribution{Files: tt.seen.FilesChanged}
			if tt.attr != nil {
				attr = *tt.attr
			}
			if tt.result == nil {
				tt.result = resultOf(nil)
			}
			got := CompareObserved(ObservedInput{
				Authority:       tt.authority,
				TurnID:          "t",
				Declared:        tt.declared,
				Result:          tt.result,
				Seen:            &tt.seen,
				Attribution:     attr,
				Uncheckpointed:  tt.unchecked,
				HasVerification: tt.verified,
			})
			if tt.code != "" {
				if got.Err == nil || got.Err.Code != tt.code {
					t.Fatalf("got %+v, want %s", got.Err, tt.code)
				}
				if got.Err.Stage != "artifact_observation" || got.Err.Class != "artifact_error" ||
					got.Err.Message == "" || got.Err.Hint == "" {
					t.Errorf("incomplete error %+v", got.Err)
				}
				var files []string
				for _, p := range got.Err.Problems {
					files = append(files, p.Value)
					if p.Code != tt.problem {
						t.Errorf("problem %+v", p)
					}
				}
				if diff := cmp.Diff(tt.files, files); diff != "" {
					t.Error(diff)
				}
				return
			}
			if got.Err != nil {
				t.Fatal(got.Err)
			}
			if !slices.Equal(tt.effective, got.Effective) || !slices.Equal(tt.leftover, got.Leftover) ||
				len(got.Warnings) != tt.warnings {
				t.Errorf("effective %q, leftover %q, warnings %q", got.Effective, got.Leftover, got.Warnings)
			}
		})
	}
}

func TestCompareObservedWithoutObservation(t *testing.T) {
	got := CompareObserved(ObservedInput{Authority: wire.Authoritative, Declared: []string{"a"}})
	if got.Err != nil || len(got.Warnings) != 1 || !slices.Equal(got.Effective, []string{"a"}) {
		t.Errorf("got %+v", got)
	}
}

func TestReadOnlyPhantomAndForbiddenTogether(t *testing.T) {
	got := CompareObserved(ObservedInput{
		Authority:   wire.ReviewOnly,
		Declared:    []string{".planning/x"},
		Result:      resultOf(nil),
		Seen:        &Observation{Available: true},
		Attribution: Attribution{Files: []string{"src/a"}, Unaccepted: true},
	})
	if got.Err == nil || len(got.Err.Problems) != 2 || got.Err.Problems[0].Code != ProblemForbiddenChange ||
		got.Err.Problems[1].Code != ProblemPhantomChange {
		t.Errorf("got %+v", got.Err)
	}
}

// TestAcceptedMeansAccountedFor: when a writing turn is accepted alone, each dirty project file is declared,
// ignorable, another's or old, and every effective file was seen changed.
func TestAcceptedMeansAccountedFor(t *testing.T) {
	path := rapid.SampledFrom([]string{"a", "b", "c", ".planning/p", "TALK.md"})
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) []string { return rapid.SliceOfDistinct(path, rapid.ID[string]).Draw(t, name) }
		seen := Observation{
			Available:     true,
			FilesChanged:  draw("observed"),
			Dirty:         draw("dirty"),
			UnchangedDirt: draw("unchanged"),
		}
		declared, ignored, unchecked := draw("declared"), draw("ignored"), draw("unchecked")
		r := resultOf(declared)
		for _, p := range ignored {
			r.Verification.ProducedFiles = append(r.Verification.ProducedFiles, ProducedFile{
				Path:        p,
				Disposition: "ignore",
			})
		}
		in := ObservedInput{
			Authority: rapid.SampledFrom([]string{wire.Authoritative, wire.Proposed, wire.ReviewOnly, ""}).Draw(
				t, "authority"),
			Declared:        declared,
			Result:          r,
			Seen:            &seen,
			Attribution:     Attribution{Files: seen.FilesChanged},
			Uncheckpointed:  unchecked,
			HasVerification: rapid.Bool().Draw(t, "verified"),
		}
		got := CompareObserved(in)
		if got.Err != nil {
			return
		}
		if in.Authority != wire.Authoritative {
			for _, p := range seen.FilesChanged {
				if !wire.ReviewPath(p) && !wire.Operational(p) {
					t.Fatalf("%q changed %s", in.Authority, p)
				}
			}
			return
		}
		known := wire.PathSet(declared, ignored, unchecked, seen.UnchangedDirt)
		for _, p := range seen.Dirty {
			if wire.ProjectOwned(p) && !known[p] {
				t.Fatalf("%s is dirty and nobody's", p)
			}
		}
		for _, p := range got.Effective {
			if !slices.Contains(seen.FilesChanged, p) {
				t.Fatalf("%s is effective but not changed", p)
			}
		}
	})
}
