// The roles and phases of a template: who works where, and how each phase is judged.

package scaffold

// role is a role as people play it; an agent gives it its own runtime and authority.
type role struct{ id, title, authority, runtime string }

// phase is one phase with its gate.
type phase struct {
	id, entry string
	next      []string // roles that may work in it, besides human
	kit       string   // the workflow kit's template for its documents
	own       string   // the document that needs a turn of the entry role
	gate      string
	files     []string // in addition to own
	person    bool     // a person opens the gate
	verified  bool     // only after a verification that passes
}

func baseRoles() []role {
	return []role{
		{"pm", "Product Manager", "review_only", "manual-pm"},
		{"dev", "Developer", "authoritative", "manual-dev"},
		{"qa", "QA", "review_only", "manual-qa"},
		{"eng_director", "Engineering Director", "review_only", "manual-director"},
	}
}

func basePhases() []phase {
	return []phase{
		{
			id: "planning", entry: "pm", next: []string{"pm",
				"eng_director"}, kit: "planning-default", own: ".planning/PM_SIGNOFF.md",
			gate: "planning_signoff", files: []string{".planning/ROADMAP.md",
				".planning/SYSTEM_SPEC.md"}, person: true,
		},
		{
			id: "implementation", entry: "dev", next: []string{"dev", "qa",
				"eng_director"}, kit: "implementation-default",
			own: ".planning/IMPLEMENTATION_NOTES.md", gate: "implementation_complete", verified: true,
		},
		{
			id: "qa", entry: "qa", next: []string{"dev", "qa",
				"eng_director"}, kit: "qa-default", own: ".planning/ship-verdict.md",
			gate: "qa_ship_verdict", files: []string{".planning/acceptance-matrix.md",
				".planning/RELEASE_NOTES.md"}, person: true, verified: true,
		},
	}
}

// enterpriseRoles adds the roles that are responsible for design and security.
func enterpriseRoles() []role {
	b := baseRoles()
	return []role{
		b[0],
		{"architect", "Architect", "review_only", "manual-architect"},
		b[1],
		{"security_reviewer", "Security Reviewer", "review_only", "manual-security"},
		b[2], b[3],
	}
}

// enterprisePhases puts a design phase between plan and code, and a security review before QA.
func enterprisePhases() []phase {
	b := basePhases()
	b[0].next = []string{"pm", "architect", "eng_director"}
	b[1].next = []string{"dev", "security_reviewer", "qa", "architect", "eng_director"}
	return []phase{
		b[0],
		{
			id: "architecture", entry: "architect", next: []string{"architect", "pm",
				"eng_director"}, kit: "architecture-review",
			own: ".planning/ARCHITECTURE.md", gate: "architecture_review",
		},
		b[1],
		{
			id: "security_review", entry: "security_reviewer", next: []string{"security_reviewer", "dev", "architect",
				"eng_director"}, kit: "security-review",
			own: ".planning/SECURITY_REVIEW.md", gate: "security_review_signoff",
		},
		b[2],
	}
}
