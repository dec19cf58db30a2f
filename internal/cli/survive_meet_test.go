// Two commands that meet: one of them waits at a call that changes a file, and the other runs. The result must
// be that of one after the other.

package cli

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/internal/testtrace"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// partner is a command that an act meets.
type partner struct {
	dir  string // below the base, "" for where the act is
	args []string
}

func (p partner) String() string {
	if p.dir != "" {
		return strings.Join(p.args, " ") + " in " + p.dir
	}
	return strings.Join(p.args, " ")
}

const second = "second" // the other work tree of p

// partners returns what an act meets: itself, people, another work tree and git's housekeeping.
func (a *act) partners() []partner {
	ours := func(dir string, args ...string) partner {
		return partner{dir, append([]string{"git-agentxchain", "--json"}, args...)}
	}
	git := func(args ...string) partner { return partner{"", append([]string{"git"}, args...)} }
	list := []partner{
		ours("", a.args...), ours("", "status"), ours("", "doctor", "--fix"), ours("", "repair", "--from-ref", "--yes"),
		git("gc", "-q", "--prune=now"), git("repack", "-adfq"), git("prune", "--expire=now"),
		git("pack-refs", "--all", "--prune"), git("commit", "-q", "--allow-empty", "-m", "of a person, meanwhile"),
	}
	if a.dir != "ws" {
		list = append(list, ours("", "inject", "look again"), ours("", "escalate", "--reason", "look at it"),
			ours("", "abandon", "--reason", "enough"))
	}
	if slices.Contains(a.trees, second) {
		list = append(list, ours(second, "status"), ours(second, "doctor", "--fix"), ours(second, "inject", "look again"),
			ours(second, "escalate", "--reason", "look at it"), ours(second, a.args...))
	}
	return list
}

// meeting is how two commands ended, and the state after them.
type meeting struct {
	act, partner string // how they ended: "", refused, or the code of a failure that is not a refusal
	again        string // the same for what a person does next
	parts        map[string]string
}

// differs names the differences, "" for none.
func (m meeting) differs(want meeting) string {
	out := ""
	if m.act != want.act || m.partner != want.partner || m.again != want.again {
		out += fmt.Sprintf("they ended with %q, %q and %q, and not with %q, %q and %q\n", m.act, m.partner, m.again,
			want.act, want.partner, want.again)
	}
	for _, what := range slices.Sorted(maps.Keys(want.parts)) {
		if m.parts[what] != want.parts[what] {
			out += fmt.Sprintf("%s:\n%s\nand not:\n%s\n", what, m.parts[what], want.parts[what])
		}
	}
	return out
}

// ending is the end of a command.
type ending struct {
	status int
	code   string // "" when it succeeded
	text   string
}

// again reports whether a person runs the command once more.
func (e ending) again(program string) bool {
	return e.status == conflict || e.status == locked || program == "git" && e.status != 0
}

// after returns the end of a command that was run once more.
func (e ending) after(first ending) ending {
	e.text = first.text + "\nand then: " + e.text
	return e
}

// endOf reads how a command ended from its output.
func endOf(program string, status int, stdout, stderr []byte) ending {
	e := ending{status: status, text: string(stdout) + string(stderr)}
	if status == 0 {
		return e
	}
	e.code = fmt.Sprintf("status %d", status)
	if program != "git" {
		var said answer
		_ = json.Unmarshal(stdout, &said)
		e.code = cmp.Or(said.Error.Code, e.code)
		if slices.Contains(refusals, status) || slices.Contains(late, e.code) {
			e.code = "refused" // the reason depends on what was seen first
		}
	}
	return e
}

// late lists the codes of a command whose work another one has done.
var late = []string{wire.CodeNotFound, wire.CodeTurnAlreadyAccepted}

// refusals lists the exit statuses of a command that must not be carried out in the present state.
var refusals = []int{term.ExitUsage, term.ExitRefused, term.ExitBlocked}

