// Tests of Audit.

package protocol

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

func auditOf(w *opsWorld, l wire.Ledger, members ...any) *Audit {
	return &Audit{Rows: []AuditRow{{
		Ledger: l,
		Row:    ojson.NewObject(append([]any{"run_id", w.state.Run()}, members...)...),
	}}}
}

// Audit appends its rows as they are, in order, to the ledgers they name, and
// touches nothing else.
func TestAudit(t *testing.T) {
	w := startedWorld(t, nil)
	turn := w.assign("pm")
	before, events := w.state.Encode(), len(w.rows(wire.LedgerEvents))
	op := &Audit{TurnID: turn.TurnID, Rows: []AuditRow{
		{wire.LedgerHookAudit, ojson.NewObject("run_id", w.state.Run(), "n", 1)},
		{wire.LedgerNotifications, ojson.NewObject("n", 2)},
		{wire.LedgerHookAudit, ojson.NewObject("run_id", "", "n", 3)},
		{wire.LedgerHookAnnotations, ojson.NewObject("run_id", nil, "n", 4)},
	}}
	tr := w.must(op)
	if !bytes.Equal(before, w.state.Encode()) || len(w.rows(wire.LedgerEvents)) != events ||
		len(tr.Documents) > 0 && tr.Documents[wire.DocSession] != nil {
		t.Errorf("more than the ledgers has changed: %v", tr.Documents)
	}
	if tr.Result.(*AuditResult).Rows != 4 || tr.Subject != "audit: 4 rows" || tr.Turn != turn.TurnID {
		t.Errorf("result %+v, subject %q, turn %q", tr.Result, tr.Subject, tr.Turn)
	}
	for l, want := range map[wire.Ledger]string{
		wire.LedgerHookAudit:       "1 3",
		wire.LedgerNotifications:   "2",
		wire.LedgerHookAnnotations: "4",
	} {
		var got []string
		for _, row := range w.rows(l) {
			n, _ := row.Int("n")
			got = append(got, fmt.Sprint(n))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s holds %v, want %s", l, got, want)
		}
	}
	if tr := w.must(auditOf(w, wire.LedgerHookAudit, "x", 1)); tr.Subject != "audit: 1 row" {
		t.Errorf("subject %q", tr.Subject)
	}
}

func TestAuditRefusals(t *testing.T) {
	w := newOpsWorld(t, nil)
	w.fails(wire.CodeInvalidStateTransition, auditOf(w, wire.LedgerHookAudit, "x", 1))
	w.must(w.start(InitRun{}))
	many := func(n int) *Audit {
		op := &Audit{}
		for i := range n {
			op.Rows = append(op.Rows, AuditRow{wire.LedgerHookAudit, ojson.NewObject("n", i)})
		}
		return op
	}
	sized := func(n int) *Audit {
		row := ojson.NewObject("m", "")
		row.Set("m", strings.Repeat("x", n-len(ojson.Compact(row))))
		return &Audit{Rows: []AuditRow{{wire.LedgerHookAudit, row}}}
	}
	for name, op := range map[string]*Audit{
		"no rows":        {},
		"too many rows":  many(MaxAuditRows + 1),
		"too large":      sized(MaxAuditRowBytes + 1),
		"empty row":      {Rows: []AuditRow{{wire.LedgerHookAudit, &ojson.Object{}}}},
		"no row":         {Rows: []AuditRow{{wire.LedgerHookAudit, nil}}},
		"another run":    {Rows: []AuditRow{{wire.LedgerHookAudit, ojson.NewObject("run_id", "run_other")}}},
		"a number as id": {Rows: []AuditRow{{wire.LedgerHookAudit, ojson.NewObject("run_id", 7)}}},
		"second is bad": {Rows: []AuditRow{{wire.LedgerHookAudit, ojson.NewObject("n", 1)},
			{wire.LedgerHistory, ojson.NewObject("n", 1)}}},
	} {
		if _, err := w.apply(op); err == nil || err.Code != wire.CodeInvalidArgument || err.Field == "" ||
			len(err.Message) > 300 {
			t.Errorf("%s: %+v", name, err)
		}
	}
	for _, l := range append(wire.Ledgers(), "", "state", "../x") {
		if slices.Contains(AuditLedgers(), l) {
			w.must(auditOf(w, l, "n", 1))
			continue
		}
		w.fails(wire.CodeInvalidArgument, auditOf(w, l, "n", 1))
	}
	w.must(many(MaxAuditRows))
	w.must(sized(MaxAuditRowBytes))
}

