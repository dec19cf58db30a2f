//go:build unix

// Agents that tell git to start one of their programs.

package driver_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/gitstore/tamper"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/internal/turnmark"
	"github.com/git-agentxchain/git-agentxchain/runner"
	"github.com/git-agentxchain/git-agentxchain/runner/driver"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes"
)

// evil makes a program that leaves a trace when it runs.
const evil = `printf '#!/bin/sh\necho "$0" >> "%s"\ncat\n' "$PWD/.git/ran" > .git/evil; chmod +x .git/evil; E="$PWD/.git/evil"; mkdir -p .git/info; echo '* filter=x diff=x' > .git/info/attributes; `

// plantings are shell commands of agents, each with what must be reported about it.
var plantings = map[string][2]string{
	"core.fsmonitor": {`git config core.fsmonitor "$E";`, "core.fsmonitor"},
	"filter.clean":   {`git config filter.x.clean "$E";`, "filter.x.clean"},
	"filter.smudge":  {`git config filter.x.smudge "$E";`, "filter.x.smudge"},
	"filter.process": {`git config filter.x.process "$E";`, "filter.x.process"},
	"post-index-change": {`mkdir -p .git/hooks; cp .git/evil .git/hooks/post-index-change;`,
		"hooks/post-index-change"},
	"post-checkout": {`mkdir -p .git/hooks; cp .git/evil .git/hooks/post-checkout;`, "hooks/post-checkout"},
	"pre-commit":    {`mkdir -p .git/hooks; cp .git/evil .git/hooks/pre-commit;`, "hooks/pre-commit"},
	"reference-transaction": {`mkdir -p .git/hooks; cp .git/evil .git/hooks/reference-transaction;`,
		"hooks/reference-transaction"},
	"core.hooksPath": {`mkdir -p h; cp .git/evil h/reference-transaction; git config core.hooksPath h;`,
		"core.hookspath"},
	"hooks a link": {`mkdir -p h; cp .git/evil h/pre-commit; rm -rf .git/hooks; ln -s "$PWD/h" .git/hooks;`,
		"hooks was"},
	"alias":             {`git config alias.status "!$E";`, "alias.status"},
	"credential helper": {`git config credential.helper "$E";`, "credential.helper"},
	"include": {`printf '[filter "x"]\n\tclean = %s\n' "$E" > .git/more; git config include.path more;`,
		"include.path"},
	"includeIf": {`printf '[core]\n\tfsmonitor = %s\n' "$E" > more; git config includeIf.gitdir:/.path "$PWD/more";`,
		"includeif.gitdir:/.path"},
	"core.pager": {`git config core.pager "$E"; git config core.editor "$E";`, "core.editor, core.pager"},
	"gpg.program": {`git config gpg.program "$E"; git config commit.gpgsign true;`,
		"commit.gpgsign, gpg.program"},
	"diff.external":          {`git config diff.external "$E";`, "diff.external"},
	"textconv":               {`git config diff.x.textconv "$E";`, "diff.x.textconv"},
	"worktree configuration": {`git config core.repositoryFormatVersion 1; git config extensions.worktreeConfig true; git config --worktree core.fsmonitor "$E";`, "config.worktree"},
	"an identity":            {`git config user.name "The Chief";`, "user.name"},
	"trust":                  {`git config --add agentxchain.trusted sha256:aa;`, "agentxchain.trusted"},
	"excluded":               {`echo secret >> .git/info/exclude;`, "info/exclude"},
	"hidden by flags":        {`git update-index --assume-unchanged agentxchain.json;`, "agentxchain.json"},
	"grafts":                 {`git rev-parse HEAD > .git/info/grafts;`, "info/grafts"},
	"replacement":            {`git replace HEAD $(git commit-tree -m other HEAD^{tree});`, "refs/replace/"},
	"alternates": {`mkdir -p x/objects; echo "$PWD/x/objects" > .git/objects/info/alternates;`,
		"objects/info/alternates"},
	"branch back": {`git commit -q --allow-empty -m x; git commit -q --amend --allow-empty -m y; git update-ref refs/heads/main $(git commit-tree -m other HEAD^{tree});`, "refs/heads/main"},
	"run removed": {`git for-each-ref --format='delete %(refname)' refs/agentxchain/runs | git update-ref --stdin;`,
		"refs/agentxchain/runs/"},
	"broken": {`echo '[' >> .git/config;`, "no longer a configuration file"},
}

// TestPlantedProgramsNeverRun makes agents plant programs in git's configuration: none of them
// runs, everything is restored, and a person has to look at it.
func TestPlantedProgramsNeverRun(t *testing.T) {
	testrepo.Thorough(t)
	for name, c := range plantings {
		t.Run(name, func(t *testing.T) {
			p := newProject(t, shell(evil+c[0]+"rm -f .git/ran; "+stage), runner.Options{Trust: true})
			turn := p.assign()
			config, refs := p.read(".git/config"), p.refs()
			out := newDriver(p.r).Dispatch(context.Background(), driver.Job{TurnID: turn.TurnID})
			if out.Kind != runtimes.Blocked || out.Class != tamper.CodeGitTampered ||
				!strings.Contains(out.Reason, c[1]) || !strings.Contains(out.Recovery, "git agentxchain unblock") {
				t.Fatalf("%+v", out)
			}
			if got := p.read(".git/config"); got != config {
				t.Errorf("the configuration is\n%s", got)
			}
			if got := p.refs(); got != refs {
				t.Errorf("refs are\n%s", got)
			}
			if kept, _ := filepath.Glob(filepath.Join(p.dir, ".agentxchain/transactions/git-*", "*")); len(kept) == 0 {
				t.Error("what the agent wrote is not kept")
			}
			for _, left := range []string{".git/info/attributes", ".git/hooks/pre-commit", ".git/info/grafts"} {
				if p.exists(left) {
					t.Errorf("%s is left", left)
				}
			}
			if _, err := p.r.View(context.Background()); err != nil {
				t.Error(err)
			}
			if p.exists(".git/ran") {
				t.Errorf("it ran: %s", p.read(".git/ran"))
			}
		})
	}
}

