// The Knowledge Block of an accepted run (docs/alx.md#knowledge-blocks).

package derive

import (
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/interop/alx"
	"github.com/git-agentxchain/git-agentxchain/interop/alx/kb"
)

// Block sums up the accepted turns of a run, nil when none was accepted. Its artifacts are files as
// the last turn that changed them left them, by the digests that the history recorded; a file that
// was later deleted is not one. Its sources are the accepted turns, each with the digest of its
// history entry (RFC 8785).
func Block(o *Origin, f *Facts) (*alx.KnowledgeBlock, error) {
	turns := f.accepted()
	if len(turns) == 0 {
		return nil, nil
	}
	b := &alx.KnowledgeBlock{Kind: alx.BlockKindRun, KBID: f.Run, Intent: o.Intent, Summary: lastSummary(f),
		Decisions: []alx.BlockDecision{}, Artifacts: []alx.BlockArtifact{}, Sources: []alx.BlockSource{}}
	files := make(map[string]string)
	for _, row := range turns {
		turn, role := row.String("turn_id"), row.String("role")
		for _, d := range row.Objects("decisions") {
			b.Decisions = append(b.Decisions, alx.BlockDecision{
				ID:        d.String("id"),
				TurnID:    turn,
				Role:      role,
				Category:  d.String("category"),
				Statement: d.String("statement"),
				Rationale: d.String("rationale"),
			})
		}
		markers := row.Object("observed_artifact").Object("file_markers")
		for path := range markers.All() {
			digest, ok := strings.CutPrefix(markers.String(path), "sha256:")
			if !ok {
				delete(files, path)
				continue
			}
			files[path] = digest
		}
		sum, err := kb.Digest(settled(row))
		if err != nil {
			return nil, err
		}
		b.Sources = append(b.Sources, alx.BlockSource{TurnID: turn, SHA256: sum})
	}
	for path, digest := range files {
		b.Artifacts = append(b.Artifacts, alx.BlockArtifact{Path: path, SHA256: digest})
	}
	slices.SortFunc(b.Artifacts, func(x, y alx.BlockArtifact) int { return strings.Compare(x.Path, y.Path) })
	b.Verification = alx.BlockVerification{Status: "none", Turns: len(turns), Verified: verified(turns)}
	switch b.Verification.Verified {
	case 0:
	case len(turns):
		b.Verification.Status = "pass"
	default:
		b.Verification.Status = "partial"
	}
	return b, kb.Seal(b)
}

// settled returns a history entry without what is added to it after the acceptance: a checkpoint
// must not give the run another identity.
func settled(row *ojson.Object) *ojson.Object {
	if !row.Has("checkpoint_sha") && !row.Has("checkpointed_at") {
		return row
	}
	row = row.Clone()
	row.Delete("checkpoint_sha")
	row.Delete("checkpointed_at")
	return row
}
