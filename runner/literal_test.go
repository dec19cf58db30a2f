// A dumb program that does exactly what PROMPT.md says, for every role and phase of every template: each of its
// results is accepted at the first try, and "verify turn" says so beforehand.

package runner_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/gitcommit"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/scaffold"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

var (
	placeholder  = regexp.MustCompile(`^<.*>$`)
	skeleton     = regexp.MustCompile("(?s)This is its form.*?```json\n(.*?)\n```")
	requiredFile = regexp.MustCompile("(?m)^- `([^`]+)` — (?:exists|MISSING)(.*)$")
	asked        = regexp.MustCompile("set `(phase_transition_request|run_completion_request)` to `([a-z_]+)`")
	section      = regexp.MustCompile("`(## [^`]+)`")
)

// literally carries out the turn as its prompt says; leave: and asks to leave the phase.
func (p *project) literally(turn *run.Turn, leave bool) {
	p.t.Helper()
	data, err := os.ReadFile(filepath.Join(p.dir, filepath.FromSlash(wire.BundleDir(turn.TurnID)), "PROMPT.md"))
	p.must(err)
	prompt := string(data)
	for _, want := range []string{"The goal of the project: Count words", wire.BundleDir(turn.TurnID) + "/CONTEXT.md",
		"git agentxchain verify turn " + turn.TurnID,
		"`README.md`", "`make test`"} {
		if !strings.Contains(prompt, want) {
			p.t.Errorf("%s in %s: the prompt does not say %q", turn.AssignedRole, p.state().Phase, want)
		}
	}
	var touched []string
	write := func(path, text string) {
		p.write(path, text)
		touched = append(touched, path)
	}
	if turn.AssignedRole == "dev" {
		write("src/"+turn.TurnID+".txt", "code\n")
	}
	if leave {
		gate, _, _ := strings.Cut(prompt[strings.Index(prompt, "## Phase Exit Gate"):], "\n## ")
		for _, m := range requiredFile.FindAllStringSubmatch(gate, -1) {
			p.document(m[1], m[2], write)
		}
	}
	doc, err := ojson.DecodeObject([]byte(skeleton.FindStringSubmatch(prompt)[1]))
	p.must(err)
	filled := fillIn(doc, touched).(*ojson.Object)
	filled.Set("files_changed", touched)
	if len(touched) == 0 && filled.Object("artifact").String("type") == "workspace" {
		// "`review` when you changed nothing"
		filled.Set("artifact", ojson.NewObject("type", "review", "ref", nil))
		filled.Set("files_changed", []string{})
	}
	if turn.AssignedRole != "dev" && strings.Contains(prompt, "Code Production Required") {
		filled.Set("status", "blocked") // "If you cannot produce code, report `blocked`"
	}
	if leave {
		m := asked.FindStringSubmatch(prompt)
		if m == nil {
			p.t.Fatalf("the prompt of %s does not say how to leave %s:\n%s", turn.AssignedRole, p.state().Phase,
				prompt)
		}
		if m[2] == "true" {
			filled.Set(m[1], true)
		} else {
			filled.Set(m[1], m[2])
		}
	}
	p.write(wire.StagingPath(turn.TurnID), string(ojson.Pretty(filled)))
}

// document writes the required content that the prompt states for a document.
func (p *project) document(path, must string, write func(path, text string)) {
	p.t.Helper()
	switch {
	case strings.Contains(must, "leave its sign-off line as it is"):
		data, err := os.ReadFile(filepath.Join(p.dir, filepath.FromSlash(path)))
		p.must(err)
		write(path, string(data)+"\nEverything a person has to know.\n")
	case strings.Contains(must, "`| Req # |` table"):
		write(path, "# Matrix\n\n| Req # | Requirement | Acceptance criteria | Test status | Last tested | Status |\n"+
			"|---|---|---|---|---|---|\n| 1 | words | counted | pass | today | PASS |\n")
	default:
		text := "# " + path + "\n"
		for _, m := range section.FindAllStringSubmatch(must, -1) {
			text += "\n" + m[1] + "\n\nReal content of " + m[1][3:] + ".\n"
		}
		write(path, text)
	}
}

// fillIn replaces every placeholder; where one names choices it takes the first.
func fillIn(v any, touched []string) any {
	switch v := v.(type) {
	case *ojson.Object:
		for _, k := range v.Keys() {
			val, _ := v.Get(k)
			v.Set(k, fillIn(val, touched))
		}
	case []any:
		for i := range v {
			v[i] = fillIn(v[i], touched)
		}
	case string:
		if !placeholder.MatchString(v) {
			return v
		}
		if list, ok := strings.CutPrefix(v, "<one of: "); ok {
			first, _, _ := strings.Cut(strings.TrimSuffix(list, ">"), ", ")
			return first
		}
		if strings.Contains(v, "command") {
			return "true"
		}
		return "said in words"
	}
	return v
}

