// Tests of leases: who may act on a turn, at what time, and what stays recorded.

package runner_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/decision"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	stored "github.com/git-agentxchain/git-agentxchain/gitstore/lease"
	"github.com/git-agentxchain/git-agentxchain/gitstore/proof"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/testproject"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/protocol/attempt"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/leases"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
	"github.com/git-agentxchain/git-agentxchain/runner/doctor"
	"github.com/git-agentxchain/git-agentxchain/runner/lease"
)

// leasing is a project with a clock of its own.
type leasing struct {
	*project
	now time.Time
}

func newLeasing(t *testing.T, edit func(cfg *ojson.Object)) *leasing {
	t.Helper()
	p := newProject(t, edit)
	l := &leasing{project: p, now: time.Now().UTC().Truncate(time.Millisecond)}
	p.must(p.r.Close())
	p.r = l.another()
	return l
}

// another opens the project as another process would.
func (l *leasing) another() *runner.Runner {
	l.t.Helper()
	r, err := runner.Open(l.ctx, l.dir, runner.Options{Now: func() time.Time { return l.now }})
	l.must(err)
	l.t.Cleanup(func() { _ = r.Close() })
	return r
}

func (l *leasing) issue(turn, name, session string, ttl time.Duration) *runner.Leased {
	l.t.Helper()
	out, err := l.r.IssueLease(l.ctx, runner.IssueOptions{TurnID: turn, RunnerID: name, SessionID: session, TTL: ttl})
	l.must(err)
	return out
}

func holderOf(l *runner.Lease) lease.Holder {
	return lease.Holder{Ref: lease.RefOf(l), RunnerID: l.RunnerID, SessionID: l.SessionID}
}

// result returns a valid result of a turn, as bytes.
func (l *leasing) result(turn *run.Turn) []byte {
	l.t.Helper()
	doc, err := l.r.Template(l.ctx, turn.TurnID)
	l.must(err)
	doc = doc.Clone()
	for k, v := range ojson.NewObject("decisions", []any{}, "verification", ojson.NewObject("status", "skipped"),
		"summary", "reviewed", "proposed_next_role", "human", "objections", review("OBJ-001"),
		"files_changed", []string{}, "artifact", ojson.NewObject("type", "review", "ref", nil)).All() {
		doc.Set(k, v)
	}
	return ojson.Pretty(doc)
}

func wantReason(t *testing.T, err error, reason string) *wire.Error {
	t.Helper()
	if got := lease.Refusal(err); got != reason {
		t.Fatalf("refused with reason %q (%v), want %s", got, err, reason)
	}
	return wantCode(t, err, run.CodeLeaseRefused)
}

