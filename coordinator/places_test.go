// Tests of locations: which paths are refused as repositories, and where a file really is.

package coordinator

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/protocol/initiative"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// tree makes directories ("a/"), files ("a/f") and links ("a/l -> target") below
// a real temporary directory.
func tree(t testing.TB, entries ...string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, e := range entries {
		name, target, isLink := strings.Cut(e, " -> ")
		p := filepath.Join(dir, filepath.FromSlash(name))
		switch {
		case isLink:
			must(os.MkdirAll(filepath.Dir(p), 0o755))
			must(os.Symlink(strings.ReplaceAll(target, "$", dir), p))
		case strings.HasSuffix(name, "/"):
			must(os.MkdirAll(p, 0o755))
		default:
			must(os.MkdirAll(filepath.Dir(p), 0o755))
			must(os.WriteFile(p, []byte("x"), 0o644))
		}
	}
	return dir
}

// repoConfig declares repositories a, b, c at the given paths.
func repoConfig(paths ...string) *initiative.Config {
	c := &initiative.Config{}
	for i, p := range paths {
		id := string(rune('a' + i))
		optional := strings.HasPrefix(p, "?")
		c.Repos.Set(id, &initiative.Repo{ID: id, Path: strings.TrimPrefix(p, "?"), Required: !optional})
	}
	return c
}

func TestResolve(t *testing.T) {
	dir := tree(t, "ws/repos/api/", "ws/repos/web/src/", "sibling/", "outside/", "ws/file", "ws/link -> repos/api",
		"ws/out -> ../outside", "ws/loop -> loop", "ws/self -> .", "alias -> ws")
	for _, c := range []struct {
		name, workspace string
		paths           []string
		want            string // codes of problems | codes of optional ones
	}{
		{"below and beside", "ws", []string{"./repos/api", "repos/web", "../sibling"}, "|"},
		{"absolute", "ws", []string{dir + "/sibling", "repos/web"}, "|"},
		{"workspace through a link", "alias", []string{"repos/api", "../sibling"}, "|"},
		{"missing", "ws", []string{"repos/none"}, "repo_path_missing|"},
		{"missing but not required", "ws", []string{"?repos/none", "repos/api"}, "|repo_path_missing"},
		{"a file", "ws", []string{"file"}, "repo_path_not_directory|"},
		{"the same twice", "ws", []string{"repos/api", "./repos/../repos/api/"}, "repo_path_duplicate|"},
		{"the same through a link", "ws", []string{"repos/api", "link"}, "repo_path_duplicate|"},
		{"the same nothing", "ws", []string{"none", "none"}, "repo_path_missing repo_path_duplicate|"},
		{"inside another", "ws", []string{"repos/web", "repos/web/src"}, "repo_path_nested|"},
		{"around another", "ws", []string{"repos/web", "repos"}, "repo_path_nested|"},
		{"the workspace", "ws", []string{"."}, "repo_path_workspace|"},
		{"the workspace through a link", "ws", []string{"self"}, "repo_path_workspace|"},
		{"around the workspace", "ws", []string{".."}, "repo_path_workspace|"},
		{"a link that leads out", "ws", []string{"out"}, "repo_path_escapes|"},
		{"a circle", "ws", []string{"loop"}, "repo_path_unreadable|"},
		{"no workspace", "nowhere", []string{"x"}, "workspace_unreadable|"},
	} {
		_, problems, optional := resolve(repoConfig(c.paths...), filepath.Join(dir, c.workspace))
		codes := func(p wire.Problems) string {
			var out []string
			for _, f := range p {
				out = append(out, f.Code)
			}
			return strings.Join(out, " ")
		}
		if got := codes(problems) + "|" + codes(optional); got != c.want {
			t.Errorf("%s: %s, want %s (%v)", c.name, got, c.want, problems)
		}
	}
}

func TestOwner(t *testing.T) {
	dir := tree(t, "ws/a/src/f", "ws/b/src/g", "ws/ab/", "ws/a/tob -> ../b", "ws/a/deep -> src",
		"ws/a/abs -> $/ws/b/src", "ws/a/out -> $/elsewhere", "ws/a/round -> tob/../a/src", "ws/a/loop -> loop",
		"ws/b/home -> ../a", "elsewhere/", "ws/a/..foo/x")
	r, problems, _ := resolve(repoConfig("a", "b", "ab", "?gone"), filepath.Join(dir, "ws"))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	for _, c := range []struct{ repo, file, owner, code string }{
		{"a", "src/f", "a", ""},
		{"a", "./src//new/deep/file", "a", ""},
		{"a", "src/../other", "a", ""},
		{"a", "..foo/x", "a", ""},
		{"a", "...", "a", ""},
		{"a", "../b/src/g", "b", ""},
		{"a", "../ab/x", "c", ""},
		{"a", "../a/x", "a", ""},
		{"a", "..", "", ""},
		{"a", "../x", "", ""},
		{"a", "../../../../../../../../etc/passwd", "", ""},
		{"a", dir + "/ws/a/x", "a", ""},
		{"a", dir + "/ws/b/x", "b", ""},
		{"a", "/etc/passwd", "", ""},
		{"a", "C:/x", "", ""},
		{"a", `..\b\x`, "b", ""},
		{"a", `src\f`, "a", ""},
		{"a", "tob/x", "b", ""},
		{"a", "tob", "b", ""},
		{"a", "deep/x", "a", ""},
		{"a", "abs/g", "b", ""},
		{"a", "out/x/y", "", ""},
		{"a", "round/f", "a", ""}, // tob/.. is the directory of b's parent
		{"a", "tob/../a/x", "a", ""},
		{"a", "deep/../../b/x", "b", ""},
		{"b", "home/src/f", "a", ""},
		{"d", "x", "d", ""}, // missing and optional, but still a location
		{"d", "../a/x", "a", ""},
		{"a", "../gone/x", "d", ""},
		{"a", "loop/x", "", wire.CodeInvalidArgument},
		{"a", "", "", wire.CodeInvalidArgument},
		{"a", "a\x00b", "", wire.CodeInvalidArgument},
		{"a", strings.Repeat("a/", 3000), "", wire.CodeInvalidArgument},
		{"zzz", "x", "", initiative.CodeRepoUnresolved},
	} {
		owner, e := r.Owner(c.repo, c.file)
		code := ""
		if e != nil {
			code = e.Code
		}
		if owner != c.owner || code != c.code {
			t.Errorf("%s in %s: %q %q, want %q %q", c.file, c.repo, owner, code, c.owner, c.code)
		}
	}
}

// A refused location owns nothing, and an inner repository keeps its files from the outer one.
func TestOwnerOfRefusedPlaces(t *testing.T) {
	dir := tree(t, "ws/a/inner/")
	r, problems, optional := resolve(repoConfig("a", "?a/inner", "?."), filepath.Join(dir, "ws"))
	if len(problems) > 0 || len(optional) != 2 {
		t.Fatal(problems, optional)
	}
	if owner, e := r.Owner("a", "inner/x"); owner != "b" || e != nil {
		t.Errorf("%q %v", owner, e)
	}
	for _, repo := range []string{"b", "c"} {
		if _, e := r.Owner(repo, "x"); e == nil || e.Code != initiative.CodeRepoUnresolved {
			t.Errorf("%s: %v", repo, e)
		}
		if _, ok := r.Path(repo); ok {
			t.Errorf("%s has a path", repo)
		}
	}
	if p, ok := r.Path("a"); !ok || p != filepath.Join(dir, "ws", "a") {
		t.Error(p, ok)
	}
}
