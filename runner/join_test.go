package runner_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/proof"
	"github.com/git-agentxchain/git-agentxchain/gitstore/transport"
	"github.com/git-agentxchain/git-agentxchain/gitstore/travel"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/mail"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

// whole fails unless all that this machine has of all runs is sound.
func (m *machine) whole() {
	m.t.Helper()
	report, err := m.p.r.Record().Fsck(m.p.ctx, proof.Options{Run: "*", Replay: true})
	m.p.must(err)
	if !report.Clean() {
		m.t.Fatalf("fsck: %+v", report.Findings)
	}
}

func (m *machine) newRun() {
	m.t.Helper()
	_, err := m.p.r.AssignTurn(m.p.ctx, runner.AssignOptions{Role: "dev", NewRun: true})
	m.p.must(err)
}

// A run names the last operation of the one before it. When that operation is decided again, because
// another machine went on with its run, it is found under its new id.
func TestRunAfterOneThatWasJoined(t *testing.T) {
	testrepo.Serving(t)
	a, b := twoMachines(t, 0)
	_, err := b.p.r.Escalate(b.p.ctx, protocol.Escalate{Reason: "look"})
	b.p.must(err)
	b.sync()
	_, err = a.p.r.Abandon(a.p.ctx, "no use")
	a.p.must(err)
	a.newRun()
	if j := a.sync().Runs; len(j) != 2 || j[0].Joined == nil && j[1].Joined == nil {
		t.Fatalf("nothing was joined: %+v", j)
	}
	b.sync()
	a.whole()
	b.whole()
}

// The same when the other machine has recorded the same operation, so that the one here is recorded
// nowhere else.
func TestRunAfterOneThatEndedTheSameThere(t *testing.T) {
	testrepo.Serving(t)
	a, b := twoMachines(t, 0)
	turn := a.turn()
	for _, m := range []*machine{a, b} {
		m.p.stageWork(turn, "run_completion_request", true, "proposed_next_role", "human")
		_, err := m.p.r.AcceptTurn(m.p.ctx, runner.AcceptOptions{})
		m.p.must(err)
	}
	b.sync()
	a.newRun()
	same := 0
	for _, x := range a.sync().Runs {
		if x.Joined != nil {
			same += len(x.Joined.Same)
		}
	}
	if same != 1 {
		t.Fatalf("%d operations were the same on both sides", same)
	}
	b.sync()
	a.whole()
	b.whole()
	for _, m := range []*machine{a, b} {
		all, err := m.p.r.Conflicts(m.p.ctx)
		m.p.must(err)
		if travel.OpenConflicts(all) > 0 {
			t.Errorf("a person is asked about what both sides did alike: %+v", all)
		}
	}
}

// A sync that dies between the join and the working files: a reader that changes nothing names the command that brings
// the files there, and any other look does it.
func TestLookAfterAJoinThatDied(t *testing.T) {
	testrepo.Serving(t)
	a, b := twoMachines(t, 0)
	_, err := b.p.r.Escalate(b.p.ctx, protocol.Escalate{Reason: "look"})
	b.p.must(err)
	b.sync()
	a.p.stageWork(a.turn())
	_, err = a.p.r.AcceptTurn(a.p.ctx, runner.AcceptOptions{})
	a.p.must(err)
	ours := a.p.op()
	self, err := os.Executable()
	a.p.must(err)
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), childEnv+"="+a.p.dir, "AGENTXCHAIN_TEST_OP=sync",
		"AGENTXCHAIN_FAULT=refs.update.after:2")
	if out, err := cmd.CombinedOutput(); err == nil {
		t.Fatalf("the sync was not killed: %s", out)
	}
	a.p.must(a.p.r.Alone(func(s *gitstore.Store) error {
		tip, err := chain.Tip(a.p.ctx, s.Repository(), s.CurrentRun())
		if err != nil || string(tip) == string(ours) {
			t.Fatalf("it died elsewhere: %v, the run is at %s", err, tip)
		}
		if _, err := s.Look(a.p.ctx); fail.CodeOf(err) != fail.CodeWorkBehind {
			t.Errorf("a look that changes nothing: %v (%s), want %s", err, fail.CodeOf(err), fail.CodeWorkBehind)
		}
		v, err := s.View(a.p.ctx)
		if err != nil || v.Op != tip || len(v.Notices) == 0 {
			t.Errorf("a view: %v, %+v, want operation %s and a notice", err, v, tip)
		}
		return nil
	}))
	a.whole()
}

