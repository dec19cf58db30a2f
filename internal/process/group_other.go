//go:build !unix

// Without process groups only the program itself can be ended.

package process

import (
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// prepare resolves a relative program against the directory it will run in, which Unix does by itself. The files that
// mark a program as one of a turn are left out: with them Windows starts nothing.
func (g *group) prepare(cmd *exec.Cmd) {
	cmd.ExtraFiles = nil
	if cmd.Dir != "" && filepath.Base(cmd.Path) != cmd.Path && !filepath.IsAbs(cmd.Path) {
		cmd.Path = filepath.Join(cmd.Dir, cmd.Path)
	}
}

type group struct{ process *os.Process }

func newGroup(_, _ bool) *group { return &group{} }

func (g *group) start(cmd *exec.Cmd) error {
	if err := cmd.Start(); err != nil {
		return err
	}
	g.process = cmd.Process
	return nil
}

func (g *group) foreground(*os.File) {}
func (g *group) background()         {}

func (g *group) beside() bool { return false }
func (g *group) forget()      {}
func (g *group) reap()        {}

func (g *group) tidy() *time.Ticker { return time.NewTicker(time.Hour) }

// AdoptOrphans does nothing here.
func AdoptOrphans() error { return nil }

func (g *group) mark(env []string) []string { return env }
func (g *group) awaitExit() bool            { return false }
func (g *group) end() int                   { return 0 }

// terminate kills the program: there is no gentler way.
func (g *group) terminate() { _ = g.process.Kill() }
func (g *group) kill() int  { _ = g.process.Kill(); return 0 }

func signalName(*os.ProcessState) string { return "" }