func TestLeaseFromIssueToRelease(t *testing.T) {
	l := newLeasing(t, nil)
	turn := l.assign("pm").Turn
	lease := l.issue(turn.TurnID, "local", "s1", time.Minute).Lease
	runID := l.state().Run()
	if want := fmt.Sprintf("fence-%s-%s-0001", runID, turn.TurnID); lease.FencingToken.Token != want ||
		lease.Status != run.LeaseIssued || lease.LeaseID != "lease-"+turn.TurnID+"-1" {
		t.Fatalf("issued %s", lease.Encode())
	}
	if lease.ExpiresAtMS != l.now.Add(time.Minute).UnixMilli() ||
		lease.FencingToken.Scope != "run:"+runID+"/step:"+turn.TurnID {
		t.Fatalf("issued %s", lease.Encode())
	}
	// Without a lease, the refusal names the holder.
	for what, err := range map[string]error{
		"accept":  second(l.r.AcceptTurn(l.ctx, runner.AcceptOptions{TurnID: turn.TurnID})),
		"reject":  second(l.r.RejectTurn(l.ctx, runner.RejectOptions{TurnID: turn.TurnID, Reason: "x"})),
		"reissue": second(l.r.ReissueTurn(l.ctx, runner.ReissueOptions{TurnID: turn.TurnID})),
		"stage":   second(l.r.StageResult(l.ctx, turn.TurnID, l.result(turn))),
		"advance": second(l.r.AdvanceTurn(l.ctx, attempt.AdvanceTurn{TurnID: turn.TurnID, Status: wire.TurnRunning})),
		"issue": second(l.r.IssueLease(l.ctx, runner.IssueOptions{
			TurnID:    turn.TurnID,
			RunnerID:  "other",
			SessionID: "s2",
		})),
	} {
		e := wantReason(t, err, run.RejectSession)
		if !strings.Contains(e.Message, "local") || !strings.Contains(e.Hint, "lease revoke "+turn.TurnID) {
			t.Errorf("%s: refused with %q, %q", what, e.Message, e.Hint)
		}
	}
	health, err := doctor.Examine(l.ctx, l.r, doctor.Options{})
	l.must(err)
	said := false
	for _, f := range health.Findings {
		said = said || f.Area == "lease" && f.Level == doctor.LevelNote && strings.Contains(f.Message, "local")
	}
	if !said {
		t.Errorf("doctor says nothing of the lease: %+v", health.Findings)
	}
	h := holderOf(lease)
	out, err := l.r.ActivateLease(l.ctx, h)
	l.must(err)
	if out.Lease.Status != run.LeaseActive || out.Turn.Status != wire.TurnRunning {
		t.Fatalf("active lease %s, turn %s", out.Lease.Status, out.Turn.Status)
	}
	if again, err := l.r.ActivateLease(l.ctx, h); err != nil || again.Op != out.Op {
		t.Fatalf("a second start recorded %s: %v", again.Op, err)
	}
	if _, err := l.r.ReportProgress(l.ctx, h,
		ojson.NewObject("events", []any{ojson.NewObject("event_type", "step")})); err != nil {
		t.Fatal(err)
	}
	acc, err := l.r.AcceptTurn(l.ctx, runner.AcceptOptions{TurnID: turn.TurnID, Lease: &h, Result: l.result(turn)})
	l.must(err)
	if acc.Result.Entry == nil || l.state().ActiveTurns.Len() != 0 {
		t.Fatalf("not accepted: %s", l.state().Encode())
	}
	past, err := l.r.LeaseHistory(l.ctx, runID, turn.TurnID, 10)
	l.must(err)
	var seen []string
	for _, p := range past {
		seen = append(seen, p.Lease.Status)
	}
	if got := strings.Join(seen, " "); got != "released active issued" {
		t.Fatalf("history of the lease: %s", got)
	}
	_, err = l.r.AcceptTurn(l.ctx, runner.AcceptOptions{TurnID: turn.TurnID, Lease: &h, Result: l.result2(turn)})
	wantReason(t, err, run.RejectTerminal)
	l.sound()
	l.replays()
}

func (l *leasing) result2(*run.Turn) []byte { return []byte(`{"schema_version":"1.0"}`) }

func second[T any](_ T, err error) error { return err }

