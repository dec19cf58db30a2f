// Many runs in one repository.

package play

import (
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
)

const runRefs = "refs/agentxchain/runs/"

// Beside puts n finished runs into the repository, then begins one that goes on. One is played; the
// refs of the others point to its last operation under their own names, which git writes at once.
// Commands that are in another run never look further.
func (p *Project) Beside(n int) error {
	for _, args := range [][]string{{"assign", "--json"}, {"abandon", "--reason", "one of many", "--json"}} {
		if _, err := p.run(p.Bin, args...); err != nil {
			return err
		}
	}
	out, err := p.run("git", "for-each-ref", "--format=%(refname)", runRefs)
	if err != nil {
		return err
	}
	ref := strings.TrimSpace(string(out))
	if out, err = p.run("git", "show", "-s", "--format=%T%n%B", ref); err != nil {
		return err
	}
	tree, message, _ := strings.Cut(string(out), "\n")
	played := strings.TrimPrefix(ref, runRefs)
	var in bytes.Buffer
	for i := range n - 1 {
		run := fmt.Sprintf("run_%016x", i)
		m := strings.ReplaceAll(message, played, run)
		_, _ = fmt.Fprintf(&in,
			"commit %s%s\ncommitter Bench <bench@example.org> 1700000000 +0000\ndata %d\n%s\nM 040000 %s \n\n",
			runRefs, run, len(m), m, tree)
	}
	cmd := exec.Command("git", "fast-import", "--quiet")
	cmd.Dir, cmd.Stdin = p.Dir, &in
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("git fast-import: %w: %s", err, out)
	}
	if _, err := p.run("git", "pack-refs", "--all"); err != nil {
		return err
	}
	p.measureLedgers()
	assigned, err := p.run(p.Bin, "assign", "--new-run", "--json")
	if err != nil {
		return err
	}
	return p.Stage(assigned)
}

// Share makes a bare repository beside the project its remote, with all of it.
func (p *Project) Share() error {
	server := filepath.Join(filepath.Dir(p.Dir), "server.git")
	for _, args := range [][]string{
		{"init", "-q", "--bare", server},
		{"remote", "add", "origin", server},
		{"config", "agentxchain.sync", "manual"},
		{"push", "-q", "--no-verify", "origin", "main", runRefs + "*:" + runRefs + "*"},
		{"-C", server, "pack-refs", "--all"},
	} {
		if _, err := p.run("git", args...); err != nil {
			return err
		}
	}
	for range 2 { // the first one remembers what it sees
		if _, err := p.run(p.Bin, "sync", "--json"); err != nil {
			return err
		}
	}
	_, err := p.run("git", "pack-refs", "--all")
	return err
}
