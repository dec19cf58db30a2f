// Settings come from the real git.

package cli

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestGitConfig(t *testing.T) {
	dir := t.TempDir()
	global := filepath.Join(dir, "config")
	t.Setenv("GIT_CONFIG_GLOBAL", global)
	t.Setenv("GIT_CONFIG_SYSTEM", os.DevNull)
	t.Setenv("GIT_CEILING_DIRECTORIES", filepath.Dir(dir))
	text := "[color]\n\tui = never\n\tagentxchain\n\tdiff = always\n[core]\n\tpager = less -R\n\tpager = most\n"
	if err := os.WriteFile(global, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	got := gitConfig(context.Background(), dir, "color.ui", "color.agentxchain", "core.pager", "pager.agentxchain")
	want := map[string]string{"color.ui": "never", "color.agentxchain": "true", "core.pager": "most"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	// A pager that a repository names is not started; it may only say whether there is one.
	if out, err := exec.Command("git", "init", "-q", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	text = "[color]\n\tui = always\n[core]\n\tpager = evil\n\teditor = evil\n[pager]\n\tagentxchain = false\n\tagentxchain = evil\n"
	if err := os.WriteFile(filepath.Join(dir, ".git", "config"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	got = gitConfig(context.Background(), dir, "color.ui", "core.editor", "core.pager", "pager.agentxchain")
	want = map[string]string{"color.ui": "always", "core.pager": "most", "pager.agentxchain": "false"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := gitConfig(context.Background(), filepath.Join(dir, "absent"), "color.ui"); got != nil {
		t.Errorf("absent directory: %v", got)
	}
}