// A sync that dies between the conflict it found and the run leaves the operation in the run. When
// the operation later holds after all, it is not a conflict.
func TestConflictOfAJoinThatDied(t *testing.T) {
	testrepo.Serving(t)
	a, b := twoMachines(t, 0)
	a.p.stageWork(a.turn())
	_, err := a.p.r.AcceptTurn(a.p.ctx, runner.AcceptOptions{})
	a.p.must(err)
	a.sync()
	b.sync()
	b.p.assign("dev")
	b.sync()
	a.p.assign("dev")
	ours := a.p.op()
	self, err := os.Executable()
	a.p.must(err)
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), childEnv+"="+a.p.dir, "AGENTXCHAIN_TEST_OP=sync",
		"AGENTXCHAIN_FAULT=refs.update.after:1")
	if out, err := cmd.CombinedOutput(); err == nil {
		t.Fatalf("the sync was not killed: %s", out)
	}
	if all, err := a.p.r.Conflicts(a.p.ctx); err != nil || len(all) != 1 || a.p.op() != ours {
		t.Fatalf("it died elsewhere: %v, %d conflicts, at %s", err, len(all), a.p.op())
	}
	b.p.stageWork(b.turn())
	_, err = b.p.r.AcceptTurn(b.p.ctx, runner.AcceptOptions{})
	b.p.must(err)
	b.sync()
	j := a.sync().Runs[0].Joined
	if j == nil || len(j.Landed) != 1 {
		t.Fatalf("the join: %+v", j)
	}
	b.sync()
	for _, m := range []*machine{a, b} {
		if all, err := m.p.r.Conflicts(m.p.ctx); err != nil || len(all) != 0 {
			t.Errorf("%v, %d conflicts about an operation that holds: %s", err, len(all),
				strings.Join(all[0].Ways, ", "))
		}
	}
}

// A record that was pushed without its commits is already there when the branch is to be pushed
// along.
func TestBranchFollowsARecordThatWentWithoutIt(t *testing.T) {
	testrepo.Serving(t)
	a, b := twoMachines(t, 0)
	cmd := exec.Command("git", "commit", "-q", "--allow-empty", "-m", "later")
	cmd.Dir = a.p.dir
	a.p.must(cmd.Run())
	_, err := a.p.r.Escalate(a.p.ctx, protocol.Escalate{Reason: "look"})
	a.p.must(err)
	for _, opt := range []runner.SyncOptions{{WithoutCommits: true}, {Branch: true}} {
		y, err := a.p.r.Sync(a.p.ctx, opt)
		a.p.must(err)
		if x := y.Runs[0]; x.Code != "" {
			t.Fatalf("%+v", x)
		}
	}
	if x := b.sync().Runs[0]; x.Code != "" || x.Came != 1 {
		t.Errorf("the other machine: %+v", x)
	}
}

// The next sync completes a first sync that died in the middle: the work tree is then in the run.
func TestFirstSyncThatDied(t *testing.T) {
	testrepo.Thorough(t)
	a, b := twoMachines(t, 0)
	self, err := os.Executable()
	a.p.must(err)
	died := 0
	for _, point := range []string{"refs.update.after", "durable.write.after"} {
		for n := 1; ; n++ {
			c := &machine{t: t, p: &project{t: t, ctx: a.p.ctx, dir: filepath.Join(t.TempDir(), "C")}, now: a.now}
			clone := exec.Command("git", "clone", "-q", filepath.Join(filepath.Dir(b.p.dir), "server.git"), c.p.dir)
			a.p.must(clone.Run())
			fault := fmt.Sprint(point, ":", n)
			cmd := exec.Command(self)
			cmd.Env = append(os.Environ(), childEnv+"="+c.p.dir, "AGENTXCHAIN_TEST_OP=sync",
				"AGENTXCHAIN_FAULT="+fault)
			if cmd.Run() == nil {
				break // there are no more places to die at
			}
			died++
			_, err := a.p.r.SendMessage(a.p.ctx, mail.SendMessage{
				From: "human", To: a.turn().TurnID, Kind: "blocker", Subject: fault,
			})
			a.p.must(err)
			a.sync()
			c.p.r, err = runner.Open(c.p.ctx, c.p.dir, runner.Options{})
			a.p.must(err)
			_, err = c.p.r.Sync(c.p.ctx, runner.SyncOptions{})
			a.p.must(err)
			v, err := c.p.r.View(c.p.ctx)
			if err != nil || v.Op != a.p.op() {
				t.Errorf("%s: the work tree is elsewhere: %v", fault, err)
			}
			_ = c.p.r.Close()
		}
	}
	if died < 4 {
		t.Errorf("%d syncs died", died)
	}
}

