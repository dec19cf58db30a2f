// Turns that change files, and what people commit beside them, while machines travel.

package runner_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// maker is the role whose turns write files.
const maker = "maker"

// make writes a file and makes a result declare it.
func (j *journey) make(m *traveller, result *ojson.Object) {
	if m.made == "" {
		j.n++
		m.made = fmt.Sprintf("src/%s-%d.txt", m.name, j.n)
	}
	file := filepath.Join(m.dir, filepath.FromSlash(m.made))
	j.must(os.MkdirAll(filepath.Dir(file), 0o777))
	j.must(os.WriteFile(file, []byte(m.made), 0o666))
	result.Set("files_changed", []string{m.made})
	result.Set("artifact", ojson.NewObject("type", "workspace"))
	result.Set("verification",
		ojson.NewObject("status", "pass", "commands", []string{"true"}, "evidence_summary", "fine",
			"machine_evidence", []*ojson.Object{ojson.NewObject("command", "true", "exit_code", 0)}))
	j.log(m, "    wrote %s", m.made)
}

// commit makes a person commit: nothing, untracked files, or what others committed.
func (j *journey) commit(m *traveller) {
	switch what := pickOne(j.d, "nothing", "all", "others"); what {
	case "nothing":
		j.git(m.dir, "commit", "-q", "--allow-empty", "-m", "work")
		j.log(m, "commits")
	case "all":
		if _, err := os.Stat(filepath.Join(m.dir, "src")); err != nil {
			return
		}
		j.git(m.dir, "add", "-A", "src")
		j.git(m.dir, "commit", "-q", "--allow-empty", "-m", "what lies around")
		m.made = ""
		j.log(m, "commits what lies around")
	case "others":
		other := pickOne(j.d, j.machines...)
		ref := "refs/remotes/origin/" + other.name
		if exec.Command("git", "-C", m.dir, "rev-parse", "-q", "--verify", ref).Run() != nil {
			return
		}
		out, err := exec.Command("git", "-C", m.dir, "merge", "-q", "--no-edit", ref).CombinedOutput()
		j.did[fmt.Sprintf("merge: %v", err == nil)]++
		j.log(m, "merges %s: %v %s", other.name, err, out)
		if err != nil {
			_ = exec.Command("git", "-C", m.dir, "merge", "--abort").Run()
		}
	}
}
