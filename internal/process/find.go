// Whether a program exists, without running it.

package process

import (
	"os/exec"
	"path/filepath"
	"strings"
)

// Find returns the file that would be run for name in dir with env, or an error
// for which Missing holds, as Run would report it.
func Find(name, dir string, env []string) (string, error) {
	if path, own := lookup(name, env); own {
		if path == "" {
			return "", &exec.Error{Name: name, Err: exec.ErrNotFound}
		}
		return path, nil
	}
	if strings.ContainsRune(name, '/') && !filepath.IsAbs(name) {
		name = filepath.Join(dir, name) // relative to dir, where the program will be started
	}
	return exec.LookPath(name)
}
