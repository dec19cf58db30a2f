// Files an acceptance derives for actors that cannot write any: the review of an
// API role and the proposal of an API author (spec/02 §19).

package protocol

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// files derives review and proposal files and points the entry's artifact at
// them. The work tree is not touched.
func (a *acceptance) files(entry *ojson.Object) {
	rt := a.runtimeType()
	if rt != "api_proxy" && rt != "remote_agent" {
		return
	}
	switch {
	case a.res.Artifact.Type == "review":
		a.deriveReview(entry)
	case a.res.Artifact.Type == "patch" && len(a.res.ProposedChanges) > 0:
		a.deriveProposal(entry)
	}
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
	path := fmt.Sprintf("%s/%s-%s-review.md", ReviewsDir, a.turn.TurnID, a.turn.AssignedRole)
	if ref := a.res.Artifact.Ref; hasPrefix(ref, ReviewsDir+"/") {
		if clean, problem := CleanPath(ref); problem == "" && hasPrefix(clean, ReviewsDir+"/") {
			path = clean
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# Review Artifact — %s\n\n- **Run:** %s\n- **Turn:** %s\n- **Phase:** %s\n- **Status:** %s\n- **Proposed next role:** %s\n\n## Summary\n\n%s\n",
		a.turn.AssignedRole, a.t.s.Run(), a.turn.TurnID, a.t.s.Phase, a.res.Status, oneLine(a.res.ProposedNextRole), oneLine(a.res.Summary))
	b.WriteString("\n## Decisions\n\n")
	for _, d := range a.res.Decisions {
		fmt.Fprintf(&b, "- **%s** (%s): %s\n", d.ID, d.Category, oneLine(d.Statement))
	}
	b.WriteString("\n## Objections\n\n")
	for _, o := range a.res.Objections {
		fmt.Fprintf(&b, "- **%s** (%s): %s\n", o.ID, o.Severity, oneLine(o.Statement))
	}
	fmt.Fprintf(&b, "\n## Verification\n\n- **Status:** %s\n", a.res.Verification.Status)
	if a.res.Verification.EvidenceSummary != "" {
		fmt.Fprintf(&b, "- %s\n", oneLine(a.res.Verification.EvidenceSummary))
	}
	a.t.files = append(a.t.files, FileWrite{path, []byte(b.String())})
	setArtifactRef(entry, path)
}

func (a *acceptance) deriveProposal(entry *ojson.Object) {
	dir := ProposedDir + "/" + a.turn.TurnID
	var b strings.Builder
	summary := oneLine(a.res.Summary)
	if summary == "" {
		summary = "(no summary)"
	}
	fmt.Fprintf(&b, "# Proposed Changes — %s\n\n**Role:** %s\n**Runtime:** %s\n**Status:** %s\n\n## Summary\n\n%s\n\n## Files\n\n",
		a.turn.TurnID, a.turn.AssignedRole, a.turn.RuntimeID, a.res.Status, summary)
	var rows []*ojson.Object
	for _, p := range a.res.ProposedChanges {
		fmt.Fprintf(&b, "- `%s` — %s\n", p.Path, p.Action)
		row := ojson.NewObject("path", p.Path, "action", p.Action, "existed", false, "sha256", nil)
		for _, f := range a.op.Proposed {
			if f.Path == p.Path && f.Blob != nil {
				sum := sha256.Sum256(f.Blob.Data)
				row.Set("existed", true)
				row.Set("sha256", "sha256:"+hex.EncodeToString(sum[:]))
			}
		}
		rows = append(rows, row)
		if p.Action != "delete" {
			a.t.files = append(a.t.files, FileWrite{dir + "/" + p.Path, []byte(p.Content)})
		}
	}
	if len(a.res.Decisions) > 0 {
		b.WriteString("\n## Decisions\n\n")
		for _, d := range a.res.Decisions {
			fmt.Fprintf(&b, "- **%s** (%s): %s\n", d.ID, d.Category, oneLine(d.Statement))
		}
	}
	a.t.files = append(a.t.files, FileWrite{dir + "/PROPOSAL.md", []byte(b.String())},
		FileWrite{dir + "/SOURCE_SNAPSHOT.json", ojson.Pretty(ojson.NewObject("captured_at", a.t.env.Time(), "files", rows))})
	setArtifactRef(entry, dir)
}