// TestLeaseRejectionReasons shows every reason once.
func TestLeaseRejectionReasons(t *testing.T) {
	testrepo.Serving(t)
	check := func(r *runner.Runner, h lease.Holder) error {
		_, err := r.CheckLease(context.Background(), h)
		return err
	}
	for name, c := range map[string]struct {
		reason string
		make   func(l *leasing, turn *run.Turn, lease *runner.Lease) lease.Holder
	}{
		"an older token": {run.RejectStaleToken, func(l *leasing, turn *run.Turn, lease *runner.Lease) lease.Holder {
			l.now = l.now.Add(2 * time.Minute)
			l.issue(turn.TurnID, "other", "s9", time.Minute)
			return holderOf(lease)
		}},
		"the time is up": {run.RejectExpired, func(l *leasing, _ *run.Turn, lease *runner.Lease) lease.Holder {
			l.now = l.now.Add(time.Minute)
			return holderOf(lease)
		}},
		"put on record as expired": {run.RejectExpired,
			func(l *leasing, _ *run.Turn, lease *runner.Lease) lease.Holder {
				l.now = l.now.Add(time.Minute)
				if ended, err := l.r.ExpireLeases(l.ctx); err != nil || len(ended) != 1 {
					l.t.Fatalf("expired %v: %v", ended, err)
				}
				l.now = l.now.Add(-time.Minute)
				return holderOf(lease)
			}},
		"another session": {run.RejectSession, func(_ *leasing, _ *run.Turn, lease *runner.Lease) lease.Holder {
			h := holderOf(lease)
			h.SessionID = "s2"
			return h
		}},
		"another runner": {run.RejectSession, func(_ *leasing, _ *run.Turn, lease *runner.Lease) lease.Holder {
			h := holderOf(lease)
			h.RunnerID = "other"
			return h
		}},
		"no such turn": {run.RejectUnknown, func(_ *leasing, _ *run.Turn, lease *runner.Lease) lease.Holder {
			h := holderOf(lease)
			h.Ref.StepID, h.Ref.TaskID = "turn_none", "turn_none"
			return h
		}},
		"an invented token": {run.RejectUnknown, func(_ *leasing, _ *run.Turn, lease *runner.Lease) lease.Holder {
			h := holderOf(lease)
			h.Ref.FencingToken = "fence-of-my-own"
			return h
		}},
		"another lease id": {run.RejectUnknown, func(_ *leasing, _ *run.Turn, lease *runner.Lease) lease.Holder {
			h := holderOf(lease)
			h.Ref.LeaseID += "0"
			return h
		}},
		"another run": {run.RejectUnknown, func(_ *leasing, _ *run.Turn, lease *runner.Lease) lease.Holder {
			h := holderOf(lease)
			h.Ref.RunID = "run_other"
			return h
		}},
		"accepted": {run.RejectTerminal, func(l *leasing, turn *run.Turn, lease *runner.Lease) lease.Holder {
			h := holderOf(lease)
			_, err := l.r.AcceptTurn(l.ctx, runner.AcceptOptions{
				TurnID: turn.TurnID,
				Lease:  &h,
				Result: l.result(turn),
			})
			l.must(err)
			return h
		}},
		"revoked": {run.RejectSuperseded, func(l *leasing, turn *run.Turn, lease *runner.Lease) lease.Holder {
			_, err := l.r.RevokeLease(l.ctx, turn.TurnID, "wanted back")
			l.must(err)
			return holderOf(lease)
		}},
		"reissued": {run.RejectSuperseded, func(l *leasing, turn *run.Turn, lease *runner.Lease) lease.Holder {
			_, err := l.r.RevokeLease(l.ctx, turn.TurnID, "")
			l.must(err)
			_, err = l.r.ReissueTurn(l.ctx, runner.ReissueOptions{TurnID: turn.TurnID, Reason: "anew"})
			l.must(err)
			return holderOf(lease)
		}},
		"the run is blocked": {run.RejectNotExecutable,
			func(l *leasing, _ *run.Turn, lease *runner.Lease) lease.Holder {
				_, err := l.r.Escalate(l.ctx, runner.Escalation{Reason: "stop"})
				l.must(err)
				return holderOf(lease)
			}},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLeasing(t, nil)
			turn := l.assign("pm").Turn
			held := l.issue(turn.TurnID, "local", "s1", time.Minute).Lease
			l.must(check(l.r, holderOf(held)))
			h := c.make(l, turn, held)
			if got := lease.Refusal(check(l.r, h)); got != c.reason {
				t.Fatalf("judged %q, want %s", got, c.reason)
			}
			before := l.op()
			for what, err := range map[string]error{
				"accept": second(l.r.AcceptTurn(l.ctx, runner.AcceptOptions{
					TurnID: h.Ref.StepID,
					Lease:  &h,
					Result: l.result2(turn),
				})),
				"activate": second(l.r.ActivateLease(l.ctx, h)),
				"renew":    second(l.r.RenewLease(l.ctx, h, time.Minute)),
				"progress": second(l.r.ReportProgress(l.ctx, h, ojson.NewObject("events", []any{"x"}))),
			} {
				if got := lease.Refusal(err); got != c.reason {
					t.Errorf("%s: %q (%v), want %s", what, got, err, c.reason)
				}
			}
			if l.op() != before {
				t.Error("something was recorded")
			}
		})
	}
}

