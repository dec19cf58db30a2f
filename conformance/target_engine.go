// In-process targets: when the adapter is this same program, fixtures need no process each.

package conformance

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// EngineTarget answers fixtures within this process, with the adapter command's code and the same document.
// Fixtures that start programs go to Apart: those programs must not share a process with the verifier.
type EngineTarget struct {
	Adapter Adapter
	Apart   Target
	Timeout time.Duration // total, per fixture
}

var _ Target = (*EngineTarget)(nil)

// Execute runs one fixture.
func (t *EngineTarget) Execute(ctx context.Context, f *Fixture) Outcome {
	if startsPrograms(f) {
		return t.Apart.Execute(ctx, f)
	}
	done := make(chan Result, 1)
	// Encoded and decoded as over a pipe, so that the engine gets its own document.
	document := ojson.Compact(f.Raw)
	go func() { done <- t.Adapter.Execute(document) }()
	timer := time.NewTimer(t.Timeout)
	defer timer.Stop()
	select {
	case r := <-done:
		return answer(r.object(), nil)
	case <-timer.C:
		return errored(fmt.Sprintf("Adapter did not answer within %dms", t.Timeout.Milliseconds()), nil)
	case <-ctx.Done():
		return errored("Adapter was ended early: "+context.Cause(ctx).Error(), nil)
	}
}

// startsPrograms reports whether running f starts programs that f names.
func startsPrograms(f *Fixture) bool { return f.Operation == "run_hooks" }

// isThisProgram reports whether an adapter command, started in root, would run
// the executable of this process as "conformance adapter".
func isThisProgram(command []string, root string) bool {
	if len(command) < 3 || !slices.Equal(command[len(command)-2:], []string{"conformance", "adapter"}) {
		return false
	}
	var file string
	switch words := command[:len(command)-2]; {
	case len(words) == 1:
		file = programFile(words[0], root)
	case len(words) == 2 && words[0] == "git" && words[1] == "agentxchain":
		file = gitCommandFile("git-agentxchain")
	}
	if file == "" {
		return false
	}
	self, err := os.Executable()
	return err == nil && sameFile(file, self)
}

// programFile finds a program as if started in root; "" when it does not exist.
func programFile(name, root string) string {
	if !strings.ContainsRune(name, filepath.Separator) {
		found, err := exec.LookPath(name)
		if err != nil {
			return ""
		}
		return found
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(root, name)
	}
	return name
}

// gitCommandFile finds the program of a git command where git looks for it: in git's own directory if known, then
// on PATH.
func gitCommandFile(name string) string {
	if dir := os.Getenv("GIT_EXEC_PATH"); dir != "" {
		file := filepath.Join(dir, name)
		if st, err := os.Stat(file); err == nil && st.Mode().IsRegular() {
			return file
		}
	}
	return programFile(name, "")
}

func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// AdapterCommand returns the argv that starts this program's adapter from anywhere: by name when PATH leads to this
// executable, else by absolute path.
func AdapterCommand() ([]string, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("the path of this program is not known: %w", err)
	}
	const name = "git-agentxchain"
	if found := programFile(name, ""); found != "" && sameFile(found, self) {
		self = name
	}
	return []string{self, "conformance", "adapter"}, nil
}

// LocalTarget returns the target of checked capabilities at root: in-process when they name this same program and
// apart is false, otherwise one process per fixture.
func LocalTarget(c *Capabilities, root string, timeout time.Duration, apart bool, now func() time.Time) Target {
	p := &ProcessTarget{Root: root, Command: c.Command, Timeout: timeout}
	if apart || !isThisProgram(c.Command, root) {
		return p
	}
	return &EngineTarget{Adapter: Adapter{Now: now}, Apart: p, Timeout: timeout}
}