// A server that refuses the branch is not one whose branch has diverged.
func TestBranchThatTheServerDoesNotTake(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the server's hook is a shell script")
	}
	a, b := twoMachines(t, 0)
	cmd := exec.Command("git", "commit", "-q", "--allow-empty", "-m", "later")
	cmd.Dir = a.p.dir
	a.p.must(cmd.Run())
	hooks := filepath.Join(filepath.Dir(b.p.dir), "server.git", "hooks")
	a.p.must(os.MkdirAll(hooks, 0o777))
	a.p.must(os.WriteFile(filepath.Join(hooks, "update"), []byte("#!/bin/sh\nexit 1\n"), 0o777))
	_, err := a.p.r.Sync(a.p.ctx, runner.SyncOptions{Branch: true})
	wantCode(t, err, transport.CodeRemoteRefused)
}

// A work tree that is in no run is pointed at the newest one, not at the first by name.
func TestNewestRunIsNamedWhereThereIsNone(t *testing.T) {
	a, _ := twoMachines(t, 0)
	for newest, first := "", ""; newest == first; {
		_, err := a.p.r.Abandon(a.p.ctx, "no use")
		a.p.must(err)
		a.now = a.now.Add(time.Minute)
		a.newRun()
		newest = a.runID()
		refs, err := a.p.r.Record().Runs(a.p.ctx)
		a.p.must(err)
		first = strings.TrimPrefix(refs[0].Name, git.RunRefPrefix)
	}
	newest := a.runID()
	a.p.must(os.Remove(filepath.Join(a.p.dir, filepath.FromSlash(string(wire.DocState)))))
	a.p.must(os.RemoveAll(filepath.Join(a.p.dir, ".git", "agentxchain")))
	_, err := a.p.r.View(a.p.ctx)
	if e := wantCode(t, err, chain.CodeNoRun); !strings.Contains(e.Hint, "--from-ref "+newest+" ") {
		t.Errorf("the hint is %q, the newest run %s", e.Hint, newest)
	}
}

// A checkpoint marks the row of an accepted turn. On the other machine the turn may have been accepted
// with the same result, at another time; with another one; or be checkpointed in another commit.
func TestCheckpointOfATurnThatBothAccepted(t *testing.T) {
	testrepo.Serving(t)
	for _, x := range []struct {
		name            string
		differs         bool // the results differ
		both            bool // both machines checkpointed it
		landed, reasons string
	}{
		{name: "the same result", landed: "checkpoint_turn"},
		{name: "another result", differs: true, reasons: "superseded"}, // the commit of a result that does not hold is settled
		{name: "the same result, two commits", both: true, reasons: "superseded"},
	} {
		t.Run(x.name, func(t *testing.T) {
			a, b := twoMachines(t, time.Hour)
			turn := a.turn()
			for _, m := range []*machine{a, b} {
				summary := "done"
				if x.differs {
					summary += " by " + m.p.dir
				}
				m.p.write("src/a.txt", "1")
				m.p.stageWork(turn, "summary", summary, "files_changed", []string{"src/a.txt"},
					"artifact", ojson.NewObject("type", "workspace"))
				_, err := m.p.r.AcceptTurn(m.p.ctx, runner.AcceptOptions{})
				m.p.must(err)
			}
			_, err := a.p.r.Checkpoint(a.p.ctx, "")
			a.p.must(err)
			if x.both {
				cmd := exec.Command("git", "commit", "-q", "--allow-empty", "-m", "before it")
				cmd.Dir = b.p.dir
				b.p.must(cmd.Run())
				_, err := b.p.r.Checkpoint(b.p.ctx, "")
				b.p.must(err)
			}
			_, err = b.p.r.Sync(b.p.ctx, runner.SyncOptions{WithoutCommits: true})
			b.p.must(err)
			y, err := a.p.r.Sync(a.p.ctx, runner.SyncOptions{WithoutCommits: true})
			a.p.must(err)
			j := y.Runs[0].Joined
			if j == nil {
				t.Fatalf("nothing was joined: %+v", y.Runs[0])
			}
			var landed, reasons []string
			for _, op := range j.Landed {
				landed = append(landed, op.Name)
			}
			for _, c := range j.Conflicts {
				reasons = append(reasons, c.Reason)
			}
			if got := strings.Join(landed, " "); got != x.landed {
				t.Errorf("decided again: %q, want %q", got, x.landed)
			}
			if got := strings.Join(reasons, " "); got != x.reasons {
				t.Errorf("conflicts: %q, want %q", got, x.reasons)
			}
			_, err = b.p.r.Sync(b.p.ctx, runner.SyncOptions{WithoutCommits: true})
			b.p.must(err)
			a.whole()
			b.whole()
		})
	}
}

