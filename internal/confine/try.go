// Testing an isolation on the directory it is for.

package confine

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/process"
)

const (
	tryTime = 20 * time.Second
	tried   = "tried"
)

// Try starts a program under the plan that tries to make a file in each protected directory and one in the writable
// directory free, and reports what is wrong: nil when the isolation works. It removes files that should not have
// been possible.
func (p *Plan) Try(ctx context.Context, free string) error {
	plan := *p
	plan.Writable = append(append([]string(nil), p.Writable...), free)
	name := "agentxchain-trial-" + rand.Text()
	script := `for d in "$@"; do (: > "$d/` + name + `") 2>/dev/null; done; echo ` + tried
	argv := []string{"/bin/sh", "-c", script, "sh", free}
	var watched []string
	for _, path := range p.Protected {
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			argv = append(argv, path)
			watched = append(watched, filepath.Join(path, name))
		}
	}
	c, err := plan.Wrap(Command{
		Argv: argv,
		Env:  os.Environ(),
		Dir:  free,
	})
	if err != nil {
		return err
	}
	res := process.Run(ctx, process.Spec{
		Argv:    c.Argv,
		Dir:     c.Dir,
		Env:     c.Env,
		Timeout: tryTime,
		Limit:   4096,
		Session: true,
	})
	through := ""
	for _, path := range watched {
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			_ = os.Remove(path)
			through = filepath.Dir(path)
		}
	}
	made := filepath.Join(free, name)
	_, missing := os.Lstat(made)
	_ = os.Remove(made)
	switch {
	case through != "":
		return unavailable(p.Kind, "", "a program that was isolated wrote into %s", through)
	case res.StartErr != nil:
		return unavailable(p.Kind, "", "%v", res.StartErr)
	case !bytes.Contains(res.Stdout, []byte(tried)):
		return unavailable(p.Kind, "", "a program could not be started: %s", bytes.TrimSpace(res.Stderr))
	case missing != nil:
		return unavailable(p.Kind, "", "a program that was isolated could not write where it may")
	}
	return nil
}
