// Every system call of a changing command fails once, in our process and in git's: the run is the old or the
// new one, and the next command goes on.

package cli

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/internal/testtrace"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/initiative"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
	"github.com/git-agentxchain/git-agentxchain/runner/trust"
)

// act is a changing command, and a place to run it in.
type act struct {
	t       *testing.T
	name    string
	base    string   // everything it can change: repositories, remotes, a home directory
	dir     string   // where it is started, below base
	args    []string // of git-agentxchain
	trees   []string // repositories with a work tree, below base
	bare    []string // repositories without one
	moves   bool     // the record also moves to another place, instead of only growing
	repairs bool     // it records nothing: it brings the working files back to the record
	repeats bool     // it may be repeated at any time, and then cleans up
	// what a person does next, whether or not it is done already; nil for the same command when it
	// is not
	again []string
	more  func() string // what else must hold in the end

	record   bool // note what the calls write
	old, new stand
	trace    []*testtrace.Call // of the act when nothing goes wrong
}

// stand is the state of every repository of an act.
type stand struct {
	records []string          // repository, kind of ref, operations in order: one for each of our refs
	heads   map[string]string // work tree -> subjects of its history, and the tree at the end
	states  map[string]string // work tree -> status of its run
	changes map[string]string // work tree -> git status
	files   map[string]string // digests of the files that the program does not govern
}

// pristine returns the copy that each trial begins with. The place itself is always the same, so that settings that
// depend on a path, such as a remote's, stay valid.
func (a *act) pristine() string { return a.base + ".pristine" }

func (a *act) begin() {
	a.t.Helper()
	if err := os.RemoveAll(a.base); err != nil {
		a.t.Fatal(err)
	}
	mustAt(a.t, filepath.Dir(a.base), "cp", "-a", a.pristine(), a.base)
}

// env returns the command's environment: it contains nothing of the user who runs the tests.
func (a *act) env() []string {
	return append(os.Environ(), "HOME="+filepath.Join(a.base, "home"),
		"XDG_CONFIG_HOME="+filepath.Join(a.base, "home"), "TMPDIR="+filepath.Join(a.base, "tmp"),
		trust.Env+"=1") // each trial has a copy of the place, and what hooks trust stores is valid in none of them
}

// ours runs git-agentxchain where the act does.
func (a *act) ours(args ...string) (string, error) {
	return at(filepath.Join(a.base, a.dir), a.env(), "git-agentxchain", args...)
}

// at runs a program in a directory; the text is all its output.
func at(dir string, env []string, program string, args ...string) (string, error) {
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	return strings.TrimRight(string(out), "\n"), err
}

func mustAt(t *testing.T, dir, program string, args ...string) string {
	t.Helper()
	out, err := at(dir, nil, program, args...)
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", program, strings.Join(args, " "), err, out)
	}
	return out
}

// records lists what is recorded in a repository, without the randomly chosen names. For an initiative its
// files are the authority, and its ref follows.
func records(dir, repo string) ([]string, error) {
	list, err := at(dir, nil, "git", "for-each-ref", "--format=%(refname)", "refs/agentxchain")
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %s", repo, err, list)
	}
	var out []string
	if data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(initiative.HistoryPath))); err == nil {
		types := repo + " initiative:"
		for line := range bytes.Lines(data) {
			row, err := ojson.DecodeObject(line)
			if err != nil && unfinished(dir) {
				break // the row was being written; the next command writes it again
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", repo, err)
			}
			// The context of a turn that could not be assigned stays, and the next attempt makes another.
			if kind := row.String("type"); kind != initiative.RowContext {
				types += " " + kind
			}
		}
		out = append(out, types)
	}
	for ref := range strings.FieldsSeq(list) {
		// What a restore brings is held there until it has ended; sound sees that nothing stays.
		if strings.HasPrefix(ref, "refs/agentxchain/initiatives/") || strings.HasPrefix(ref, heldIncoming) {
			continue
		}
		ops, err := at(dir, nil, "git", "log", "--reverse",
			"--format=%(trailers:key=Agentxchain-Op,valueonly,separator=%x20)", ref)
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w: %s", repo, ref, err, ops)
		}
		// Hooks that ran before the end came are run again, and the records beside them are lost with it.
		list := slices.DeleteFunc(strings.Fields(ops), func(op string) bool {
			return op == (&protocol.Audit{}).Name()
		})
		out = append(out, repo+" "+strings.Split(ref, "/")[2]+": "+strings.Join(list, " "))
	}
	slices.Sort(out)
	return out, nil
}

