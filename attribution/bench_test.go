// The cost of an answer besides git blame: a file of 5,000 lines and 300 commits.

package attribution_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/attribution"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/history"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

// longFile returns a world whose file big.x has 5,000 lines and the given number of commits, half of them turns',
// all rebased once if rewritten is set.
func longFile(tb testing.TB, commits int, rewritten bool) *world {
	w := newWorld(tb, 3)
	var lines []string
	write := func(writer string, n int) {
		for range n {
			token := fmt.Sprintf("token%07d", len(w.owner))
			w.owner[token] = writer
			lines = slices.Insert(lines, w.rnd.IntN(len(lines)+1), token+" of a line as long as lines of programs are")
		}
		w.must(os.WriteFile(filepath.Join(w.dir, "big.x9"), []byte(strings.Join(lines, "\n")+"\n"), 0o666))
	}
	write(human, 5000-commits*5)
	w.git("add", "-A")
	w.git("commit", "-q", "-m", "big")
	base := w.git("rev-parse", "HEAD")
	for i := range commits {
		if i%2 == 0 {
			write(human, 5)
			w.git("commit", "-q", "-a", "-m", "a person's")
			continue
		}
		a, err := w.r.AssignTurn(w.ctx, runner.AssignOptions{Role: "pm"})
		w.must(err)
		write(a.Turn.TurnID, 5)
		w.accept(a.Turn.TurnID, []string{"big.x9"})
		_, err = w.r.Checkpoint(w.ctx, a.Turn.TurnID)
		w.must(err)
	}
	if rewritten {
		w.git("checkout", "-q", "-B", "side", base)
		w.git("commit", "-q", "--allow-empty", "-m", "below")
		w.git("checkout", "-q", "main")
		w.git("rebase", "-q", "side")
	}
	return w
}

func (w *world) accept(turn string, files []string) {
	doc, err := w.r.Template(w.ctx, turn)
	w.must(err)
	doc = doc.Clone()
	for k, v := range ojson.NewObject("decisions", []any{}, "summary", "work",
		"verification", ojson.NewObject("status", "skipped"), "files_changed", files,
		"proposed_next_role", "pm").All() {
		doc.Set(k, v)
	}
	path := filepath.Join(w.dir, filepath.FromSlash(wire.StagingPath(turn)))
	w.must(os.MkdirAll(filepath.Dir(path), 0o777))
	w.must(os.WriteFile(path, ojson.Pretty(doc), 0o666))
	_, err = w.r.AcceptTurn(w.ctx, runner.AcceptOptions{})
	w.must(err)
}

func BenchmarkLines(b *testing.B) {
	for _, rewritten := range []bool{false, true} {
		w := longFile(b, 300, rewritten)
		name := map[bool]string{false: "as made", true: "rebased"}[rewritten]
		b.Run(name+"/git blame", func(b *testing.B) {
			for b.Loop() {
				cmd := exec.Command("git", "blame", "--porcelain", "big.x9")
				cmd.Dir = w.dir
				if _, err := cmd.Output(); err != nil {
					b.Fatal(err)
				}
			}
		})
		for what, ranges := range map[string][]history.LineRange{"whole file": nil, "one line": {{From: 2500,
			To: 2500}}} {
			b.Run(name+"/"+what, func(b *testing.B) {
				for b.Loop() {
					if _, err := attribution.Lines(w.ctx, w.r.Record().Repository(),
						attribution.Query{Path: "big.x9", Ranges: ranges, ProjectID: "proj"}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
