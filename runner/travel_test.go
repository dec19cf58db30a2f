// A run on several machines while everything between them goes wrong: what was acknowledged is
// kept, once, and the same everywhere (docs/teams.md).

package runner_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/proof"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/gitstore/transport"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/mail"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

// travelLong sets the number of journeys in the long form, and the steps of each.
const (
	travelLong       = 60
	travelLongSteps  = 120
	travelShort      = 3
	travelShortSteps = 14
)

// TestRunsTravel does random things on two to five machines that share one server: turns that change files and
// turns that do not, commits beside them, runs that go into the archive and come back. It cuts machines off,
// kills them in the middle, and makes pushes get lost, stay unanswered, or arrive late. When all have
// synchronised until nothing moves, each has the same records, they are linear and replay, and everything that
// was acknowledged is in them once or is a conflict.
func TestRunsTravel(t *testing.T) {
	testrepo.Thorough(t)
	if runtime.GOOS == "windows" {
		t.Skip("the server's hooks are shell scripts")
	}
	checks, steps := travelShort, travelShortSteps
	if os.Getenv("AGENTXCHAIN_LONG_TESTS") != "" {
		checks, steps = travelLong, travelLongSteps
	}
	base := newDepot(t, travelRules)
	did := make(map[string]int)
	given, err := strconv.ParseUint(os.Getenv("AGENTXCHAIN_TRAVEL_SEED"), 0, 64)
	if err == nil {
		checks = 1
	}
	for range checks {
		seed := rand.Uint64()
		if err == nil {
			seed = given
		}
		t.Run(fmt.Sprintf("seed=%#x", seed), func(t *testing.T) {
			j := base.journey(t, seed, did)
			defer j.end()
			for range steps/2 + j.d.IntN(steps) {
				j.step()
			}
			j.arrive()
		})
	}
	for _, what := range slices.Sorted(func(yield func(string) bool) {
		for k := range did {
			if !yield(k) {
				return
			}
		}
	}) {
		t.Logf("%6d %s", did[what], what)
	}
}

// depot is a server and a clone of it, to be copied.
type depot struct {
	dir string
}