// unfinished reports whether a workspace itself says that a change of its files is under way.
func unfinished(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(initiative.Dir), "pending-change.json"))
	return err == nil
}

const heldIncoming = "refs/agentxchain/incoming/"

func (a *act) records() ([]string, error) {
	var all []string
	for _, repo := range slices.Concat(a.trees, a.bare) {
		out, err := records(filepath.Join(a.base, repo), repo)
		if err != nil {
			return nil, err
		}
		all = append(all, out...)
	}
	return all, nil
}

// statusAt returns the status of the run in its files, "" when there is none.
func statusAt(dir string) string {
	data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(string(wire.DocState))))
	if err != nil {
		return ""
	}
	state, err := ojson.DecodeObject(data)
	if err != nil {
		return err.Error()
	}
	return state.String("status") + " " + state.String("phase")
}

// governed reports the names in a project that the program writes.
func governed(rel string) bool {
	return rel == ".git" || rel == ".agentxchain" || rel == "TALK.md" || rel == "HUMAN_TASKS.md"
}

func (a *act) stands() (stand, error) {
	s := stand{
		heads:   map[string]string{},
		states:  map[string]string{},
		changes: map[string]string{},
		files:   map[string]string{},
	}
	var err error
	if s.records, err = a.records(); err != nil {
		return s, err
	}
	for _, tree := range a.trees {
		dir := filepath.Join(a.base, tree)
		if s.heads[tree], err = at(dir, nil, "git", "log", "--format=%s%n%T"); err != nil {
			return s, fmt.Errorf("%s: %w: %s", tree, err, s.heads[tree])
		}
		if s.changes[tree], err = at(dir, nil, "git", "status", "--porcelain"); err != nil {
			return s, fmt.Errorf("%s: %w: %s", tree, err, s.changes[tree])
		}
		s.states[tree] = statusAt(dir)
		err = filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
			rel, rerr := filepath.Rel(dir, p)
			switch {
			case err != nil || rerr != nil:
				return err
			case governed(rel) && e.IsDir():
				return fs.SkipDir
			case governed(rel) || !e.Type().IsRegular():
				return nil
			}
			data, err := os.ReadFile(p)
			s.files[filepath.Join(tree, rel)] = fmt.Sprintf("%x", sha256.Sum256(data))
			return err
		})
		if err != nil {
			return s, err
		}
	}
	return s, nil
}

// parts returns what is compared, as texts.
func (s stand) parts() map[string]string {
	lines := func(m map[string]string) string {
		text := ""
		for _, k := range slices.Sorted(maps.Keys(m)) {
			text += k + ": " + m[k] + "\n"
		}
		return text
	}
	return map[string]string{
		"record": strings.Join(s.records, "\n"), "history of commits": lines(s.heads), "state": lines(s.states),
		"git status": lines(s.changes), "file": lines(s.files),
	}
}

// within reports whether the record continues the old one and does not exceed the new one.
func (a *act) within(now []string) bool {
	if a.moves {
		return true // judged at the end
	}
	begins := func(list []string, with string) bool {
		return slices.ContainsFunc(list, func(l string) bool { return l == with || strings.HasPrefix(l, with+" ") })
	}
	for _, r := range a.old.records {
		if !begins(now, r) {
			return false
		}
	}
	for _, r := range now {
		if !begins(a.new.records, r) {
			return false
		}
	}
	return true
}

