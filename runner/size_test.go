package runner_test

import (
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

// turnBudget is how many bytes of packed objects one review turn may add to a repository: its
// assignment with the bundle, its result and its acceptance (docs/performance.md).
const turnBudget = 13 << 9

// TestBytesATurn holds a turn to its budget, after git has packed what was written.
func TestBytesATurn(t *testing.T) {
	testrepo.Thorough(t)
	p := newProject(t, func(cfg *ojson.Object) {
		cfg.Set("run_loop", ojson.NewObject("non_progress_threshold", 1000))
	})
	n := 0
	packed := func(turns int) int {
		for range turns {
			n++
			a := p.assign("pm")
			p.stage(a.Turn, "summary", fmt.Sprintf("looked at part %d of the plan, and found what is still open there",
				n),
				"objections", review(fmt.Sprintf("OBJ-%03d", n)), "files_changed", []string{},
				"artifact", ojson.NewObject("type", "review", "ref", nil),
				"proposed_next_role", "pm")
			_, err := p.r.AcceptTurn(p.ctx, runner.AcceptOptions{})
			p.must(err)
		}
		p.must(exec.Command("git", "-C", p.dir, "gc", "-q", "--prune=now").Run())
		out, err := exec.Command("git", "-C", p.dir, "count-objects", "-v").Output()
		p.must(err)
		for line := range strings.Lines(string(out)) {
			if size, ok := strings.CutPrefix(strings.TrimSpace(line), "size-pack: "); ok {
				kib, err := strconv.Atoi(size)
				p.must(err)
				return kib << 10
			}
		}
		t.Fatalf("git count-objects tells no size:\n%s", out)
		return 0
	}
	before := packed(20) // the first turns bring what later ones share
	const more = 40
	if each := (packed(more) - before) / more; each > turnBudget || each <= 0 {
		t.Errorf("a review turn adds %d bytes of packed objects; expected at most %d", each, turnBudget)
	} else {
		t.Logf("%d bytes a turn", each)
	}
}
