// Gate documents: which were touched since the phase began, and whose sign-off they have
// (docs/spec/gates.md#sign-off-documents, docs/spec/gates.md#fresh-documents).

package protocol

import (
	"fmt"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/change"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/gates"
	"github.com/git-agentxchain/git-agentxchain/protocol/result"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Sign returns the documents of the gate with a yes on every sign-off line that had none. A person's approval is
// evaluated on these documents and leaves them in the work tree. changed names the documents that differ from the
// input.
//
// Errors: gate_failed when a document cannot be signed.
func Sign(cfg *config.Config, files []evidence.FileBlob) (signed []evidence.FileBlob, changed []string,
	refusal *wire.Error) {
	if !cfg.PersonSigns() {
		return files, nil, nil
	}
	signed = slices.Clone(files)
	for i, f := range files {
		if f.Blob == nil {
			continue
		}
		for _, kind := range gates.Signoffs(cfg, f.Path) {
			if gates.Affirmative(kind, signed[i].Blob.Data) {
				continue
			}
			data := gates.SignDocument(kind, signed[i].Blob.Data)
			if data == nil {
				return nil, nil, &wire.Error{
					Code:  wire.CodeGateFailed,
					Field: f.Path,
					Message: f.Path +
						" cannot be signed: it is not UTF-8 text, or its sign-off line cannot be written.",
					Hint: "correct the document, then: git agentxchain approve",
				}
			}
			signed[i].Blob = evidence.NewBlob(data)
		}
		if signed[i].Blob.Digest != f.Blob.Digest {
			changed = append(changed, f.Path)
		}
	}
	return signed, changed, nil
}

// markDocuments records the gate documents that were found. atTurn updates their sign-offs as of the start of a
// turn, atPhase their contents as of the start of a phase.
func markDocuments(t *change.Draft, facts []gates.DocumentFact, atTurn, atPhase bool) {
	if t.Config.Authority == nil {
		return
	}
	for _, f := range facts {
		was, known := t.State.GateDocuments.Get(f.Path)
		m := run.DocumentMark{
			Run:    f.Digest,
			Phase:  f.Digest,
			Signed: f.Signed,
		}
		if known {
			m = *was
			if atTurn {
				m.Signed = f.Signed
			}
			if atPhase {
				m.Phase = f.Digest
			}
		}
		t.State.GateDocuments.Set(f.Path, &m)
	}
}

// DocumentMarks returns what a gate evaluation compares documents with; nil where the configuration does not ask
// for it.
func DocumentMarks(cfg *config.Config, s *run.State) *ojson.Map[*run.DocumentMark] {
	if cfg.Authority == nil {
		return nil
	}
	return &s.GateDocuments
}

// CodeSignoffByAgent means that a turn wrote a sign-off that only a person may give.
const CodeSignoffByAgent = "signoff_by_agent"

// checkSignoffs refuses a result whose turn signed for a person, or removed a person's sign-off
// (docs/spec/gates.md#sign-off-documents).
func (a *acceptance) checkSignoffs(*ojson.Object) *wire.Error {
	cfg := a.t.Config
	if !cfg.PersonSigns() {
		return nil
	}
	found := make(map[string]gates.DocumentFact, len(a.op.Documents))
	for _, f := range a.op.Documents {
		found[f.Path] = f
	}
	var written []string
	for _, p := range gates.Documents(cfg) {
		if len(gates.Signoffs(cfg, p)) == 0 {
			continue
		}
		f, looked := found[p]
		m, marked := a.t.State.GateDocuments.Get(p)
		switch {
		case !looked:
			return &wire.Error{
				Code:    wire.CodeInvalidArgument,
				Field:   "documents",
				Message: "The acceptance does not say what " + p + " holds.",
			}
		case !marked || f.Signed == m.Signed || claimed(a.seen.Siblings, p):
			continue
		}
		written = append(written, p)
	}
	if len(written) == 0 {
		return nil
	}
	e := &wire.Error{
		Code:    CodeSignoffByAgent,
		Stage:   "artifact_observation",
		Class:   "artifact_error",
		Field:   written[0],
		Details: ojson.NewObject("files", written),
		Message: fmt.Sprintf("Turn %s changed the sign-off line of %s; only a person signs.",
			a.turn.TurnID, wire.List(written)),
		Hint: "put the line back as it was and run git agentxchain accept " + a.turn.TurnID +
			"; a person signs with git agentxchain approve",
	}
	for _, p := range written {
		e.Problems = append(e.Problems, wire.Problem{
			Code:    CodeSignoffByAgent,
			Field:   "files_changed",
			Value:   p,
			Message: p + " is signed by a person: authority.signoff_documents says so.",
		})
	}
	return e
}

// claimed reports whether a concurrent turn declares the path.
func claimed(siblings []result.SiblingClaim, path string) bool {
	return slices.ContainsFunc(siblings, func(s result.SiblingClaim) bool {
		return slices.Contains(s.FilesChanged, path)
	})
}