// undisturbed notes the states before and after the act, and its calls.
func (a *act) undisturbed() {
	t := a.t
	t.Helper()
	if err := os.Rename(a.base, a.pristine()); err != nil {
		t.Fatal(err)
	}
	a.begin()
	var err error
	if a.old, err = a.stands(); err != nil {
		t.Fatal(err)
	}
	r, err := a.run(testtrace.Fault{})
	if err != nil || r.Status != 0 {
		t.Fatalf("%v: %v %+v", a.args, err, r)
	}
	a.trace = r.Calls
	if a.new, err = a.stands(); err != nil {
		t.Fatal(err)
	}
	if slices.Equal(a.old.records, a.new.records) != a.repairs {
		t.Fatalf("%v changes nothing", a.args)
	}
}

// servers returns other machines: what happens to them is not ours to survive.
func (a *act) servers() (dirs []string) {
	for _, name := range a.bare {
		dirs = append(dirs, filepath.Join(a.base, name))
	}
	return dirs
}

func (a *act) run(f testtrace.Fault) (*testtrace.Result, error) {
	servers := a.servers()
	if a.record {
		servers = nil // the calls must account for everything there
	}
	return (&testtrace.Run{
		Dir:    filepath.Join(a.base, a.dir),
		Env:    a.env(),
		Args:   append([]string{"git-agentxchain", "--json"}, a.args...),
		Below:  a.base,
		Except: servers,
		Fault:  f,
		Record: a.record,
	}).Do()
}

// maybeDone lists the codes of a failure after which everything may be done: the next command completes what
// was recorded.
var maybeDone = []string{fail.CodeWorkBehind, runner.CodeHookPostCommit, "io_failed"}

// trial makes one call fail and returns what is wrong afterwards, "" for nothing. hit is the call, nil when the
// command did not reach it.
func (a *act) trial(f testtrace.Fault) (hit *testtrace.Call, verdict string) {
	a.begin()
	r, err := a.run(f)
	if err != nil {
		return nil, err.Error()
	}
	if r.Hit == nil {
		return nil, ""
	}
	return r.Hit, a.judged(r, f.At)
}

// judged compares what a command left with what must be, and with what it reported. n chooses the next command.
func (a *act) judged(r *testtrace.Result, n int) string {
	now, err := a.records()
	if err != nil {
		return "afterwards: " + err.Error()
	}
	if !a.within(now) {
		return fmt.Sprintf("there is neither the old nor the new, but\n%s", strings.Join(now, "\n"))
	}
	happened := slices.Equal(now, a.new.records)
	if r.Finished {
		var said answer
		_ = json.Unmarshal(r.Output, &said)
		switch {
		case r.Status == 0 && !happened:
			return fmt.Sprintf("it said that it is done, and there is\n%s", strings.Join(now, "\n"))
		case r.Status != 0 && said.Error.Code == "":
			return fmt.Sprintf("it ended with %d and without a code: %s%s", r.Status, r.Output, r.Errors)
		case r.Status != 0 && !slices.Contains(maybeDone, said.Error.Code) && happened && !a.moves && !a.repairs:
			return fmt.Sprintf("it said that it failed with %s (%s), and it is recorded", said.Error.Code,
				said.Error.Message)
		case bytes.Contains(r.Errors, []byte("panic")):
			return string(r.Errors)
		}
	}
	next := [][]string{{"status"}, {"doctor", "--fix"}, a.args}[n%3]
	if !slices.Equal(now, a.old.records) && n%3 == 2 {
		next = []string{"status"} // it would be another one
	}
	out, nerr := a.ours(next...)
	if now, err = a.records(); err != nil || !a.within(now) {
		return fmt.Sprintf("after %v there is\n%s\n%v\nthat said: %v %s", next, strings.Join(now, "\n"), err, nerr,
			out)
	}
	// A person who sees the old state repeats the command.
	refused := ""
	if a.repairs || a.repeats || slices.Equal(now, a.old.records) ||
		a.again == nil && !slices.Equal(now, a.new.records) {
		out, err := a.ours(a.args...)
		if err != nil {
			refused = fmt.Sprintf("%v once more: %v\n%s\n", a.args, err, out)
		}
		if err != nil && a.again == nil {
			return refused
		}
	}
	if a.again != nil {
		if out, err := a.ours(a.again...); err != nil {
			return fmt.Sprintf("%s%v: %v\n%s", refused, a.again, err, out)
		}
	}
	if verdict := a.atLast(); verdict != "" {
		return refused + verdict
	}
	return ""
}

