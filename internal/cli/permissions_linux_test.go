// A user who may not read a file is told which one, and never that it is missing or damaged.

package cli

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

func TestFilesThatMayNotBeRead(t *testing.T) {
	testrepo.Serving(t)
	dir := mcpProject(t)
	mustAt(t, dir, "git", "checkout", "-q", "-b", "work")
	mustAt(t, dir, "git-agentxchain", "assign", "dev")
	turns, err := filepath.Glob(filepath.Join(dir, ".agentxchain", "dispatch", "turns", "*"))
	if err != nil || len(turns) != 1 {
		t.Fatal(turns, err)
	}
	turn := filepath.Base(turns[0])
	staging := filepath.Join(dir, ".agentxchain", "staging", turn)
	if err := os.MkdirAll(staging, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(staging, "turn-result.json"), []byte(`{"status":"completed"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	const nobody = 65534
	root := os.Getuid() == 0
	program, err := exec.LookPath("git-agentxchain")
	if err != nil {
		t.Fatal(err)
	}
	if root { // root may read everything: the program runs as another user
		for _, at := range []string{filepath.Dir(dir), filepath.Dir(program)} {
			for ; at != filepath.Dir(at) && at != filepath.Clean(os.TempDir()); at = filepath.Dir(at) {
				if err := os.Chmod(at, 0o755); err != nil {
					t.Fatal(err)
				}
			}
		}
		err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
			if err == nil {
				err = os.Lchown(path, nobody, nobody)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	run := func(args ...string) string {
		cmd := exec.Command(program, args...)
		cmd.Dir = dir
		if root {
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		}
		out, _ := cmd.CombinedOutput()
		return string(out)
	}
	if out := run("status"); !strings.Contains(out, "dispatched") {
		t.Fatalf("status as another user:\n%s", out)
	}
	for _, c := range []struct {
		file     string
		commands []string
	}{
		{".git", []string{"status", "doctor"}},
		{".git/HEAD", []string{"status", "doctor"}},
		{".git/config", []string{"status"}},
		{".git/index", []string{"doctor"}},
		{".git/refs", []string{"status", "fsck"}},
		{".git/refs/heads", []string{"doctor"}},
		{".git/refs/heads/work", []string{"doctor"}},
		{".git/refs/agentxchain", []string{"status", "fsck"}},
		{".git/refs/agentxchain/runs/*", []string{"status", "fsck", "doctor"}},
		{".git/objects", []string{"log", "fsck"}},
		{".git/objects/pack", []string{"log", "fsck"}},
		{".git/objects/pack/*.pack", []string{"log", "fsck"}},
		{".agentxchain/state.json", []string{"status", "fsck", "accept"}},
		{".agentxchain/history.jsonl", []string{"status", "fsck", "accept"}},
		{".agentxchain/dispatch/turns/" + turn, []string{"accept"}},
		{".agentxchain/dispatch/turns/" + turn + "/PROMPT.md", []string{"accept"}},
		{".agentxchain/staging/" + turn + "/turn-result.json", []string{"accept"}},
		{wire.ConfigPath, []string{"status", "doctor", "accept"}},
	} {
		found, err := filepath.Glob(filepath.Join(dir, filepath.FromSlash(c.file)))
		if err != nil || len(found) == 0 {
			t.Errorf("%s is not there: %v", c.file, err)
			continue
		}
		fi, err := os.Stat(found[0])
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(found[0], 0); err != nil {
			t.Fatal(err)
		}
		for _, command := range c.commands {
			out := run(command)
			name := strings.TrimPrefix(found[0], dir+"/")
			if !strings.Contains(out, name) || !strings.Contains(strings.ToLower(out), "permission denied") ||
				!strings.Contains(out, "chmod or chown") {
				t.Errorf("%s, where %s may not be read:\n%s", command, c.file, out)
			}
		}
		if err := os.Chmod(found[0], fi.Mode().Perm()); err != nil {
			t.Fatal(err)
		}
	}
}
