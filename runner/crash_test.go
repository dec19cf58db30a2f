package runner_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/proof"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

// childEnv makes the test binary an accepting (or rejecting, or assigning) process: its value is
// the project directory.
const childEnv = "AGENTXCHAIN_TEST_ACCEPT"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childEnv); dir != "" {
		os.Exit(acceptOnce(dir))
	}
	if dir := os.Getenv(strictEnv); dir != "" {
		os.Exit(actStrictly(dir))
	}
	testrepo.InMemory()
	os.Exit(m.Run())
}

// acceptOnce accepts the active turn and prints the code of a refusal.
func acceptOnce(dir string) int {
	ctx := context.Background()
	r, err := runner.Open(ctx, dir, runner.Options{})
	if err == nil {
		defer func() { _ = r.Close() }()
		switch turn := os.Getenv("AGENTXCHAIN_TEST_TURN"); os.Getenv("AGENTXCHAIN_TEST_OP") {
		case "reject":
			_, err = r.RejectTurn(ctx, runner.RejectOptions{TurnID: turn, Reason: "again"})
		case "lease":
			err = leaseOnce(ctx, r, turn)
		case "assign":
			_, err = r.AssignTurn(ctx, runner.AssignOptions{Role: "dev"})
		case "archive": // all that have ended and that no work tree is in
			_, err = r.ArchiveRuns(ctx, runner.ArchiveOptions{Before: time.Now().Add(24 * time.Hour)})
		case "sync":
			_, err = r.Sync(ctx, runner.SyncOptions{WithoutCommits: true})
		default:
			_, err = r.AcceptTurn(ctx, runner.AcceptOptions{TurnID: turn})
		}
	}
	if err != nil {
		fmt.Println(runner.ErrorCode(err), err)
		return 1
	}
	fmt.Println("accepted")
	return 0
}

func acceptChild(t *testing.T, p *project, turn string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	p.must(err)
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), childEnv+"="+p.dir, "AGENTXCHAIN_TEST_TURN="+turn)
	return cmd
}

// onePhase makes a project whose only role may go on for ever.
func onePhase(cfg *ojson.Object) {
	cfg.Set("roles", ojson.NewObject("dev", ojson.NewObject("title", "Developer", "mandate", "Build.",
		"write_authority", "authoritative", "runtime", "manual-dev")))
	cfg.Set("routing", ojson.NewObject("build",
		ojson.NewObject("entry_role", "dev", "allowed_next_roles", []string{"dev", "human"})))
	cfg.Set("gates", &ojson.Object{})
	cfg.Set("prompts", &ojson.Object{})
	cfg.Delete("approval_policy")
	cfg.Delete("budget")
}

// assignStaged assigns a turn and stages a small valid result.
func (p *project) assignStaged() *run.Turn {
	p.t.Helper()
	a := p.assign("dev")
	p.stageWork(a.Turn)
	return a.Turn
}

// stageWork stages a result for an accepted turn of dev.
func (p *project) stageWork(turn *run.Turn, members ...any) {
	p.t.Helper()
	form, err := p.r.Template(p.ctx, turn.TurnID)
	p.must(err)
	free := form.Objects("decisions")[0].String("id")
	p.stage(turn, append([]any{
		"summary", "work " + turn.TurnID, "objections", []any{}, "files_changed", []any{},
		"artifact", ojson.NewObject("type", "review"), "proposed_next_role", "dev",
		"decisions", []*ojson.Object{
			ojson.NewObject("id", free, "category", "process", "statement", "Go on.", "rationale", "There is more."),
		},
	}, members...)...)
}

// TestCrashDuringAcceptance kills accepting processes at random moments. After
// each kill the run is exactly the one before or the one after, fsck with
// replay passes, and nothing is doubled.
func TestCrashDuringAcceptance(t *testing.T) {
	testrepo.Thorough(t)
	kills := 12
	if os.Getenv("AGENTXCHAIN_LONG_TESTS") != "" {
		kills = 200
	}
	p := newProject(t, onePhase)
	turn := p.assignStaged()

	begin := time.Now()
	p.must(acceptChild(t, p, turn.TurnID).Run())
	whole := time.Since(begin)
	turn = p.assignStaged()
	accepted, landed, survived := 1, 0, 0
	for n := range kills {
		cmd := acceptChild(t, p, turn.TurnID)
		p.must(cmd.Start())
		time.Sleep(time.Duration(rand.Int64N(int64(whole + whole/4))))
		_ = cmd.Process.Kill()
		if cmd.Wait() == nil {
			survived++
		}
		v, err := p.r.View(p.ctx)
		p.must(err)
		old := v.State.ActiveTurns.Has(turn.TurnID)
		if !old {
			accepted++
			landed++
		}
		if v.Index.Accepted != accepted {
			t.Fatalf("kill %d: %d accepted turns, expected %d", n, v.Index.Accepted, accepted)
		}
		if !old {
			turn = p.assignStaged()
		}
		report, err := p.r.Record().Fsck(p.ctx, proof.Options{Replay: true})
		p.must(err)
		if !report.Clean() {
			t.Fatalf("kill %d: fsck: %+v", n, report.Findings)
		}
	}
	t.Logf("%d kills: %d after the commit point, %d processes were done before", kills, landed, survived)
	p.noDoubles(accepted)
}

