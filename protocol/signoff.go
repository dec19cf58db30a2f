// Gate documents: which were touched since the phase began, and whose sign-off they
// carry (docs/spec/gates.md#sign-off-documents, docs/spec/gates.md#fresh-documents).

package protocol

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/result"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// DocumentFact is a gate document as the caller found it.
type DocumentFact struct {
	Path   string `json:"path"`
	Digest string `json:"digest"`           // sha256:<hex>, "missing"
	Signed bool   `json:"signed,omitempty"` // its sign-off line says yes
}

// LookDocument is the fact of one document; data is nil when it is not there.
func LookDocument(cfg *config.Config, path string, data []byte) DocumentFact {
	f := DocumentFact{Path: path, Digest: run.DocumentMissing}
	if data != nil {
		f.Digest = documentDigest(data)
		f.Signed = slices.ContainsFunc(signoffs(cfg, path), func(kind string) bool { return affirmative(kind, data) })
	}
	return f
}

func documentDigest(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// GateDocuments returns the paths of all documents that a gate of any phase reads, in
// order, each once; nil without authority, where no rule asks for them.
func GateDocuments(cfg *config.Config) []string {
	if cfg.Authority == nil {
		return nil
	}
	var out []string
	for _, phase := range cfg.Phases() {
		for _, p := range GateFiles(cfg, phase) {
			if !slices.Contains(out, p) {
				out = append(out, p)
			}
		}
	}
	return out
}

// signoffs returns the evaluators by which a gate of any phase reads a sign-off in the
// document; nil for a document that is none.
func signoffs(cfg *config.Config, path string) []string {
	var out []string
	for _, phase := range cfg.Phases() {
		route := cfg.Route(phase)
		gate := cfg.Gate(route.ExitGate)
		if gate == nil {
			continue
		}
		for _, a := range config.GateArtifacts(cfg, gate, phase) {
			if a.Path != path {
				continue
			}
			for _, kind := range artifactSemantics(a) {
				if signoffKind(kind) && !slices.Contains(out, kind) {
					out = append(out, kind)
				}
			}
		}
	}
	return out
}

// SignoffDocument reports a document in which a gate of any phase reads a person's yes.
func SignoffDocument(cfg *config.Config, path string) bool { return len(signoffs(cfg, path)) > 0 }

// artifactSemantics are the evaluators a gate holds the document against.
func artifactSemantics(a *config.GateArtifact) []string {
	var out []string
	if a.PathRules {
		if kind := config.PathSemantics(a.Path); kind != "" {
			out = append(out, kind)
		}
	}
	for _, k := range a.Kit {
		out = append(out, k.Semantics)
	}
	return out
}

// signoffKind reports an evaluator that reads the word of a person.
func signoffKind(kind string) bool {
	return kind == config.SemanticsPMSignoff || kind == config.SemanticsShipVerdict
}

func affirmative(kind string, data []byte) bool {
	ok, _, _ := EvaluateSemantics(kind, "", data, nil)
	return ok
}

// Sign returns the documents of the gate with a yes on every sign-off line that has
// none yet: what an approval by a person is evaluated on and leaves in the work tree.
// changed names the documents that differ from what was handed in.
//
// Errors: gate_failed when a document cannot be signed.
func Sign(cfg *config.Config, files []FileBlob) (signed []FileBlob, changed []string, refusal *wire.Error) {
	if !cfg.PersonSigns() {
		return files, nil, nil
	}
	signed = slices.Clone(files)
	for i, f := range files {
		if f.Blob == nil {
			continue
		}
		for _, kind := range signoffs(cfg, f.Path) {
			if affirmative(kind, signed[i].Blob.Data) {
				continue
			}
			data := signDocument(kind, signed[i].Blob.Data)
			if data == nil {
				return nil, nil, &wire.Error{
					Code:    wire.CodeGateFailed,
					Field:   f.Path,
					Message: f.Path + " cannot be signed: it is not UTF-8 text, or its sign-off line cannot be written.",
					Hint:    "correct the document, then: git agentxchain approve",
				}
			}
			signed[i].Blob = NewBlob(data)
		}
		if signed[i].Blob.Digest != f.Blob.Digest {
			changed = append(changed, f.Path)
		}
	}
	return signed, changed, nil
}

// signDocument writes the yes where the evaluator reads the first sign-off line, or at
// the end of a document without one. nil when that does not make it say yes.
func signDocument(kind string, data []byte) []byte {
	if !utf8.Valid(data) {
		return nil
	}
	text, match, line := string(data), approvedLabel, "Approved: YES"
	if kind == config.SemanticsShipVerdict {
		match, line = verdictLabel, "## Verdict: YES"
	}
	var tries []string
	if v := lineValue(text, match); v.found {
		tries = append(tries, text[:v.start]+"YES"+text[v.end:])
	}
	bare := strings.TrimRightFunc(text, wire.IsSpace)
	tries = append(tries, bare+" YES\n", bare+"\n\n"+line+"\n")
	if bare == "" {
		tries = append(tries, line+"\n")
	}
	for _, t := range tries {
		if affirmative(kind, []byte(t)) {
			return []byte(t)
		}
	}
	return nil
}

// markDocuments notes what was found of the gate documents. atTurn takes the sign-offs
// for what they are when a turn begins; atPhase takes all for what they are when a phase
// does.
func (t *transition) markDocuments(facts []DocumentFact, atTurn, atPhase bool) {
	if t.cfg.Authority == nil {
		return
	}
	for _, f := range facts {
		was, known := t.s.GateDocuments.Get(f.Path)
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
		t.s.GateDocuments.Set(f.Path, &m)
	}
}

// DocumentMarks is what a gate evaluation compares documents with, nil where the
// configuration does not ask for it.
func DocumentMarks(cfg *config.Config, s *run.State) *ojson.Map[*run.DocumentMark] {
	if cfg.Authority == nil {
		return nil
	}
	return &s.GateDocuments
}

// CodeSignoffByAgent means that a turn wrote the sign-off that only a person gives.
const CodeSignoffByAgent = "signoff_by_agent"

// checkSignoffs refuses a result whose turn signed for a person, or took the person's
// word out (docs/spec/gates.md#sign-off-documents).
func (a *acceptance) checkSignoffs(*ojson.Object) *wire.Error {
	cfg := a.t.cfg
	if !cfg.PersonSigns() {
		return nil
	}
	found := make(map[string]DocumentFact, len(a.op.Documents))
	for _, f := range a.op.Documents {
		found[f.Path] = f
	}
	var written []string
	for _, p := range GateDocuments(cfg) {
		if len(signoffs(cfg, p)) == 0 {
			continue
		}
		f, looked := found[p]
		m, marked := a.t.s.GateDocuments.Get(p)
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

// claimed reports a path that a turn beside this one declares.
func claimed(siblings []result.SiblingClaim, path string) bool {
	return slices.ContainsFunc(siblings, func(s result.SiblingClaim) bool {
		return slices.Contains(s.FilesChanged, path)
	})
}