func TestLeaseTokensOnlyGoForward(t *testing.T) {
	l := newLeasing(t, nil)
	turn := l.assign("pm").Turn
	var last *runner.Lease
	tokens := make(map[string]bool)
	for i := range 6 {
		lease := l.issue(turn.TurnID, fmt.Sprintf("runner-%d", i%2), "s", 10*time.Second).Lease
		if last != nil && lease.FencingToken.IssuedAtMS <= last.FencingToken.IssuedAtMS ||
			tokens[lease.FencingToken.Token] {
			t.Fatalf("token %s of %d follows %s of %d", lease.FencingToken.Token, lease.FencingToken.IssuedAtMS,
				last.FencingToken.Token, last.FencingToken.IssuedAtMS)
		}
		tokens[lease.FencingToken.Token], last = true, lease
		_, err := l.r.RevokeLease(l.ctx, turn.TurnID, "")
		l.must(err)
		l.now = l.now.Add(-time.Hour) // the clock goes back
	}
	l.replays()
}

func TestLeaseRenewAndResume(t *testing.T) {
	l := newLeasing(t, nil)
	turn := l.assign("pm").Turn
	lease := l.issue(turn.TurnID, "local", "s1", time.Minute).Lease
	h := holderOf(lease)
	before := l.op()
	for range 3 {
		l.now = l.now.Add(30 * time.Second)
		out, err := l.r.RenewLease(l.ctx, h, time.Minute)
		l.must(err)
		if out.Lease.ExpiresAtMS != l.now.Add(time.Minute).UnixMilli() ||
			out.Lease.FencingToken != lease.FencingToken {
			t.Fatalf("renewed to %s", out.Lease.Encode())
		}
	}
	if l.op() != before {
		t.Error("a renewal within the deadline moved the run")
	}
	past, err := l.r.LeaseHistory(l.ctx, lease.RunID, turn.TurnID, 10)
	l.must(err)
	if len(past) != 2 {
		t.Errorf("three renewals made a history of %d", len(past))
	}
	// Shorter than the time left: nothing is taken away.
	out, err := l.r.RenewLease(l.ctx, h, time.Second)
	l.must(err)
	if out.Lease.ExpiresAtMS != l.now.Add(time.Minute).UnixMilli() {
		t.Errorf("a short renewal shortened the lease to %d", out.Lease.ExpiresAtMS)
	}
	// Beyond the deadline: it moves along and is recorded.
	out, err = l.r.RenewLease(l.ctx, h, 3*time.Hour)
	l.must(err)
	now, _ := l.state().ActiveTurns.Get(turn.TurnID)
	if now.DeadlineAt != wire.FormatTime(l.now.Add(3*time.Hour)) || l.op() == before {
		t.Errorf("the deadline is %s after a renewal to %d", now.DeadlineAt, out.Lease.ExpiresAtMS)
	}
	// The runner was restarted: the same lease, another token, the old session is refused.
	res, err := l.r.ResumeLease(l.ctx, h, "s2", time.Minute)
	l.must(err)
	if res.Lease.LeaseID != lease.LeaseID || res.Lease.FencingToken.Token == lease.FencingToken.Token ||
		res.Lease.SessionID != "s2" ||
		res.Lease.FencingToken.IssuedAtMS <= lease.FencingToken.IssuedAtMS ||
		res.Lease.FencingToken.Scope != lease.FencingToken.Scope {
		t.Fatalf("resumed as %s", res.Lease.Encode())
	}
	_, err = l.r.AcceptTurn(l.ctx, runner.AcceptOptions{TurnID: turn.TurnID, Lease: &h, Result: l.result(turn)})
	wantReason(t, err, run.RejectStaleToken)
	stranger := holderOf(res.Lease)
	stranger.RunnerID = "stranger"
	_, err = l.r.ResumeLease(l.ctx, stranger, "s3", time.Minute)
	wantReason(t, err, run.RejectSession)
	fresh := holderOf(res.Lease)
	_, err = l.r.AcceptTurn(l.ctx, runner.AcceptOptions{TurnID: turn.TurnID, Lease: &fresh, Result: l.result(turn)})
	l.must(err)
	l.replays()
	rows, err := l.r.Record().TailRows(l.ctx, wire.LedgerEvents, 0, func(o *ojson.Object) bool {
		return o.String("event_type") == run.EventLease
	})
	l.must(err)
	var acts []string
	for _, row := range rows {
		p := row.Row.Object("payload")
		acts = append(acts, p.String("action"))
		if p.String("action") == leases.ActRestored && p.Object("recovery").String("kind") != "lease_restored" {
			t.Errorf("a resumed lease is on record as %s", ojson.Compact(p))
		}
	}
	if got := strings.Join(acts, " "); got != "issued renewed restored released" {
		t.Errorf("on record: %s", got)
	}
}