// atLast checks what must hold in the end.
func (a *act) atLast() string {
	if verdict := a.sound(); verdict != "" {
		return verdict
	}
	end, err := a.stands()
	if err != nil {
		return "in the end: " + err.Error()
	}
	for what, is := range end.parts() {
		if want := a.new.parts()[what]; is != want {
			return fmt.Sprintf("in the end it is another %s:\n%s\nand should be:\n%s", what, is, want)
		}
	}
	if a.more != nil {
		return a.more()
	}
	return ""
}

// sound completes unfinished work, and returns what our fsck and git's find, and which locks stay.
func (a *act) sound() string {
	for _, tree := range a.trees {
		dir := filepath.Join(a.base, tree)
		for _, args := range [][]string{{"doctor", "--fix"}, {"fsck", "--all-runs", "--replay", "--json"}} {
			out, err := at(dir, a.env(), "git-agentxchain", args...)
			if err != nil && a.new.states[tree] != "" {
				return fmt.Sprintf("%s in %s: %v\n%s", args[0], tree, err, out)
			}
			if strings.Contains(out, `"code":"leftover"`) {
				return fmt.Sprintf("left in %s: %s", tree, out)
			}
		}
	}
	for _, repo := range slices.Concat(a.trees, a.bare) {
		dir := filepath.Join(a.base, repo)
		if out, err := at(dir, nil, "git", "fsck", "--full", "--strict", "--no-dangling",
			"--no-progress"); err != nil || out != "" {
			return fmt.Sprintf("git fsck in %s: %v %s", repo, err, out)
		}
		if out, err := at(dir, nil, "git", "for-each-ref", heldIncoming); err != nil || out != "" {
			return fmt.Sprintf("held in %s: %v %s", repo, err, out)
		}
		if left := leftovers(dir); len(left) > 0 {
			return fmt.Sprintf("left %v", left)
		}
	}
	return ""
}

// leftovers returns the lock files and the held packs that no longer have an owner.
func leftovers(dir string) []string {
	var left []string
	_ = filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() && slices.Contains([]string{".lock", ".keep", ".new"}, filepath.Ext(p)) {
			data, _ := os.ReadFile(p)
			fi, _ := e.Info()
			left = append(left, fmt.Sprintf("%s of %v: %.400q", p, fi.ModTime(), data))
		}
		return nil
	})
	return left
}

// faultKinds lists everything that is tried at a call.
var faultKinds = []testtrace.Fault{
	{Kind: testtrace.KillBefore}, {Kind: testtrace.KillAfter}, {Kind: testtrace.KillAll}, {Kind: testtrace.Orphan},
	{Kind: testtrace.Short},
	{Kind: "EIO"}, {Kind: "ENOSPC"}, {
		Kind:    "ENOSPC",
		Lasting: true,
	}, {Kind: "EINTR"}, {Kind: "EMFILE"}, {Kind: "EROFS", Lasting: true}, {Kind: "EDQUOT"},
}

// surviveSeed chooses the sample: always the same for the short forms, so that a change fails only for its own
// reasons; a different one for each commit for the long ones. AGENTXCHAIN_SURVIVE_SEED repeats one.
func surviveSeed(t *testing.T) uint64 {
	t.Helper()
	seed := uint64(1)
	if text := os.Getenv("AGENTXCHAIN_SURVIVE_SEED"); text != "" {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		seed = n
	} else if head, err := exec.Command("git", "rev-parse", "HEAD").Output(); err == nil &&
		os.Getenv("AGENTXCHAIN_LONG_TESTS") != "" {
		seed = uint64(crc32.ChecksumIEEE(head))
	}
	t.Logf("AGENTXCHAIN_SURVIVE_SEED=%d", seed)
	return seed
}

// surviveActs returns the commands to try: those that AGENTXCHAIN_SURVIVE_ACT names, else all in the long form and
// some in the short one.
func surviveActs(all []string, seed uint64, long bool, some int) []string {
	if only := os.Getenv("AGENTXCHAIN_SURVIVE_ACT"); only != "" {
		return slices.DeleteFunc(all, func(name string) bool {
			return !slices.Contains(strings.Split(only, ","), name)
		})
	}
	if long {
		return all
	}
	draw := rand.New(rand.NewPCG(seed, 0))
	draw.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:min(some, len(all))]
}