func newDepot(t *testing.T, rules func(*ojson.Object)) *depot {
	t.Helper()
	for _, name := range []string{"GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"} {
		t.Setenv(name, "") // each machine has its own person
		_ = os.Unsetenv(name)
	}
	p := newProject(t, rules)
	d := &depot{dir: t.TempDir()}
	for _, args := range [][]string{
		{"clone", "-q", "--bare", p.dir, "server.git"},
		{"clone", "-q", "server.git", "machine"},
	} {
		cmd := exec.Command("git", args...)
		cmd.Dir = d.dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	return d
}

// travelRules let several turns be active side by side and ask a person at each gate.
func travelRules(cfg *ojson.Object) {
	onePhase(cfg)
	role := func(title, authority string) *ojson.Object {
		return ojson.NewObject("title", title, "mandate", "Build.", "write_authority", authority,
			"runtime", "manual-dev")
	}
	cfg.Set("roles", ojson.NewObject("dev", role("Developer", "review_only"), "qa", role("Tester", "review_only"),
		maker, role("Maker", "authoritative")))
	phase := func(gate string) *ojson.Object {
		return ojson.NewObject("entry_role", "dev", "allowed_next_roles", []string{"dev", "qa", maker, "human"},
			"exit_gate", gate, "max_concurrent_turns", 2)
	}
	cfg.Set("routing", ojson.NewObject("build", phase("built"), "ship", phase("shipped")))
	gate := ojson.NewObject("requires_human_approval", true)
	cfg.Set("gates", ojson.NewObject("built", gate, "shipped", gate))
	cfg.Delete("policies")
	cfg.Object("rules").Set("challenge_required", false)
}

// journey is one case.
type journey struct {
	rt       testing.TB
	d        *rand.Rand
	ctx      context.Context
	root     string
	machines []*traveller
	late     []latePush
	said     []promise
	did      map[string]int
	trace    []string
	n        int
}

// traveller is one machine.
type traveller struct {
	name   string
	dir    string
	door   string // link to the server, missing while the machine is cut off
	cutOff bool
	r      *runner.Runner
	apart  time.Duration // of its clock
	op     object.OID    // newest operation that was seen here
	made   string        // file that a result declares and no checkpoint has
}

// promise is an operation that a machine was told is recorded.
type promise struct {
	op      object.OID
	run     string
	kind    string
	turn    string
	summary string // of an acceptance
	by      string
}

// latePush is a push that has not arrived yet.
type latePush struct {
	lines   []string // old new ref
	objects string   // directory, "" when the server has them
}

func (base *depot) journey(rt testing.TB, seed uint64, did map[string]int) *journey {
	root, err := os.MkdirTemp("", "travel")
	j := &journey{
		rt:   rt,
		d:    rand.New(rand.NewPCG(seed, 1)),
		ctx:  context.Background(),
		root: root,
		did:  did,
	}
	j.trace = append(j.trace, fmt.Sprintf("AGENTXCHAIN_TRAVEL_SEED=%#x", seed))
	j.must(err)
	j.must(os.CopyFS(j.server(), os.DirFS(filepath.Join(base.dir, "server.git"))))
	for i := range 2 + j.d.IntN(4) {
		m := &traveller{
			name:  string(rune('a' + i)),
			dir:   filepath.Join(root, string(rune('a'+i))),
			apart: time.Duration(j.d.IntN(11)-5) * time.Hour,
		}
		m.door = filepath.Join(root, "door-"+m.name)
		j.must(os.CopyFS(m.dir, os.DirFS(filepath.Join(base.dir, "machine"))))
		conf := filepath.Join(m.dir, ".git", "config")
		data, err := os.ReadFile(conf)
		j.must(err)
		text := strings.Replace(string(data), filepath.Join(base.dir, "server.git"), m.door, 1)
		text += fmt.Sprintf("[user]\n\tname = %s\n\temail = %s@example.org\n[agentxchain]\n\tsync = manual\n", m.name,
			m.name)
		j.must(os.WriteFile(conf, []byte(text), 0o666))
		// Each machine commits on a branch of its own.
		main := filepath.Join(m.dir, ".git", "refs", "heads", "main")
		j.must(os.Rename(main, filepath.Join(filepath.Dir(main), m.name)))
		j.must(os.WriteFile(filepath.Join(m.dir, ".git", "HEAD"), []byte("ref: refs/heads/"+m.name+"\n"), 0o666))
		j.must(os.Symlink(j.server(), m.door))
		j.open(m)
		j.machines = append(j.machines, m)
	}
	first := j.machines[0]
	_, err = first.r.AssignTurn(j.ctx, runner.AssignOptions{Role: "dev"})
	j.must(err)
	j.noted(first, "assign", "")
	for _, m := range j.machines {
		if m == first || j.one(2) { // the others begin on their own
			j.sync(m)
		}
	}
	return j
}

func (j *journey) server() string { return filepath.Join(j.root, "server.git") }

func (j *journey) open(m *traveller) {
	var err error
	m.r, err = runner.Open(j.ctx, m.dir, runner.Options{
		Terminal: true,
		Now:      func() time.Time { return time.Now().Add(m.apart) },
	})
	j.must(err)
}

func (j *journey) end() {
	for _, m := range j.machines {
		_ = m.r.Close()
	}
	_ = os.RemoveAll(j.root)
}

func (j *journey) fail(format string, args ...any) {
	j.rt.Helper()
	j.rt.Fatalf("%s\n%s", fmt.Sprintf(format, args...), strings.Join(j.trace, "\n"))
}

func (j *journey) must(err error) {
	j.rt.Helper()
	if err != nil {
		j.fail("%v", err)
	}
}

func (j *journey) one(in int) bool { return j.d.IntN(in) == 0 }

func pickOne[T any](d *rand.Rand, of ...T) T { return of[d.IntN(len(of))] }

// log logs what happened, for a journey that fails.
func (j *journey) log(m *traveller, format string, args ...any) {
	j.trace = append(j.trace, m.name+": "+fmt.Sprintf(format, args...))
}

func (j *journey) git(dir string, args ...string) string {
	j.rt.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir}, args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		j.fail("git %v: %v: %s", args, err, out)
	}
	return strings.TrimSuffix(string(out), "\n")
}

