// Comparison with peers: one commit in the same repository, guarded by each. The guards look for
// different things, but all run a hook before the commit.

package bench

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/bench/internal/measure"
	"github.com/git-agentxchain/git-agentxchain/bench/internal/play"
)

// peer sets up a repository for a guard of its own.
type peer struct {
	name  string
	needs string // on PATH
	files map[string]string
	setUp []string
}

// peers returns the compared guards, git without any guard first.
func peers() []peer {
	return []peer{
		{name: "git"},
		{name: "ours", setUp: []string{program, "hooks", "install"}},
		{
			name: "lefthook", needs: "lefthook", setUp: []string{"lefthook", "install"},
			files: map[string]string{"lefthook.yml": "pre-commit:\n  commands:\n    nothing:\n      run: \"true\"\n"},
		},
		{
			name: "pre-commit", needs: "pre-commit", setUp: []string{"pre-commit", "install"},
			files: map[string]string{".pre-commit-config.yaml": "repos:\n- repo: local\n  hooks:\n  - id: nothing\n    name: nothing\n    entry: \"true\"\n    language: system\n    pass_filenames: false\n"},
		},
	}
}

// BenchmarkPeers commits one file in turns under each guard, and reports processor and wall time as
// multiples of git's own. It skips a peer that is not on PATH, and says so.
func BenchmarkPeers(b *testing.B) {
	dirs := make(map[string]string)
	for _, p := range peers() {
		if p.needs != "" {
			if _, err := exec.LookPath(p.needs); err != nil {
				b.Logf("%s is left out: it is not on PATH", p.name)
				continue
			}
		}
		project, err := play.New(filepath.Join(b.TempDir(), "project"), program, play.Review)
		if err != nil {
			b.Fatal(err)
		}
		dirs[p.name] = project.Dir
		for name, text := range p.files {
			if err := os.WriteFile(filepath.Join(project.Dir, name), []byte(text), 0o600); err != nil {
				b.Fatal(err)
			}
		}
		run := [][]string{{"git", "add", "-A"}, {"git", "commit", "-q", "--allow-empty", "-m", "set up"}}
		if p.setUp != nil {
			run = append(run, p.setUp)
		}
		for _, argv := range run {
			if _, _, err := measure.MustSucceed(measure.Spec{
				Argv: argv,
				Dir:  project.Dir,
				Env:  play.Environment(),
			}); err != nil {
				b.Fatal(err)
			}
		}
	}
	costs := make(map[string]measure.Series)
	for n := 0; b.Loop(); n++ {
		for _, p := range peers() {
			dir, ok := dirs[p.name]
			if !ok {
				continue
			}
			if err := os.WriteFile(filepath.Join(dir, "file.txt"), fmt.Appendln(nil, "round", n), 0o600); err != nil {
				b.Fatal(err)
			}
			add := measure.Spec{Argv: []string{"git", "add", "file.txt"}, Dir: dir, Env: play.Environment()}
			if _, _, err := measure.MustSucceed(add); err != nil {
				b.Fatal(err)
			}
			cost, out, err := measure.MustSucceed(measure.Spec{
				Argv: []string{"git", "commit", "-q", "-m", "round"},
				Dir:  dir,
				Env:  play.Environment(),
			})
			if err != nil {
				b.Fatalf("%s: %v\n%s", p.name, err, out.Stdout)
			}
			costs[p.name] = append(costs[p.name], cost)
		}
	}
	b.ReportMetric(0, "ns/op")
	git := costs["git"]
	for _, p := range peers() {
		if c := costs[p.name]; len(c) > 0 && p.name != "git" {
			unit := strings.ReplaceAll(p.name, "-", "")
			b.ReportMetric(measure.SpreadOf(measure.Ratios(c, git)).Median, unit+"/git-wall")
			b.ReportMetric(float64(c.CPU().Median)/float64(max(git.CPU().Median, 1)), unit+"/git-cpu")
		}
	}
}
