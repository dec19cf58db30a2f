// Power cuts: from the recorded calls of a command, ours and git's, every state that a disk may be in at every
// moment, when unsynced data may be lost, completely or in part, in any order.

package cli

import (
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/internal/testtrace"
)

// TestSurvivePowerLoss cuts the power in the middle of commands. The machine is configured so that git would
// sync nothing: we request every sync that we rely on.
func TestSurvivePowerLoss(t *testing.T) {
	testrepo.Thorough(t)
	testrepo.SyncedRefs(t)
	if !testtrace.Available() {
		t.Skip("processes cannot be traced here")
	}
	long := os.Getenv("AGENTXCHAIN_LONG_TESTS") != ""
	seed, log := surviveSeed(t), openSurviveLog(t)
	commands := []string{"accept", "restore", "sync-fetch"}
	if long {
		commands = slices.Sorted(maps.Keys(acts))
	}
	for _, name := range surviveActs(commands, seed, long, len(commands)) {
		t.Run(name, func(t *testing.T) {
			syncNothing(t)
			a := newAct(t, name)
			acts[name](a)
			for _, tree := range a.trees {
				a.do(tree, "git", "config", "core.fsync", "none")
				a.do(tree, "git", "config", "core.fsyncMethod", "writeout-only")
			}
			a.undisturbed()
			a.begin()
			disk, err := testtrace.NewDisk(a.base, a.servers()...)
			if err != nil {
				t.Fatal(err)
			}
			a.record = true
			r, err := a.run(testtrace.Fault{})
			if err != nil || r.Status != 0 {
				t.Fatalf("%v: %+v", err, r)
			}
			if err := disk.Record(r.Calls); err != nil {
				t.Fatal(err)
			}
			// The recorded calls account for everything that is there.
			there, err := testtrace.NewDisk(a.base)
			if err != nil {
				t.Fatal(err)
			}
			if there.Now().Sum() != disk.Now().Sum() {
				t.Fatalf("the calls do not account for what is there:\n%s",
					strings.Join(disk.Now().Differences(there.Now()), "\n"))
			}
			draw, wanted := rand.New(rand.NewPCG(seed, 1)), os.Getenv("AGENTXCHAIN_SURVIVE_FAULT")
			tried, survived := 0, 0
			try := func(k int, image testtrace.Image) {
				if err := os.RemoveAll(a.base); err != nil {
					t.Fatal(err)
				}
				if err := image.Write(a.base); err != nil {
					t.Fatal(err)
				}
				a.hangUp()
				said := &testtrace.Result{Finished: k == disk.Len(), Output: r.Output}
				verdict := a.judged(said, tried)
				tried++
				if verdict == "" {
					survived++
				} else {
					t.Errorf("after step %d of %d (%s), image %x: %s", k, disk.Len(), disk.Step(k), image.Sum(),
						strings.ReplaceAll(verdict, filepath.Dir(a.base), ""))
				}
				log.note("power-"+name, testtrace.Fault{
					At:   k,
					Kind: "power",
				}, &testtrace.Call{Name: disk.Step(k)}, verdict)
			}
			// For a sync the short form tries what it leaves when it has ended; for the others the last moment, three
			// random ones, one in which a git holds a lock, and those in which a new state has its name and no
			// directory was synced since.
			moments, more, most := []int{disk.Len()}, 0, 1
			switch {
			case long:
				more, most = 6, -1
				for k := range disk.Len() {
					moments = append(moments, k)
				}
			case name == "sync-fetch":
				more, most = 6, -1
			default:
				var locked, telling []int
				for k := 1; k < disk.Len(); k++ {
					switch step := disk.Step(k - 1); {
					case strings.HasPrefix(step, "name ") && strings.HasSuffix(step, ".lock"):
						locked = append(locked, k+draw.IntN(3))
					case strings.HasPrefix(step, "move ") && strings.HasSuffix(step, " state.json"):
						telling = append(telling, k)
					}
				}
				if len(locked) == 0 || len(telling) == 0 {
					t.Fatalf("%d locks of gits, %d new states", len(locked), len(telling))
				}
				for _, k := range append(telling, locked[draw.IntN(len(locked))]) {
					k = min(k, disk.Len())
					for _, image := range disk.Cut(k, 6, draw) {
						try(k, image)
					}
				}
				for range 3 {
					moments = append(moments, draw.IntN(disk.Len()))
				}
			}
			for _, k := range moments {
				if f := (testtrace.Fault{At: k, Kind: "power"}); wanted != "" && wanted != f.String() {
					continue
				}
				if at := fmt.Sprintf("power-%s\tpower at %d", name, k); long && log.done[at] && log.last != at {
					continue // some images of the last one may be left
				}
				images := disk.Cut(k, more, draw)
				if !long {
					draw.Shuffle(len(images), func(i, j int) { images[i], images[j] = images[j], images[i] })
				}
				for n, image := range images {
					if n == most {
						break
					}
					try(k, image)
				}
			}
			t.Logf("%d steps, %d images tried, %d survived", disk.Len(), tried, survived)
		})
	}
}

// hangUp ends what servers were doing for the machine whose power is cut: their gits see that the connection is gone,
// and remove their locks.
func (a *act) hangUp() {
	a.t.Helper()
	for _, dir := range a.servers() {
		err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err == nil && !e.IsDir() && strings.HasSuffix(path, ".lock") {
				return os.Remove(path)
			}
			return err
		})
		if err != nil {
			a.t.Fatal(err)
		}
	}
}

// syncNothing configures the machine so that git would sync nothing.
func syncNothing(t *testing.T) {
	t.Helper()
	for _, kv := range [][2]string{{"COUNT", "2"}, {"KEY_0", "core.fsync"}, {"VALUE_0", "none"},
		{"KEY_1", "core.fsyncMethod"}, {"VALUE_1", "writeout-only"}} {
		t.Setenv("GIT_CONFIG_"+kv[0], kv[1])
	}
	t.Setenv("GIT_TEST_FSYNC", "0")
}
