// The outcome of each rule of a gate, for verdicts (docs/spec/verdicts.md).

package gates

import (
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/verdict"
)

// Pointer returns a JSON Pointer (RFC 6901) into agentxchain.json.
func Pointer(names ...string) string {
	at := ""
	for _, n := range names {
		at = ojson.Member(at, n)
	}
	return at
}

func GatePointer(gate, member string) string {
	if gate == "" {
		return ""
	}
	return Pointer("gates", gate, member)
}

// traceFile records one document of a gate. A document that was not looked at when the operation was decided is
// unknown: it counts as missing but may have existed.
func traceFile(in Input, gate string, a *config.GateArtifact, findings, warnings []Finding) {
	if in.Trace == nil {
		return
	}
	at := GatePointer(gate, "requires_files")
	if !a.PathRules {
		at = Pointer("workflow_kit", "phases", in.Phase, "artifacts")
	}
	s := verdict.Step{
		Rule:    verdict.RuleGateFile,
		Subject: a.Path,
		Verdict: verdict.Pass,
		Spec:    verdict.SpecOf(verdict.RuleGateFile),
		Config:  at,
	}
	if !in.Files.Taken(a.Path) {
		s.Verdict, s.Why = verdict.Unknown, "it was not looked at when the operation was decided"
		in.Trace.Add(s)
		return
	}
	s.Evidence = []verdict.Evidence{{Path: a.Path, SHA256: in.Files.Digest(a.Path)}}
	for _, f := range findings {
		s.Add(verdict.Step{
			Rule:    verdict.RuleGate + "." + f.Code,
			Subject: subjectOf(f),
			Verdict: verdict.Fail,
			Why:     f.Reason,
			Spec:    verdict.SpecOf(verdict.RuleGate + "." + f.Code),
			Config:  at,
		})
	}
	for _, f := range warnings {
		s.Add(verdict.Step{
			Rule:    verdict.RuleGate + "." + f.Code,
			Subject: subjectOf(f),
			Verdict: verdict.Warn,
			Why:     f.Reason,
			Spec:    verdict.SpecOf(verdict.RuleGate + "." + f.Code),
			Config:  at,
		})
	}
	if in.Config.Authority != nil && a.Required && in.Files.Exists(a.Path) && !in.Person {
		if m := in.Marks; m == nil || !m.Has(a.Path) {
			s.Add(verdict.Step{
				Rule:    verdict.RuleGate + "." + verdict.FindingDocumentStale,
				Subject: a.Path,
				Verdict: verdict.Unknown,
				Why:     "what it was when the phase began was not recorded",
				Spec:    verdict.SpecOf(verdict.RuleGate + "." + verdict.FindingDocumentStale),
				Config:  "/authority",
			})
		}
	}
	if len(s.Steps) > 0 {
		s.Sum()
		s.Why = s.Steps[0].Why
	}
	in.Trace.Add(s)
}

func subjectOf(f Finding) string {
	switch {
	case f.Role != "":
		return f.Role
	case f.Semantics != "":
		return f.Semantics
	}
	return f.Path
}

func traceVerification(in Input, gate string, findings []Finding) {
	if in.Trace == nil {
		return
	}
	s := verdict.Step{
		Rule:    verdict.RuleGateVerify,
		Subject: in.VerificationStatus,
		Verdict: verdict.Pass,
		Spec:    verdict.SpecOf(verdict.RuleGateVerify),
		Config:  GatePointer(gate, "requires_verification_pass"),
	}
	for _, f := range findings {
		s.Verdict, s.Code, s.Why = verdict.Fail, f.Code, f.Reason
		if f.Code == verdict.FindingNotReproducible {
			s.Config = "/rules/strict_verification"
		}
	}
	in.Trace.Add(s)
}

// traceStale records documents that have not changed since the phase began.
func traceStale(in Input, paths []string, findings []Finding) {
	if in.Trace == nil {
		return
	}
	for i, p := range paths {
		s := verdict.Step{
			Rule:    verdict.RuleGate + "." + verdict.FindingDocumentStale,
			Subject: p,
			Verdict: verdict.Warn,
			Why:     p + " is what it was before",
			Spec: verdict.SpecOf(verdict.RuleGate + "." +
				verdict.FindingDocumentStale),
			Config: "/authority",
		}
		if i < len(findings) {
			s.Verdict, s.Why = verdict.Fail, findings[i].Reason
		}
		in.Trace.Add(s)
	}
}

func tracePerson(in Input, gate string, person bool, why string) {
	if in.Trace == nil || !person || in.Person {
		return
	}
	s := verdict.Step{
		Rule:    verdict.RuleGatePerson,
		Subject: gate,
		Verdict: verdict.Wait,
		Spec:    verdict.SpecOf(verdict.RuleGatePerson),
		Config:  GatePointer(gate, "requires_human_approval"),
		Why:     "a person approves it",
	}
	if why != "" {
		s.Why = why
	}
	if in.Config.GateRule(gate) != nil {
		s.Config = Pointer("authority", "gates", gate)
	}
	in.Trace.Add(s)
}
