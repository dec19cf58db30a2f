package gitstore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/gitstore/sibling"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// trap is a sibling that leaves a canary if anything of it runs, and whose record must not be read from outside.
type trap struct {
	*driver
	t       testing.TB
	canary  string
	script  string // a program that leaves the canary
	outside string // a directory outside the sibling
}

func newTrap(t *testing.T) *trap {
	t.Helper()
	d := started(t)
	dir := t.TempDir()
	p := &trap{
		driver:  d,
		t:       t,
		canary:  filepath.Join(dir, "canary"),
		script:  filepath.Join(dir, "trap.sh"),
		outside: filepath.Join(dir, "outside"),
	}
	if err := os.WriteFile(p.script, fmt.Appendf(nil, "#!/bin/sh\necho \"$0 $*\" >>'%s'\n", p.canary),
		0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(p.outside, 0o777); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *trap) git(args ...string) { p.t.Helper(); gitIn(p.t, p.Dir, args...) }

func (p *trap) move(from, to string) {
	p.t.Helper()
	if err := os.Rename(from, to); err != nil {
		p.t.Fatal(err)
	}
}

func (p *trap) link(target, name string) {
	p.t.Helper()
	if err := errors.Join(os.RemoveAll(name), os.Symlink(target, name)); err != nil {
		p.t.Fatal(err)
	}
}

func (p *trap) file(name, data string) {
	p.t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o777),
		os.WriteFile(name, []byte(data), 0o777)); err != nil {
		p.t.Fatal(err)
	}
}

