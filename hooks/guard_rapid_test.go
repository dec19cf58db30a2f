//go:build unix

// Arbitrary changes while a hook runs: detected exactly when they touch protected files, and then undone.

package hooks

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestTamperProperty(t *testing.T) {
	r := project(t)
	before := tree(t, r.Root)
	saved := t.TempDir()
	if err := os.CopyFS(filepath.Join(saved, "p"), os.DirFS(r.Root)); err != nil {
		t.Fatal(err)
	}
	var act func()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		act()
		_, _ = io.WriteString(w, `{"verdict":"allow"}`)
	}))
	defer server.Close()
	// The protected part of a tree: files and links, not the directories.
	guarded := func(all map[string]string) map[string]string {
		out := make(map[string]string)
		for p, text := range all {
			if strings.HasPrefix(text, "d") || strings.HasPrefix(p, ".agentxchain/staging") || p == "free.txt" ||
				strings.Contains(p, "free") {
				continue
			}
			out[p] = text
		}
		return out
	}
	paths := []string{".agentxchain/state.json", ".agentxchain/history.jsonl", ".agentxchain/session.json", "TALK.md",
		"HUMAN_TASKS.md", "agentxchain.json", bundles + "turn_b/extra/deep/note.md", bundles + "turn_b/extra",
		bundles + "turn_b/added.md", bundles + "turn_a/MANIFEST.json", "free.txt", ".agentxchain/free/x",
		".agentxchain/staging/turn_a/turn-result.json"}
	rapid.Check(t, func(rt *rapid.T) {
		if err := os.RemoveAll(r.Root); err != nil {
			rt.Fatal(err)
		}
		if err := os.CopyFS(r.Root, os.DirFS(filepath.Join(saved, "p"))); err != nil {
			rt.Fatal(err)
		}
		type change struct{ kind, path, other string }
		var changes []change
		for range rapid.IntRange(0, 4).Draw(rt, "changes") {
			changes = append(changes, change{
				rapid.SampledFrom([]string{"write", "append", "remove", "mkdir", "link", "chmod", "rename",
					"touch"}).Draw(rt, "kind"),
				rapid.SampledFrom(paths).Draw(rt, "path"), rapid.SampledFrom(paths).Draw(rt, "other")})
		}
		var during map[string]string
		act = func() {
			for _, c := range changes {
				p := filepath.Join(r.Root, c.path)
				_ = os.MkdirAll(filepath.Dir(p), 0o755)
				switch c.kind { // an action that fails here changes nothing
				case "write":
					_ = os.WriteFile(p, []byte("x"), 0o644)
				case "append":
					if f, err := os.OpenFile(p, os.O_APPEND|os.O_WRONLY, 0); err == nil {
						_, _ = f.WriteString("more")
						_ = f.Close()
					}
				case "remove":
					_ = os.RemoveAll(p)
				case "mkdir":
					_ = os.Mkdir(p, 0o755)
				case "link":
					_ = os.RemoveAll(p)
					_ = os.Symlink(filepath.Join(r.Root, c.other), p)
				case "chmod":
					_ = os.Chmod(p, 0o700)
				case "rename":
					_ = os.Rename(p, filepath.Join(r.Root, c.other))
				case "touch":
					if data, err := os.ReadFile(p); err == nil {
						_ = os.WriteFile(p, data, 0o644)
					}
				}
			}
			during = tree(t, r.Root)
		}
		out, err := r.Run(context.Background(), []Hook{web("h", server.URL, false)}, call())
		if err != nil {
			rt.Fatal(err)
		}
		changed := cmp.Diff(guarded(before), guarded(during)) != ""
		for _, p := range []string{".agentxchain/session.json",
			"HUMAN_TASKS.md"} { // a directory in their place counts
			changed = changed || strings.HasPrefix(during[p], "d")
		}
		if changed != (out.Tamper != nil) {
			rt.Fatalf("changed %v, tamper %+v\n%s", changed, out.Tamper, cmp.Diff(guarded(before), guarded(during)))
		}
		if diff := cmp.Diff(guarded(before), guarded(tree(t, r.Root))); diff != "" {
			rt.Fatalf("not put back:\n%s", diff)
		}
	})
}