// started runs a command beside the test.
func (a *act) started(dir string, args []string) <-chan ending {
	done := make(chan ending, 1)
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(a.t.Context(), args[0], args[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = filepath.Join(a.base, cmp.Or(dir, a.dir)), a.env(), &stdout, &stderr
	if err := cmd.Start(); err != nil {
		done <- ending{status: -1, code: err.Error()}
		return done
	}
	go func() {
		_ = cmd.Wait()
		done <- endOf(filepath.Base(args[0]), cmd.ProcessState.ExitCode(), stdout.Bytes(), stderr.Bytes())
	}()
	return done
}

// whole returns the act as a command.
func (a *act) whole() []string { return append([]string{"git-agentxchain", "--json"}, a.args...) }

// endsWell returns the state after both, and checks that it is sound.
func (a *act) endsWell(act, with ending) (meeting, error) {
	m := meeting{act: act.code, partner: with.code}
	if a.again != nil {
		m.again = (<-a.started("", append([]string{"git-agentxchain", "--json"}, a.again...))).code
	}
	if verdict := a.sound(); verdict != "" {
		return m, fmt.Errorf("%s", verdict)
	}
	s, err := a.stands()
	for i, r := range s.records {
		words := strings.Fields(r)
		if a.again != nil { // several operations, with those of others in between
			slices.Sort(words)
		}
		// An acceptance during which HEAD moves is recorded as failed, and repeated.
		s.records[i] = strings.Join(slices.Compact(words), " ")
	}
	m.parts = s.parts()
	return m, err
}

// oneByOne returns the result of the two when they do not meet.
func (a *act) oneByOne(p partner, actFirst bool) (meeting, error) {
	a.begin()
	var act, with ending
	if actFirst {
		act = <-a.started("", a.whole())
	}
	with = <-a.started(p.dir, p.args)
	if !actFirst {
		act = <-a.started("", a.whole())
	}
	return a.endsWell(act, with)
}

// eitherWay is oneByOne with the act first, and with it last.
func (a *act) eitherWay(p partner) []meeting {
	a.t.Helper()
	var ways []meeting
	for _, first := range []bool{true, false} {
		one, err := a.oneByOne(p, first)
		if err != nil {
			a.t.Fatalf("%s and %s, one by one: %v", a.name, p, err)
		}
		ways = append(ways, one)
	}
	return ways
}

// patience is how long the act waits for its partner, which may be waiting for it.
const patience = 300 * time.Millisecond

// meet makes the act wait for its partner at a call, and returns what then differs from both sequential
// results.
func (a *act) meet(p partner, at int, either []meeting) (hit *testtrace.Call, verdict string) {
	a.begin()
	var partner <-chan ending
	var with ending
	over := false
	r, err := (&testtrace.Run{
		Dir:   filepath.Join(a.base, a.dir),
		Env:   a.env(),
		Args:  a.whole(),
		Below: a.base,
		Fault: testtrace.Fault{At: at, Kind: testtrace.Pause},
		Meanwhile: func() {
			partner = a.started(p.dir, p.args)
			select {
			case with = <-partner:
				over = true
			case <-time.After(patience):
			}
		},
	}).Do()
	if err != nil {
		return nil, err.Error()
	}
	if r.Hit == nil {
		return nil, ""
	}
	if !over {
		with = <-partner
	}
	return r.Hit, a.reconciled(p, endOf("git-agentxchain", r.Status, r.Output, r.Errors), with, either)
}

// reconciled returns what differs from both sequential results after commands that only got in each other's way were
// repeated.
func (a *act) reconciled(p partner, act, with ending, either []meeting) (verdict string) {
	for n := 0; n < 3 && (act.again("git-agentxchain") || with.again(p.args[0])); n++ {
		if act.again("git-agentxchain") {
			act = (<-a.started("", a.whole())).after(act)
		}
		if with.again(p.args[0]) {
			with = (<-a.started(p.dir, p.args)).after(with)
		}
	}
	m, err := a.endsWell(act, with)
	said := fmt.Sprintf("\nthe act said: %s\nthe other: %s", act.text, with.text)
	if err != nil {
		return err.Error() + said
	}
	for _, want := range either {
		if m.differs(want) == "" {
			return ""
		}
	}
	return "it is neither as when the act comes first:\n" + m.differs(either[0]) +
		"nor as when it comes last:\n" + m.differs(either[1]) + said
}

// secondTree gives p another work tree, which joins its run.
func (a *act) secondTree() {
	if a.dir != "p" || len(a.trees) > 1 {
		return
	}
	run := a.do("p", "git", "for-each-ref", "--format=%(refname:lstrip=3)", "refs/agentxchain/runs")
	if run == "" || strings.Contains(run, "\n") {
		return
	}
	a.do("p", "git", "worktree", "add", "-q", "-b", second, filepath.Join(a.base, second))
	a.do(second, "git", "agentxchain", "repair", "--from-ref", run)
	a.trees = append(a.trees, second)
}

// TestSurviveMeeting makes commands meet at the calls that change a file. The short form takes a sample.
func TestSurviveMeeting(t *testing.T) {
	testrepo.Thorough(t)
	if !testtrace.Available() {
		t.Skip("processes cannot be traced here")
	}
	long := os.Getenv("AGENTXCHAIN_LONG_TESTS") != ""
	seed, log := surviveSeed(t), openSurviveLog(t)
	for _, name := range surviveActs(slices.Sorted(maps.Keys(acts)), seed, long, 3) {
		t.Run(name, func(t *testing.T) {
			a := newAct(t, name)
			acts[name](a)
			a.secondTree()
			a.undisturbed()
			draw := rand.New(rand.NewPCG(seed, uint64(crc32.ChecksumIEEE([]byte(name)))))
			either := make(map[string][]meeting)
			tried, survived, most := 0, 0, surviveMost(t, long)
			for _, m := range a.meetings(draw) {
				if tried == most {
					break
				}
				p, f := m.with, testtrace.Fault{At: m.at, Kind: testtrace.Kind(m.with.String())}
				if log.done[name+"\t"+f.String()] {
					continue
				}
				if either[p.String()] == nil {
					either[p.String()] = a.eitherWay(p)
				}
				hit, verdict := a.meet(p, m.at, either[p.String()])
				log.note(name, f, hit, verdict)
				if hit == nil && verdict == "" {
					continue
				}
				tried++
				if verdict == "" {
					survived++
				} else {
					t.Errorf("%s at %d: %v: %s", p, m.at, hit, verdict)
				}
			}
			t.Logf("%d calls, %d meetings tried, %d survived", len(a.trace), tried, survived)
		})
	}
}

// meetings returns all calls and partners, in random order; AGENTXCHAIN_SURVIVE_FAULT selects one as it was
// printed.
func (a *act) meetings(draw *rand.Rand) (all []struct {
	with partner
	at   int
}) {
	wanted := os.Getenv("AGENTXCHAIN_SURVIVE_FAULT")
	for _, p := range a.partners() {
		for at := range len(a.trace) {
			if wanted == "" || wanted == fmt.Sprintf("%s at %d", p, at+1) {
				all = append(all, struct {
					with partner
					at   int
				}{p, at + 1})
			}
		}
	}
	draw.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

// met lists meetings that once failed: the act, its partner, and the last call to the file by the program.
var met = []struct{ act, partner, program, call, file string }{
	// Both work trees committed the proposal, and the refused one kept its commit.
	{"proposal", "proposal apply in " + second, "git update-ref", "fsync", "/refs/agentxchain/runs/"},
	// The answers of the hooks after an acceptance were not recorded when another work tree was faster.
	{"accept", "inject look again in " + second, "git-agentxchain", "fsync", "/objects/pack/"},
	// The acceptance was recorded and committed, but its checkpoint was reported as failed.
	{"accept-checkpoint", "inject look again in " + second, "git commit", "write", "COMMIT_EDITMSG"},
	// Another work tree moved the run on while the files of this one were completed, which ended with state_moved.
	{"recover", "escalate --reason look at it in " + second, "git-agentxchain", "fsync", "/refs/agentxchain/runs"},
	// Work for a run that had meanwhile ended was refused, and not kept for the next one.
	{"approve", "inject look again", "git update-ref", "rename", "/refs/agentxchain/runs/"},
}

// TestSurviveWhatMet repeats the meetings that once failed.
func TestSurviveWhatMet(t *testing.T) {
	testrepo.Thorough(t)
	if !testtrace.Available() {
		t.Skip("processes cannot be traced here")
	}
	for _, m := range met {
		t.Run(m.act, func(t *testing.T) {
			a := newAct(t, m.act)
			acts[m.act](a)
			a.secondTree()
			a.undisturbed()
			all := a.partners()
			i := slices.IndexFunc(all, func(p partner) bool { return strings.HasSuffix(p.String(), " "+m.partner) })
			at := 0
			for n, c := range a.trace {
				if c.Program == m.program && strings.HasPrefix(c.Name, m.call) &&
					(strings.Contains(c.Path, m.file) || strings.Contains(c.To, m.file)) {
					at = n + 1
				}
			}
			if at == 0 && m.call == "fsync" && !testrepo.HasGit(2, 36) {
				t.Skip("git syncs refs since 2.36")
			}
			if i < 0 || at == 0 {
				t.Fatalf("%s does not come to a %s of %s by %s, or meets no %s", m.act, m.call, m.file, m.program,
					m.partner)
			}
			if hit, verdict := a.meet(all[i], at, a.eitherWay(all[i])); hit == nil || verdict != "" {
				t.Errorf("%s at %d: %v: %s", m.partner, at, hit, verdict)
			}
		})
	}
}