// step does one random thing.
func (j *journey) step() {
	m := pickOne(j.d, j.machines...)
	switch n := j.d.IntN(100); {
	case n < 44:
		j.operate(m)
	case n < 51:
		j.archive(m)
	case n < 55:
		j.commit(m)
	case n < 75:
		j.sync(m)
	case n < 83:
		j.badServer(m)
	case n < 90:
		j.kill(m)
	case n < 94:
		j.cut(m)
	case n < 96:
		j.settle(m)
	case n < 98:
		j.arriveLate()
	default:
		j.twin(m)
	}
}

// answer counts the outcome of an operation and fails on impossible ones.
func (j *journey) answer(m *traveller, what string, err error) bool {
	code := "ok"
	if err != nil {
		code = runner.ErrorCode(err)
	}
	j.did[what+" "+code]++
	switch code {
	case "", wire.CodeInvalidState, wire.CodeImmutableField, fail.CodeWorkBehind, fail.CodeGitFailed,
		record.CodeStateTampered, record.CodeLedgerTampered, record.CodeUnproven, record.CodeForeignRun,
		transport.CodeRemoteBack, transport.CodeRemoteForked, transport.CodeBranchApart:
		j.fail("%s: %s: %v", m.name, what, err)
	}
	j.log(m, "%s: %s", what, code)
	return err == nil
}

// noted notes what a machine has just recorded.
func (j *journey) noted(m *traveller, kind, summary string) {
	v, err := m.r.View(j.ctx)
	if runner.ErrorCode(err) == chain.CodeNoRun {
		return
	}
	j.must(err)
	if v.Op == m.op || v.Op == "" {
		return
	}
	m.op = v.Op
	p := promise{op: v.Op, run: v.Run, kind: kind, summary: summary, by: m.name}
	ops, err := m.r.Record().Log(j.ctx, v.Run, 1)
	j.must(err)
	if ops[0].Origin != "" {
		return // a sync decided it again within a command that then failed; it was noted under its first id
	}
	p.turn = ops[0].Turn
	j.said = append(j.said, p)
	j.log(m, "    recorded %s %s %s of %s", v.Op.Short(), ops[0].Name, ops[0].Turn, v.Run)
}

// operate does something that fits the state of the run here.
func (j *journey) operate(m *traveller) {
	v, err := m.r.View(j.ctx)
	if err != nil {
		j.answer(m, "look", err)
		if runner.ErrorCode(err) == chain.CodeNoRun && j.one(2) {
			j.sync(m)
		}
		return
	}
	s := v.State
	turn := ""
	if ids := s.ActiveTurns.Keys(); len(ids) > 0 {
		turn = pickOne(j.d, ids...)
	}
	var kinds []string
	switch {
	case s.Status == wire.StatusPaused:
		kinds = []string{"approve", "approve", "approve", "deny", "assign", "escalate"}
	case s.Status == wire.StatusBlocked:
		kinds = []string{"reactivate", "reactivate", "accept", "reissue"}
	case s.Status.Ended():
		kinds = []string{"new run", "withdraw"}
	case turn == "":
		kinds = []string{"assign", "assign", "assign", "withdraw", "escalate", "abandon", "inject"}
	default:
		kinds = []string{"accept", "accept", "accept", "accept", "assign", "assign", "reject", "reissue", "escalate",
			"block", "claim", "claim", "message", "inject", "withdraw"}
	}
	if m.made != "" && j.one(2) {
		kinds = []string{"checkpoint"}
	}
	j.doOne(m, pickOne(j.d, kinds...), turn, v)
}

