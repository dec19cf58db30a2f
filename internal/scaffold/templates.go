// The project templates and their differences.

package scaffold

// Template is a kind of project.
type Template struct {
	ID string

	agent    string // plays every role by default, "" for people
	roles    []role
	phases   []phase
	planning []string          // additional documents under .planning/
	mandate  map[string]string // role -> mandate
	advice   map[string]string // role -> a paragraph at the end of its prompt
	checks   []string          // advice in the acceptance matrix
	spec     specHints
}

// specHints are the placeholder lines of SYSTEM_SPEC.md. Each is entirely in parentheses, which the planning gate
// takes to mean "not filled in yet" (docs/spec/gates.md#semantic-evaluators).
type specHints struct{ purpose, iface, behavior, errors string }

// templates returns every template, generic first.
func templates() []Template {
	list := []Template{generic(), apiService(), cliTool(), library(), webApp(), fullLocalCLI(), enterpriseApp()}
	for i := range list {
		if t := &list[i]; t.phases == nil {
			t.roles, t.phases = baseRoles(), basePhases()
		}
	}
	return list
}

// DefaultAgent returns the agent that plays the roles of a template by default, "" for people.
func DefaultAgent(template string) string {
	t, _ := find(template)
	return t.agent
}

// IDs returns the ids of the templates.
func IDs() []string {
	var ids []string
	for _, t := range templates() {
		ids = append(ids, t.ID)
	}
	return ids
}

func find(id string) (Template, bool) {
	for _, t := range templates() {
		if t.ID == id {
			return t, true
		}
	}
	return Template{}, false
}

func mandates(dev string) map[string]string {
	return map[string]string{
		"pm":           "Keep the work worth doing: who it is for, what is in scope, and how anyone can tell that it is done.",
		"dev":          dev,
		"qa":           "Try to prove the work wrong, account for every acceptance criterion, and say whether it may ship.",
		"eng_director": "Break deadlocks with a decision and keep the technical direction coherent.",
	}
}

func generic() Template {
	return Template{
		ID:      "generic",
		mandate: mandates("Build what was approved, and show with real commands that it works."),
		spec: specHints{
			purpose:  "(What problem does this solve, for whom, and why now?)",
			iface:    "(Which commands, files, APIs or contracts does it add or change?)",
			behavior: "(What happens, step by step, edge cases included?)",
			errors:   "(What can go wrong, and what does the person then see?)",
		},
	}
}

func apiService() Template {
	return Template{
		ID:       "api-service",
		planning: []string{"api-contract.md", "operational-readiness.md", "error-budget.md"},
		mandate:  mandates("Build the approved endpoints without breaking those who already call them, and show that they behave."),
		advice: map[string]string{
			"pm":  "Scope is a contract here. Name the callers, what they may rely on, and which failures they must handle; leave no endpoint without an owner.",
			"dev": "A changed response shape, a migration and a new dependency are all visible to callers. Say which of them a change touches, and how it is rolled back.",
			"qa":  "Exercise the service the way a caller does: wrong input, missing rights, a dependency that is down, the same request twice. A passing happy path proves little.",
		},
		checks: []string{
			"every endpoint in api-contract.md was called, with good and with bad input",
			"each error case shows the documented status and body",
			"a rollback was rehearsed, or there is nothing to roll back",
		},
		spec: specHints{
			purpose:  "(Which callers does the service have, and what do they get from it?)",
			iface:    "(Endpoints, message shapes and authentication; details belong in api-contract.md.)",
			behavior: "(What each request does, what it stores, and what happens when it comes twice.)",
			errors:   "(Status and body for bad input, missing rights, unavailable dependencies and overload.)",
		},
	}
}

func cliTool() Template {
	return Template{
		ID:       "cli-tool",
		planning: []string{"command-surface.md", "platform-support.md", "distribution-checklist.md"},
		mandate:  mandates("Build the approved commands, with the help, errors and exit codes that make them usable, and show that they work."),
		advice: map[string]string{
			"dev": "Help texts, error messages, exit codes and behaviour in a pipe are part of the product. Scripts depend on all of them; change none by accident.",
			"qa":  "Run it as its users will: no arguments, wrong arguments, no terminal, no network, a read-only directory, ^C in the middle. Check the exit code each time.",
		},
		checks: []string{
			"every command in command-surface.md was run, its help text read",
			"wrong flags and missing input give a clear error and a non-zero exit code",
			"the documented way to install it was followed on a clean machine",
		},
		spec: specHints{
			purpose:  "(Which task does the tool take over, and from whom?)",
			iface:    "(Commands, flags, input, output and exit codes; details belong in command-surface.md.)",
			behavior: "(What each command does, in a terminal and in a pipe.)",
			errors:   "(What a person sees, and a script gets, when something is wrong.)",
		},
	}
}

