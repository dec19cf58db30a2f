// In-process targets: fixtures for an adapter that is this very program need no process each.

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

// EngineTarget answers fixtures within this process, by the code the adapter
// command runs and through the same document. Fixtures that start programs go
// to Apart: what they start must not share a process with the verifier.
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
	// Through text, as over a pipe: the engine gets a document of its own.
	document := ojson.Compact(f.Raw)
	go func() { done <- t.Adapter.Execute(document) }()
	timer := time.NewTimer(t.Timeout)
	defer timer.Stop()
	select {
	case r := <-done:
		return answer(r.Object(), nil)
	case <-timer.C:
		return errored(fmt.Sprintf("Adapter did not answer within %dms", t.Timeout.Milliseconds()), nil)
	case <-ctx.Done():
		return errored("Adapter was ended early: "+context.Cause(ctx).Error(), nil)
	}
}

// startsPrograms reports whether running f starts what f names.
func startsPrograms(f *Fixture) bool { return f.Operation == "run_hooks" }

// IsThisProgram reports whether an adapter command, started in root, would run
// the executable of this process as "conformance adapter".
func IsThisProgram(command []string, root string) bool {
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

// programFile finds a program the way it is found when started in root; "" when
// it is not there.
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

// gitCommandFile finds the program of a git command where git looks for it: in
// its own directory if that is known, then on PATH.
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

// AdapterCommand is the argv that starts this program's adapter anywhere: by
// its name when PATH leads to this executable, by its absolute path otherwise.
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

// LocalTarget is the target of checked capabilities at root: in-process when
// they name this very program and apart is false, a process for every fixture
// otherwise.
func LocalTarget(c *Capabilities, root string, timeout time.Duration, apart bool, now func() time.Time) Target {
	p := &ProcessTarget{Root: root, Command: c.Command, Timeout: timeout}
	if apart || !IsThisProgram(c.Command, root) {
		return p
	}
	return &EngineTarget{Adapter: Adapter{Now: now}, Apart: p, Timeout: timeout}
}