func TestLeaseCancellation(t *testing.T) {
	l := newLeasing(t, nil)
	turn := l.assign("pm").Turn
	h := holderOf(l.issue(turn.TurnID, "local", "s1", time.Hour).Lease)
	_, err := l.r.AckCancel(l.ctx, h, "stopped", "")
	wantCode(t, err, wire.CodeInvalidStateTransition)
	_, err = l.r.Escalate(l.ctx, runner.Escalation{Reason: "a person has to look"})
	l.must(err)
	asked, err := l.r.AskCancel(l.ctx, h, "the run is blocked", false)
	l.must(err)
	if reason, at := asked.Lease.Cancellation(); reason == "" || at == 0 {
		t.Fatalf("the lease does not say that it is to be given up: %s", asked.Lease.Encode())
	}
	out, err := l.r.AckCancel(l.ctx, h, "stopped", "nothing was changed")
	l.must(err)
	if out.Lease.Status != run.LeaseReleased || !l.state().ActiveTurns.Has(turn.TurnID) {
		t.Fatalf("after the acknowledgement: lease %s", out.Lease.Status)
	}
	_, err = l.r.ReactivateRun(l.ctx, runner.ReactivateOptions{})
	l.must(err)
	l.issue(turn.TurnID, "other", "s2", time.Minute)
	l.replays()
}

func TestLeaseExpiredTurnIsAnybodys(t *testing.T) {
	l := newLeasing(t, nil)
	turn := l.assign("pm").Turn
	lease := l.issue(turn.TurnID, "local", "s1", time.Minute).Lease
	l.now = l.now.Add(time.Minute)
	l.stage(turn, "summary", "by hand", "objections", review("OBJ-001"))
	_, err := l.r.AcceptTurn(l.ctx, runner.AcceptOptions{})
	l.must(err)
	past, err := l.r.LeaseHistory(l.ctx, lease.RunID, turn.TurnID, 1)
	l.must(err)
	if past[0].Lease.Status != run.LeaseExpired {
		t.Errorf("the lease nobody held is %s", past[0].Lease.Status)
	}
}