// TestSiblingHostile reads siblings that are built to run something, to lead elsewhere, or to hang or exhaust their
// reader.
func TestSiblingHostile(t *testing.T) {
	state := string(wire.DocState)
	cases := map[string]struct {
		set  func(p *trap)
		code string // "" when the sibling is still readable
	}{
		"hooks": {func(p *trap) {
			for _, h := range []string{"reference-transaction", "post-checkout", "fsmonitor-watchman", "pre-auto-gc",
				"post-index-change"} {
				p.file(p.path(".git/hooks/"+h), "#!/bin/sh\nexec "+p.script+"\n")
			}
			p.git("config", "core.hooksPath", p.path(".git/hooks"))
		}, ""},
		"config hooks": {func(p *trap) {
			p.git("config", "hook.x.event", "reference-transaction")
			p.git("config", "hook.x.command", p.script)
		}, ""},
		"fsmonitor":   {func(p *trap) { p.git("config", "core.fsmonitor", p.script) }, ""},
		"ssh command": {func(p *trap) { p.git("config", "core.sshCommand", p.script) }, ""},
		"pager, editor and helpers": {func(p *trap) {
			for _, k := range []string{"core.pager", "core.editor", "credential.helper", "diff.external",
				"gpg.program", "core.askPass", "uploadpack.packObjectsHook", "core.alternateRefsCommand"} {
				p.git("config", k, p.script)
			}
		}, ""},
		"filters and textconv": {func(p *trap) {
			p.file(p.path(".gitattributes"), "* filter=x diff=x\n")
			for _, k := range []string{"filter.x.clean", "filter.x.smudge", "filter.x.process", "diff.x.textconv",
				"diff.x.command"} {
				p.git("config", k, p.script)
			}
		}, ""},
		"include of a pipe": {func(p *trap) {
			mkfifo(p.t, p.path(".git/pipe"))
			p.appendTo(".git/config", "[include]\n\tpath = pipe\n[includeIf \"gitdir:/\"]\n\tpath = "+p.script+"\n")
		}, ""},
		"replace refs and grafts": {func(p *trap) {
			v := p.view()
			p.git("replace", string(v.Op), string(v.Op)+"~1")
			p.file(p.path(".git/info/grafts"), string(v.Op)+"\n")
		}, ""},
		"alternates": {func(p *trap) {
			p.move(p.path(".git/objects"), filepath.Join(p.outside, "objects"))
			p.file(p.path(".git/objects/info/alternates"), filepath.Join(p.outside, "objects")+"\n")
		}, fail.CodeObjectMissing},
		"promisor remote": {func(p *trap) {
			p.move(p.path(".git/objects"), filepath.Join(p.outside, "objects"))
			p.file(p.path(".git/objects/info/x"), "")
			p.git("config", "core.repositoryformatversion", "1")
			p.git("config", "extensions.partialClone", "origin")
			p.git("config", "remote.origin.promisor", "true")
			p.git("config", "remote.origin.url", "ext::"+p.script)
			p.git("config", "remote.origin.uploadpack", p.script)
			p.git("config", "protocol.ext.allow", "always")
		}, fail.CodeObjectMissing},
		"worktree config": {func(p *trap) {
			p.git("config", "core.repositoryformatversion", "1")
			p.git("config", "extensions.worktreeConfig", "true")
			p.file(p.path(".git/config.worktree"), "[core]\n\tfsmonitor = "+p.script+"\n")
		}, ""},
		"work tree elsewhere": {func(p *trap) { p.git("config", "core.worktree", p.outside) },
			sibling.CodeGitDirElsewhere},
		"work tree elsewhere by its own config": {func(p *trap) {
			p.git("config", "core.repositoryformatversion", "1")
			p.git("config", "extensions.worktreeConfig", "true")
			p.file(p.path(".git/config.worktree"), "[core]\n\tworktree = "+p.outside+"\n")
		}, sibling.CodeGitDirElsewhere},
		"git directory is a link": {func(p *trap) {
			p.move(p.path(".git"), filepath.Join(p.outside, "git"))
			p.link(filepath.Join(p.outside, "git"), p.path(".git"))
		}, sibling.CodeGitDirElsewhere},
		"git file leads elsewhere": {func(p *trap) {
			p.move(p.path(".git"), filepath.Join(p.outside, "git"))
			p.file(p.path(".git"), "gitdir: "+filepath.Join(p.outside, "git")+"\n")
		}, sibling.CodeGitDirElsewhere},
		"common directory elsewhere": {func(p *trap) {
			gitIn(p.t, p.outside, "init", "-q", ".")
			p.file(p.path(".git/commondir"), filepath.Join(p.outside, ".git")+"\n")
		}, sibling.CodeGitDirElsewhere},
		"git file is a pipe": {func(p *trap) {
			p.move(p.path(".git"), p.outside+"/g")
			mkfifo(p.t,
				p.path(".git"))
		}, sibling.CodeGitDirElsewhere},
		"configuration is a pipe": {func(p *trap) {
			_ = os.Remove(p.path(".git/config"))
			mkfifo(p.t,
				p.path(".git/config"))
		}, fail.CodeUnsupportedFormat},
		"configuration is broken": {func(p *trap) { p.file(p.path(".git/config"), "[core\n") },
			fail.CodeUnsupportedFormat},
		"unknown format": {func(p *trap) { p.git("config", "core.repositoryformatversion", "7") },
			fail.CodeUnsupportedFormat},
		"objects outside": {func(p *trap) {
			p.move(p.path(".git/objects"), filepath.Join(p.outside, "objects"))
			p.link(filepath.Join(p.outside, "objects"), p.path(".git/objects"))
		}, fail.CodeObjectCorrupt},
		"packs outside": {func(p *trap) {
			p.git("repack", "-adq")
			p.git("prune-packed")
			p.move(p.path(".git/objects/pack"), filepath.Join(p.outside, "pack"))
			p.link(filepath.Join(p.outside, "pack"), p.path(".git/objects/pack"))
		}, fail.CodeObjectMissing},
		"refs outside": {func(p *trap) {
			p.move(p.path(".git/refs/agentxchain"), filepath.Join(p.outside, "refs"))
			p.link(filepath.Join(p.outside, "refs"), p.path(".git/refs/agentxchain"))
		}, fail.CodeRefBroken},
		"ref is symbolic": {func(p *trap) {
			v := p.view()
			p.git("update-ref", "refs/heads/evil", string(v.Op))
			p.git("symbolic-ref", git.RunRefPrefix+v.Run, "refs/heads/evil")
		}, fail.CodeRefSymbolic},
		"ref is a link": {func(p *trap) {
			ref := p.path(".git/" + git.RunRefPrefix + p.view().Run)
			p.move(ref, ref+"x")
			p.link(ref+"x", ref)
		}, fail.CodeRefSymbolic},
		"ref is a pipe": {func(p *trap) {
			ref := p.path(".git/" + git.RunRefPrefix + p.view().Run)
			_ = os.Remove(ref)
			mkfifo(p.t, ref)
		}, fail.CodeRefBroken},
		"ref is empty": {func(p *trap) { p.file(p.path(".git/"+git.RunRefPrefix+p.view().Run), "") },
			fail.CodeRefBroken},
		"ref is no commit": {func(p *trap) {
			p.file(p.path(".git/"+git.RunRefPrefix+p.view().Run),
				strings.TrimSpace(gitIn(p.t, p.Dir, "rev-parse", "HEAD^{tree}"))+"\n")
		}, fail.CodeObjectCorrupt},
		"state is a link": {func(p *trap) {
			p.move(p.path(state), filepath.Join(p.outside, "state.json"))
			p.link(filepath.Join(p.outside, "state.json"), p.path(state))
		}, record.CodeStateTampered},
		"governed directory is a link": {func(p *trap) {
			p.move(p.path(".agentxchain"), filepath.Join(p.outside, "x"))
			p.link(filepath.Join(p.outside, "x"), p.path(".agentxchain"))
		}, fail.CodeUnreadable},
		"state is a pipe": {func(p *trap) { _ = os.Remove(p.path(state)); mkfifo(p.t, p.path(state)) },
			record.CodeStateTampered},
		"state is a directory": {func(p *trap) { _ = os.Remove(p.path(state)); _ = os.Mkdir(p.path(state), 0o777) },
			record.CodeStateTampered},
		"state of 1 GB":    {func(p *trap) { p.huge(state) }, fail.CodeUnreadable},
		"state is no JSON": {func(p *trap) { p.write(state, "{") }, wire.CodeInvalidState},
		"run id is a path": {func(p *trap) { p.write(state, `{"run_id":"../../heads/main"}`) },
			wire.CodeInvalidState},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			p := newTrap(t)
			want := p.view()
			c.set(p)
			noGit(t)
			_ = os.Remove(p.canary) // setting up the trap may have sprung it
			start := time.Now()
			_, run, err := openSibling(t, p.Dir)
			if time.Since(start) > 20*time.Second {
				t.Fatal("it took for ever")
			}
			if _, serr := os.Stat(p.canary); serr == nil {
				data, _ := os.ReadFile(p.canary)
				t.Fatalf("something ran: %s", data)
			}
			if codeOf(err) != c.code {
				t.Fatalf("%+v (%s), want %s", err, codeOf(err), c.code)
			}
			if err == nil && (run.Op != want.Op || string(run.State) != string(want.StateBytes) ||
				len(run.accepted(t)) != 2) {
				t.Fatalf("%+v", run)
			}
		})
	}
}

