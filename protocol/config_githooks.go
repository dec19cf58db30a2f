// What the guards in git's own hooks protect beside the run's files. This member
// is ours; other implementations pass it over.

package protocol

import (
	"strings"
)

// gitHooks reads git_hooks.protected, patterns of project-relative paths that no
// commit may touch, git_hooks.protected_branches, patterns of branches whose
// history stays, and git_hooks.require_turn, patterns of branches on which every
// change of the product names its turn; all as MatchPath takes them.
func (d *configDecoder) gitHooks() {
	s := configSection{d: d, o: d.top("git_hooks", ProblemGitHooks), path: "git_hooks", code: ProblemGitHooks}
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

// maxPattern bounds a pattern: matching one costs at most its components times
// those of the path.
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

// ProtectedPath returns the pattern of git_hooks.protected that keeps a path, ""
// when none does. Letters are compared without their case as well: on some file
// systems both spellings are one file.
func (c *Config) ProtectedPath(path string) string {
	for _, p := range c.Protected {
		if MatchPath(p, path) || MatchPath(strings.ToLower(p), strings.ToLower(path)) {
			return p
		}
	}
	return ""
}

// MatchPath reports whether a project-relative path matches a pattern: * stands
// for any characters of one component, ? for one, ** for any number of
// components, and a pattern that ends in / covers the directory.
func MatchPath(pattern, path string) bool {
	if strings.HasSuffix(pattern, "/") {
		pattern += "**"
	}
	parts, names := strings.Split(pattern, "/"), strings.Split(path, "/")
	return wildcard(len(parts), len(names), func(p int) bool { return parts[p] == "**" },
		func(p, i int) bool { return matchName([]rune(parts[p]), []rune(names[i])) })
}

// matchName matches one component.
func matchName(pattern, name []rune) bool {
	return wildcard(len(pattern), len(name), func(p int) bool { return pattern[p] == '*' },
		func(p, i int) bool { return pattern[p] == '?' || pattern[p] == name[i] })
}

// wildcard matches a pattern of length m with a text of length n, where star
// tells the parts that stand for any number of things and match whether one
// part stands for one thing. After the last star a mismatch only moves that one
// on, so the work is bounded by the product of the lengths.
func wildcard(m, n int, star func(p int) bool, match func(p, i int) bool) bool {
	p, i := 0, 0
	last, mark := -1, 0
	for i < n {
		switch {
		case p < m && star(p):
			last, mark = p, i
			p++
		case p < m && match(p, i):
			p++
			i++
		case last >= 0:
			mark++
			p, i = last+1, mark
		default:
			return false
		}
	}
	for p < m && star(p) {
		p++
	}
	return p == m
}
