// The promises of stability.md about the Go API and the JSON Schemas are checked against the last release: a break
// that .ci/breaks.txt does not name fails.

package docs_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
)

var updateBreaks = flag.Bool("update-breaks", false, "write the breaks there are into .ci/breaks.txt")

const breaksFile = "../.ci/breaks.txt"

// promised lists the packages whose Go API is promised.
var promised = []string{"./runner", "./protocol/..."}

// breaks is .ci/breaks.txt: comments, the compared revision, and one row for each deliberate break.
type breaks struct {
	comments []string
	since    string
	rows     []string
}

func readBreaks(t *testing.T) breaks {
	t.Helper()
	data, err := os.ReadFile(breaksFile)
	if err != nil {
		t.Fatal(err)
	}
	var b breaks
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		since, isSince := strings.CutPrefix(line, "since ")
		switch {
		case line == "":
		case strings.HasPrefix(line, "#"):
			b.comments = append(b.comments, line)
		case isSince:
			b.since = since
		default:
			b.rows = append(b.rows, line)
		}
	}
	if b.since == "" {
		t.Fatalf("%s has no line \"since REVISION\"", breaksFile)
	}
	return b
}

func (b breaks) write() error {
	lines := slices.Concat(b.comments, []string{"since " + b.since}, b.rows)
	return os.WriteFile(breaksFile, []byte(strings.Join(lines, "\n")+"\n"), 0o666)
}

// command runs a program in a directory and returns its standard output.
func command(t *testing.T, dir, name string, arg ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, arg...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if exit, ok := err.(*exec.ExitError); ok {
		err = fmt.Errorf("%s %s: %w\n%s", name, strings.Join(arg, " "), err, exit.Stderr)
	}
	return strings.TrimSpace(string(out)), err
}

// must runs a program that must succeed.
func must(t *testing.T, dir, name string, arg ...string) string {
	t.Helper()
	out, err := command(t, dir, name, arg...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestBreaks compares the working tree with the last release.
func TestBreaks(t *testing.T) {
	testrepo.Thorough(t)
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	want := readBreaks(t)
	if shallow, err := command(t, root, "git", "rev-parse", "--is-shallow-repository"); err != nil ||
		shallow != "false" {
		t.Skipf("the tests are in a checkout without its history: %s %v", shallow, err)
	}
	// A commit that is itself a release is still compared with the one before.
	tag, err := command(t, root, "git", "describe", "--tags", "--abbrev=0", "--match=v[0-9]*", "HEAD^")
	if err == nil && tag != want.since {
		t.Errorf("the last release is %s: compare with it, \"since %s\" in %s, and remove the rows of the one before",
			tag, tag, breaksFile)
	}
	old := t.TempDir()
	archive := filepath.Join(t.TempDir(), "old.tar")
	must(t, root, "git", "archive", "--output="+archive, want.since)
	must(t, old, "tar", "-xf", archive)

	found := slices.Concat(apiBreaks(t, old, root, promised...),
		schemaBreaks(t, filepath.Join(old, "docs/schemas"), "schemas"))
	slices.Sort(found)
	if *updateBreaks {
		want.rows = found
		if err := want.write(); err != nil {
			t.Fatal(err)
		}
	}
	for _, row := range found {
		if !slices.Contains(want.rows, row) {
			t.Errorf("a break since %s: %s", want.since, row)
		}
	}
	for _, row := range want.rows {
		if !slices.Contains(found, row) {
			t.Errorf("named in %s, but not broken: %s", breaksFile, row)
		}
	}
	if t.Failed() {
		t.Log("docs/stability.md says how to break something on purpose")
	}
}

// apiBreaks returns the incompatible changes of packages between two trees of one module.
func apiBreaks(t *testing.T, old, now string, patterns ...string) []string {
	t.Helper()
	tool := filepath.Join(t.TempDir(), "apidiff")
	must(t, "..", "go", "build", "-modfile=tools/go.mod", "-o", tool, "golang.org/x/exp/cmd/apidiff")
	module := must(t, old, "go", "list", "-m") + "/"
	var rows []string
	for pkg := range strings.Lines(must(t, old, "go", append([]string{"list"}, patterns...)...)) {
		pkg = strings.TrimSpace(pkg)
		name := strings.TrimPrefix(pkg, module)
		if _, err := command(t, now, "go", "list", pkg); err != nil {
			rows = append(rows, "go "+name+": the package is gone")
			continue
		}
		export := filepath.Join(t.TempDir(), "old.x")
		must(t, old, tool, "-w", export, pkg)
		for change := range strings.Lines(must(t, now, tool, "-incompatible", export, pkg)) {
			if change, ok := strings.CutPrefix(strings.TrimSpace(change), "- "); ok {
				rows = append(rows, "go "+name+": "+strings.ReplaceAll(change, module, ""))
			}
		}
	}
	return rows
}

// Real breaks are found: without this the comparison could pass because it compares nothing.
func TestBreaksOfTheAPIAreFound(t *testing.T) {
	testrepo.Thorough(t)
	tree := func(files map[string]string) string {
		dir := t.TempDir()
		files["go.mod"] = "module example.org/m\n\ngo 1.26\n"
		for name, text := range files {
			if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		return dir
	}
	old := tree(map[string]string{
		"p/p.go":   "package p\n\ntype Options struct{ Turn string }\n\nfunc Open(Options) error { return nil }\n\nfunc Close() {}\n",
		"p/q/q.go": "package q\n",
	})
	now := tree(map[string]string{
		"p/p.go": "package p\n\ntype Options struct{ Turn, Role string }\n\nfunc Open(Options, int) error { return nil }\n\nfunc New() {}\n",
	})
	got := apiBreaks(t, old, now, "./p/...")
	want := []string{
		"go p: Close: removed",
		"go p: Open: changed from func(Options) error to func(Options, int) error",
		"go p/q: the package is gone",
	}
	if !slices.Equal(got, want) {
		t.Errorf("expected\n%s\ngot\n%s", strings.Join(want, "\n"), strings.Join(got, "\n"))
	}
	if got := apiBreaks(t, old, old, "./p/..."); len(got) > 0 {
		t.Errorf("between a tree and itself: %q", got)
	}
}