// huge makes a sparse file of a gigabyte.
func (p *trap) huge(name string) {
	p.t.Helper()
	if err := os.Truncate(p.path(name), 1<<30); err != nil {
		p.t.Fatal(err)
	}
}

func TestSiblingHugeLedger(t *testing.T) {
	p := newTrap(t)
	p.appendTo(string(wire.DocState), "\n")
	p.huge(wire.LedgerEvents.Path())
	run := mustSibling(t, p.Dir)
	if run.Ahead || run.Refused == nil {
		t.Fatalf("%+v", run)
	}
	for _, err := range run.Working(context.Background(), wire.LedgerEvents, "") {
		if fail.CodeOf(err) != fail.CodeUnreadable {
			t.Fatal(err)
		}
	}
}

func TestSiblingOfAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	d := started(t)
	if out, err := exec.Command("chown", "-R", "12345", d.Dir).CombinedOutput(); err != nil {
		t.Skipf("%v: %s", err, out)
	}
	if _, _, err := openSibling(t, d.Dir); fail.CodeOf(err) != fail.CodeDubiousOwnership {
		t.Fatal(err)
	}
	testrepo.Isolate()
	global := filepath.Join(t.TempDir(), "gitconfig")
	t.Setenv("GIT_CONFIG_GLOBAL", global)
	for dir, ok := range map[string]bool{
		"*":                        true,
		d.Dir:                      true,
		filepath.Dir(d.Dir) + "/*": true,
		filepath.Dir(d.Dir):        false,
		d.Dir + "x":                false,
	} {
		if err := os.WriteFile(global, []byte("[safe]\n\tdirectory = "+dir+"\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, _, err := openSibling(t, d.Dir); (err == nil) != ok {
			t.Errorf("safe.directory = %s: %v", dir, err)
		}
	}
	// Reset, and set by the repository itself.
	if err := os.WriteFile(global, []byte("[safe]\n\tdirectory = *\n\tdirectory =\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	d.appendTo(".git/config", "[safe]\n\tdirectory = *\n")
	if _, _, err := openSibling(t, d.Dir); fail.CodeOf(err) != fail.CodeDubiousOwnership {
		t.Fatal(err)
	}
}

func TestSiblingDamagedObjects(t *testing.T) {
	for name, damage := range map[string]func(p *trap, file string){
		"cut short": func(p *trap, f string) { p.must0(os.Truncate(f, 20)) },
		"other content": func(p *trap, f string) {
			p.must0(os.Chmod(f, 0o666))
			p.file(f, "x\x9c\x03\x00\x00\x00\x00\x01")
		},
		"a pipe": func(p *trap, f string) { p.must0(os.Remove(f)); mkfifo(p.t, f) },
	} {
		t.Run(name, func(t *testing.T) {
			p := newTrap(t)
			// All objects loose, so that the commit has a file.
			p.move(p.path(".git/objects/pack"), filepath.Join(p.outside, "pack"))
			packs, err := filepath.Glob(filepath.Join(p.outside, "pack", "*.pack"))
			if err != nil || len(packs) == 0 {
				t.Fatal(err, packs)
			}
			for _, pack := range packs {
				cmd := gitCommand(p.Dir, "unpack-objects", "-q")
				if cmd.Stdin, err = os.Open(pack); err != nil {
					t.Fatal(err)
				}
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("%v %s", err, out)
				}
			}
			op := string(p.view0().Op)
			damage(p, p.path(".git/objects/"+op[:2]+"/"+op[2:]))
			if _, _, err := openSibling(t, p.Dir); fail.CodeOf(err) != fail.CodeObjectCorrupt &&
				fail.CodeOf(err) != fail.CodeObjectMissing {
				t.Fatal(err)
			}
		})
	}
}

func (p *trap) must0(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}