func (j *journey) doOne(m *traveller, kind, turn string, v *runner.View) {
	r, ctx := m.r, j.ctx
	summary := ""
	var err error
	switch kind {
	case "assign", "new run":
		_, err = r.AssignTurn(ctx, runner.AssignOptions{
			Role:   pickOne(j.d, "dev", "qa", maker, ""),
			NewRun: kind == "new run",
			Leave:  j.one(2),
		})
	case "accept":
		if summary, err = j.stage(m, v, turn); err == nil {
			_, err = r.AcceptTurn(ctx, runner.AcceptOptions{TurnID: pickOne(j.d, turn, turn, "")})
		}
		if err != nil && m.made != "" && j.one(2) {
			j.must(os.Remove(filepath.Join(m.dir, m.made))) // it is tried again
			m.made = ""
		}
	case "checkpoint":
		_, err = r.Checkpoint(ctx, "")
		m.made = ""
	case "reject":
		_, err = r.RejectTurn(ctx, runner.RejectOptions{TurnID: turn, Reason: "again"})
	case "reissue":
		_, err = r.ReissueTurn(ctx, runner.ReissueOptions{
			TurnID: turn,
			Role:   pickOne(j.d, "", "dev", "qa", maker),
			Reason: "anew",
		})
	case "escalate":
		_, err = r.Escalate(ctx, protocol.Escalate{TurnID: turn, Reason: "a person has to look"})
	case "block":
		d := run.DescribeBlock(v.State, "dispatch:timeout", turn)
		_, err = r.MarkRunBlocked(ctx, protocol.Block{
			BlockedOn: "dispatch:timeout", Category: d.Category, TypedReason: d.Recovery.TypedReason,
			Owner: d.Recovery.Owner, Action: d.Recovery.RecoveryAction, TurnID: turn,
		})
	case "reactivate":
		_, err = r.ReactivateRun(ctx, runner.ReactivateOptions{Reason: "looked at"})
	case "approve":
		_, err = r.Approve(ctx, runner.ApproveOptions{})
	case "deny":
		_, err = r.Deny(ctx, "not yet")
	case "withdraw":
		_, err = r.Withdraw(ctx, "too early")
	case "abandon":
		_, err = r.Abandon(ctx, "no use")
	case "inject":
		j.n++
		_, err = r.Inject(ctx, &runner.IntentSpec{
			Description: fmt.Sprint("intent ", j.n),
			Priority:    "p2",
			Template:    "generic",
			Approver:    "human",
		})
	case "message":
		_, err = r.SendMessage(ctx, mail.SendMessage{
			From:    "human",
			To:      turn,
			Kind:    pickOne(j.d, mail.MessageKinds()...),
			Subject: "how is it",
			Body:    "?",
		})
	case "claim":
		opt := runner.ClaimOptions{
			Target: turn, For: time.Minute,
			Action: pickOne(j.d, protocol.ClaimTake, protocol.ClaimTake, protocol.ClaimRelease, protocol.ClaimRenew,
				protocol.ClaimSteal),
		}
		if opt.Action == protocol.ClaimSteal {
			opt.Because = "mine"
		}
		_, err = r.ClaimTurn(ctx, opt)
		kind += " " + opt.Action
	}
	if j.answer(m, kind, err) || !strings.HasPrefix(kind, "claim") { // a claim fetches what others did
		j.noted(m, kind, summary)
	}
}

