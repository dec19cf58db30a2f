package gitstore

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/gitstatus"
	"github.com/git-agentxchain/git-agentxchain/gitstore/sibling"
)

// TestActingInATrap runs an operation in a clone whose own configuration would run a program on every look at its
// files.
func TestActingInATrap(t *testing.T) {
	p := newTrap(t)
	p.file(p.path(".gitattributes"), "* filter=x diff=x\n")
	p.file(p.path("sub/f"), "one\n")
	gitIn(t, p.path("sub"), "init", "-q", ".")
	gitIn(t, p.path("sub"), "add", "f")
	gitIn(t, p.path("sub"), "commit", "-qm", "sub")
	p.git("add", "-A")
	p.git("commit", "-qm", "files")
	// With a filter and a monitor in the submodule, too.
	for _, dir := range []string{p.Dir, p.path("sub")} {
		for _, k := range []string{"core.fsmonitor", "filter.x.clean", "filter.x.smudge", "filter.a=b c.process",
			"diff.x.textconv", "diff.x.command", "diff.external", "core.sshCommand", "core.alternateRefsCommand",
			"hook.y.command"} {
			gitIn(t, dir, "config", k, p.script)
		}
		gitIn(t, dir, "config", "filter.x.required", "true")
		gitIn(t, dir, "config", "hook.y.event", "reference-transaction")
	}
	for _, h := range []string{"reference-transaction", "post-index-change", "pre-commit"} {
		p.file(p.path(".git/hooks/"+h), "#!/bin/sh\nexec "+p.script+"\n")
	}
	// Every file must be examined again.
	late := time.Now().Add(time.Hour)
	for _, name := range []string{"a.txt", "agentxchain.json", "sub/f"} {
		p.must0(os.Chtimes(p.path(name), late, late))
	}
	_ = os.Remove(p.canary)
	ctx := context.Background()
	s, err := OpenForeign(ctx, p.Dir, testOptions())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	st, err := gitstatus.Of(ctx, s.Repository(), "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := gitstatus.DiffNames(ctx, s.Repository(), st.Head); err != nil {
		t.Fatal(err)
	}
	d := &driver{t: t, store: s, Dir: p.Dir, n: 50, interrupted: -1}
	d.must(d.acceptOp)
	if data, err := os.ReadFile(p.canary); err == nil {
		t.Fatalf("something ran: %s", data)
	}
	// The trap works: it springs without precautions.
	_ = gitCommand(p.Dir, "status").Run()
	if _, err := os.Stat(p.canary); err != nil {
		t.Fatal("the trap does not work")
	}
}

func TestActingIsRefusedInAClonesDisguise(t *testing.T) {
	p := newTrap(t)
	p.move(p.path(".git"), filepath.Join(p.outside, "git"))
	p.file(p.path(".git"), "gitdir: "+filepath.Join(p.outside, "git")+"\n")
	if _, err := OpenForeign(context.Background(), p.Dir,
		testOptions()); fail.CodeOf(err) != sibling.CodeGitDirElsewhere {
		t.Fatal(err)
	}
	if _, err := OpenForeign(context.Background(), t.TempDir(),
		testOptions()); fail.CodeOf(err) != fail.CodeNotRepository {
		t.Fatal(err)
	}
}
