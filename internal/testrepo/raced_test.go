package testrepo

import (
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestWhatStartsGoroutinesIsRaced checks that .ci/run names every package that starts a goroutine in its step with
// the race detector.
func TestWhatStartsGoroutinesIsRaced(t *testing.T) {
	script, err := os.ReadFile("../../.ci/run")
	if err != nil {
		t.Fatal(err)
	}
	list := regexp.MustCompile(`(?ms)^raced=\($(.*?)^\)$`).FindStringSubmatch(string(script))
	if list == nil || !strings.Contains(string(script), "go test -race ") {
		t.Fatal(".ci/run runs no go test -race of what raced=( ) lists")
	}
	var trees, dirs []string
	for word := range strings.FieldsSeq(strings.ReplaceAll(list[1], `"`, " ")) {
		dir, ok := strings.CutPrefix(word, "./")
		if tree, whole := strings.CutSuffix(dir, "/..."); whole {
			trees = append(trees, tree)
		} else if ok {
			dirs = append(dirs, dir)
		}
	}
	out, err := exec.Command("git", "-C", "../..", "grep", "-l", "-E", `^\s*go [A-Za-z_.]+\(|errgroup|WaitGroup`,
		"--", "*.go", ":!*_test.go", ":!fixtures", ":!bench", ":!internal/test*", ":!internal/demo").Output()
	if err != nil {
		t.Skip("no checkout to look at: ", err)
	}
	files := strings.Fields(string(out))
	for _, file := range files {
		dir := path.Dir(file)
		within := func(tree string) bool { return dir == tree || strings.HasPrefix(dir, tree+"/") }
		if !slices.Contains(dirs, dir) && !slices.ContainsFunc(trees, within) {
			t.Errorf("%s starts goroutines, and .ci/run does not run %s with the race detector", file, dir)
		}
	}
	if len(files) < 20 {
		t.Errorf("found %d files that start goroutines", len(files))
	}
}
