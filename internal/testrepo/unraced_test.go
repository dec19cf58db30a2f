package testrepo

import (
	"bytes"
	"os"
	"os/exec"
	"path"
	"regexp"
	"strings"
	"testing"
)

// TestUnracedRunsSomewhere: what Unraced leaves out under -short, .ci/run runs in another step.
func TestUnracedRunsSomewhere(t *testing.T) {
	script, err := os.ReadFile("../../.ci/run")
	if err != nil {
		t.Fatal(err)
	}
	runs := map[string][]*regexp.Regexp{} // by package
	lines := bytes.ReplaceAll(script, []byte("\\\n"), nil)
	command := regexp.MustCompile(`(?m)^[^#\n]*\bgo test ([^\n]*)$`)
	choice := regexp.MustCompile(`-run (?:'([^']*)'|(\S+))`)
	for _, m := range command.FindAllSubmatch(lines, -1) {
		args := string(m[1])
		if strings.Contains(args, "-short") {
			continue
		}
		chosen := regexp.MustCompile("")
		if c := choice.FindStringSubmatch(args); c != nil {
			chosen = regexp.MustCompile(c[1] + c[2])
		}
		for word := range strings.FieldsSeq(args) {
			if p, ok := strings.CutPrefix(word, "./"); ok {
				runs[p] = append(runs[p], chosen)
			}
		}
	}
	out, err := exec.Command("git", "-C", "../..", "grep", "-W", "-n", "-e", "^\ttestrepo.Unraced(t)$", "--", "*_test.go").Output()
	if err != nil {
		t.Skip("no checkout to look at: ", err)
	}
	found := 0
	for _, m := range regexp.MustCompile(`(?m)^(\S+_test\.go)[=:-]\d+[=:-]func (Test\w+)\(t \*testing\.T\)`).FindAllSubmatch(out, -1) {
		found++
		dir, name, ran := path.Dir(string(m[1])), string(m[2]), false
		for within, choices := range runs {
			if tree, whole := strings.CutSuffix(within, "..."); within != dir && (!whole || !strings.HasPrefix(dir+"/", tree)) {
				continue
			}
			for _, chosen := range choices {
				ran = ran || chosen.MatchString(name)
			}
		}
		if !ran {
			t.Errorf("%s of %s is left out under -short, and no other step of .ci/run runs it", name, dir)
		}
	}
	if found < 10 {
		t.Errorf("found %d tests that call Unraced", found)
	}
}
