// The program that hooks start.

package githooks

import (
	"os"
	"os/exec"
	"path/filepath"
)

// OwnBinary returns the absolute path of this program, for Options.Binary. It prefers the name on PATH when that is
// this same program: package managers move what is behind it.
func OwnBinary() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", refuse(CodeHooksUnreadable, "this program cannot find its own file: %v", err)
	}
	if named, err := exec.LookPath("git-agentxchain"); err == nil && filepath.IsAbs(named) {
		a, err1 := os.Stat(named)
		b, err2 := os.Stat(self)
		if err1 == nil && err2 == nil && os.SameFile(a, b) {
			return named, nil
		}
	}
	return self, nil
}