// Evidence can be kept whatever the run's status is.
func TestAuditInEveryStatus(t *testing.T) {
	w := startedWorld(t, sets("gates.ship_ok.requires_human_approval", true))
	keep := func(want wire.Status) {
		t.Helper()
		if w.state.Status != want {
			t.Fatalf("status %s, want %s", w.state.Status, want)
		}
		before := w.state.Encode()
		w.must(auditOf(w, wire.LedgerHookAudit, "status", string(want)))
		if !bytes.Equal(before, w.state.Encode()) {
			t.Errorf("the state changed while %s", want)
		}
	}
	keep(wire.StatusActive)
	w.must(&Escalate{Reason: "x"})
	keep(wire.StatusBlocked)
	w.must(&Reactivate{})
	w.inPhase("ship")
	turn := w.assign("qa")
	w.accept(turn.TurnID, "run_completion_request", true)
	keep(wire.StatusPaused)
	w.must(w.approval())
	keep(wire.StatusCompleted)
}

// For any rows: either all are recorded, byte for byte and in order, or none, and the refusal says why; a replay
// from the record's own bytes gives the same (the world checks this for every operation).
func TestAuditRapid(t *testing.T) {
	ledgers := append(wire.Ledgers(), "", "nothing")
	rapid.Check(t, func(t *rapid.T) {
		w := startedWorld(t, nil)
		values := rapid.OneOf(rapid.Just[any](nil),
			rapid.Map(rapid.String(), func(s string) any { return strings.ToValidUTF8(s, "?") }),
			rapid.Map(rapid.IntRange(-1000, 1000), func(n int) any { return n }),
			rapid.Map(rapid.Bool(), func(b bool) any { return b }),
			rapid.Map(rapid.StringMatching(`[a-z]{0,5}`), func(s string) any { return ojson.NewObject("k", s) }))
		op := &Audit{}
		good := true
		want := make(map[wire.Ledger][]string)
		for range rapid.IntRange(0, 6).Draw(t, "rows") {
			l := rapid.SampledFrom(AuditLedgers()).Draw(t, "ledger")
			if rapid.IntRange(0, 9).Draw(t, "odd") == 0 {
				l = rapid.SampledFrom(ledgers).Draw(t, "any ledger")
			}
			row := &ojson.Object{}
			for i := range rapid.IntRange(0, 4).Draw(t, "members") {
				row.Set(fmt.Sprintf("%s%d", rapid.StringMatching(`[a-z_]{0,4}`).Draw(t, "name"), i),
					values.Draw(t, "value"))
			}
			id := rapid.SampledFrom([]any{nil, "", w.state.Run(), w.state.Run(), w.state.Run(), "run_x", 3}).Draw(t,
				"run")
			if rapid.Bool().Draw(t, "named") {
				row.Set("run_id", id)
				good = good && (id == nil || id == "" || id == w.state.Run())
			}
			good = good && row.Len() > 0 && slices.Contains(AuditLedgers(), l)
			op.Rows = append(op.Rows, AuditRow{l, row})
			want[l] = append(want[l], string(ojson.Compact(row)))
		}
		good = good && len(op.Rows) > 0
		before := w.state.Encode()
		tr, err := w.apply(op)
		if !bytes.Equal(before, w.state.Encode()) {
			t.Fatal("the state changed")
		}
		if !good {
			if err == nil || err.Code != wire.CodeInvalidArgument {
				t.Fatalf("not refused: %v", err)
			}
			return
		}
		if err != nil {
			t.Fatalf("refused: %v", err)
		}
		if tr.Result.(*AuditResult).Rows != len(op.Rows) {
			t.Fatalf("result %+v", tr.Result)
		}
		for _, l := range AuditLedgers() {
			if got := strings.TrimSuffix(string(w.ledgers[l]), "\n"); got != strings.Join(want[l], "\n") {
				t.Fatalf("%s holds %q, want %q", l, got, want[l])
			}
		}
	})
}
