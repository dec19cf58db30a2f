// The workflow kit: templates, defaults and declared artifacts (docs/spec/configuration.md#workflow-kit,
// docs/spec/gates.md#what-a-gate-looks-at).

package config

import (
	"slices"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// Artifact semantics (docs/spec/gates.md#semantic-evaluators).
const (
	SemanticsPMSignoff           = "pm_signoff"
	SemanticsSystemSpec          = "system_spec"
	SemanticsImplementationNotes = "implementation_notes"
	SemanticsAcceptanceMatrix    = "acceptance_matrix"
	SemanticsShipVerdict         = "ship_verdict"
	SemanticsReleaseNotes        = "release_notes"
	SemanticsSectionCheck        = "section_check"
)

// KitTemplates returns the names of the built-in phase templates.
func KitTemplates() []string {
	return []string{"planning-default", "implementation-default", "qa-default", "architecture-review",
		"security-review"}
}

// KitTemplate returns the artifacts of a built-in phase template, nil for an unknown name. The caller owns the
// result.
func KitTemplate(name string) []Artifact {
	required := func(path, semantics string) Artifact {
		return Artifact{Path: path, Semantics: semantics, Required: true}
	}
	sections := func(path string, headings ...string) Artifact {
		return Artifact{Path: path, Semantics: SemanticsSectionCheck, RequiredSections: headings,
			SemanticsConfig: ojson.NewObject("required_sections", headings), Required: true}
	}
	switch name {
	case "planning-default":
		return []Artifact{
			required(".planning/PM_SIGNOFF.md", SemanticsPMSignoff),
			required(".planning/SYSTEM_SPEC.md", SemanticsSystemSpec),
			required(".planning/ROADMAP.md", ""),
		}
	case "implementation-default":
		return []Artifact{required(".planning/IMPLEMENTATION_NOTES.md", SemanticsImplementationNotes)}
	case "qa-default":
		return []Artifact{
			required(".planning/acceptance-matrix.md", SemanticsAcceptanceMatrix),
			required(".planning/ship-verdict.md", SemanticsShipVerdict),
			required(".planning/RELEASE_NOTES.md", SemanticsReleaseNotes),
		}
	case "architecture-review":
		return []Artifact{sections(".planning/ARCHITECTURE.md", "## Context", "## Proposed Design", "## Trade-offs",
			"## Risks")}
	case "security-review":
		return []Artifact{sections(".planning/SECURITY_REVIEW.md", "## Threat Model", "## Findings", "## Verdict")}
	}
	return nil
}

// defaultKit gives the phases with well-known names their default artifacts.
func defaultKit(phases []string) WorkflowKit {
	if len(phases) == 0 {
		phases = []string{"planning", "implementation", "qa"}
	}
	var kit WorkflowKit
	for _, p := range phases {
		if a := KitTemplate(p + "-default"); a != nil {
			kit.Phases.Set(p, a)
		}
	}
	return kit
}

func (d *decoder) workflowKit() {
	if d.cfg.Raw.Value("workflow_kit") == nil {
		d.cfg.WorkflowKit = defaultKit(d.cfg.Routing.Keys())
		return
	}
	d.cfg.WorkflowKit.Explicit = true
	s := d.section(d.cfg.Raw, "", ProblemWorkflowKit).object("workflow_kit")
	if s.o.Len() == 0 {
		return // {} opts out
	}
	if !s.o.Has("phases") {
		// A misspelt member would otherwise opt out of every artifact.
		s.missing("phases", "an object of phases (an empty workflow_kit declares no artifacts)")
		return
	}
	for e := range s.object("phases").entries() {
		if !isName(e.key) {
			d.add(e.code, e.path, e.key,
				"phase name %s must start with a lowercase letter and consist of lowercase letters, digits, - and _",
				ojson.Shown(e.key))
		}
		var artifacts []Artifact
		if e.valid() {
			artifacts = e.kitPhase()
		}
		d.cfg.WorkflowKit.Phases.Set(e.key, artifacts)
	}
}

// kitPhase reads one phase: its template's artifacts in order, each overridden
// member by member by a declared artifact of the same path, then the others.
func (s section) kitPhase() []Artifact {
	if !s.o.Has("template") && !s.o.Has("artifacts") {
		s.d.add(s.code, s.path, "", "%s must have template, artifacts or both", s.path)
	}
	out := KitTemplate(s.enum("template", false, "", KitTemplates()...))
	list, _ := s.array("artifacts")
	declared := map[string]bool{}
	for item := range s.items("artifacts", list, "semantics", "semantics_config", "owned_by") {
		raw := item.text("path", true)
		if raw == "" {
			continue
		}
		path, ok := item.contained("path", raw)
		if !ok {
			continue
		}
		if declared[path] {
			item.d.add(item.code, item.at("path"), path, "%s repeats %s, which this phase already declares",
				item.at("path"), ojson.Shown(path))
			continue
		}
		declared[path] = true
		at := slices.IndexFunc(out, func(a Artifact) bool { return a.Path == path })
		if at < 0 {
			at, out = len(out), append(out, Artifact{Path: path, Required: true})
		}
		item.artifact(&out[at])
	}
	return out
}

func (s section) artifact(a *Artifact) {
	if s.o.Has("semantics") {
		a.Semantics = s.enum("semantics", false, "", SemanticsPMSignoff, SemanticsSystemSpec,
			SemanticsImplementationNotes,
			SemanticsAcceptanceMatrix, SemanticsShipVerdict, SemanticsReleaseNotes, SemanticsSectionCheck)
	}
	if s.o.Has("semantics_config") {
		c := s.object("semantics_config")
		a.SemanticsConfig, a.RequiredSections = c.o, nil
		if a.Semantics == SemanticsSectionCheck {
			a.RequiredSections = c.texts("required_sections")
		}
	}
	if a.Semantics == SemanticsSectionCheck && len(a.SemanticsConfig.Array("required_sections")) == 0 {
		s.d.add(s.code, s.at("semantics_config"), "",
			"%s must list required_sections, because section_check looks for them", s.at("semantics_config"))
	}
	a.Required = s.boolean("required", a.Required)
	if !s.o.Has("owned_by") {
		return
	}
	a.OwnedBy = s.text("owned_by", false)
	switch {
	case a.OwnedBy == "":
	case !IsID(a.OwnedBy):
		s.d.add(s.code, s.at("owned_by"), a.OwnedBy,
			"%s must be a role id (lowercase letters, digits, - and _), not %s", s.at("owned_by"),
			ojson.Shown(a.OwnedBy))
	case !s.d.cfg.Roles.Has(a.OwnedBy):
		s.undeclaredRole("owned_by", a.OwnedBy)
	}
}

// GateArtifact is one file of a gate with everything required of it.
type GateArtifact struct {
	Path      string
	Required  bool
	PathRules bool // named by requires_files: the path implies its semantics
	OwnedBy   string
	Kit       []Artifact // workflow-kit entries that add semantics
}

// GateArtifacts merges requires_files with the phase's workflow kit by path
// (docs/spec/gates.md#what-a-gate-looks-at).
func GateArtifacts(cfg *Config, gate *Gate, phase string) []*GateArtifact {
	var out []*GateArtifact
	byPath := make(map[string]*GateArtifact)
	get := func(path string) *GateArtifact {
		a := byPath[path]
		if a == nil {
			a = &GateArtifact{Path: path}
			byPath[path] = a
			out = append(out, a)
		}
		return a
	}
	for _, path := range gate.RequiresFiles {
		a := get(path)
		a.Required, a.PathRules = true, true
	}
	for _, k := range cfg.WorkflowKit.Phases.Value(phase) {
		a := get(k.Path)
		a.Required = a.Required || k.Required
		if k.OwnedBy != "" {
			a.OwnedBy = k.OwnedBy
		}
		if k.Semantics != "" && !(a.PathRules && PathSemantics(k.Path) == k.Semantics) {
			a.Kit = append(a.Kit, k)
		}
	}
	return out
}

// PathSemantics returns the evaluator that a path implies when a gate requires
// the file, "" when it implies none. Paths match exactly.
func PathSemantics(path string) string {
	switch path {
	case ".planning/PM_SIGNOFF.md":
		return SemanticsPMSignoff
	case ".planning/SYSTEM_SPEC.md":
		return SemanticsSystemSpec
	case ".planning/IMPLEMENTATION_NOTES.md":
		return SemanticsImplementationNotes
	case ".planning/acceptance-matrix.md":
		return SemanticsAcceptanceMatrix
	case ".planning/ship-verdict.md":
		return SemanticsShipVerdict
	case ".planning/RELEASE_NOTES.md":
		return SemanticsReleaseNotes
	}
	return ""
}
