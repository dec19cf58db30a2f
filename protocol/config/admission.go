// Admission control: configurations that are valid but can never pass their own gates
// (docs/spec/configuration.md#admission).

package config

import (
	"fmt"
	"slices"
	"strings"
)

// Admission codes.
const (
	AdmissionNoProducer = "ADM-001" // no role routed in a gated phase can produce its files
	AdmissionOwnerAway  = "ADM-002" // the owner of an artifact is not routed in its phase
	AdmissionNoApprover = "ADM-003" // a person must approve, but no role has a manual runtime
	AdmissionOwnerMute  = "ADM-004" // the owner is routed but cannot own artifacts
)

// Severities of admission findings. Errors stop the run loop.
const (
	SeverityError   = "error"
	SeverityWarning = "warning"
)

// AdmissionFinding is one statically visible dead end.
type AdmissionFinding struct {
	Code     string
	Severity string
	Phase    string
	Gate     string // "" when the approval policy, not a gate, asks for a person
	Artifact string // ADM-002 and ADM-004
	Role     string // ADM-002 and ADM-004
	Message  string
}

// Admission returns the findings in phase order: for each phase ADM-001, then
// ADM-002 and ADM-004 per artifact; ADM-003 last.
func Admission(c *Config) []AdmissionFinding {
	var out []AdmissionFinding
	for phase, route := range c.Routing.All() {
		gate := c.Gate(route.ExitGate)
		if route.ExitGate == "" || gate == nil {
			continue
		}
		required := requiredArtifacts(c, gate, phase)
		if f, found := noProducer(c, phase, gate.ID, required); found {
			out = append(out, f)
		}
		out = append(out, ownerFindings(c, phase, gate.ID, required)...)
	}
	return append(out, noApprover(c)...)
}

// requiredArtifacts returns the artifacts without which the gate cannot pass.
func requiredArtifacts(c *Config, gate *Gate, phase string) []*GateArtifact {
	return slices.DeleteFunc(GateArtifacts(c, gate, phase), func(a *GateArtifact) bool { return !a.Required })
}

func noProducer(c *Config, phase, gate string, required []*GateArtifact) (AdmissionFinding, bool) {
	if len(required) == 0 {
		return AdmissionFinding{}, false
	}
	var paths, roles []string
	manualOnly := true
	for _, id := range c.PhaseRoles(phase) {
		r := c.Role(id)
		if r == nil {
			continue
		}
		contract := WriteContract(c, id)
		if contract.CanProduceFiles {
			return AdmissionFinding{}, false
		}
		manualOnly = manualOnly && r.RuntimeType == RuntimeManual
		roles = append(roles, fmt.Sprintf("%s is %s on %s: %s", id, r.WriteAuthority, r.RuntimeType, contract.Path))
	}
	// People can always write the files by hand.
	if manualOnly {
		return AdmissionFinding{}, false
	}
	for _, a := range required {
		paths = append(paths, a.Path)
	}
	return AdmissionFinding{Code: AdmissionNoProducer, Severity: SeverityError, Phase: phase, Gate: gate,
		Message: fmt.Sprintf("phase %s: gate %s needs %s, but no role of the phase can produce files (%s)",
			phase, gate, strings.Join(paths, ", "), strings.Join(roles, "; "))}, true
}

func ownerFindings(c *Config, phase, gate string, required []*GateArtifact) []AdmissionFinding {
	var out []AdmissionFinding
	roles := c.PhaseRoles(phase)
	for _, a := range required {
		if a.OwnedBy == "" {
			continue
		}
		f := AdmissionFinding{Severity: SeverityError, Phase: phase, Gate: gate, Artifact: a.Path, Role: a.OwnedBy}
		contract := WriteContract(c, a.OwnedBy)
		switch {
		case !slices.Contains(roles, a.OwnedBy):
			f.Code = AdmissionOwnerAway
			f.Message = fmt.Sprintf(
				"phase %s: %s is owned by %s, which is neither entry_role nor in allowed_next_roles of the phase, so its participation can never be shown",
				phase, a.Path, a.OwnedBy)
		case !contract.CanOwn:
			f.Code = AdmissionOwnerMute
			f.Message = fmt.Sprintf(
				"phase %s: %s is owned by %s, whose runtime and authority do not let it own files (ownership %s, write path %s)",
				phase, a.Path, a.OwnedBy, contract.Ownership, contract.Path)
		default:
			continue
		}
		out = append(out, f)
	}
	return out
}

// noApprover warns once for each point where the run will wait for a person although the configuration has no
// manual runtime and names no approvers, so it knows of no person.
func noApprover(c *Config) []AdmissionFinding {
	if c.Authority != nil && c.Authority.Approvers.Len() > 0 {
		return nil
	}
	for _, rt := range c.Runtimes.All() {
		if rt.Type == RuntimeManual {
			return nil
		}
	}
	var out []AdmissionFinding
	for phase, route := range c.Routing.All() {
		gate := c.Gate(route.ExitGate)
		auto, byPolicy := transitionApproval(c.ApprovalPolicy, phase, c.NextPhase(phase))
		what := "leaving phase " + phase
		if phase == c.FinalPhase() {
			auto, byPolicy = completionApproval(c.ApprovalPolicy)
			what = "completing the run"
		}
		f := AdmissionFinding{Code: AdmissionNoApprover, Severity: SeverityWarning, Phase: phase}
		switch {
		case gate != nil && gate.RequiresHuman && (gate.Credentialed || !auto):
			f.Gate = gate.ID
			f.Message = fmt.Sprintf(
				"%s needs a person's approval (gate %s), but no runtime is manual: the run will wait until someone outside it approves", what, gate.ID)
		case byPolicy:
			// Only a human gate consults the policy, so this may not happen.
			f.Message = fmt.Sprintf(
				"%s is for a person to decide (approval_policy), but no runtime is manual: at a human gate the run would wait until someone outside it approves", what)
		default:
			continue
		}
		out = append(out, f)
	}
	return out
}

// transitionApproval says whether the policy approves the transition by itself (auto) and whether it expressly asks
// for a person (human). The first matching rule decides, as it does at run time; its conditions count as met.
func transitionApproval(ap *ApprovalPolicy, from, to string) (auto, human bool) {
	if ap == nil || !ap.HasPhaseTransitions {
		return false, false
	}
	action := ap.Default
	for _, r := range ap.Rules {
		if (r.From == "" || r.From == from) && (r.To == "" || r.To == to) {
			action = r.Action
			break
		}
	}
	return action == ActionAutoApprove, action == ActionRequireHuman
}

func completionApproval(ap *ApprovalPolicy) (auto, human bool) {
	if ap == nil || ap.RunCompletion == nil {
		return false, false
	}
	return ap.RunCompletion.Action == ActionAutoApprove, ap.RunCompletion.Action == ActionRequireHuman
}
