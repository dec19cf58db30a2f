// Files that an acceptance derives for actors that cannot write files: the review of an API role and the proposal
// of an API author (docs/spec/observation.md#derived-reviews-and-proposals).

package protocol

import (
	"fmt"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/result"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// files derives review and proposal files and points the entry's artifact at
// them. The work tree is not touched.
func (a *acceptance) files(entry *ojson.Object) {
	switch {
	case !a.apiRuntime():
	case a.res.Artifact.Type == "review":
		a.deriveReview(entry)
	case a.proposes():
		a.deriveProposal(entry)
	}
}

func (a *acceptance) apiRuntime() bool {
	rt := a.runtimeType()
	return rt == "api_proxy" || rt == "remote_agent"
}

func (a *acceptance) proposes() bool {
	return a.apiRuntime() && a.res.Artifact.Type == "patch" && len(a.res.ProposedChanges) > 0
}

// checkProposal refuses a proposal that cannot be kept as files: a change named like the proposal's own records
// could pose as its approval, and two changes cannot share a path.
func (a *acceptance) checkProposal(*ojson.Object) *wire.Error {
	if !a.proposes() {
		return nil
	}
	var problems wire.Problems
	seen, written := make(map[string]bool), make(map[string]bool)
	for i, p := range a.res.ProposedChanges {
		at := fmt.Sprintf("proposed_changes[%d].path", i)
		top, _, _ := strings.Cut(p.Path, "/")
		switch strings.ToUpper(top) {
		case "PROPOSAL.MD", "SOURCE_SNAPSHOT.JSON", "APPLIED.JSON", "REJECTED.JSON":
			problems = append(problems, wire.Problem{Code: result.ProblemProposedChange, Field: at, Value: p.Path,
				Message: fmt.Sprintf("%s: %s is a name the proposal itself uses", at, wire.Shown(p.Path))})
		}
		if seen[p.Path] {
			problems = append(problems, wire.Problem{Code: result.ProblemProposedChange, Field: at, Value: p.Path,
				Message: fmt.Sprintf("%s: %s is proposed twice", at, wire.Shown(p.Path))})
		}
		seen[p.Path] = true
		if p.Action != "delete" {
			written[p.Path] = true
		}
	}
	for i, p := range a.res.ProposedChanges {
		for dir := parentDir(p.Path); dir != "" && written[p.Path]; dir = parentDir(dir) {
			if written[dir] {
				at := fmt.Sprintf("proposed_changes[%d].path", i)
				problems = append(problems, wire.Problem{
					Code:  result.ProblemProposedChange,
					Field: at,
					Value: p.Path,
					Message: fmt.Sprintf("%s: %s lies below %s, which is proposed as a file", at, wire.Shown(p.Path),
						wire.Shown(dir)),
				})
				break
			}
		}
	}
	if len(problems) == 0 {
		return nil
	}
	a.v = &result.Validation{
		Stage:    result.StageArtifact,
		Class:    "artifact_error",
		Errors:   problems,
		Warnings: []string{},
	}
	return &wire.Error{
		Code:     wire.CodeValidationFailed,
		Stage:    result.StageArtifact,
		Class:    "artifact_error",
		Field:    problems[0].Field,
		Problems: problems,
		Message:  fmt.Sprintf("The result of turn %s fails the artifact stage: %s", a.turn.TurnID, problems.Join()),
	}
}

func parentDir(path string) string {
	i := strings.LastIndexByte(path, '/')
	if i < 0 {
		return ""
	}
	return path[:i]
}

func setArtifactRef(entry *ojson.Object, ref string) {
	art := entry.Object("artifact").Clone()
	if art == nil {
		return
	}
	art.Set("ref", ref)
	entry.Set("artifact", art)
}

func (a *acceptance) deriveReview(entry *ojson.Object) {
	path := fmt.Sprintf("%s/%s-%s-review.md", wire.ReviewsDir, a.turn.TurnID, a.turn.AssignedRole)
	// A name that the actor chose is kept when it contains the turn's name: the reviews of earlier turns are
	// evidence and are never overwritten.
	if clean, problem := wire.CleanPath(a.res.Artifact.Ref); problem == "" &&
		strings.HasPrefix(clean, wire.ReviewsDir+"/"+a.turn.TurnID+"-") {
		path = clean
	}
	var b strings.Builder
	fmt.Fprintf(&b,
		"# Review Artifact — %s\n\n- **Run:** %s\n- **Turn:** %s\n- **Phase:** %s\n- **Status:** %s\n- **Proposed next role:** %s\n\n## Summary\n\n%s\n",
		a.turn.AssignedRole, a.t.State.Run(), a.turn.TurnID, a.t.State.Phase, a.res.Status,
		wire.OneLine(a.res.ProposedNextRole), wire.OneLine(a.res.Summary))
	b.WriteString("\n## Decisions\n\n")
	for _, d := range a.res.Decisions {
		fmt.Fprintf(&b, "- **%s** (%s): %s\n", d.ID, d.Category, wire.OneLine(d.Statement))
	}
	b.WriteString("\n## Objections\n\n")
	for _, o := range a.res.Objections {
		fmt.Fprintf(&b, "- **%s** (%s): %s\n", o.ID, o.Severity, wire.OneLine(o.Statement))
	}
	fmt.Fprintf(&b, "\n## Verification\n\n- **Status:** %s\n", a.res.Verification.Status)
	if a.res.Verification.EvidenceSummary != "" {
		fmt.Fprintf(&b, "- %s\n", wire.OneLine(a.res.Verification.EvidenceSummary))
	}
	a.t.Write(path, []byte(b.String()))
	setArtifactRef(entry, path)
}

func (a *acceptance) deriveProposal(entry *ojson.Object) {
	dir := wire.ProposedDir + "/" + a.turn.TurnID
	var b strings.Builder
	summary := wire.OneLine(a.res.Summary)
	if summary == "" {
		summary = "(no summary)"
	}
	fmt.Fprintf(&b,
		"# Proposed Changes — %s\n\n**Role:** %s\n**Runtime:** %s\n**Status:** %s\n\n## Summary\n\n%s\n\n## Files\n\n",
		a.turn.TurnID, a.turn.AssignedRole, a.turn.RuntimeID, a.res.Status, summary)
	var rows []*ojson.Object
	for _, p := range a.res.ProposedChanges {
		fmt.Fprintf(&b, "- `%s` — %s\n", p.Path, p.Action)
		row := ojson.NewObject("path", p.Path, "action", p.Action, "existed", false, "sha256", nil)
		for _, f := range a.op.Proposed {
			if f.Path == p.Path && f.Blob != nil {
				row.Set("existed", true)
				row.Set("sha256", wire.Digest(f.Blob.Data))
			}
		}
		rows = append(rows, row)
		if p.Action != "delete" {
			a.t.Write(dir+"/"+p.Path, []byte(p.Content))
		}
	}
	if len(a.res.Decisions) > 0 {
		b.WriteString("\n## Decisions\n\n")
		for _, d := range a.res.Decisions {
			fmt.Fprintf(&b, "- **%s** (%s): %s\n", d.ID, d.Category, wire.OneLine(d.Statement))
		}
	}
	a.t.Write(dir+"/PROPOSAL.md", []byte(b.String()))
	a.t.Write(dir+"/SOURCE_SNAPSHOT.json",
		ojson.Pretty(ojson.NewObject("captured_at", a.t.Env.Time(), "files", rows)))
	setArtifactRef(entry, dir)
}
