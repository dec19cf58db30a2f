// Tests of reading /proc/PID/stat.

package process

import (
	"os"
	"strings"
	"testing"
)

func TestParseStat(t *testing.T) {
	rest := " S 1 77 77 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 123456 1 2"
	for _, name := range []string{"(sh)", "(a b)", "(a) S 1 (b)", "()"} {
		if p, ok := ParseStat([]byte("77 " + name + rest)); !ok || p.State != 'S' || p.Group != 77 ||
			p.Start != 123456 {
			t.Errorf("%s: %+v %v", name, p, ok)
		}
	}
	for _, bad := range []string{"", "77", "77 (sh)", "77 (sh) S 1 2", "77 (sh" + rest,
		"77 (sh)" + strings.Replace(rest, "77", "x", 1)} {
		if p, ok := ParseStat([]byte(bad)); ok {
			t.Errorf("%q: %+v", bad, p)
		}
	}
	if p, ok := readStat(os.Getpid()); !ok || p.Start == 0 {
		t.Errorf("ourselves: %+v %v", p, ok)
	}
}

// TestNestedMarks checks that a program run by a program that was run carries the marks of both, so that the
// outermost caller finds it.
func TestNestedMarks(t *testing.T) {
	t.Setenv(markName, "outermost")
	r := run(t, sh("echo $"+markName))
	marks := strings.Split(strings.TrimSpace(string(r.Stdout)), ":")
	if len(marks) != 2 || marks[0] != "outermost" || len(marks[1]) < 20 {
		t.Errorf("%q", marks)
	}
	t.Setenv(markName, strings.Repeat("a:", 20)+"last")
	r = run(t, sh("echo $"+markName))
	if marks = strings.Split(strings.TrimSpace(string(r.Stdout)), ":"); len(marks) != maxMarks ||
		marks[maxMarks-2] != "last" {
		t.Errorf("%q", marks)
	}
}