// TestLeaseHolderIsFencedAtTheCommit stops an acceptance between its last check and
// its commit, and lets the turn change hands meanwhile. It runs where refs are files
// and where they are reftables, in main and in linked work trees.
func TestLeaseHolderIsFencedAtTheCommit(t *testing.T) {
	for _, kind := range testrepo.KindsFor(t) {
		t.Run(kind.Name(), func(t *testing.T) {
			repo := testrepo.New(t, kind)
			ctx := context.Background()
			_, err := testproject.Init(ctx, repo.Dir, runner.ProjectOptions{ID: "proj"})
			if err != nil {
				t.Fatal(err)
			}
			repo.CommitAll("governed")
			now := time.Now().UTC()
			clock := func() time.Time { return now }
			p := &project{t: t, ctx: ctx, dir: repo.Dir}
			p.r, err = runner.Open(ctx, repo.Dir, runner.Options{Now: clock})
			p.must(err)
			t.Cleanup(func() { _ = p.r.Close() })
			l := &leasing{project: p, now: now}
			turn := p.assign("pm").Turn
			held := l.issue(turn.TurnID, "local", "s1", time.Minute).Lease
			h := holderOf(held)
			data := l.result(turn)

			// A second lease document takes the turn over without this process knowing: only the
			// lease's ref moves, the run stays where it is.
			taken := held.Restore("s2", 2, now, 0, now.Add(time.Hour))
			store, err := gitstore.Open(ctx, repo.Dir,
				gitstore.Options{Publish: func(ctx context.Context, r *git.Repository, m decision.Move) error {
					side, err := gitstore.Open(ctx, repo.Dir, gitstore.Options{})
					if err != nil {
						return err
					}
					defer func() { _ = side.Close() }()
					rec, err := stored.Read(ctx, side.Repository(), held.RunID, turn.TurnID)
					if err != nil {
						return err
					}
					oid, err := stored.Write(ctx, side.Repository(), stored.Record{
						Run:     rec.Run,
						Turn:    rec.Turn,
						Parent:  rec.Op,
						Data:    taken.Encode(),
						At:      now,
						Subject: "taken",
					}, evidence.Actor{Name: "side", Email: "side@example.com"}, taken.Status)
					if err != nil {
						return err
					}
					if err := stored.Move(ctx, side.Repository(),
						[]git.RefUpdate{{Name: rec.Ref, Old: rec.Op, New: oid}},
						"taken"); err != nil {
						return err
					}
					return r.UpdateRefs(ctx, append([]git.RefUpdate{m.Ref}, m.Also...), m.Reflog)
				}})
			p.must(err)
			stale := runner.New(store, runner.Options{Now: clock})
			t.Cleanup(func() { _ = stale.Close() })
			before := p.op()
			_, err = stale.AcceptTurn(ctx, runner.AcceptOptions{TurnID: turn.TurnID, Lease: &h, Result: data})
			wantReason(t, err, run.RejectStaleToken)
			if p.op() != before || !p.state().ActiveTurns.Has(turn.TurnID) {
				t.Fatal("a holder whose lease had moved on completed the turn")
			}
			fresh := holderOf(taken)
			_, err = p.r.AcceptTurn(ctx, runner.AcceptOptions{TurnID: turn.TurnID, Lease: &fresh, Result: data})
			p.must(err)
			if report, err := p.r.Record().Fsck(ctx, proof.Options{Replay: true}); err != nil || !report.Clean() {
				t.Fatalf("fsck: %v %+v", err, report)
			}
			repo.Fsck()
		})
	}
}

func TestLeaseRefsStayBounded(t *testing.T) {
	testrepo.Serving(t)
	l := newLeasing(t, func(cfg *ojson.Object) {
		cfg.Set("run_loop", ojson.NewObject("non_progress_threshold", 1000))
	})
	for i := range 20 {
		turn := l.assign("pm").Turn
		l.now = l.now.Add(time.Second)
		h := holderOf(l.issue(turn.TurnID, "local", "s1", time.Minute).Lease)
		_, err := l.r.AcceptTurn(l.ctx, runner.AcceptOptions{
			TurnID: turn.TurnID,
			Lease:  &h,
			Result: l.proposing(turn, i),
		})
		l.must(err)
	}
	all, problems, err := l.r.Leases(l.ctx, "")
	l.must(err)
	if len(all) > 17 || len(all) < 16 || len(problems) > 0 {
		t.Fatalf("%d lease refs stay, problems %v", len(all), problems)
	}
}

// proposing returns a result after which the same role goes on.
func (l *leasing) proposing(turn *run.Turn, i int) []byte {
	doc, err := ojson.DecodeObject(l.result(turn))
	l.must(err)
	doc.Set("proposed_next_role", "pm")
	doc.Set("objections", review(fmt.Sprintf("OBJ-%03d", i+1)))
	return ojson.Pretty(doc)
}

