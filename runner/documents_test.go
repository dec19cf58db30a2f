// Tests of what every command judges by: the documents, a bundle, who may take a side.

package runner_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

func TestCheckBundle(t *testing.T) {
	p := newProject(t, nil)
	a := p.assign("pm")
	dir := wire.BundleDir(a.Turn.TurnID)
	check := func(want ...string) {
		t.Helper()
		b := p.r.CheckBundle(a.Run, a.Turn)
		var got []string
		for _, p := range b.Problems {
			got = append(got, p.Type+" "+p.Path)
		}
		if strings.Join(got, ",") != strings.Join(want, ",") {
			t.Errorf("problems %q, want %q", got, want)
		}
	}
	path := func(name string) string { return filepath.Join(p.dir, filepath.FromSlash(name)) }
	check()
	p.write(dir+"/stdout.log", "output of the adapter")
	check()
	p.write(dir+"/extra.md", "more orders")
	check("unexpected_file extra.md")
	p.must(os.Remove(path(dir + "/extra.md")))
	p.must(os.Remove(path(dir + "/PROMPT.md")))
	check("missing_file PROMPT.md")
	if err := os.Symlink(path("agentxchain.json"), path(dir+"/PROMPT.md")); err != nil {
		t.Skip("no symbolic links here")
	}
	check("invalid_manifest PROMPT.md")
	p.must(os.RemoveAll(path(dir)))
	check("missing_manifest ")
	hostile := *a.Turn
	hostile.TurnID = "../../.."
	if b := p.r.CheckBundle(a.Run, &hostile); len(b.Problems) != 1 || len(b.Files) != 0 {
		t.Errorf("a turn id that leaves the project was followed: %+v", b)
	}
}

func TestCheckDocuments(t *testing.T) {
	p := newProject(t, nil)
	p.assign("pm")
	good := p.read(wire.ConfigPath)
	if d := p.r.CheckDocuments(); !d.Valid() || d.State == nil || len(d.Admission) > 0 {
		t.Errorf("good documents: %+v", d)
	}
	// The configuration changed under a run: its names are gone.
	p.write(wire.ConfigPath,
		strings.ReplaceAll(strings.ReplaceAll(good, `"pm"`, `"owner"`), `"planning"`, `"shaping"`))
	d := p.r.CheckDocuments()
	var fields []string
	for _, p := range d.StateProblems {
		fields = append(fields, p.Field[:min(len(p.Field), 12)])
	}
	if len(d.ConfigProblems) > 0 || strings.Join(fields, ",") != "phase,active_turns" {
		t.Errorf("config %q, state %q", d.ConfigProblems.Messages(), d.StateProblems.Messages())
	}
	p.write(wire.ConfigPath, "{")
	p.write(string(wire.DocState), "[")
	if d := p.r.CheckDocuments(); d.Valid() || d.ConfigErr == nil || d.StateErr == nil {
		t.Errorf("both broken: %+v", d)
	}
	p.must(os.Remove(filepath.Join(p.dir, wire.ConfigPath)))
	p.must(os.Remove(filepath.Join(p.dir, filepath.FromSlash(string(wire.DocState)))))
	if d := p.r.CheckDocuments(); d.ConfigErr == nil || d.StateErr != nil || d.State != nil {
		t.Errorf("both gone: %+v", d)
	}
}

func TestRepairAcceptWorkingIsNotForAgents(t *testing.T) {
	p := newProject(t, nil)
	r, err := runner.Open(p.ctx, p.dir, runner.Options{Getenv: func(k string) string {
		if k == runner.TurnMarker {
			return "turn_9"
		}
		return ""
	}})
	p.must(err)
	t.Cleanup(func() { _ = r.Close() })
	_, err = r.Repair(p.ctx, gitstore.AcceptWorking, gitstore.RepairOptions{Reason: "x"})
	wantCode(t, err, wire.CodeInsideTurn)
}