// surviveMost returns how many faults each command gets: all in the long form, unless AGENTXCHAIN_SURVIVE_MOST
// limits them.
func surviveMost(t *testing.T, long bool) int {
	t.Helper()
	text := os.Getenv("AGENTXCHAIN_SURVIVE_MOST")
	switch {
	case text != "":
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		return n
	case long:
		return -1
	}
	return 1
}

// surviveOps returns how many operations or commands a history runs: AGENTXCHAIN_SURVIVE_OPS, else n.
func surviveOps(t *testing.T, n int) int {
	t.Helper()
	if text := os.Getenv("AGENTXCHAIN_SURVIVE_OPS"); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	return n
}

// surviveLog is the file, named by AGENTXCHAIN_SURVIVE_LOG, in which the long form notes each trial and from
// which it continues after an interruption.
type surviveLog struct {
	mu   sync.Mutex
	done map[string]bool
	last string // the last trial noted
	file *os.File
}

func openSurviveLog(t *testing.T) *surviveLog {
	l := &surviveLog{done: map[string]bool{}}
	name := os.Getenv("AGENTXCHAIN_SURVIVE_LOG")
	if name == "" {
		return l
	}
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	l.file = f
	for s := bufio.NewScanner(f); s.Scan(); {
		if w := strings.Split(s.Text(), "\t"); len(w) > 2 {
			l.last = w[0] + "\t" + w[1]
			l.done[l.last] = true
		}
	}
	return l
}

func (l *surviveLog) note(act string, f testtrace.Fault, hit *testtrace.Call, verdict string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return
	}
	outcome := "survived"
	if hit == nil {
		outcome = "not reached"
	} else if verdict != "" {
		outcome = "FAILED"
	}
	first, _, _ := strings.Cut(verdict, "\n")
	fmt.Fprintf(l.file, "%s\t%s\t%s\t%v\t%s\n", act, f, outcome, hit, first)
}

// TestSurviveEverySyscall goes through the system calls that change a file, one fault each. The short form
// takes a sample of them; the long one takes all, alternating between the calls of the commands.
func TestSurviveEverySyscall(t *testing.T) {
	testrepo.Thorough(t)
	if !testtrace.Available() {
		t.Skip("processes cannot be traced here")
	}
	long := os.Getenv("AGENTXCHAIN_LONG_TESTS") != ""
	seed, log := surviveSeed(t), openSurviveLog(t)
	for _, name := range surviveActs(slices.Sorted(maps.Keys(acts)), seed, long, 4) {
		t.Run(name, func(t *testing.T) {
			a := newAct(t, name)
			acts[name](a)
			a.undisturbed()
			draw := rand.New(rand.NewPCG(seed, uint64(crc32.ChecksumIEEE([]byte(name)))))
			var faults []testtrace.Fault
			wanted := os.Getenv("AGENTXCHAIN_SURVIVE_FAULT")
			for at := 1; at <= len(a.trace); at++ {
				for _, f := range faultKinds {
					if f.At = at; !f.Lasting && !a.trace[at-1].Applies(f.Kind) {
						continue
					}
					if wanted == "" || wanted == f.String() || wanted == string(f.Kind) {
						faults = append(faults, f)
					}
				}
			}
			// In random order, so that an interrupted test has seen a bit of everything.
			draw.Shuffle(len(faults), func(i, j int) { faults[i], faults[j] = faults[j], faults[i] })
			tried, survived, most := 0, 0, surviveMost(t, long)
			for _, f := range faults {
				if tried == most {
					break
				}
				if wanted != f.String() && log.done[name+"\t"+f.String()] {
					continue
				}
				hit, verdict := a.trial(f)
				log.note(name, f, hit, verdict)
				if hit == nil && verdict == "" {
					continue
				}
				tried++
				if verdict == "" {
					survived++
				} else {
					t.Errorf("%s: %v: %s", f, hit, verdict)
				}
			}
			t.Logf("%d calls, %d faults tried, %d survived", len(a.trace), tried, survived)
		})
	}
}

