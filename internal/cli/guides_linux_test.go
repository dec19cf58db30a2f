// README.md and docs/quickstart.md, run as they are printed: at a terminal, with a scripted agent and a person who
// answers.

package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
)

// shBlocks returns the shell blocks below a heading of a page, each with its lines.
func shBlocks(t *testing.T, page, heading string) []string {
	t.Helper()
	section, err := sectionOf(filepath.Join("..", "..", filepath.FromSlash(page)), heading)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, m := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(section, -1) {
		out = append(out, m[1])
	}
	return out
}

var asks = regexp.MustCompile(`\[y/N\] |\[q\]uit: `)

// follow runs lines in one shell at a terminal, in a directory that holds only an ungoverned
// repository "your-repository"; each question gets the next answer. It returns what the screen
// showed.
func follow(t *testing.T, lines, answers []string) string {
	t.Helper()
	testrepo.InMemory()
	home := t.TempDir()
	guide, err := filepath.Abs("testdata/guide")
	if err != nil {
		t.Fatal(err)
	}
	worker, err := filepath.Abs("../scriptedmodel/testdata/worker.sh")
	if err != nil {
		t.Fatal(err)
	}
	config := "[user]\n\tname = Ada\n\temail = ada@example.org\n[init]\n\tdefaultBranch = main\n"
	if err := os.WriteFile(filepath.Join(home, "gitconfig"), []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"init", "-q", "your-repository"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = home
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	cmd := exec.Command("sh", "-e", "-c", strings.Join(lines, "\n"))
	cmd.Dir = home
	cmd.Env = append(os.Environ(), "PATH="+guide+":"+os.Getenv("PATH"), "WORKER="+worker, "HOME="+home,
		"XDG_CONFIG_HOME="+home,
		"GIT_CONFIG_GLOBAL="+filepath.Join(home, "gitconfig"), "GIT_CONFIG_NOSYSTEM=1",
		"GIT_CEILING_DIRECTORIES="+filepath.Dir(home),
		"GIT_PAGER=cat", "EDITOR=editor", "GIT_EDITOR=", "VISUAL=", "NO_COLOR=1", "LC_ALL=C.UTF-8")
	r := startAtPTY(t, 200, cmd)
	given := 0
	for range 30000 { // five minutes: a busy machine is slow
		select {
		case <-r.closed:
			_ = cmd.Wait()
			text := strings.ReplaceAll(r.written(), "\r\n", "\n")
			if code := cmd.ProcessState.ExitCode(); code != 0 || given != len(answers) {
				t.Fatalf("ended with %d after %d of %d answers:\n%s", code, given, len(answers), text)
			}
			return text
		case <-time.After(10 * time.Millisecond):
		}
		if n := len(asks.FindAllString(r.written(), -1)); n > given {
			if given == len(answers) {
				t.Fatalf("a question that was not expected:\n%s", r.written())
			}
			r.enter(answers[given] + "\n")
			given++
		}
	}
	t.Fatalf("it never ends:\n%s", r.written())
	return ""
}

func TestGuides(t *testing.T) {
	testrepo.Thorough(t)
	readme, quick := shBlocks(t, "README.md", "Five minutes in your own repository"),
		shBlocks(t, "docs/quickstart.md", "With an agent")
	hand, guards := shBlocks(t, "docs/quickstart.md", "By hand"), shBlocks(t, "README.md", "Guard the repository")
	if len(readme) != 3 || len(quick) != 5 || len(hand) != 5 || len(guards) != 1 {
		t.Fatalf("README.md has %d and %d blocks, the quickstart %d and %d", len(readme), len(guards), len(quick),
			len(hand))
	}
	// The answers are in the order of the questions: trust, the plan, the end of the run.
	for name, g := range map[string]struct{ lines, answers []string }{
		"README, asked at once":     {[]string{readme[0], readme[2], guards[0]}, []string{"y", "y", "y"}},
		"README, answered later":    {readme, []string{"y", "n", "n", "y", "n", "y"}},
		"quickstart with an agent":  {quick, []string{"y", "n", "y", "y"}},
		"quickstart with no agents": {hand, []string{"y", "y"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := follow(t, g.lines, g.answers)
			for _, want := range []string{"Gate planning_signoff", "Gate qa_ship_verdict"} {
				if !strings.Contains(text, want) {
					t.Errorf("%q is not shown:\n%s", want, text)
				}
			}
			if !strings.Contains(text, "The run is complete.") && !strings.Contains(text, "nothing wrong") {
				t.Errorf("the run is not complete:\n%s", text)
			}
			if strings.Contains(text, "error:") {
				t.Errorf("something failed:\n%s", text)
			}
		})
	}
}