// stage writes a result for a turn: the same one on every machine, or one of this machine's own.
func (j *journey) stage(m *traveller, v *runner.View, id string) (string, error) {
	doc, err := m.r.Template(j.ctx, id)
	if err != nil {
		return "", err
	}
	doc = doc.Clone()
	summary := "work of " + id
	if j.one(2) {
		j.n++
		summary = fmt.Sprintf("work of %s by %s (%d)", id, m.name, j.n)
	}
	set := ojson.NewObject("summary", summary, "objections", []any{}, "decisions", []any{}, "files_changed", []any{},
		"artifact", ojson.NewObject("type", "review"), "verification", ojson.NewObject("status", "skipped"),
		"proposed_next_role", "dev")
	if free := doc.Objects("decisions"); len(free) > 0 && j.one(2) {
		set.Set("decisions", []*ojson.Object{ojson.NewObject("id", free[0].String("id"), "category", "process",
			"statement", "Go on.", "rationale", summary)})
	}
	if j.one(3) {
		set.Set("objections", []*ojson.Object{ojson.NewObject("id", fmt.Sprintf("OBJ-%03d", 1+j.d.IntN(3)),
			"severity", "low", "statement", summary, "status", "raised")})
	}
	if next := v.Config.NextPhase(v.State.Phase); j.one(3) && next != "" {
		set.Set("phase_transition_request", next)
		set.Set("proposed_next_role", "human")
	} else if j.one(3) && next == "" {
		set.Set("run_completion_request", true)
		set.Set("proposed_next_role", "human")
	}
	if t, _ := v.State.ActiveTurns.Get(id); t != nil && t.AssignedRole == maker {
		j.make(m, set)
	}
	for k, v := range set.All() {
		doc.Set(k, v)
	}
	file := filepath.Join(m.dir, filepath.FromSlash(wire.StagingPath(id)))
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return "", err
	}
	return summary, os.WriteFile(file, ojson.Pretty(doc), 0o666)
}

// sync synchronises a machine.
func (j *journey) sync(m *traveller) {
	j.synced(m, "sync", "", runner.SyncOptions{Branch: j.one(2), WithoutCommits: j.one(4)})
}

// synced judges a sync in which something goes wrong on purpose.
func (j *journey) synced(m *traveller, what, wrong string, opt runner.SyncOptions) {
	y, err := m.r.Sync(j.ctx, opt)
	j.answer(m, what, err)
	if err != nil && !m.cutOff && wrong == "" {
		j.fail("%s: sync: %v", m.name, err)
	}
	if y != nil {
		for _, x := range y.Runs {
			switch {
			case x.Code == "", x.Code == transport.CodeRemoteRefused && wrong != "":
			case x.Code == "base_missing" && !opt.WithoutCommits:
				j.did[what+": waits for a commit"]++
				j.log(m, "    waits: %s", x.Why)
			default:
				j.fail("%s: sync of %s: %s: %s", m.name, x.Run, x.Code, x.Why)
			}
			if x.Joined != nil {
				j.did["joined"]++
				j.did["joined: conflicts"] += len(x.Joined.Conflicts)
				j.did["joined: landed"] += len(x.Joined.Landed)
				j.did["joined: same"] += len(x.Joined.Same)
				j.log(m, "    joined %s after %s: %d came, %d landed, %d the same, %d conflicts", x.Run,
					x.Joined.Base.Short(), x.Came, len(x.Joined.Landed), len(x.Joined.Same), len(x.Joined.Conflicts))
				for _, c := range x.Joined.Conflicts {
					j.log(m, "    conflict %.10s %s: %s", c.Op, c.Name, c.Message)
					j.did["conflict "+c.Name+" "+c.Reason+" "+c.Code]++
				}
			}
		}
	}
	if v, err := m.r.View(j.ctx); err == nil {
		m.op = v.Op // others noted what arrived
	}
}

// cut starts or ends a time without the server.
func (j *journey) cut(m *traveller) {
	if m.cutOff = !m.cutOff; m.cutOff {
		j.log(m, "cut off")
		j.must(os.Remove(m.door))
		return
	}
	j.log(m, "back")
	j.must(os.Symlink(j.server(), m.door))
}

// Hooks of a failing server. The parent of a hook is the git that takes the push.
const (
	hookDies  = "#!/bin/sh\nkill -9 $PPID\n"
	hookMute  = "#!/bin/sh\n[ \"$1\" != committed ] || kill -9 $PPID\n"
	hookNo    = "#!/bin/sh\nexit 1\n"
	hookLater = "#!/bin/sh\nmkdir -p %[1]s\ncat >%[1]s/lines\ncp -r \"$GIT_OBJECT_DIRECTORY\" %[1]s/objects\nkill -9 $PPID\n"
	hookTwice = "#!/bin/sh\nmkdir -p %[1]s\ncat >%[1]s/lines\n"
	hookNth   = "#!/bin/sh\necho >>%[1]s\n[ $(wc -l <%[1]s) -lt %[2]d ] || kill -9 $PPID\n"
)

