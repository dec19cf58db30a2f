// Which git is run, and the PATH on which it looks up programs.

package git

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// program is the git to run.
type program struct {
	bin  string
	err  error  // why there is no git
	path string // PATH for git: absolute directories outside the work tree
}

var errGitInside = errors.New("the only git on PATH lies inside the work tree")

// findGit looks git up once, on a PATH without relative directories and without those in the work tree around dir:
// a checkout must bring neither the git that judges it nor the programs that git looks up by name.
func findGit(dir string) program {
	top := enclosing(dir)
	var p program
	var dirs []string
	left := false
	for _, d := range filepath.SplitList(os.Getenv("PATH")) {
		if !filepath.IsAbs(d) || Inside(top, d) {
			left = true
			continue
		}
		if slices.Contains(dirs, d) {
			continue
		}
		dirs = append(dirs, d)
		if p.bin != "" {
			continue
		}
		if found, err := exec.LookPath(filepath.Join(d, "git")); err == nil {
			// A link may lead from outside into the work tree.
			if real, err := filepath.EvalSymlinks(found); err == nil && Inside(top, filepath.Dir(real)) {
				left = true
				continue
			}
			p.bin = found
		}
	}
	p.path = strings.Join(dirs, string(filepath.ListSeparator))
	if p.bin == "" {
		if p.err = exec.ErrNotFound; left {
			if _, err := exec.LookPath("git"); err == nil || errors.Is(err, exec.ErrDot) {
				p.err = errGitInside
			}
		}
	}
	return p
}

// enclosing returns the root of the work tree around dir without links, "" when there is none. It cannot ask git:
// which git may be asked depends on the answer.
func enclosing(dir string) string {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return ""
	}
	for abs = RealOr(abs); ; {
		if _, err := os.Lstat(filepath.Join(abs, ".git")); err == nil {
			return abs
		}
		up := filepath.Dir(abs)
		if up == abs {
			return ""
		}
		abs = up
	}
}

// Inside reports whether dir, with links resolved, is top or below it.
func Inside(top, dir string) bool { return top != "" && (Within(top, dir) || Within(top, RealOr(dir))) }
