//go:build unix

// Tests of starting git: nothing runs from the repository's own configuration.

package gitstore

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/gitstatus"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/history"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
)

// planted is a repository whose own configuration runs script on every occasion.
type planted struct {
	*testrepo.Repo
	t           *testing.T
	mark, shell string
	repo        *git.Repository
}

func plant(t *testing.T) *planted {
	r := testrepo.New(t, testrepo.Options{})
	dir := t.TempDir()
	p := &planted{
		Repo:  r,
		t:     t,
		mark:  filepath.Join(dir, "ran"),
		shell: filepath.Join(dir, "script"),
		repo:  opened(t, r),
	}
	p.file(p.shell, "#!/bin/sh\necho \"$0 $*\" >> '"+p.mark+"'\ncat\n")
	return p
}

func (p *planted) file(name, content string) {
	p.t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), 0o755); err != nil {
		p.t.Fatal(err)
	}
}

// ask makes git examine every file again, in each way a command of ours does.
func (p *planted) ask() {
	p.t.Helper()
	ctx := context.Background()
	late := time.Now().Add(time.Hour)
	if err := os.Chtimes(filepath.Join(p.Dir, "a.txt"), late, late); err != nil {
		p.t.Fatal(err)
	}
	p.Write("n.txt", "new")
	st, err := gitstatus.Of(ctx, p.repo, "")
	if err != nil {
		p.t.Fatal(err)
	}
	if _, err := gitstatus.DiffNames(ctx, p.repo, st.Head); err != nil {
		p.t.Fatal(err)
	}
	if _, err := history.Blame(ctx, p.repo, "a.txt", nil); err != nil {
		p.t.Fatal(err)
	}
	if err := p.repo.CheckedOut(ctx, []git.Filed{{OID: object.OID(p.Git("rev-parse", "HEAD:a.txt")), Path: "a.txt"}},
		func(int, string) {}); err != nil {
		p.t.Fatal(err)
	}
	if _, _, _, err := history.WorkDiff(ctx, p.repo, string(st.Head), []string{"a.txt"}, 1<<20); err != nil {
		p.t.Fatal(err)
	}
	if err := p.repo.UpdateRefs(ctx, []git.RefUpdate{{Name: "refs/agentxchain/test", New: st.Head}},
		"test"); err != nil {
		p.t.Fatal(err)
	}
	if _, err := p.repo.Git.Run(ctx, nil, "log", "-1"); err != nil {
		p.t.Fatal(err)
	}
}

func (p *planted) ran() string {
	data, _ := os.ReadFile(p.mark)
	return string(data)
}

