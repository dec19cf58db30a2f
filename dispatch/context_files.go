// The documents that the phase and its gate ask for, in CONTEXT.md (docs/bundles.md#what-is-in-it rows 13-14).

package dispatch

import (
	"fmt"
	"slices"
	"strings"
)

func (v *view) workflowArtifacts(d *document) {
	arts := v.artifacts()
	if len(arts) == 0 {
		return
	}
	var b strings.Builder
	fmt.Fprintf(&b, "## Workflow Artifacts\n\nDocuments of phase %s:\n\n", code(v.State.Phase))
	b.WriteString(
		"| Artifact | Required | Semantics | Owner | Status |\n|----------|----------|-----------|-------|--------|\n",
	)
	for _, a := range arts {
		need, sem := "no", "—"
		if a.Required {
			need = "yes"
		}
		if a.Semantics != "" {
			sem = cell(code(a.Semantics))
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", cell(code(a.Path)), need, sem, tableText(a.OwnedBy),
			v.presence(a.Path))
	}
	d.block(b.String())
	if !v.reviewer() {
		return
	}
	for _, a := range arts {
		// A file of the gate is shown only in the gate's section, which outlives this one when a context has to be
		// shortened.
		if v.gate != nil && slices.Contains(v.gate.RequiresFiles, a.Path) {
			continue
		}
		if s, ok := v.sample(a.Path); ok {
			d.block("### " + code(a.Path))
			d.block(v.semanticLine(a.Path, s))
			d.block(s.preview(gateLines))
		}
	}
}

func (v *view) gateFiles(d *document) {
	if v.gate == nil || len(v.gate.RequiresFiles) == 0 {
		return
	}
	d.block("## Gate Required Files")
	if !v.reviewer() {
		var l list
		for _, p := range v.gate.RequiresFiles {
			l.add("%s — %s", code(p), v.presence(p))
		}
		d.block(l.String())
		return
	}
	for _, p := range v.gate.RequiresFiles {
		d.block("### " + code(p) + " — " + v.presence(p))
		if s, ok := v.sample(p); ok {
			d.block(v.semanticLine(p, s))
			d.block(s.preview(gateLines))
		}
	}
}

func (v *view) semanticLine(path string, s sample) string {
	if v.personSigns(path) {
		return "**Semantic: a person signs this document by approving the gate; what its line says opens nothing**"
	}
	if s.binary {
		return ""
	}
	if a := annotation(path, s.text); a != "" {
		return "**Semantic: " + a + "**"
	}
	return ""
}
