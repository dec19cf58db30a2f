// Compares declared changes with observed ones (docs/spec/observation.md#declared-against-observed).

package result

import (
	"fmt"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Codes of the findings of CompareObserved.
const (
	ProblemUndeclaredChange = "undeclared_change"
	ProblemProtectedPath    = "protected_path"
	ProblemPhantomChange    = "declared_change_not_observed"
	ProblemForbiddenChange  = "change_outside_authority"
	ProblemUnclassifiedDirt = "unclassified_dirty_file"
	ProblemLeftoverOutput   = "ignorable_output_left"
)

// ObservedInput is a turn's contract and the work tree it left.
type ObservedInput struct {
	Authority       string // write authority; an unknown one may change review paths only
	TurnID          string
	Declared        []string // EffectiveFiles
	Result          *Result
	Seen            *Observation
	Attribution     Attribution
	Uncheckpointed  []string // files of accepted turns that no checkpoint has committed yet
	HasVerification bool     // the result declares commands or machine evidence
}

// ObservedOutcome is the comparison, which changes nothing in the work tree: undeclared files are refused, never
// cleaned away (docs/compatibility.md#where-we-differ-on-purpose).
type ObservedOutcome struct {
	Effective []string // files_changed as accepted
	Leftover  []string // files declared as ignorable outputs that are still dirty
	Warnings  []string
	Err       *wire.Error
}

// EffectiveFiles returns what a turn claims to have changed: its files_changed and the produced files it declares
// as artifacts, trimmed, each once, without operational paths (docs/spec/lifecycle.md#accepting-a-turn step 3).
func EffectiveFiles(r *Result) []string {
	paths := slices.Clone(r.FilesChanged)
	for _, p := range r.Verification.ProducedFiles {
		if p.Disposition == "artifact" {
			paths = append(paths, p.Path)
		}
	}
	out := []string{}
	seen := make(map[string]bool, len(paths))
	for _, p := range paths {
		if p = wire.Trim(p); p != "" && !seen[p] && !wire.Operational(p) {
			seen[p] = true
			out = append(out, p)
		}
	}
	return out
}

// CompareObserved applies dirty parity and the comparison of declared with
// observed files (docs/spec/observation.md#declared-against-observed).
func CompareObserved(in ObservedInput) ObservedOutcome {
	out := ObservedOutcome{Effective: in.Declared}
	if in.Seen == nil || !in.Seen.Available {
		out.warn("The work tree could not be observed, so the declared files were not checked against it.")
		return out
	}
	ignored := ignoredOutputs(in.Result)
	writes := in.Authority == wire.Authoritative
	if writes || in.Authority == wire.Proposed {
		if out.Err = dirtyParity(in); out.Err != nil {
			return out
		}
	}
	if !writes {
		out.Err = compareReadOnly(in, ignored)
		return out
	}
	out.Err = out.compareWriting(in, ignored)
	if out.Err != nil {
		return out
	}
	for _, p := range in.Seen.Dirty {
		if ignored[p] {
			out.Leftover = append(out.Leftover, p)
		}
	}
	if len(out.Leftover) > 0 {
		out.warn("Files declared as ignorable verification outputs are still in the work tree; remove them or have git ignore them before the next turn: %s.", wire.ListSome(out.Leftover, 5))
	}
	return out
}

func (o *ObservedOutcome) warn(format string, args ...any) {
	o.Warnings = append(o.Warnings, fmt.Sprintf(format, args...))
}

// ignoredOutputs returns the files declared as by-products to be ignored.
func ignoredOutputs(r *Result) map[string]bool {
	set := make(map[string]bool)
	if r != nil {
		for _, p := range r.Verification.ProducedFiles {
			if p.Disposition == "ignore" {
				set[wire.Trim(p.Path)] = true
			}
		}
	}
	return set
}

// unclassifiedDirt returns the dirty project files that nothing accounts for: neither this turn, nor a sibling, nor
// an accepted turn without checkpoint, nor the baseline from which they are unchanged.
func unclassifiedDirt(in ObservedInput) []string {
	known := wire.PathSet(in.Declared, in.Attribution.AcceptedFiles, in.Attribution.Siblings, in.Uncheckpointed,
		in.Seen.UnchangedDirt)
	for _, claim := range in.Attribution.Pending {
		for _, p := range claim.FilesChanged {
			known[p] = true
		}
	}
	ignored := ignoredOutputs(in.Result)
	var out []string
	for _, p := range in.Seen.Dirty {
		if !known[p] && !ignored[p] && wire.ProjectOwned(p) {
			out = append(out, p)
		}
	}
	return out
}

// undeclarable adds to a hint what to do about files that no result can name.
func undeclarable(files []string) string {
	for _, p := range files {
		switch {
		case strings.HasSuffix(p, "/"):
			return fmt.Sprintf("; %s is a git repository of its own, and cannot be declared: remove its .git, or have git ignore it",
				p)
		case wire.Trim(p) != p:
			return fmt.Sprintf("; the name %q begins or ends with a space, and cannot be declared: rename the file", p)
		}
	}
	return ""
}

func dirtyParity(in ObservedInput) *wire.Error {
	files := unclassifiedDirt(in)
	if len(files) == 0 {
		return nil
	}
	e := ObservationError(wire.CodeDirtyTreeMismatch, files)
	if in.HasVerification {
		e.Code = wire.CodeUndeclaredOutputs
		e.Message = fmt.Sprintf("The turn declares verification, but these changed files are not accounted for: %s.",
			wire.ListSome(files, 5))
		e.Hint = `list each under verification.produced_files ("ignore" or "artifact"), or in files_changed when it is part of the work`
	} else {
		e.Message = fmt.Sprintf("The work tree has changes outside the turn's contract: %s.", wire.ListSome(files, 5))
		e.Hint = "declare them in files_changed, or remove them if they are not the turn's"
	}
	if in.Attribution.Unaccepted {
		e.Hint = "if a concurrent turn made them, wait until it has staged its result; otherwise " + e.Hint
	}
	e.Hint += undeclarable(files)
	for _, p := range files {
		e.Problems = append(e.Problems, wire.Problem{
			Code:    ProblemUnclassifiedDirt,
			Field:   "files_changed",
			Value:   p,
			Message: fmt.Sprintf("%s is changed but not declared.", p),
		})
	}
	return e
}

// compareWriting compares for an authoritative role. It drops declared files that have no change in the work tree:
// they would make every checkpoint of the turn fail (docs/compatibility.md#where-we-differ-on-purpose).
func (o *ObservedOutcome) compareWriting(in ObservedInput, ignored map[string]bool) *wire.Error {
	declared, committed := wire.PathSet(in.Declared), wire.PathSet(in.Seen.Committed)
	var undeclared, unowned []string
	for _, p := range in.Attribution.Files {
		switch {
		case declared[p]:
		case committed[p]:
			// A committed file is not a by-product, and no concurrent turn accounts for it.
			unowned = append(unowned, p)
		case !ignored[p]:
			undeclared = append(undeclared, p)
		}
	}
	if len(unowned) > 0 {
		return undeclaredCommits(in, unowned)
	}
	if len(undeclared) > 0 {
		if !in.Attribution.Unaccepted {
			e := ObservationError(wire.CodeArtifactMismatch, undeclared)
			e.Message = fmt.Sprintf("Changed but not declared in files_changed: %s.", wire.ListSome(undeclared, 5))
			e.Hint = "declare the files; if a person changed them, commit or stash them before the turn is assigned" +
				undeclarable(undeclared)
			for _, p := range undeclared {
				e.Problems = append(e.Problems, wire.Problem{
					Code:    ProblemUndeclaredChange,
					Field:   "files_changed",
					Value:   p,
					Message: fmt.Sprintf("%s is changed but not declared.", p),
				})
			}
			return e
		}
		o.warn("Changed but not declared, probably by a concurrent turn: %s.", wire.ListSome(undeclared, 5))
	}
	mine, observed := wire.PathSet(in.Attribution.Files), wire.PathSet(in.Seen.FilesChanged)
	var phantoms []string
	o.Effective = []string{}
	for _, p := range in.Declared {
		if !mine[p] {
			phantoms = append(phantoms, p)
		}
		if observed[p] {
			o.Effective = append(o.Effective, p)
		}
	}
	if len(phantoms) > 0 {
		o.warn("Declared in files_changed but not changed in the work tree: %s.", wire.ListSome(phantoms, 5))
	}
	return nil
}

// undeclaredCommits refuses a turn during which commits changed files that it does not declare. The name of their
// author does not matter.
func undeclaredCommits(in ObservedInput, files []string) *wire.Error {
	e := ObservationError(wire.CodeArtifactMismatch, files)
	e.Message = fmt.Sprintf("Commits made during the turn change files that files_changed does not declare: %s.",
		wire.ListSome(files, 5))
	e.Hint = "declare the files, or take the commits back"
	if in.Attribution.Unaccepted {
		e.Hint = "if a concurrent turn made them, wait until it has staged its result; otherwise " + e.Hint
	}
	for _, p := range files {
		e.Problems = append(e.Problems, wire.Problem{
			Code:    ProblemUndeclaredChange,
			Field:   "files_changed",
			Value:   p,
			Message: fmt.Sprintf("%s is changed by a commit and not declared.", p),
		})
	}
	return e
}

// compareReadOnly compares for a role that may not change the project's files: a reviewer, and also a proposing
// role, whose changes must arrive as a proposal (docs/compatibility.md#where-we-differ-on-purpose).
func compareReadOnly(in ObservedInput, ignored map[string]bool) *wire.Error {
	role := "review_only"
	if in.Authority == wire.Proposed {
		role = wire.Proposed
	}
	var forbidden, leftover []string
	for _, p := range in.Attribution.Files {
		switch {
		case wire.ReviewPath(p) || wire.EvidencePath(p) || wire.Operational(p):
		case ignored[p]:
			leftover = append(leftover, p)
		default:
			forbidden = append(forbidden, p)
		}
	}
	var problems wire.Problems
	for _, p := range forbidden {
		problems = append(problems, wire.Problem{
			Code:    ProblemForbiddenChange,
			Value:   p,
			Message: fmt.Sprintf("A %s role may not change %s.", role, p),
		})
	}
	if in.Authority != wire.Proposed {
		observed := wire.PathSet(in.Attribution.Files)
		for _, p := range in.Declared {
			if !observed[p] {
				problems = append(problems, wire.Problem{
					Code:    ProblemPhantomChange,
					Field:   "files_changed",
					Value:   p,
					Message: fmt.Sprintf("%s is declared as changed but is not.", p),
				})
			}
		}
	}
	if len(problems) > 0 {
		files := make([]string, len(problems))
		for i := range problems {
			files[i] = problems[i].Value
		}
		e := ObservationError(wire.CodeArtifactMismatch, files)
		e.Problems = problems
		if len(forbidden) > 0 {
			e.Message = fmt.Sprintf("The work tree has changes that a %s role may not make: %s.", role,
				wire.ListSome(forbidden, 5))
			e.Hint = "undo them by hand, or give the work to an authoritative role"
			if in.Attribution.Unaccepted {
				e.Hint = "if a concurrent turn made them, accept that turn first; otherwise " + e.Hint
			}
		} else {
			e.Message = fmt.Sprintf("Declared in files_changed but not changed in the work tree: %s.",
				wire.ListSome(files, 5))
			e.Hint = "correct files_changed"
		}
		return e
	}
	if len(leftover) > 0 {
		// An ignorable output is harmless only once it is gone; only a person can distinguish it from a change that
		// the role may not make.
		e := ObservationError(wire.CodeProducedFiles, leftover)
		e.Message = fmt.Sprintf("Files declared as ignorable verification outputs are still in the work tree: %s.",
			wire.ListSome(leftover, 5))
		e.Hint = "remove or restore them, or have git ignore them"
		for _, p := range leftover {
			e.Problems = append(e.Problems, wire.Problem{
				Code:    ProblemLeftoverOutput,
				Field:   "verification.produced_files",
				Value:   p,
				Message: fmt.Sprintf("%s is still changed in the work tree.", p),
			})
		}
		return e
	}
	return nil
}

// ObservationError refuses a result because of files that it did not account for.
func ObservationError(code string, files []string) *wire.Error {
	return &wire.Error{Code: code, Stage: "artifact_observation", Class: "artifact_error", Field: "files_changed",
		Details: ojson.NewObject("files", files)}
}
