// Settings come from the real git.

package cli

import (
	"context"
	"os"
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
	if got := gitConfig(context.Background(), filepath.Join(dir, "absent"), "color.ui"); got != nil {
		t.Errorf("absent directory: %v", got)
	}
}