func library() Template {
	return Template{
		ID:       "library",
		planning: []string{"public-api.md", "compatibility-policy.md", "release-adoption.md"},
		mandate:  mandates("Build the approved API, keep the promises made to existing importers, and show both with tests."),
		advice: map[string]string{
			"pm":  "Every exported name is a promise. Keep the surface as small as the use cases allow, and say for each name who needs it.",
			"dev": "What can be imported is the product. A renamed export, a stricter type or a new required argument breaks someone's build; treat it as such.",
			"qa":  "Test from outside: install the package into an empty project, import it as the documentation says, upgrade from the last release.",
		},
		checks: []string{
			"the exports are exactly those of public-api.md",
			"an empty project can install and import the package",
			"code written for the last release still builds, or the break is announced",
		},
		spec: specHints{
			purpose:  "(Who imports this, and what can they do that they could not before?)",
			iface:    "(Exported names, import paths and their stability; details belong in public-api.md.)",
			behavior: "(What each call promises: inputs, results, side effects, concurrency, cost.)",
			errors:   "(Which errors callers can tell apart, and what invalid input does.)",
		},
	}
}

func webApp() Template {
	return Template{
		ID:       "web-app",
		planning: []string{"user-flows.md", "ui-acceptance.md", "browser-support.md"},
		mandate:  mandates("Build the approved flows so that people can finish them on the devices they have, and show that they can."),
		advice: map[string]string{
			"pm": "Describe flows from the person's side: where they come from, what they want, how they know it worked, what they do when it did not.",
			"qa": "Walk each flow on a small and a large screen, with the keyboard alone, on a slow connection, and with data that is empty, long or wrong.",
		},
		checks: []string{
			"every flow in user-flows.md was walked from start to end",
			"small screens, keyboard use and error states were looked at",
			"the browsers in browser-support.md were tried, not assumed",
		},
		spec: specHints{
			purpose:  "(Who uses this, in which situation, to get what done?)",
			iface:    "(Screens, routes and data; flows belong in user-flows.md.)",
			behavior: "(What each screen shows and does, loading and empty states included.)",
			errors:   "(What people see when input is wrong, the network fails or rights are missing.)",
		},
	}
}

// fullLocalCLI is generic with an agent in every role; people open the gates.
func fullLocalCLI() Template {
	t := generic()
	t.ID = "full-local-cli"
	t.agent = "claude"
	return t
}

func enterpriseApp() Template {
	t := Template{
		ID:     "enterprise-app",
		roles:  enterpriseRoles(),
		phases: enterprisePhases(),
		planning: []string{"ARCHITECTURE.md", "SECURITY_REVIEW.md", "data-classification.md",
			"integration-boundaries.md", "risk-register.md"},
		mandate: mandates("Build what the design says, where every interface and every right was thought of, and show that it works."),
		advice: map[string]string{
			"pm": "Name the owners of the systems this touches, the data that passes, and what must not happen to it. What is decided here is what architect and security reviewer hold the work against.",
			"qa": "Look where systems meet: one that is down, slow, or answers what it never did before; a person without the right; data that has to be gone and is not.",
		},
		checks: []string{
			"each boundary in integration-boundaries.md was tried with the other side down",
			"data was handled as data-classification.md says, logs and copies included",
			"each open risk in risk-register.md has an owner, or was taken by a person",
		},
		spec: specHints{
			purpose:  "(Which work of which people does it carry, and what stops when it is down?)",
			iface:    "(Systems it talks to, data it takes and gives, rights it asks for; details belong in integration-boundaries.md.)",
			behavior: "(What happens step by step, who may do each step, and what is written down about it.)",
			errors:   "(What people and neighbouring systems see when a part fails, and how it is repaired.)",
		},
	}
	t.mandate["architect"] = "Decide how the parts fit together before they are built, and say what that costs."
	t.mandate["security_reviewer"] = "Find out how this can be misused, and say whether it may go on like that."
	return t
}