// badServer synchronises with a server that fails in a random way.
func (j *journey) badServer(m *traveller) {
	j.n++
	place := filepath.Join(j.root, fmt.Sprint("late-", j.n))
	name, text := "pre-receive", hookDies
	kind := pickOne(j.d, "lost", "unanswered", "refused", "late", "twice", "half")
	switch kind {
	case "unanswered":
		name, text = "reference-transaction", hookMute
	case "refused":
		name, text = "update", hookNo
	case "late":
		text = fmt.Sprintf(hookLater, place)
	case "twice":
		name, text = "post-receive", fmt.Sprintf(hookTwice, place)
	case "half":
		name, text = "update", fmt.Sprintf(hookNth, place+"-n", 1+j.d.IntN(3))
	}
	hook := filepath.Join(j.server(), "hooks", name)
	j.must(os.MkdirAll(filepath.Dir(hook), 0o777))
	j.must(os.WriteFile(hook, []byte(text), 0o777))
	j.synced(m, "sync, push "+kind, kind, runner.SyncOptions{Branch: j.one(2), WithoutCommits: j.one(2)})
	j.must(os.Remove(hook))
	if data, err := os.ReadFile(filepath.Join(place, "lines")); err == nil {
		p := latePush{lines: strings.Split(strings.TrimSpace(string(data)), "\n")}
		if kind == "late" {
			p.objects = filepath.Join(place, "objects")
		}
		j.late = append(j.late, p)
	}
}

// arriveLate makes one of the late pushes arrive, in any order, as git would take it.
func (j *journey) arriveLate() {
	if len(j.late) == 0 {
		return
	}
	i := j.d.IntN(len(j.late))
	p := j.late[i]
	j.late = slices.Delete(j.late, i, i+1)
	if p.objects != "" {
		j.must(copyObjects(p.objects, filepath.Join(j.server(), "objects")))
	}
	for _, line := range p.lines {
		f := strings.Fields(line)
		err := exec.Command("git", "-C", j.server(), "update-ref", f[2], f[1], f[0]).Run()
		j.did[fmt.Sprintf("arrived late: %v", err == nil)]++
		j.trace = append(j.trace, fmt.Sprintf("server: late push %s: %v", line, err))
	}
}

func copyObjects(from, to string) error {
	return filepath.WalkDir(from, func(path string, e os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if e.IsDir() {
			return os.MkdirAll(filepath.Join(to, rel), 0o777)
		}
		data, err := os.ReadFile(path)
		if err == nil {
			err = os.WriteFile(filepath.Join(to, rel), data, 0o444)
		}
		if errors.Is(err, os.ErrPermission) { // it exists already
			err = nil
		}
		return err
	})
}

// kill makes another process do something on the machine and die in the middle of it.
func (j *journey) kill(m *traveller) {
	v, err := m.r.View(j.ctx)
	what, turn := "sync", ""
	summary := ""
	if err == nil && j.one(3) {
		what = "assign"
		if ids := v.State.ActiveTurns.Keys(); len(ids) > 0 && j.one(2) {
			what, turn = pickOne(j.d, "accept", "reject"), ids[0]
			if what == "accept" {
				if summary, err = j.stage(m, v, turn); err != nil {
					return
				}
			}
		}
	}
	if what == "sync" && j.one(4) {
		what = "archive"
	}
	points := []string{"refs.update.before", "refs.update.after"}
	if turn != "" || what == "assign" {
		points = append(points, "durable.write.before", "durable.write.after", "commit.after-documents",
			"commit.before-state", "commit.after-state", "objects.pack.after")
	}
	fault := fmt.Sprintf("%s:%d", pickOne(j.d, points...), 1+j.d.IntN(3))
	self, err := os.Executable()
	j.must(err)
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), childEnv+"="+m.dir, "AGENTXCHAIN_TEST_TURN="+turn, "AGENTXCHAIN_TEST_OP="+what,
		"AGENTXCHAIN_FAULT="+fault)
	out, err := cmd.CombinedOutput()
	end := "ended"
	if cmd.ProcessState.ExitCode() < 0 {
		end = "killed"
	}
	j.did["process "+what+" "+end]++
	j.log(m, "%s, dying at %s: %v %s", what, fault, err, strings.TrimSpace(string(out)))
	for _, bad := range []string{record.CodeStateTampered, record.CodeUnproven, fail.CodeWorkBehind,
		transport.CodeRemoteBack, transport.CodeRemoteForked} {
		if strings.HasPrefix(string(out), bad) {
			j.fail("%s: %s", m.name, out)
		}
	}
	_ = m.r.Close()
	j.open(m)
	if what == "sync" || what == "archive" {
		if v, err := m.r.View(j.ctx); err == nil {
			m.op = v.Op
		}
		return
	}
	j.noted(m, what, summary)
}

