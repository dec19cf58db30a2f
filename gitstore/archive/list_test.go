package archive

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
)

func someList(rng *rand.Rand) List {
	l := make(List)
	for range rng.IntN(6) {
		e := &Entry{
			Run:    fmt.Sprintf("run_%d", rng.IntN(4)),
			State:  []string{Archived, Live, Removed}[rng.IntN(3)],
			Change: []int{1, 2, 3, maxChange}[rng.IntN(4)],
			Op:     strings.Repeat(fmt.Sprint(rng.IntN(3)), 40),
			Ops:    1 + rng.IntN(3),
			Status: "completed",
			Ended:  fmt.Sprintf("2026-0%d-01T00:00:00Z", 1+rng.IntN(3)),
			By:     "Ada <ada@example.org>",
			At:     fmt.Sprintf("2026-05-0%dT00:00:00.000Z", 1+rng.IntN(3)),
		}
		l[e.Run] = e
	}
	return l
}

// Clones that never meet join lists in any order and more than once: all of them must arrive at the same list, and
// none may forget a newer change.
func TestMergeIsTheSameInEveryOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 19))
	for range 2000 {
		a, b, c := someList(rng), someList(rng), someList(rng)
		ab := a.Merge(b)
		if !ab.Equal(b.Merge(a)) {
			t.Fatalf("the order changes the outcome:\n%s\n%s", ab.encode(), b.Merge(a).encode())
		}
		if !ab.Merge(c).Equal(a.Merge(b.Merge(c))) {
			t.Fatal("the grouping changes the outcome")
		}
		if !ab.Equal(ab.Merge(a)) || !ab.Equal(ab.Merge(ab)) {
			t.Fatal("joining once more changes the outcome")
		}
		for _, l := range []List{a, b} {
			for run, e := range l {
				if ab[run].Change < e.Change {
					t.Fatalf("the newer change of %s was lost", run)
				}
			}
		}
		if !decode(ab.encode(), object.FormatSHA1).Equal(ab) {
			t.Fatalf("what is written is not read back:\n%s", ab.encode())
		}
	}
}

func TestDecodeLeavesOutWhatIsNoEntry(t *testing.T) {
	good := `{"run_id":"run_1","state":"archived","change":1,"op":"` + strings.Repeat("a", 40) +
		`","operations":3,"status":"completed","ended_at":"2026-01-01T00:00:00Z","by":"Ada","at":"2026-01-02T00:00:00.000Z","later":true}`
	for _, bad := range []string{
		"no json",
		strings.Replace(good, "run_1", "../x", 1),
		strings.Replace(good, "archived", "hidden", 1),
		strings.Replace(good, `"change":1`, `"change":0`, 1),
		strings.Replace(good, `"change":1`, `"change":9223372036854775807`, 1),
		strings.Replace(good, strings.Repeat("a", 40), "a", 1),
		strings.Replace(good, "2026-01-01T00:00:00Z", "soon", 1),
	} {
		if l := decode([]byte(bad+"\n"+strings.Replace(good, "run_1", "run_2", 1)), object.FormatSHA1); len(l) != 1 ||
			l["run_2"] == nil {
			t.Errorf("%s: %d entries were read, want only the other one", bad, len(l))
		}
	}
	l := decode([]byte(good), object.FormatSHA1)
	if !strings.Contains(string(l.encode()), `"later":true`) {
		t.Errorf("a member of a later version was lost: %s", l.encode())
	}
}

// An entry with the highest possible count does not keep a run in the archive, or off the list, for good.
func TestTheHighestCountIsNotTheLastWord(t *testing.T) {
	for _, state := range []string{Archived, Removed} {
		theirs := &Entry{Run: "run_1", State: state, Change: maxChange, Op: strings.Repeat("a", 40), Ops: 1 << 30}
		ours := *theirs
		ours.Ops = 3
		ours.Changed()
		ours.State = Live
		for _, l := range []List{{"run_1": theirs}, {"run_1": &ours}} {
			both := l.Merge(List{"run_1": theirs}).Merge(List{"run_1": &ours})
			if both["run_1"].State != Live {
				t.Errorf("%s at the highest count holds against a person who took the run out", state)
			}
		}
	}
}
