// Documents of gates: which are read, which have a person's sign-off, and how a sign-off is written
// (docs/spec/gates.md#sign-off-documents).

package gates

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// DocumentFact is a gate document as the caller found it.
type DocumentFact struct {
	Path   string `json:"path"`
	Digest string `json:"digest"`           // sha256:<hex>, "missing"
	Signed bool   `json:"signed,omitempty"` // its sign-off line says yes
}

// LookDocument returns the fact of one document; data is nil when it does not exist.
func LookDocument(cfg *config.Config, path string, data []byte) DocumentFact {
	f := DocumentFact{Path: path, Digest: run.DocumentMissing}
	if data != nil {
		f.Digest = wire.Digest(data)
		f.Signed = slices.ContainsFunc(Signoffs(cfg, path), func(kind string) bool { return Affirmative(kind, data) })
	}
	return f
}

// Documents returns the paths of all documents that a gate of any phase reads, in order, each once; nil without
// authority, where no rule needs them.
func Documents(cfg *config.Config) []string {
	if cfg.Authority == nil {
		return nil
	}
	var out []string
	for _, phase := range cfg.Phases() {
		for _, p := range Files(cfg, phase) {
			if !slices.Contains(out, p) {
				out = append(out, p)
			}
		}
	}
	return out
}

// Signoffs returns the evaluators by which a gate of any phase reads a sign-off in the document; nil when none
// does.
func Signoffs(cfg *config.Config, path string) []string {
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

// SignoffDocument reports whether a gate of any phase reads a person's sign-off in the document.
func SignoffDocument(cfg *config.Config, path string) bool { return len(Signoffs(cfg, path)) > 0 }

// artifactSemantics returns the evaluators that a gate applies to the document.
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

// signoffKind reports whether an evaluator reads a person's sign-off.
func signoffKind(kind string) bool {
	return kind == config.SemanticsPMSignoff || kind == config.SemanticsShipVerdict
}

func Affirmative(kind string, data []byte) bool {
	ok, _, _ := EvaluateSemantics(kind, "", data, nil)
	return ok
}

// SignDocument writes the yes where the evaluator reads the first sign-off line, or at the end of a document
// without one. It returns nil when the document still does not say yes.
func SignDocument(kind string, data []byte) []byte {
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
		if Affirmative(kind, []byte(t)) {
			return []byte(t)
		}
	}
	return nil
}
