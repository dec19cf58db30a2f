// The version of a known agent: the one thing it answers without a key and without cost.

package localcli

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/process"
	"github.com/git-agentxchain/git-agentxchain/internal/scaffold"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes"
)

// versionLimit is how long an agent may take to print its version; node alone takes seconds on a
// busy machine.
const versionLimit = 15 * time.Second

// version starts the agent name with --version and returns the finding. Where the project could
// have put a program in its place it is started only when it is trusted; a program that is not a
// known agent is not started, as it might take the word for work.
func version(ctx context.Context, req *runtimes.ProbeRequest, name, dir string) runtimes.Finding {
	found := runtimes.Finding{OK: true, Code: "command_found", Message: name + " can be started"}
	file, err := process.Find(name, dir, req.Environ)
	if err != nil {
		return found // ProgramProblem has already checked
	}
	found.Path = file
	if !known(name) || !req.Trusted && (strings.ContainsAny(name, `/\`) || below(req.Root, file)) {
		return found
	}
	home, err := os.MkdirTemp("", "agentxchain-probe-")
	if err != nil {
		return found
	}
	defer func() { _ = os.RemoveAll(home) }()
	res := process.Run(ctx, process.Spec{
		Argv: []string{file, "--version"}, Dir: home, Env: scratchEnv(req.Environ, home), Session: true,
		Timeout: versionLimit, Limit: 1 << 16,
	})
	if res.OK() {
		found.Version = text.Clip(strings.TrimSuffix(firstLine(res.Stdout), "."), 80) // Copilot's is a sentence
		found.Message = name + " " + cmp.Or(found.Version, "says no version")
		return found
	}
	said := cmp.Or(firstLine(res.Stderr), firstLine(res.Stdout))
	switch {
	case res.Canceled:
		return found
	case res.TimedOut:
		said = fmt.Sprintf("it did not end within %s", versionLimit)
	case res.StartErr != nil:
		said = res.StartErr.Error()
	}
	return runtimes.Finding{
		Code: "command_fails", Path: file, Message: name + " --version fails: " +
			text.Clip(cmp.Or(said, "it says nothing"), 200),
		Hint: "run " + name + " --version by hand, and install it again if that fails too",
	}
}

func known(program string) bool {
	return slices.ContainsFunc(scaffold.Agents(), func(a scaffold.Agent) bool {
		return a.Command[0] == agentName(program)
	})
}

// below reports whether file is part of the project in root, by its name or through a link.
func below(root, file string) bool {
	for _, dir := range []string{root, resolved(root)} {
		for _, f := range []string{file, resolved(file)} {
			if rel, err := filepath.Rel(dir, f); err != nil || filepath.IsLocal(rel) {
				return true
			}
		}
	}
	return false
}

func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// scratchEnv returns what a program needs to start, with a home directory of its own, and without
// the person's keys and settings.
func scratchEnv(environ []string, home string) []string {
	env := []string{"HOME=" + home, "USERPROFILE=" + home, "TMPDIR=" + home, "TERM=dumb", "NO_COLOR=1", "CI=1"}
	for _, kv := range environ {
		switch name, _, _ := strings.Cut(kv, "="); strings.ToUpper(name) {
		case "PATH", "PATHEXT", "SYSTEMROOT", "LANG", "LC_ALL":
			env = append(env, kv)
		}
	}
	return env
}

// firstLine returns the first line that is not blank, in a form that can be shown.
func firstLine(out []byte) string {
	for line := range strings.Lines(string(out)) {
		if line = strings.TrimSpace(text.OneLine(line)); line != "" {
			return line
		}
	}
	return ""
}
