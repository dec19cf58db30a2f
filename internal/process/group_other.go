//go:build !unix

// Without process groups only the program itself can be ended.

package process

import (
	"os"
	"os/exec"
	"path/filepath"
)

// prepare resolves a relative program against the directory it will run in,
// which Unix does by itself.
func (g *group) prepare(cmd *exec.Cmd) {
	if cmd.Dir != "" && filepath.Base(cmd.Path) != cmd.Path && !filepath.IsAbs(cmd.Path) {
		cmd.Path = filepath.Join(cmd.Dir, cmd.Path)
	}
}

type group struct{ process *os.Process }

func newGroup(bool) *group { return &group{} }

func (g *group) mark(env []string) []string { return env }
func (g *group) started(p *os.Process)      { g.process = p }
func (g *group) awaitExit() bool            { return false }
func (g *group) end() int                   { return 0 }

// terminate ends the program: there is no polite way.
func (g *group) terminate() { _ = g.process.Kill() }
func (g *group) kill() int  { _ = g.process.Kill(); return 0 }

func signalName(*os.ProcessState) string { return "" }