// settle makes a person decide on a conflict.
func (j *journey) settle(m *traveller) {
	all, err := m.r.Conflicts(j.ctx)
	j.must(err)
	if len(all) == 0 {
		return
	}
	c := pickOne(j.d, all...)
	how := pickOne(j.d, runner.SettleDrop, runner.SettleOurs, runner.SettleReissue, runner.SettleAgain)
	_, _, err = m.r.Settle(j.ctx, c.Op, how, "decided")
	j.answer(m, "settle "+how, err)
}

// twin makes a copy of the machine do the same sync with a copy of the server: the result of a join
// does not depend on who makes it.
func (j *journey) twin(m *traveller) {
	if m.cutOff {
		return
	}
	j.n++
	home := filepath.Join(j.root, fmt.Sprint("twin-", j.n))
	t := &traveller{
		name:  m.name + "'",
		dir:   filepath.Join(home, "machine"),
		door:  filepath.Join(home, "server.git"),
		apart: m.apart,
	}
	j.must(os.CopyFS(t.dir, os.DirFS(m.dir)))
	j.must(os.CopyFS(t.door, os.DirFS(j.server())))
	conf := filepath.Join(t.dir, ".git", "config")
	data, err := os.ReadFile(conf)
	j.must(err)
	j.must(os.WriteFile(conf, []byte(strings.Replace(string(data), m.door, t.door, 1)), 0o666))
	j.open(t)
	defer func() { _ = t.r.Close() }()
	opt := runner.SyncOptions{Branch: j.one(2), WithoutCommits: j.one(4)}
	j.synced(m, "sync", "", opt)
	j.synced(t, "sync", "", opt)
	if a, b := j.records(m.dir), j.records(t.dir); a != b {
		j.fail("the same sync made different records:\n%s\n--- by its twin:\n%s", a, b)
	}
}

// arrive brings all machines together, and judges.
func (j *journey) arrive() {
	j.trace = append(j.trace, "--- all come together")
	for _, m := range j.machines {
		if m.cutOff {
			j.cut(m)
		}
	}
	order := slices.Clone(j.machines)
	for round := 0; ; round++ {
		j.d.Shuffle(len(order), func(a, b int) { order[a], order[b] = order[b], order[a] })
		before := j.everything()
		for _, m := range order {
			j.synced(m, "sync", "", runner.SyncOptions{Branch: true})
		}
		if j.everything() == before {
			break
		}
		if round == 3 {
			j.fail("records still move after %d rounds", round)
		}
	}
	j.keptByServer()
	want := j.records(j.server())
	for _, m := range j.machines {
		if got := j.records(m.dir); got != want {
			j.fail("%s has other records:\n%s\n--- than the server:\n%s", m.name, got, want)
		}
		report, err := m.r.Record().Fsck(j.ctx, proof.Options{Replay: true, Run: "*"})
		j.must(err)
		if !report.Clean() {
			j.fail("%s: fsck: %+v", m.name, report.Findings)
		}
	}
	j.kept()
	j.unique()
}

// everything returns every record of every machine.
func (j *journey) everything() string {
	all := j.records(j.server())
	for _, m := range j.machines {
		all += "\n" + m.name + "\n" + j.records(m.dir)
	}
	return all
}