// noDoubles checks that every ledger holds each record once.
func (p *project) noDoubles(accepted int) {
	p.t.Helper()
	rows, err := p.r.Record().TailRows(p.ctx, wire.LedgerHistory, 0, nil)
	p.must(err)
	seen := map[string]bool{}
	for _, l := range rows {
		if id := l.Row.String("turn_id"); seen[id] {
			p.t.Fatalf("turn %s is in history twice", id)
		} else {
			seen[id] = true
		}
	}
	if len(rows) != accepted {
		p.t.Fatalf("history has %d rows, want %d", len(rows), accepted)
	}
	events, err := p.r.Record().TailRows(p.ctx, wire.LedgerEvents, 0, nil)
	p.must(err)
	ids := map[string]bool{}
	var all []any
	for _, l := range events {
		if id := l.Row.String("event_id"); ids[id] {
			p.t.Fatalf("event %s is recorded twice", id)
		} else {
			ids[id] = true
		}
		all = append(all, l.Row)
	}
	if code, errs := run.ValidateEventOrdering(all); code != "" {
		p.t.Fatalf("events: %s %v", code, errs)
	}
	decisions, err := p.r.Record().TailRows(p.ctx, wire.LedgerDecisions, 0, nil)
	p.must(err)
	numbers := map[string]bool{}
	for _, l := range decisions {
		if id := l.Row.String("id"); numbers[id] {
			p.t.Fatalf("decision %s is recorded twice", id)
		} else {
			numbers[id] = true
		}
	}
}

// TestStormOfAcceptances: many processes accept one turn; one wins, the others are refused with
// clear messages, and the run has one more turn.
func TestStormOfAcceptances(t *testing.T) {
	const processes = 16
	p := newProject(t, onePhase)
	turn := p.assignStaged()
	results := make([]string, processes)
	var wg sync.WaitGroup
	for i := range processes {
		wg.Go(func() {
			out, _ := acceptChild(t, p, turn.TurnID).Output()
			results[i] = strings.TrimSpace(string(out))
		})
	}
	wg.Wait()
	won := 0
	for _, r := range results {
		code, _, _ := strings.Cut(r, " ")
		switch code {
		case "accepted":
			won++
		case wire.CodeTurnAlreadyAccepted, fail.CodeLocked, fail.CodeRefMoved:
		default:
			t.Errorf("a loser ended with %q", r)
		}
	}
	if won != 1 {
		t.Fatalf("%d winners: %q", won, results)
	}
	p.noDoubles(1)
	if _, err := os.Stat(filepath.Join(p.dir, wire.LockPath)); !os.IsNotExist(err) {
		t.Errorf("the lock is still there: %v", err)
	}
}

// TestCrashDuringRejection: whenever a rejection is killed after the commit point, the next command
// leaves the turn without a staged result and keeps the refused one.
func TestCrashDuringRejection(t *testing.T) {
	testrepo.Thorough(t)
	for _, point := range []string{"commit.before-objects", "commit.after-ref", "commit.after-documents",
		"commit.before-state", "commit.after-state"} {
		t.Run(point, func(t *testing.T) {
			p := newProject(t, onePhase)
			turn := p.assignStaged()
			cmd := acceptChild(t, p, turn.TurnID)
			cmd.Env = append(cmd.Env, "AGENTXCHAIN_TEST_OP=reject", "AGENTXCHAIN_FAULT="+point)
			out, err := cmd.CombinedOutput()
			if err == nil {
				t.Fatalf("the rejection was not killed: %s", out)
			}
			if point == "commit.before-objects" {
				if got := staged(t, p, turn); got == "" {
					t.Fatal("the staged result is gone although nothing was recorded")
				}
				return
			}
			if _, err := p.r.Escalate(p.ctx, protocol.Escalate{
				TurnID: turn.TurnID,
				Reason: "the next command",
			}); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(filepath.Join(p.dir, wire.StagingPath(turn.TurnID))); !os.IsNotExist(err) {
				t.Errorf("the refused result is still staged: %v", err)
			}
			kept, err := filepath.Glob(filepath.Join(p.dir, wire.RejectedDir, turn.TurnID+"-attempt-1-*.json"))
			if err != nil || len(kept) != 1 {
				t.Errorf("the refused result is not kept: %v %v", kept, err)
			}
			if again, _ := p.state().ActiveTurns.Get(turn.TurnID); again.Attempt != 2 {
				t.Errorf("attempt %d", again.Attempt)
			}
			report, err := p.r.Record().Fsck(p.ctx, proof.Options{Replay: true})
			p.must(err)
			if !report.Clean() {
				t.Errorf("fsck: %+v", report.Findings)
			}
		})
	}
}