// A run is archived on two machines and taken out again on one, before they meet: the server has it in
// its archive alone, and has lost nothing.
func TestRunThatLeftTheArchiveOfOneMachine(t *testing.T) {
	testrepo.Serving(t)
	a, b := twoMachines(t, 0)
	_, err := a.p.r.Abandon(a.p.ctx, "no use")
	a.p.must(err)
	name := a.runID()
	a.sync()
	b.sync()
	a.newRun()
	b.newRun()
	for range 2 { // so that this machine has the last word
		_, err = b.p.r.ArchiveRuns(b.p.ctx, runner.ArchiveOptions{Runs: []string{name}})
		b.p.must(err)
		_, err = b.p.r.UnarchiveRuns(b.p.ctx, []string{name})
		b.p.must(err)
	}
	_, err = a.p.r.ArchiveRuns(a.p.ctx, runner.ArchiveOptions{Runs: []string{name}})
	a.p.must(err)
	a.sync()
	for range 2 {
		for _, m := range []*machine{b, a} {
			for _, x := range m.sync().Runs {
				if x.Code != "" {
					t.Fatalf("%s: %s %s", x.Run, x.Code, x.Why)
				}
			}
		}
	}
	list, err := a.p.r.RunList(a.p.ctx, true, false, 0)
	a.p.must(err)
	if !slices.ContainsFunc(list, func(r runner.RunRow) bool { return r.Run == name }) {
		t.Error("the run is not live again on the other machine")
	}
	a.whole()
	b.whole()
}

// Two machines archive a run at different operations. What one of them archived is not lost on the server,
// although the other's entry is the one that holds.
func TestRunArchivedAtTwoOperations(t *testing.T) {
	testrepo.Serving(t)
	a, b := twoMachines(t, 0)
	name := a.runID()
	_, err := b.p.r.Abandon(b.p.ctx, "no use")
	b.p.must(err)
	b.sync()
	c := &machine{t: t, p: &project{t: t, ctx: b.p.ctx, dir: filepath.Join(t.TempDir(), "C")}, now: b.now}
	c.p.must(os.CopyFS(c.p.dir, os.DirFS(b.p.dir)))
	c.p.r, err = runner.Open(c.p.ctx, c.p.dir, runner.Options{Now: c.clock})
	c.p.must(err)
	t.Cleanup(func() { _ = c.p.r.Close() })
	archived := func(m *machine) {
		t.Helper()
		m.newRun()
		_, err := m.p.r.ArchiveRuns(m.p.ctx, runner.ArchiveOptions{Runs: []string{name}})
		m.p.must(err)
		for _, x := range m.sync().Runs {
			if x.Code != "" {
				t.Fatalf("%s: %s %s", x.Run, x.Code, x.Why)
			}
		}
	}
	archived(c)
	_, err = a.p.r.Escalate(a.p.ctx, protocol.Escalate{Reason: "look"})
	a.p.must(err)
	_, err = a.p.r.ReactivateRun(a.p.ctx, runner.ReactivateOptions{Reason: "looked at"})
	a.p.must(err)
	_, err = a.p.r.Abandon(a.p.ctx, "no use")
	a.p.must(err)
	archived(a)
	for range 2 {
		for _, m := range []*machine{b, a, c} {
			for _, x := range m.sync().Runs {
				if x.Code != "" {
					t.Fatalf("%s: %s %s", x.Run, x.Code, x.Why)
				}
			}
		}
	}
	var tips []object.OID
	for _, m := range []*machine{a, b, c} {
		ops, err := m.p.r.Record().Log(m.p.ctx, name, 0)
		m.p.must(err)
		tips = append(tips, ops[0].Op)
		m.whole()
	}
	if tips[0] != tips[1] || tips[1] != tips[2] {
		t.Errorf("the run stands at different operations: %v", tips)
	}
}
