// Finding a program on the search path of its own environment.

package process

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// lookup returns the file of a bare program name with the PATH of env, "" when there is none. own is false when the
// search is left to exec: the name has a separator, env has no PATH, or the system is Windows, whose rules exec
// knows. Relative entries of PATH are skipped: their meaning depends on the current directory.
func lookup(name string, env []string) (file string, own bool) {
	if runtime.GOOS == "windows" || name == "" || strings.ContainsRune(name, '/') {
		return "", false
	}
	path := ""
	for _, kv := range env {
		if v, ok := strings.CutPrefix(kv, "PATH="); ok {
			path, own = v, true // the last one counts, as in the program's environment
		}
	}
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue
		}
		full := filepath.Join(dir, name)
		if info, err := os.Stat(full); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0 {
			return full, true
		}
	}
	return "", own
}

// Missing reports whether a program could not be started because it does not exist.
func Missing(err error) bool {
	return errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist)
}