func TestPromptsAreFollowedToTheLetter(t *testing.T) {
	testrepo.Thorough(t)
	for _, template := range scaffold.IDs() {
		for _, agent := range []string{"", "sh agent"} {
			if agent == "" && scaffold.DefaultAgent(template) != "" {
				continue // people play no role in it
			}
			name := template + " by people"
			if agent != "" {
				name = template + " by an agent"
			}
			t.Run(name, func(t *testing.T) { literalRun(t, template, agent) })
		}
	}
}

func literalRun(t *testing.T, template, agent string) {
	p := newBareProject(t, runner.ProjectOptions{Template: template, Agent: agent, ID: "proj", Goal: "Count words"})
	seen := make(map[string]bool)
	turn := func(role string, leave bool) {
		t.Helper()
		a := p.assign(role)
		phase := p.state().Phase
		seen[phase+" "+a.Turn.AssignedRole] = true
		p.literally(a.Turn, leave)
		if _, v, _, err := p.r.Validate(p.ctx, a.Turn.TurnID); err != nil || !v.OK {
			t.Fatalf("%s in %s: verify turn: %v %v", a.Turn.AssignedRole, phase, err, v.Errors)
		}
		out, err := p.r.AcceptTurn(p.ctx, runner.AcceptOptions{TurnID: a.Turn.TurnID})
		if err != nil {
			t.Fatalf("%s in %s: %v", a.Turn.AssignedRole, phase, err)
		}
		if gate := out.Result.Gate; leave && (gate == nil || gate.Action == "gate_failed") {
			t.Fatalf("%s in %s: the gate did not open: %+v", a.Turn.AssignedRole, phase, gate)
		}
		if len(out.Result.Entry.Strings("files_changed")) > 0 {
			_, err = p.r.Checkpoint(p.ctx, a.Turn.TurnID)
			p.must(err)
		}
	}
	v, err := p.r.View(p.ctx)
	p.must(err)
	for _, phase := range v.Config.Phases() {
		roles := v.Config.PhaseRoles(phase)
		entry := v.Config.Route(phase).EntryRole
		for _, role := range roles {
			if role != entry {
				turn(role, false)
			}
		}
		turn(entry, true)
		if p.state().Status == wire.StatusPaused {
			_, err := p.r.Approve(p.ctx, runner.ApproveOptions{})
			p.must(err)
		}
		if s := p.state(); s.Status == wire.StatusActive {
			if next := v.Config.Route(s.Phase).EntryRole; wire.OrEmpty(s.NextRecommendedRole) != next {
				t.Errorf("phase %s begins with %s, not with its entry role %s", s.Phase,
					wire.OrEmpty(s.NextRecommendedRole), next)
			}
		}
	}
	if s := p.state(); s.Status != wire.StatusCompleted || len(seen) < 8 {
		t.Errorf("the run is %s after %d kinds of turns", s.Status, len(seen))
	}
	rows, err := p.r.Record().TailRows(p.ctx, wire.LedgerHistory, 100, nil)
	p.must(err)
	var ids []string
	for _, row := range rows {
		for _, o := range row.Row.Objects("objections") {
			ids = append(ids, o.String("id"))
		}
	}
	slices.Sort(ids)
	if n := len(ids); n != len(slices.Compact(slices.Clone(ids))) {
		t.Errorf("objections share an id: %v", ids)
	}
}

// newBareProject makes a project with the gates and people that init writes.
func newBareProject(t *testing.T, opt runner.ProjectOptions) *project {
	t.Helper()
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	t.Setenv("GIT_CONFIG_SYSTEM", os.DevNull)
	t.Setenv(runner.TurnMarker, "")
	p := &project{t: t, ctx: t.Context(), dir: t.TempDir()}
	repo, err := gitstore.Create(p.ctx, p.dir, "Ada", "ada@example.org")
	p.must(err)
	_, err = runner.InitProject(p.ctx, p.dir, opt)
	p.must(err)
	// Every role has its turn in a phase before one asks to leave it.
	data, err := os.ReadFile(filepath.Join(p.dir, wire.ConfigPath))
	p.must(err)
	doc, err := ojson.DecodeObject(data)
	p.must(err)
	doc.Set("run_loop", ojson.NewObject("non_progress_threshold", 9))
	p.write(wire.ConfigPath, string(ojson.Pretty(doc)))
	p.write("README.md", "# Words\n")
	p.write("Makefile", "test:\n\ttrue\n")
	_, err = gitcommit.Paths(p.ctx, repo, []string{"."}, "governed project")
	p.must(err)
	p.must(repo.Close())
	p.r, err = runner.Open(p.ctx, p.dir, runner.Options{})
	p.must(err)
	t.Cleanup(func() { _ = p.r.Close() })
	return p
}
