// What the guards in git's own hooks protect besides the run's files. This member is our addition; other
// implementations ignore it.

package config

import (
	"strings"

	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// gitHooks reads three lists of wire.MatchPath patterns: git_hooks.protected for project-relative paths that no
// commit may touch, git_hooks.protected_branches for branches whose history must not be rewritten, and
// git_hooks.require_turn for branches on which every change of the product names its turn.
func (d *decoder) gitHooks() {
	s := section{d: d, o: d.top("git_hooks", ProblemGitHooks), path: "git_hooks", code: ProblemGitHooks}
	for i, p := range s.texts("protected") {
		if problem := patternProblem(p); problem != "" {
			s.d.add(s.code, s.at("protected"), p, "%s[%d] %s", s.at("protected"), i, problem)
			continue
		}
		d.cfg.Protected = append(d.cfg.Protected, p)
	}
	if s.o.Has("protected_branches") {
		d.cfg.ProtectedBranches = append([]string{}, s.texts("protected_branches")...)
	}
	d.cfg.RequireTurn = s.texts("require_turn")
}

// maxPattern bounds a pattern: matching costs at most its components times those of the path.
const maxPattern = 1024

func patternProblem(p string) string {
	switch {
	case len(p) > maxPattern:
		return "is longer than 1024 bytes"
	case strings.HasPrefix(p, "/"):
		return "starts with /; patterns are relative to the project"
	}
	for c := range strings.SplitSeq(p, "/") {
		if c == ".." {
			return "leaves the project with .."
		}
	}
	return ""
}

// ProtectedPath returns the pattern of git_hooks.protected that protects a path; "" when none does. It also
// compares letters without their case: on some file systems both spellings are one file.
func (c *Config) ProtectedPath(path string) string {
	for _, p := range c.Protected {
		if wire.MatchPath(p, path) || wire.MatchPath(strings.ToLower(p), strings.ToLower(path)) {
			return p
		}
	}
	return ""
}