// kept compares what was said to be recorded with the records.
func (j *journey) kept() {
	dir := j.machines[0].dir
	const format = "--format=%H%x1f%(trailers:key=Agentxchain-Origin,valueonly,separator=)" +
		"%x1f%(trailers:key=Agentxchain-Op,valueonly,separator=)" +
		"%x1f%(trailers:key=Agentxchain-Turn,valueonly,separator=)%x1f%P"
	here := make(map[string]int)          // operation -> how often it is in the runs, original or decided again
	accepted := make(map[string][]string) // turn -> operations that accepted it
	names := make(map[string]bool)
	for line := range strings.Lines(j.git(j.server(), append([]string{"log", format}, j.tips()...)...)) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\x1f")
		if strings.Contains(f[4], " ") {
			j.fail("operation %s has two predecessors", f[0])
		}
		here[f[0]]++
		if f[1] != "" {
			here[f[1]]++
		}
		names[f[2]] = true
		if f[2] == protocol.OpAccept {
			accepted[f[3]] = append(accepted[f[3]], f[0])
		}
	}
	origin := make(map[string]string)
	if all := j.git(dir, "log", format, "--glob="+record.ConflictRefPrefix); all != "" {
		for line := range strings.Lines(all) {
			f := strings.Split(strings.TrimSuffix(line, "\n"), "\x1f")
			origin[f[0]] = f[1]
		}
	}
	lost := make(map[string]int)
	conflicts, err := j.machines[0].r.Conflicts(j.ctx)
	j.must(err)
	for _, c := range conflicts {
		lost[c.Op]++
		if o := origin[c.Op]; o != "" {
			lost[o]++
		}
	}
	for _, p := range j.said {
		op := string(p.op)
		switch n := here[op] + lost[op]; {
		case n == 1:
			j.did["kept"]++
		case n > 1:
			j.fail("%s of %s (%s) is recorded %d times and a conflict %d times", p.op.Short(), p.by, p.kind,
				here[op], lost[op])
		case p.kind == "accept" && slices.ContainsFunc(accepted[p.turn], func(op string) bool {
			return j.summaryOf(op, p) == p.summary
		}):
			j.did["kept: the other's, the same"]++
		case p.kind == "approve" && (names["approve_transition"] || names["approve_completion"]):
			j.did["kept: the other's approval"]++
		default:
			j.fail("%s of %s (%s %s of %s) is lost", p.op.Short(), p.by, p.kind, p.turn, p.run)
		}
	}
}

// summaryOf returns the summary that an acceptance recorded.
func (j *journey) summaryOf(op string, p promise) string {
	_, err := j.machines[0].r.Record().Log(j.ctx, p.run, 1) // an archived one is fetched
	j.must(err)
	rec, err := j.machines[0].r.OpenRun(j.ctx, p.run, object.OID(op))
	j.must(err)
	summary := ""
	for row, err := range rec.Rows(wire.LedgerHistory) {
		j.must(err)
		if row.Row.String("turn_id") == p.turn {
			summary = row.Row.String("summary")
		}
	}
	return summary
}

// unique looks for duplicate ids in the ledgers: events anywhere, decisions within a run.
func (j *journey) unique() {
	for _, m := range j.machines {
		rows := func(l wire.Ledger) []run.Line {
			list, err := m.r.Record().TailRows(j.ctx, l, 0, nil)
			j.must(err)
			return list
		}
		of := make(map[string]string) // turn -> run
		for _, row := range rows(wire.LedgerHistory) {
			of[row.Row.String("turn_id")] = row.Row.String("run_id")
		}
		seen := make(map[string]bool)
		once := func(id string) {
			if seen[id] {
				j.fail("%s: %s is recorded twice", m.name, id)
			}
			seen[id] = true
		}
		for _, row := range rows(wire.LedgerEvents) {
			once(row.Row.String("event_id"))
		}
		for _, row := range rows(wire.LedgerDecisions) {
			if id := row.Row.String("id"); id != "" {
				once(id + " of " + of[row.Row.String("turn_id")])
			}
		}
	}
}