// TestNothingPlantedRuns tries each way a repository can make git start a program. Each is first shown to work with
// a plain git.
func TestNothingPlantedRuns(t *testing.T) {
	testrepo.Thorough(t)
	attributes := func(p *planted) {
		p.file(filepath.Join(p.Dir, ".git/info/attributes"), "* filter=x diff=x merge=x\n")
	}
	set := func(key string) func(*planted) {
		return func(p *planted) { p.Git("config", key, p.shell) }
	}
	hook := func(name string) func(*planted) {
		return func(p *planted) { p.file(filepath.Join(p.Dir, ".git/hooks/"+name), "#!/bin/sh\nexec "+p.shell+"\n") }
	}
	include := func(how string) func(*planted) {
		return func(p *planted) {
			attributes(p)
			p.file(filepath.Join(p.Dir, "nested/more"), "[filter \"x\"]\n\tclean = "+p.shell+"\n")
			p.file(filepath.Join(p.Dir, "nested/first"), "[include]\n\tpath = more\n")
			f, err := os.OpenFile(filepath.Join(p.Dir, ".git/config"), os.O_APPEND|os.O_WRONLY, 0)
			if err == nil {
				_, err = f.WriteString(how)
				_ = f.Close()
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, c := range map[string]struct {
		plant []func(*planted)
		plain []string // the git command that triggers it; "" for none in this version
	}{
		"core.fsmonitor":        {[]func(*planted){set("core.fsmonitor")}, []string{"status"}},
		"clean":                 {[]func(*planted){attributes, set("filter.x.clean")}, []string{"status"}},
		"clean of another case": {[]func(*planted){attributes, set("FILTER.x.CLEAN")}, []string{"status"}},
		"smudge": {[]func(*planted){attributes, set("filter.x.smudge")},
			[]string{"cat-file", "--filters", "HEAD:a.txt"}},
		"process": {[]func(*planted){attributes, set("filter.x.process")},
			[]string{"cat-file", "--filters", "HEAD:a.txt"}},
		"include": {[]func(*planted){include("[include]\n\tpath = ../nested/first\n")},
			[]string{"status"}},
		"includeIf": {[]func(*planted){
			include("[includeIf \"gitdir:**\"]\n\tpath = ../nested/first\n"),
		}, []string{"status"}},
		"post-index-change": {[]func(*planted){hook("post-index-change")}, []string{"add", "a.txt"}},
		"reference-transaction": {[]func(*planted){hook("reference-transaction")},
			[]string{"update-ref", "refs/x/y", "HEAD"}},
		"core.hooksPath in a worktree": {[]func(*planted){hook("reference-transaction"), func(p *planted) {
			p.Git("config", "core.hooksPath", ".git/hooks")
		}}, []string{"update-ref", "refs/x/y", "HEAD"}},
		"textconv":      {[]func(*planted){attributes, set("diff.x.textconv")}, []string{"diff"}},
		"diff command":  {[]func(*planted){attributes, set("diff.x.command")}, []string{"diff"}},
		"diff.external": {[]func(*planted){set("diff.external")}, []string{"diff"}},
		"signatures": {[]func(*planted){set("gpg.program"),
			func(p *planted) { p.Git("config", "log.showSignature", "true") }}, nil},
		"alias": {[]func(*planted){
			func(p *planted) { p.Git("config", "alias.status", "!"+p.shell) },
		}, nil},
		"config.worktree": {[]func(*planted){attributes, func(p *planted) {
			p.Git("config", "core.repositoryFormatVersion", "1")
			p.Git("config", "extensions.worktreeConfig", "true")
			p.Git("config", "--worktree", "filter.x.clean", p.shell)
		}}, []string{"status"}},
		"all variables": {[]func(*planted){func(p *planted) {
			for _, v := range []string{"GIT_EXTERNAL_DIFF", "GIT_PAGER", "GIT_EDITOR", "GIT_SSH_COMMAND",
				"GIT_ASKPASS"} {
				p.t.Setenv(v, p.shell)
			}
			p.t.Setenv("GIT_CONFIG_COUNT", "1")
			p.t.Setenv("GIT_CONFIG_KEY_0", "core.fsmonitor")
			p.t.Setenv("GIT_CONFIG_VALUE_0", p.shell)
			p.t.Setenv("GIT_CONFIG_PARAMETERS", "'core.fsmonitor'='"+p.shell+"'")
			p.repo = opened(p.t, p.Repo)
		}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			p := plant(t)
			for _, f := range c.plant {
				f(p)
			}
			p.Write("a.txt", "changed\n")
			_ = os.Remove(p.mark)
			p.ask()
			if ran := p.ran(); ran != "" {
				t.Fatalf("it ran: %s", ran)
			}
			if c.plain == nil {
				return
			}
			late := time.Now().Add(2 * time.Hour)
			if err := os.Chtimes(filepath.Join(p.Dir, "a.txt"), late, late); err != nil {
				t.Fatal(err)
			}
			_ = gitCommand(p.Dir, c.plain...).Run()
			if p.ran() == "" {
				t.Error("the trap does not work")
			}
		})
	}
}

// TestProgramsFromOutsideStay has a filter configured for all repositories.
func TestProgramsFromOutsideStay(t *testing.T) {
	p := plant(t)
	global := filepath.Join(t.TempDir(), "gitconfig")
	p.file(global, "[filter \"x\"]\n\tclean = tr a-z A-Z\n\trequired = true\n")
	t.Setenv("GIT_CONFIG_GLOBAL", global)
	p.repo = opened(t, p.Repo)
	p.file(filepath.Join(p.Dir, ".git/info/attributes"), "* filter=x\n")
	ctx := context.Background()
	head := object.OID(p.Git("rev-parse", "HEAD"))
	if names, err := gitstatus.DiffNames(ctx, p.repo, head); err != nil {
		t.Fatal(names, err)
	}
	p.Write("a.txt", "upper\n")
	for _, local := range []string{"", "filter.x.clean", "filter.x.smudge", "filter.x.process"} {
		if local != "" {
			p.Git("config", local, p.shell)
		}
		_, patch, _, err := history.WorkDiff(ctx, p.repo, string(head), []string{"a.txt"}, 1<<20)
		// An empty process takes precedence over a clean configured outside: git then refuses.
		if local != "filter.x.process" && (err != nil || !strings.Contains(string(patch), "+UPPER\n")) {
			t.Errorf("%q: %v\n%s", local, err, patch)
		}
		if ran := p.ran(); ran != "" {
			t.Errorf("%q: it ran: %s", local, ran)
		}
	}
}

// TestUnreadableConfigurationIsRefused hides from us what git would read.
func TestUnreadableConfigurationIsRefused(t *testing.T) {
	for name, how := range map[string]string{
		"too long":    "[x]\n\ty = " + strings.Repeat("z", git.MaxGitConfig),
		"from prefix": "[include]\n\tpath = \"%(prefix)/../tmp/x\"\n",
	} {
		p := plant(t)
		config := filepath.Join(p.Dir, ".git/config")
		data, err := os.ReadFile(config)
		if err != nil {
			t.Fatal(err)
		}
		p.file(config, string(data)+how)
		if _, err := gitstatus.Of(context.Background(), p.repo, ""); fail.CodeOf(err) != fail.CodeUnreadable {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestGitOfTheWorkTreeIsNotUsed puts a git where PATH leads first.
func TestGitOfTheWorkTreeIsNotUsed(t *testing.T) {
	p := plant(t)
	bin := filepath.Join(p.Dir, "bin")
	p.file(filepath.Join(bin, "git"), "#!/bin/sh\nexec "+p.shell+"\n")
	linked := filepath.Join(t.TempDir(), "bin")
	if err := os.Symlink(bin, linked); err != nil {
		t.Fatal(err)
	}
	rest := os.Getenv("PATH")
	t.Chdir(p.Dir)
	for _, first := range []string{"bin", ".", "", "./bin", bin, linked} {
		t.Setenv("PATH", first+string(filepath.ListSeparator)+rest)
		p.repo = opened(t, p.Repo)
		t.Setenv("PATH", rest)
		p.ask()
		if ran := p.ran(); ran != "" {
			t.Errorf("PATH with %q: it ran: %s", first, ran)
		}
		p.Git("update-ref", "-d", "refs/agentxchain/test")
	}
	t.Setenv("PATH", bin)
	if _, err := git.Discover(context.Background(), p.Dir); fail.CodeOf(err) != fail.CodeGitMissing ||
		!strings.Contains(err.Error(), "work tree") {
		t.Errorf("the only git is inside: %v", err)
	}
}

// TestKeptVariablesAreDocumented compares the list of variables with the manual.
func TestKeptVariablesAreDocumented(t *testing.T) {
	data, err := os.ReadFile("../docs/threat-model.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(data), "## What our git may start")
	section, _, _ = strings.Cut(section, "\n## ")
	for _, v := range append(append([]string{}, git.KeptVars...), git.TransportVars...) {
		if !strings.Contains(section, "`"+v+"`") {
			t.Errorf("%s is not documented", v)
		}
	}
}

// TestNothingPlantedSpeaksToARemote tries the programs that the repository names for its remotes. Git uses the
// first value of these keys, so a setting on the command line cannot override the repository's.
func TestNothingPlantedSpeaksToARemote(t *testing.T) {
	ctx := t.Context()
	server := testrepo.New(t, testrepo.Options{})
	server.Git("config", "uploadpack.allowFilter", "true")
	here := func(p *planted) string {
		p.file(p.shell, "#!/bin/sh\necho \"$0 $*\" >> '"+p.mark+"'\n") // reading stdin would deadlock
		return "file://" + server.Main
	}
	for name, c := range map[string]struct {
		key string
		url func(p *planted) string
		ask []string
		ok  bool // whether git works without the program
	}{
		"fetch": {"remote.origin.uploadpack", here, []string{"-c", "gc.auto=0", "fetch", "--quiet", "--", "origin"}, true},
		"list":  {"remote.origin.uploadpack", here, []string{"ls-remote", "--", "origin"}, true},
		"push":  {"remote.origin.receivepack", here, []string{"push", "--", "origin", "HEAD:refs/heads/new"}, true},
		"no proxy": {"core.gitProxy", func(p *planted) string {
			return strings.Replace(here(p), "file://", "git://127.0.0.1:1", 1)
		}, []string{"ls-remote", "--", "origin"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			p := plant(t)
			p.Git("remote", "add", "origin", c.url(p))
			p.Git("config", c.key, p.shell)
			_, err := p.repo.Git.Transport().Run(ctx, nil, c.ask...)
			if ran := p.ran(); ran != "" || (err == nil) != c.ok {
				t.Fatalf("%v, and it ran: %q", err, ran)
			}
			_ = gitCommand(p.Dir, c.ask...).Run()
			if p.ran() == "" {
				t.Error("the trap does not work")
			}
		})
	}
	t.Run("what a partial clone lacks", func(t *testing.T) {
		p := plant(t)
		dir := filepath.Join(t.TempDir(), "clone")
		p.Git("clone", "-q", "--filter=blob:none", "--no-checkout", here(p), dir)
		gitIn(t, dir, "config", "remote.origin.uploadpack", p.shell)
		repo, err := git.Discover(ctx, dir)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = repo.Close() }()
		if _, err := repo.Git.Run(ctx, nil, "cat-file", "blob", "HEAD:a.txt"); err == nil || p.ran() != "" {
			t.Errorf("%v, and it ran: %q", err, p.ran())
		}
		_ = gitCommand(dir, "cat-file", "blob", "HEAD:a.txt").Run()
		if p.ran() == "" {
			t.Error("the trap does not work")
		}
	})
	t.Run("one from outside stays", func(t *testing.T) {
		p := plant(t)
		global := filepath.Join(t.TempDir(), "gitconfig")
		p.file(global, "[remote \"origin\"]\n\tuploadpack = \"echo >>'"+p.mark+"'; git-upload-pack\"\n")
		t.Setenv("GIT_CONFIG_GLOBAL", global)
		p.Git("remote", "add", "origin", here(p))
		p.Git("config", "remote.origin.uploadpack", "false")
		p.repo = opened(t, p.Repo)
		if _, err := p.repo.Git.Transport().Run(ctx, nil, "fetch", "--quiet", "--", "origin"); err != nil || p.ran() == "" {
			t.Errorf("%v, and the person's program did not run", err)
		}
	})
}