// found lists faults that once were not survived: the act, the first call to the file by the program, or the
// last, and what goes wrong with it.
var found = []struct {
	act, program, call, file string
	kind                     testtrace.Kind
	last                     bool
}{
	// The file that holds a pack existed before it named its owner, and then stayed for ever.
	{"approve", "git-agentxchain", "", ".keep", testtrace.KillAfter, false},
	// No note said that git config takes a lock.
	{"sync-push", "git config", "rename", ".git/config.lock", testtrace.KillBefore, false},
	// The repository of a workspace was not swept.
	{"multi-step", "git update-ref", "write", "ws/.git/refs/agentxchain/initiatives/", testtrace.KillAll, false},
	{"multi-step", "git-agentxchain", "openat", ".idx.new", testtrace.KillAll, false},
	// A repository that was told of a decision which was never written down waited for the lock of the process
	// that it was part of.
	{"multi-gate", "git-agentxchain", "fsync", "ws/.git/agentxchain/decisions", testtrace.KillAfter, false},
	// The file that was to replace a person's stayed beside it.
	{"proposal", "git-agentxchain", "fsync", "p/.b.txt", testtrace.KillAfter, false},
	// A turn with a partly written bundle was not found again.
	{"multi-step", "git-agentxchain", "fsync", "/.CONTEXT.md", "ENOSPC", false},
	// The answers of the hooks after an acceptance could not be recorded, and the acceptance was reported as failed.
	{"accept", "git-agentxchain", "linkat", ".keep", "EIO", true},
	// A git that could not remove its lock and still succeeded left it for ever.
	{"archive", "git update-ref", "unlink", "/runs/run_", "EIO", true},
	// A git that lost the message committed nothing, and a new file was reported as committed.
	{"accept-checkpoint", "git commit", "write", "COMMIT_EDITMSG", "EINTR", false},
	// No note said that the maintenance after a commit takes a lock.
	{"accept-checkpoint", "git maintenance", "close", "maintenance.lock", testtrace.KillAfter, false},
	// The file that was to record a change of an initiative stayed beside the others.
	{"multi-gate", "git-agentxchain", "rename", "/pending-change.json", testtrace.KillBefore, false},
	// The pack of a fetch was kept for ever.
	{"restore-join", "git index-pack", "write", ".keep", "EIO", false},
	// The run was joined, and the work tree said that its ref was moved aside.
	{"restore-join", "git-agentxchain", "fsync", "/.agentxchain/intake/events", testtrace.KillAfter, false},
	// It had failed, and was recorded.
	{"restore-join", "git-agentxchain", "write", "/.agentxchain/.state.json", "ENOSPC", false},
	{"restore-join", "git update-ref", "close", "packed-refs.lock", "ENOSPC", true},
}

// TestSurviveWhatWasFound repeats the faults that once were not survived.
func TestSurviveWhatWasFound(t *testing.T) {
	testrepo.Thorough(t)
	if !testtrace.Available() {
		t.Skip("processes cannot be traced here")
	}
	made := make(map[string]*act)
	for _, f := range found {
		a := made[f.act]
		if a == nil {
			a = newAct(t, f.act)
			acts[f.act](a)
			a.undisturbed()
			made[f.act] = a
		}
		i := -1
		for at, c := range a.trace {
			if (i < 0 || f.last) && c.Program == f.program && strings.HasPrefix(c.Name, f.call) &&
				(strings.Contains(c.Path, f.file) || strings.Contains(c.To, f.file)) {
				i = at
			}
		}
		if i < 0 {
			t.Errorf("%s does not come to a %s of %s by %s", f.act, f.call, f.file, f.program)
			continue
		}
		if hit, verdict := a.trial(testtrace.Fault{At: i + 1, Kind: f.kind}); hit == nil || verdict != "" {
			t.Errorf("%s, %s of %s at %d: %v: %s", f.act, f.kind, f.file, i+1, hit, verdict)
		}
	}
}