func (p *project) refs() string {
	p.t.Helper()
	cmd := exec.Command("git", "for-each-ref", "--format=%(refname) %(objectname)", "refs/heads", "refs/agentxchain",
		"refs/replace")
	cmd.Dir = p.dir
	out, err := cmd.Output()
	p.must(err)
	return string(out)
}

// TestOrdinaryWorkIsNoTampering does what agents do every day.
func TestOrdinaryWorkIsNoTampering(t *testing.T) {
	p := newProject(t,
		shell(`git init -q --bare ../r.git; git commit -q --allow-empty -m work; git remote add fork ../r.git; git push -q -u fork main;`+
			`git tag v1; git branch side; git config color.ui always; git gc -q; `+stage), runner.Options{Trust: true})
	turn := p.assign()
	if out := newDriver(p.r).Dispatch(context.Background(),
		driver.Job{TurnID: turn.TurnID}); out.Kind != runtimes.Staged {
		t.Fatalf("%+v", out)
	}
	if config := p.read(".git/config"); !strings.Contains(config, "fork") {
		t.Errorf("the remote is gone:\n%s", config)
	}
	if left, _ := filepath.Glob(filepath.Join(p.dir, ".git/agentxchain/*/dispatched/*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestHarmlessSettingsSurvive mixes settings that are put back with those that ordinary work
// writes.
func TestHarmlessSettingsSurvive(t *testing.T) {
	p := newProject(t, shell(`git config branch.main.remote "a \"b"; git config core.fsmonitor /bin/false; `+stage),
		runner.Options{Trust: true})
	turn := p.assign()
	if out := newDriver(p.r).Dispatch(context.Background(),
		driver.Job{TurnID: turn.TurnID}); out.Class != tamper.CodeGitTampered {
		t.Fatalf("%+v", out)
	}
	cmd := exec.Command("git", "config", "branch.main.remote")
	cmd.Dir = p.dir
	if got, err := cmd.Output(); err != nil || string(got) != "a \"b\n" {
		t.Errorf("%q %v", got, err)
	}
}

// TestPlantedBeforeAKill leaves a planted program behind that no driver puts back: the next command
// does, blocks the run, and refuses itself.
func TestPlantedBeforeAKill(t *testing.T) {
	p := newProject(t, shell(stage), runner.Options{Trust: true})
	turn := p.assign()
	cmd := exec.Command(os.Args[0], "act", "note", p.dir, turn.TurnID) // as a killed driver leaves it
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %v", out, err)
	}
	plant := exec.Command("sh", "-c", evil+`git config core.fsmonitor "$E"; rm -f .git/ran`)
	plant.Dir = p.dir
	p.must(plant.Run())
	ctx := context.Background()
	v, err := p.r.View(ctx)
	p.must(err)
	if len(v.Notices) != 1 || !strings.Contains(v.Notices[0], "core.fsmonitor") {
		t.Errorf("%q", v.Notices)
	}
	if _, err := p.r.ReactivateRun(ctx, runner.ReactivateOptions{}); runner.ErrorCode(err) != tamper.CodeGitTampered {
		t.Errorf("%v", err)
	}
	v, err = p.r.View(ctx)
	p.must(err)
	if on := v.State.BlockedOn; on == nil || *on != runner.BlockedOnGit || len(v.Notices) != 0 {
		t.Errorf("%+v %q", on, v.Notices)
	}
	if p.exists(".git/info/attributes") || strings.Contains(p.read(".git/config"), "fsmonitor") ||
		p.exists(".git/ran") {
		t.Error("it is not put back")
	}
}

// TestNothingPlantedBeforeAKill continues a turn after its driver was killed.
func TestNothingPlantedBeforeAKill(t *testing.T) {
	p := newProject(t, shell(stage), runner.Options{Trust: true})
	turn := p.assign()
	p.write(turnmark.Path(turn.TurnID), "")
	cmd := exec.Command(os.Args[0], "act", "note", p.dir, turn.TurnID)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %v", out, err)
	}
	ctx := context.Background()
	if _, err := p.r.Checkpoint(ctx, ""); runner.ErrorCode(err) == tamper.CodeGitTampered {
		t.Errorf("a command that changes something: %v", err)
	}
	if out := newDriver(p.r).Dispatch(ctx, driver.Job{TurnID: turn.TurnID}); out.Kind != runtimes.Staged {
		t.Fatalf("%+v", out)
	}
}

// TestNoteRemoved makes an agent remove the driver's note, after the driver was killed.
func TestNoteRemoved(t *testing.T) {
	p := newProject(t, shell(stage), runner.Options{Trust: true})
	turn := p.assign()
	p.write(turnmark.Path(turn.TurnID), "")
	if out := newDriver(p.r).Dispatch(context.Background(),
		driver.Job{TurnID: turn.TurnID}); out.Kind != runtimes.Blocked || out.Class != tamper.CodeGitTampered {
		t.Fatalf("%+v", out)
	}
	if out := newDriver(p.r).Dispatch(context.Background(),
		driver.Job{TurnID: turn.TurnID}); out.Kind != runtimes.Staged {
		t.Fatalf("when a person has looked: %+v", out)
	}
}