func TestLeaseRefOfAnotherKindIsRefused(t *testing.T) {
	l := newLeasing(t, nil)
	turn := l.assign("pm").Turn
	lease := l.issue(turn.TurnID, "local", "s1", time.Minute).Lease
	ref := filepath.Join(l.dir, ".git", "refs", "agentxchain", "leases", lease.RunID, turn.TurnID)
	head, err := os.ReadFile(filepath.Join(l.dir, ".git", "refs", "heads", "main"))
	l.must(err)
	l.must(os.WriteFile(ref, head, 0o666))
	_, err = l.r.AcceptTurn(l.ctx, runner.AcceptOptions{TurnID: turn.TurnID})
	if err == nil {
		t.Fatal("a turn whose lease cannot be read was accepted")
	}
	l.must(os.WriteFile(ref, []byte("ref: refs/heads/main\n"), 0o666))
	_, err = l.r.AcceptTurn(l.ctx, runner.AcceptOptions{TurnID: turn.TurnID})
	wantCode(t, err, fail.CodeRefSymbolic)
}

// TestALeaseWhoseRefIsSetBackHoldsNot sets the ref of a lease that was revoked, or that has changed
// hands since, back to its old value: the run is the truth.
func TestALeaseWhoseRefIsSetBackHoldsNot(t *testing.T) {
	reasons := map[string]string{"revoked": run.RejectSuperseded, "revoked and leased again": run.RejectStaleToken}
	for name, after := range map[string]func(l *leasing, turn string){
		"revoked": func(l *leasing, turn string) {
			_, err := l.r.RevokeLease(l.ctx, turn, "wanted back")
			l.must(err)
		},
		"revoked and leased again": func(l *leasing, turn string) {
			_, err := l.r.RevokeLease(l.ctx, turn, "wanted back")
			l.must(err)
			l.issue(turn, "other", "s2", time.Hour)
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLeasing(t, nil)
			turn := l.assign("pm").Turn
			held := l.issue(turn.TurnID, "local", "s1", time.Hour).Lease
			h := holderOf(held)
			ref := filepath.Join(l.dir, ".git", "refs", "agentxchain", "leases", held.RunID, turn.TurnID)
			was, err := os.ReadFile(ref)
			l.must(err)
			after(l, turn.TurnID)
			l.sound()
			l.must(os.WriteFile(ref, was, 0o666))
			for what, err := range map[string]error{
				"check":  second(l.r.CheckLease(l.ctx, h)),
				"renew":  second(l.r.RenewLease(l.ctx, h, time.Minute)),
				"resume": second(l.r.ResumeLease(l.ctx, h, "s3", time.Minute)),
				"accept": second(l.r.AcceptTurn(l.ctx, runner.AcceptOptions{
					TurnID: turn.TurnID,
					Lease:  &h,
					Result: l.result(turn),
				})),
			} {
				if got := lease.Refusal(err); got != reasons[name] {
					t.Errorf("%s: %q (%v)", what, got, err)
				}
			}
			list, _, err := l.r.Leases(l.ctx, "")
			l.must(err)
			if again := name != "revoked"; len(list) != 1 || list[0].Live != again ||
				again && list[0].Lease.RunnerID != "other" {
				t.Errorf("listed as %+v", list)
			}
			report, err := l.r.Record().Fsck(l.ctx, proof.Options{})
			l.must(err)
			if len(report.Findings) != 1 || report.Findings[0].Code != proof.FindLease ||
				!strings.Contains(report.Findings[0].Message, "set back") {
				t.Errorf("fsck: %+v", report.Findings)
			}
			if name != "revoked" {
				return
			}
			// The turn is free for the next one.
			next := l.issue(turn.TurnID, "third", "s4", time.Hour).Lease
			_, err = l.r.CheckLease(l.ctx, holderOf(next))
			l.must(err)
			l.sound()
		})
	}
}
