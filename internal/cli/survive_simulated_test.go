// Histories on a simulated disk: like those on a real one, but many more of them, with commands that take turns
// at every call and a clock that jumps.

package cli

import (
	"fmt"
	"hash/crc32"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/internal/testtrace"
)

// simulated runs one command, or two at once, on the simulated disk.
func (h *history) simulated() (verdict string, err error) {
	if h.draw.IntN(20) == 0 {
		if err := h.disk.Jump(jumps[h.draw.IntN(len(jumps))]); err != nil {
			return "", err
		}
	}
	if h.dirty { // what people wrote, and what git commit did not sync, reaches the disk in time
		if err := h.disk.Settle(); err != nil {
			return "", err
		}
	}
	from, err := h.disk.Len()
	if err != nil {
		return "", err
	}
	s, m := h.next()
	commands := []taken{{step: s, mishap: m}}
	runs := []*testtrace.Run{h.run(s, m)}
	synced := s.args[0] == "sync"
	if h.draw.IntN(4) == 0 {
		h.pairs++
		s, m := h.next()
		m.power = false
		commands[0].mishap.power = commands[0].mishap.power && !s.commits
		synced = synced || s.args[0] == "sync"
		commands = append(commands, taken{step: s, mishap: m})
		runs = append(runs, h.run(s, m))
	}
	results, err := h.disk.Do(runs...)
	if err != nil {
		return "", err
	}
	h.dirty = false
	for i, r := range results {
		commands[i].result, commands[i].finished = r, r.Finished
		h.dirty = h.dirty || commands[i].step.commits
	}
	if commands[0].mishap.power {
		h.cuts++
		to, err := h.disk.Len()
		if err != nil {
			return "", err
		}
		k := from + h.draw.IntN(to-from+1)
		// What the server has received by then stays there: it must not have received it before it was on the
		// disk.
		if h.draw.IntN(4) == 0 || synced && len(commands) > 1 {
			k = to
		}
		for i := range commands {
			commands[i].finished = commands[i].finished && k == to
		}
		if err := h.disk.Cut(k); err != nil {
			return "", err
		}
		h.dirty = true
	}
	return h.judge(commands), nil
}

// jumps lists the steps of a clock that is set.
var jumps = []time.Duration{-time.Second, time.Second, -time.Minute, time.Minute, -time.Hour, time.Hour,
	-24 * time.Hour, 24 * time.Hour}

// generation is how many commands a project lives.
const generation = 300

// TestSurviveSimulated runs AGENTXCHAIN_SURVIVE_OPS commands, 100,000 in the long form, and checks every twenty
// of them that all is well.
func TestSurviveSimulated(t *testing.T) {
	testrepo.Thorough(t)
	testrepo.SyncedRefs(t)
	if !testtrace.MountAvailable() {
		t.Skip("no disk can be simulated here")
	}
	most := 60
	if os.Getenv("AGENTXCHAIN_LONG_TESTS") != "" {
		most = 100_000
	}
	most = surviveOps(t, most)
	h := newHistory(t)
	if err := os.Rename(h.base, h.pristine()); err != nil {
		t.Fatal(err)
	}
	refs, recorded := h.refs, 0
	for h.step = 1; h.step <= most && !t.Failed(); {
		h.begin()
		h.refs, h.dirty = refs, true
		var err error
		if h.disk, err = testtrace.NewMount(h.project(), h.draw.Uint64()); err != nil {
			t.Fatal(err)
		}
		for end := min(h.step+generation, most+1); h.step < end && !t.Failed(); h.step++ {
			h.work()
			verdict, err := h.simulated()
			if err != nil {
				verdict = err.Error()
			} else if verdict == "" && h.step%20 == 0 {
				verdict = h.quiet()
				h.dirty = true
			}
			if verdict != "" {
				h.fail(verdict)
			}
		}
		recorded += h.recorded()
		if err := h.disk.Close(); err != nil {
			t.Error(err)
		}
		t.Logf("%d commands, %d times two at once, %d faults, %d power cuts, %d operations recorded", h.step-1+h.pairs,
			h.pairs, h.hits, h.cuts, recorded)
	}
}

// byTurns makes the act and its partner take turns at the calls that change a file, in an order given by the seed.
// The place itself is below the simulated disk and does not change.
func (a *act) byTurns(p partner, seed uint64, either []meeting) (verdict string, err error) {
	disk, err := testtrace.NewMount(a.base, seed)
	if err != nil {
		return "", err
	}
	runs := []*testtrace.Run{{Args: a.whole(), Dir: filepath.Join(a.base, a.dir)}, {Args: p.args}}
	runs[1].Dir = runs[0].Dir
	if p.dir != "" {
		runs[1].Dir = filepath.Join(a.base, p.dir)
	}
	for _, r := range runs {
		r.Env = a.env()
	}
	r, err := disk.Do(runs...)
	if err == nil {
		verdict = a.reconciled(p, endOf("git-agentxchain", r[0].Status, r[0].Output, r[0].Errors),
			endOf(filepath.Base(p.args[0]), r[1].Status, r[1].Output, r[1].Errors), either)
	}
	if cerr := disk.Close(); err == nil {
		err = cerr
	}
	return verdict, err
}

// TestSurviveTurns makes commands meet that take turns. AGENTXCHAIN_SURVIVE_MOST sets how often each, a hundred times
// in the long form.
func TestSurviveTurns(t *testing.T) {
	testrepo.Thorough(t)
	if !testtrace.MountAvailable() {
		t.Skip("no disk can be simulated here")
	}
	long := os.Getenv("AGENTXCHAIN_LONG_TESTS") != ""
	most := surviveMost(t, long)
	if most < 0 {
		most = 100
	}
	seed, log := surviveSeed(t), openSurviveLog(t)
	for _, name := range surviveActs(slices.Sorted(maps.Keys(acts)), seed, long, 2) {
		t.Run(name, func(t *testing.T) {
			a := newAct(t, name)
			acts[name](a)
			a.secondTree()
			if err := os.Rename(a.base, a.pristine()); err != nil {
				t.Fatal(err)
			}
			a.begin()
			draw := rand.New(rand.NewPCG(seed, uint64(crc32.ChecksumIEEE([]byte(name)))))
			all, either := a.partners(), make(map[string][]meeting)
			survived := 0
			for range most {
				p, number := all[draw.IntN(len(all))], draw.Uint64()
				if either[p.String()] == nil {
					either[p.String()] = a.eitherWay(p)
					a.begin()
				}
				verdict, err := a.byTurns(p, number, either[p.String()])
				if err != nil {
					t.Fatalf("%s, seed %d: %v", p, number, err)
				}
				log.note(name, testtrace.Fault{Kind: testtrace.Kind(p.String())}, &testtrace.Call{Name: fmt.Sprint(number)},
					verdict)
				if verdict == "" {
					survived++
				} else {
					t.Errorf("%s, seed %d: %s", p, number, verdict)
				}
			}
			t.Logf("%d meetings tried, %d survived", most, survived)
		})
	}
}
