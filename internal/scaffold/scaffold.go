// The files of a new project, as data: which ones there are and how they are rendered.

package scaffold

import (
	"embed"
	"fmt"
	"path"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

//go:embed files
var content embed.FS

// Params names the project.
type Params struct {
	ProjectID     string // [a-z0-9-]+ by habit; ProjectID makes one from a directory name
	ProjectName   string // one line, shown to people
	Goal          string // at most 500 UTF-16 code units, "" for none
	DefaultBranch string // "" means main
	Approver      string // e-mail address of the person who approves gates, "" for any person
	Agent         *Agent // carries out the turns of every role; nil for people
}

// File is one file of the scaffold.
type File struct {
	Path    string // project-relative, slashes
	Content []byte
	// Merge, when not nil, combines this file with an existing one; init leaves every other existing file as it is.
	Merge func(existing []byte) []byte
}

// Error is a refusal to make a scaffold.
type Error struct {
	Code    string // unknown_template or invalid_argument
	Message string
	Hint    string
}

func (e *Error) Error() string     { return e.Message }
func (e *Error) ErrorCode() string { return e.Code }
func (e *Error) ErrorHint() string { return e.Hint }

const maxGoalUnits = 500

// Files returns the files of a new project with the given template, in the order to write them: agentxchain.json
// last, so that an interrupted scaffold does not count as a project. state.json is not among them; the engine
// writes it.
//
// Errors: *Error with unknown_template, or invalid_argument for parameters that agentxchain.json would not accept
// (docs/spec/configuration.md#members).
func Files(template string, p Params) ([]File, error) {
	t, ok := find(template)
	if !ok {
		return nil, &Error{Code: "unknown_template", Message: fmt.Sprintf("there is no project template %q", template),
			Hint: "templates: " + strings.Join(IDs(), ", ")}
	}
	if err := p.check(); err != nil {
		return nil, err
	}
	if p.DefaultBranch == "" {
		p.DefaultBranch = "main"
	}
	r := renderer{t: t, p: p}
	for _, name := range []string{
		"PM_SIGNOFF.md", "ROADMAP.md", "SYSTEM_SPEC.md", "IMPLEMENTATION_NOTES.md",
		"acceptance-matrix.md", "ship-verdict.md", "RELEASE_NOTES.md",
	} {
		r.add(".planning/"+name, "base/planning/"+name)
	}
	for _, name := range t.planning {
		r.add(".planning/"+name, path.Join(t.ID, name))
	}
	for _, role := range t.roles {
		r.add(".agentxchain/prompts/"+role.id+".md", "base/prompts/"+role.id+".md")
	}
	r.add(".agentxchain/prompts/pm-idle-expansion.md", "base/prompts/pm-idle-expansion.md")
	if r.err != nil {
		return nil, r.err
	}
	return append(r.files,
		// Empty ledgers tell other implementations that the project is governed
		// (docs/spec/state.md#files).
		File{Path: ".agentxchain/history.jsonl", Content: []byte{}},
		File{Path: ".agentxchain/decision-ledger.jsonl", Content: []byte{}},
		File{Path: "TALK.md", Content: []byte(talk(p.ProjectName))},
		File{Path: ".gitignore", Content: p.Agent.mergeIgnore(nil), Merge: p.Agent.mergeIgnore},
		File{Path: ".gitattributes", Content: mergeAttributes(nil), Merge: mergeAttributes},
		File{Path: "agentxchain.json", Content: config(t, p)},
	), nil
}

// Bare returns the files for a project that has its own agentxchain.json: the empty ledgers, the talk file and
// git's rules for them, in the order of Files. Nothing is planned in it, so there are no planning documents and no
// prompts.
func Bare(name string, config []byte) []File {
	return []File{
		{Path: ".agentxchain/history.jsonl", Content: []byte{}},
		{Path: ".agentxchain/decision-ledger.jsonl", Content: []byte{}},
		{Path: "TALK.md", Content: []byte(talk(name))},
		{Path: ".gitignore", Content: MergeIgnore(nil), Merge: MergeIgnore},
		{Path: ".gitattributes", Content: mergeAttributes(nil), Merge: mergeAttributes},
		{Path: "agentxchain.json", Content: config},
	}
}

// Dirs returns the directories of a new project besides those of its files.
func Dirs() []string {
	return []string{".agentxchain/staging", ".agentxchain/reviews", ".agentxchain/dispatch"}
}

func talk(name string) string {
	return "# " + name + ": the talk\n\nEvery accepted turn adds a section below, oldest first.\n\n---\n\n"
}

// check applies the rules of agentxchain.json to the parameters, so that init never writes a configuration that it
// would refuse to read.
func (p Params) check() error {
	bad := func(format string, args ...any) error {
		return &Error{Code: "invalid_argument", Message: fmt.Sprintf(format, args...)}
	}
	for _, f := range []struct{ what, value string }{{"project id", p.ProjectID}, {"project name", p.ProjectName}} {
		if strings.TrimSpace(f.value) == "" {
			return bad("the %s must not be blank", f.what)
		}
	}
	for _, f := range []struct{ what, value string }{
		{"project id", p.ProjectID}, {"project name", p.ProjectName}, {"goal", p.Goal},
		{"default branch", p.DefaultBranch},
		{"approver", p.Approver},
	} {
		if !utf8.ValidString(f.value) {
			return bad("the %s is not valid UTF-8", f.what)
		}
		// The values go into headings and labels of documents that gates read line by line; a line feed could forge
		// a line such as "Approved: YES".
		if strings.ContainsFunc(f.value, func(r rune) bool {
			return r < 0x20 || r == 0x7f || r == 0x85 || r == 0x2028 || r == 0x2029
		}) {
			return bad("the %s must be one line without control characters", f.what)
		}
	}
	if p.Goal != "" && strings.TrimSpace(p.Goal) == "" {
		return bad("the goal must not be blank")
	}
	if n := len(utf16.Encode([]rune(strings.TrimSpace(p.Goal)))); n > maxGoalUnits {
		return bad("the goal is %d characters long; %d is the most", n, maxGoalUnits)
	}
	return nil
}

// ProjectID makes a project id from a directory's name: lower case, runs of other characters than letters and
// digits become one dash. A name with nothing usable in it gives "project".
func ProjectID(dir string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(dir) {
		switch {
		case 'a' <= r && r <= 'z' || '0' <= r && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	if id := strings.TrimRight(b.String(), "-"); id != "" {
		return id
	}
	return "project"
}

// renderer renders the embedded documents.
type renderer struct {
	t     Template
	p     Params
	files []File
	err   error
}

func (r *renderer) add(to, from string) {
	data, err := content.ReadFile("files/" + from)
	if err != nil {
		r.err = fmt.Errorf("project template %s: %w", r.t.ID, err)
		return
	}
	// A single pass with plain replacement: a project name that looks like a placeholder stays as it is.
	text := strings.NewReplacer(
		"{{name}}", r.p.ProjectName,
		"{{pm}}", r.t.mandate["pm"], "{{dev}}", r.t.mandate["dev"],
		"{{qa}}", r.t.mandate["qa"], "{{eng_director}}", r.t.mandate["eng_director"],
		"{{architect}}", r.t.mandate["architect"], "{{security_reviewer}}", r.t.mandate["security_reviewer"],
		"{{after.planning}}", r.after("planning"), "{{after.implementation}}", r.after("implementation"),
		"{{goal}}", r.goal(),
		"{{purpose}}", r.t.spec.purpose, "{{interface}}", r.t.spec.iface,
		"{{behavior}}", r.t.spec.behavior, "{{errors}}", r.t.spec.errors,
		"{{checks}}", r.checks(),
		"{{limits.qa}}", r.limits("qa"), "{{limits.eng_director}}", r.limits("eng_director"),
		"{{limits.architect}}", r.limits("architect"), "{{limits.security_reviewer}}", r.limits("security_reviewer"),
		"{{advice.pm}}", advice(r.t.advice["pm"]), "{{advice.dev}}", advice(r.t.advice["dev"]),
		"{{advice.qa}}", advice(r.t.advice["qa"]),
	).Replace(string(data))
	// A part that is empty for this template must not leave blank lines.
	text = strings.TrimRight(text, "\n") + "\n"
	r.files = append(r.files, File{Path: to, Content: []byte(text)})
}

func (r *renderer) goal() string {
	if g := strings.TrimSpace(r.p.Goal); g != "" {
		return "\nGoal: " + g + "\n"
	}
	return ""
}

// after returns the next phase.
func (r *renderer) after(phase string) string {
	for i, p := range r.t.phases[:len(r.t.phases)-1] {
		if p.id == phase {
			return r.t.phases[i+1].id
		}
	}
	return ""
}

// limits says what a role may write, which depends on who plays it: people who review are held to that, while an
// agent on this machine can write everything.
func (r *renderer) limits(role string) string {
	agent := r.p.Agent != nil
	if role == "architect" || role == "security_reviewer" {
		limits := "You judge and design; the product is not yours to change. Write only below `.planning/`."
		if !agent {
			limits += " Your write\nauthority is `review_only`, your artifact type `review`, and at least one objection is required."
		}
		return limits
	}
	switch {
	case role == "qa" && agent:
		return "You judge the product and do not change it: write only below `.planning/`. If something must be fixed, say so\n" +
			"in an objection and propose `dev`."
	case role == "qa":
		return "You review and do not change the product: only files under `.planning/` and `.agentxchain/reviews/` are\n" +
			"yours, and your artifact type is `review`. If you run behind an API and cannot write files, do not claim\n" +
			"that you did; your review is filed from your result."
	case agent:
		return "`needs_human` and put the question into `needs_human_reason`. Write only below `.planning/`."
	}
	return "`needs_human` and put the question into `needs_human_reason`. Your write authority is `review_only`,\n" +
		"your artifact type `review`, and at least one objection is required."
}

// checks renders the template's advice for the acceptance matrix.
func (r *renderer) checks() string {
	if len(r.t.checks) == 0 {
		return ""
	}
	return "\n## Before asking to ship\n\n- [ ] " + strings.Join(r.t.checks, "\n- [ ] ") + "\n"
}

func advice(text string) string {
	if text == "" {
		return ""
	}
	return "\n## This kind of project\n\n" + text + "\n"
}
