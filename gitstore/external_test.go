package gitstore

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/private"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/external"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// started returns a driver whose run has two accepted turns and an active one.
func started(t *testing.T) *driver {
	t.Helper()
	return startedRun.copy(t)
}

// codeOf returns the stable code of a store or protocol error.
func codeOf(err error) string {
	if pe, ok := errors.AsType[*wire.Error](err); ok {
		return pe.Code
	}
	return fail.CodeOf(err)
}

// editRow rewrites row n (1-based) of a ledger.
func (d *driver) editRow(l wire.Ledger, n int, f func(o *ojson.Object)) {
	d.t.Helper()
	rows := strings.SplitAfter(d.read(l.Path()), "\n")
	o, err := ojson.DecodeObject([]byte(rows[n-1]))
	if err != nil {
		d.t.Fatal(err)
	}
	f(o)
	rows[n-1] = string(ojson.Compact(o)) + "\n"
	d.write(l.Path(), strings.Join(rows, ""))
}

func (d *driver) editState(f func(o *ojson.Object)) {
	d.t.Helper()
	o, err := ojson.DecodeObject([]byte(d.read(string(wire.DocState))))
	if err != nil {
		d.t.Fatal(err)
	}
	f(o)
	d.write(string(wire.DocState), string(ojson.Pretty(o)))
}

func (d *driver) appendTo(name, data string) {
	d.t.Helper()
	f, err := os.OpenFile(d.path(name), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		d.t.Fatal(err)
	}
	_, err = f.WriteString(data)
	if cerr := f.Close(); err != nil || cerr != nil {
		d.t.Fatal(err, cerr)
	}
}

func TestExternalChanges(t *testing.T) {
	history, decisions, repo := wire.LedgerHistory, wire.LedgerDecisions, wire.LedgerRepoDecisions
	cases := []struct {
		name   string
		change func(d *driver)
		code   string // "": absorbed
		path   string // named in the message
	}{
		{"event appended", func(d *driver) {
			d.appendTo(wire.LedgerEvents.Path(),
				`{"event_id":"evt_1","run_id":"x"}`+"\n")
		}, "", ""},
		{"new ledger", func(d *driver) { d.appendTo(wire.LedgerHookAudit.Path(), "{\"a\":1}\n\n{\"b\":2}\n") }, "",
			""},
		{"empty new ledger", func(d *driver) { d.appendTo(wire.LedgerHookAudit.Path(), "") }, "", ""},
		{"talk appended", func(d *driver) { d.appendTo("TALK.md", "a note without end") }, "", ""},
		{"human tasks edited", func(d *driver) { d.write("HUMAN_TASKS.md", "# mine\n") }, "", ""},
		{"session removed", func(d *driver) { _ = os.Remove(d.path(string(wire.DocSession))) }, "", ""},
		{"session of another shape", func(d *driver) { d.write(string(wire.DocSession), "{}") }, "", ""},
		{"session torn off", func(d *driver) { d.write(string(wire.DocSession), "{") }, record.CodeStateTampered,
			"session.json"},
		{"session zeroed", func(d *driver) { d.write(string(wire.DocSession), "\x00\x00") }, record.CodeStateTampered,
			"session.json"},
		{"human tasks zeroed", func(d *driver) { d.write("HUMAN_TASKS.md", "\x00\x00") }, record.CodeStateTampered,
			"HUMAN_TASKS.md"},
		{"talk with zeros after it", func(d *driver) { d.appendTo("TALK.md", "\x00\x00") }, record.CodeLedgerTampered,
			"TALK.md"},
		{"state goes on", func(d *driver) { d.editState(func(o *ojson.Object) { o.Set("x_other_tool", true) }) }, "",
			""},
		{"state reformatted", func(d *driver) {
			o, _ := ojson.DecodeObject([]byte(d.read(string(wire.DocState))))
			d.write(string(wire.DocState), string(ojson.Compact(o)))
		}, "", ""},
		{"checkpointed", func(d *driver) {
			d.editRow(history, 1, func(o *ojson.Object) {
				o.Set("checkpoint_sha", "abc")
				o.Set("checkpointed_at", "2026-01-02T03:04:05.000Z")
			})
		}, "", ""},
		{"recovered files", func(d *driver) {
			d.editRow(history, 2, func(o *ojson.Object) {
				o.Set("files_changed", []string{"a.txt"})
				o.Set("files_changed_recovered_at", "2026-01-02T03:04:05.000Z")
				o.Set("files_changed_recovery_source", "legacy_dirty_worktree")
				oa := o.Object("observed_artifact").Clone()
				if oa != nil {
					oa.Set("files_changed", []string{"a.txt"})
					o.Set("observed_artifact", oa)
				}
			})
		}, "", ""},
		{"keys in another order", func(d *driver) {
			d.editRow(history, 1, func(o *ojson.Object) {
				v, _ := o.Get("turn_id")
				o.Delete("turn_id")
				o.Set("turn_id", v)
			})
		}, "", ""},

		{"history rewritten", func(d *driver) {
			d.editRow(history, 2, func(o *ojson.Object) {
				o.Set("summary",
					"better")
			})
		}, record.CodeLedgerTampered, "history.jsonl line 2"},
		{"checkpoint changed", func(d *driver) {
			d.editRow(history, 1, func(o *ojson.Object) { o.Set("checkpoint_sha", "x"); o.Set("role", "dev") })
		}, record.CodeLedgerTampered, "history.jsonl line 1"},
		{"recovery takes files away", func(d *driver) {
			d.editRow(history, 1,
				func(o *ojson.Object) { o.Set("files_changed_recovered_at", "x"); o.Set("status", "failed") })
		}, record.CodeLedgerTampered, "history.jsonl line 1"},
		{"decision rewritten", func(d *driver) {
			d.editRow(decisions, 1, func(o *ojson.Object) {
				o.Set("statement",
					"No.")
			})
		}, record.CodeLedgerTampered, "decision-ledger.jsonl line 1"},
		{"row removed", func(d *driver) {
			rows := strings.SplitAfter(d.read(history.Path()), "\n")
			d.write(history.Path(), rows[1])
		}, record.CodeLedgerTampered, "history.jsonl line 1"},
		{"truncated", func(d *driver) { d.write(history.Path(), "") }, record.CodeLedgerTampered, "history.jsonl"},
		{"removed", func(d *driver) { _ = os.Remove(d.path(history.Path())) }, record.CodeLedgerTampered,
			"history.jsonl"},
		{"torn append", func(d *driver) { d.appendTo(history.Path(), `{"turn_id":`) }, record.CodeLedgerTampered,
			"history.jsonl line 3"},
		{"garbage appended", func(d *driver) { d.appendTo(history.Path(), "not json\n") }, record.CodeLedgerTampered,
			"history.jsonl line 3"},
		{"talk rewritten", func(d *driver) { d.write("TALK.md", "# Other\n") }, record.CodeLedgerTampered, "TALK.md"},
		{"link instead of ledger", func(d *driver) {
			_ = os.Rename(d.path(history.Path()), d.path("h"))
			_ = os.Symlink("../h", d.path(history.Path()))
		}, record.CodeStateTampered, "history.jsonl"},

		{"state not json", func(d *driver) { d.write(string(wire.DocState), d.read(string(wire.DocState))[:100]) },
			wire.CodeInvalidState, "state.json"},
		{"state empty", func(d *driver) { d.write(string(wire.DocState), "") }, wire.CodeInvalidState, "state.json"},
		{"state of wrong types", func(d *driver) { d.editState(func(o *ojson.Object) { o.Set("active_turns", 3) }) },
			wire.CodeInvalidState, "state.json"},
		{"state bomb", func(d *driver) { d.write(string(wire.DocState), strings.Repeat(`{"a":`, 100000)) },
			wire.CodeInvalidState, "state.json"},
		{"run id leads out", func(d *driver) {
			d.editState(
				func(o *ojson.Object) { o.Set("run_id", "../../heads/main") })
		}, wire.CodeInvalidState, "state.json"},
		{"run id of wrong type", func(d *driver) { d.editState(func(o *ojson.Object) { o.Set("run_id", 7) }) },
			wire.CodeInvalidState, "run_id"},
		{"sequence goes back", func(d *driver) { d.editState(func(o *ojson.Object) { o.Set("turn_sequence", 1) }) },
			record.CodeStateTampered, "turn_sequence"},
		{"other project", func(d *driver) { d.editState(func(o *ojson.Object) { o.Set("project_id", "other") }) },
			record.CodeStateTampered, "project_id"},
		{"run id taken out, ledger cut", func(d *driver) {
			d.editState(func(o *ojson.Object) {
				o.Set("run_id", nil)
				o.Set("status", "idle")
				o.Set("active_turns", &ojson.Object{})
			})
			d.write(history.Path(), "")
		}, record.CodeLedgerTampered, "history.jsonl"},
		{"other run, ledger cut", func(d *driver) {
			d.editState(func(o *ojson.Object) { o.Set("run_id", "run_0000000000000001") })
			d.write(decisions.Path(), "")
		}, record.CodeLedgerTampered, "decision-ledger.jsonl"},
		{"state removed", func(d *driver) { _ = os.Remove(d.path(string(wire.DocState))) }, record.CodeStateTampered,
			"state.json"},
		{"other run", func(d *driver) { startOver(d) }, protocol.CodeConfirmationRequired, "run_0000000000000001"},
		{"other run, older than its event", func(d *driver) {
			startOver(d)
			d.editState(func(o *ojson.Object) { o.Set("phase_entered_at", "2020-01-01T00:00:00.000Z") })
		}, record.CodeStateTampered, "phase_entered_at"},
		{"other run, begun by nothing", func(d *driver) {
			d.editState(func(o *ojson.Object) { o.Set("run_id", "run_0000000000000001") })
		}, record.CodeStateTampered, "state.json"},
		{"fifo", func(d *driver) {
			_ = os.Remove(d.path(repo.Path()))
			mkfifo(d.t, d.path(repo.Path()))
		}, record.CodeStateTampered, "repo-decisions.jsonl"},
	}
	for _, withCache := range []bool{true, false} {
		for _, c := range cases {
			name := c.name
			if !withCache {
				name += ", no cache"
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				d := started(t)
				if !withCache {
					if strings.Contains(c.name, "ledger cut") || c.name == "state removed" ||
						c.name == "other run, begun by nothing" {
						t.Skip("without a cache nothing ties the work tree to the run it was in")
					}
					_ = d.store.dropCache()
				}
				c.change(d)
				disk := snapshotFiles(t, d.Dir)
				refs := gitIn(t, d.Dir, "for-each-ref")
				ctx := context.Background()
				v, verr := d.store.View(ctx)
				if now := snapshotFiles(t, d.Dir); !maps.Equal(disk, now) || refs != gitIn(t, d.Dir, "for-each-ref") {
					t.Fatal("a view changed something")
				}
				tx, err := d.store.Begin(ctx, "test", 0)
				if c.code != "" {
					// A change that waits for a person can be viewed.
					if codeOf(verr) != c.code && (c.code != protocol.CodeConfirmationRequired || verr != nil ||
						!v.Begun()) || codeOf(err) != c.code || !strings.Contains(err.Error(), c.path) {
						t.Fatalf("view: %v\nbegin: %v", verr, err)
					}
					if now := snapshotFiles(t, d.Dir); !maps.Equal(disk, now) ||
						refs != gitIn(t, d.Dir, "for-each-ref") {
						t.Error("a refusal changed something")
					}
					return
				}
				if verr != nil || err != nil {
					t.Fatalf("view: %v\nbegin: %v", verr, err)
				}
				if len(v.Notices) != 1 || len(tx.View().Notices) != 1 {
					t.Errorf("notices %q, %q", v.Notices, tx.View().Notices)
				}
				if string(v.Index.Encode()) != string(tx.View().Index.Encode()) {
					t.Error("the view's index is not the recorded one")
				}
				_ = tx.Close()
				if now := snapshotFiles(t, d.Dir); !maps.Equal(disk, now) {
					t.Error("absorbing changed the work tree")
				}
				if v := d.view(); len(v.Notices) > 0 {
					t.Errorf("still %v", v.Notices)
				}
				d.must(d.acceptOp)
				d.turns(1)
				d.clean()
			})
		}
	}
}

func TestConfigurationIsRecorded(t *testing.T) {
	d := started(t)
	d.write(wire.ConfigPath, strings.Replace(testConfig, "Review everything.", "Review all.", 1))
	if v := d.view(); len(v.Notices) > 0 {
		t.Errorf("a changed configuration is no change of the run: %v", v.Notices)
	}
	d.must(d.acceptOp)
	d.clean()
	d.write(wire.ConfigPath, "{")
	if _, err := d.store.View(context.Background()); codeOf(err) != wire.CodeInvalidJSON {
		t.Error(err)
	}
	if r := d.fsck(""); !r.Clean() {
		t.Errorf("fsck needs no configuration:\n%s", r)
	}
}

// startOver leaves the files of another tool that has started another run.
func startOver(d *driver) {
	const at = "2026-01-02T03:04:05.000Z"
	d.editState(func(o *ojson.Object) {
		o.Set("run_id", "run_0000000000000001")
		o.Set("created_at", at)
		o.Set("phase_entered_at", at)
		o.Set("active_turns", &ojson.Object{})
		o.Set("turn_sequence", 0)
		o.Set("budget_reservations", &ojson.Object{})
		for _, m := range []string{"last_completed_turn_id", "last_completed_turn", "next_recommended_role",
			"accepted_integration_ref", "authority_base"} {
			o.Set(m, nil)
		}
	})
	d.appendTo(wire.LedgerEvents.Path(),
		`{"event_type":"run_started","run_id":"run_0000000000000001","timestamp":"`+at+`"}`+"\n")
}

func TestAdoptedRun(t *testing.T) {
	d := started(t)
	run := d.view().Run
	gitIn(t, d.Dir, "update-ref", "-d", git.RunRefPrefix+run)
	_ = d.store.dropCache()
	v := d.view()
	if len(v.Notices) != 1 || v.Op != "" || v.Index.Accepted != 2 {
		t.Fatalf("%+v", v)
	}
	if _, err := d.store.Begin(context.Background(), "accept",
		0); fail.CodeOf(err) != protocol.CodeConfirmationRequired {
		t.Fatalf("a run of another tool went on unseen: %v", err)
	}
	if _, err := d.store.Log(context.Background(), run, 0); err == nil {
		t.Fatal("the refusal recorded it")
	}
	tx, err := d.store.Begin(context.Background(), PurposeAdopt, 0)
	if err != nil {
		t.Fatal(err)
	}
	open := tx.Open()
	if len(open) == 0 || open[0].Kind != external.ClaimBegun || open[0].To != run {
		t.Errorf("claims %v", open)
	}
	_ = tx.Close()
	if _, _, err := d.try(d.acceptOp); codeOf(err) != protocol.CodeConfirmationRequired {
		t.Fatalf("something is built on a run no person has answered for: %v", err)
	}
	d.must(func(v *View) protocol.Operation {
		op := &protocol.Confirm{Upto: string(v.Op), State: wire.Digest(v.StateBytes)}
		for _, c := range open {
			op.Claims = append(op.Claims, c.Claim)
		}
		return op
	})
	d.must(d.acceptOp)
	ops, err := d.store.Log(context.Background(), run, 0)
	if err != nil || len(ops) != 3 || ops[2].Name != protocol.OpExternal {
		t.Fatalf("%v %v", ops, err)
	}
	// The bundle of the active turn was recorded.
	if out := gitIn(t, d.Dir, "ls-tree", "-r", "--name-only", string(ops[2].Op), "dispatch/turns/"); strings.Count(out,
		"\n") != 4 {
		t.Errorf("bundle on record: %s", out)
	}
	d.turns(2)
	d.clean()
}

func TestRefRolledBack(t *testing.T) {
	d := started(t)
	run := d.view().Run
	ops, _ := d.store.Log(context.Background(), run, 0)
	gitIn(t, d.Dir, "update-ref", git.RunRefPrefix+run, string(ops[2].Op))
	_, err := d.store.View(context.Background())
	if fail.CodeOf(err) != record.CodeChainBroken {
		t.Errorf("%v", err)
	}
}

func TestCacheIsOnlyACache(t *testing.T) {
	d := started(t)
	name := filepath.Join(private.Dir(d.store.repo), "cache")
	good, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range [][]byte{nil, []byte("x"), good[:len(good)-1], append([]byte("y"), good...),
		[]byte(strings.Repeat("z", 5000))} {
		if err := os.WriteFile(name, bad, 0o666); err != nil {
			t.Fatal(err)
		}
		if v := d.view(); len(v.Notices) > 0 || v.Index.Accepted != 2 {
			t.Errorf("%+v", v)
		}
	}
	tx, err := d.store.Begin(context.Background(), "test", 0)
	if err != nil {
		t.Fatal(err)
	}
	_ = tx.Close()
	if d.store.readCache() == nil {
		t.Error("the cache was not renewed")
	}
	d.must(d.acceptOp)
	d.clean()
}

// TestJournalReplay finishes acceptances the reference implementation prepared,
// after a crash at each of its steps (docs/spec/lifecycle.md#accepting-a-turn).
func TestJournalReplay(t *testing.T) {
	for done := range 5 {
		d := started(t)
		v := d.view()
		turn := v.State.OnlyTurn().TurnID
		next, err := ojson.DecodeObject(v.StateBytes)
		if err != nil {
			t.Fatal(err)
		}
		seq := v.State.TurnSequence + 1
		next.Set("active_turns", &ojson.Object{})
		next.Set("turn_sequence", seq)
		next.Set("last_completed_turn_id", turn)
		row := ojson.NewObject("turn_id", turn, "run_id", v.Run, "role", "qa", "phase", "review",
			"status", "completed", "summary", "s",
			"decisions", []*ojson.Object{}, "objections", []*ojson.Object{}, "files_changed", []string{},
			"assigned_sequence", 1, "accepted_sequence", seq, "accepted_at", "2026-01-02T03:05:00.000Z")
		ledger := []*ojson.Object{ojson.NewObject("id", "DEC-900", "turn_id", turn, "statement", "one"),
			ojson.NewObject("id", "DEC-901", "turn_id", turn, "statement", "two")}
		journal := ojson.Pretty(ojson.NewObject("transaction_id", "txn_1", "kind", "accept_turn", "run_id", v.Run,
			"turn_id", turn, "phase", "review",
			"status", "prepared", "prepared_at", "2026-01-02T03:05:00.000Z", "accepted_sequence", seq,
			"history_entry", row, "ledger_entries", ledger, "next_state", next))
		if err := os.MkdirAll(d.path(journalDir), 0o777); err != nil {
			t.Fatal(err)
		}
		d.write(journalDir+"/txn_1.json", string(journal))
		d.write(journalDir+"/other.json", "{")
		d.stage(v)
		line := string(ojson.Compact(row)) + "\n"
		switch {
		case done == 1:
			d.appendTo(wire.LedgerHistory.Path(), line[:len(line)/2])
		case done > 1:
			d.appendTo(wire.LedgerHistory.Path(), line)
		}
		if done > 2 {
			d.appendTo(wire.LedgerDecisions.Path(), string(ojson.Compact(ledger[0]))+"\n")
		}
		if done > 3 {
			d.appendTo(wire.LedgerDecisions.Path(), string(ojson.Compact(ledger[1]))+"\n")
			d.write(string(wire.DocState), string(ojson.Pretty(next)))
		}
		tx, err := d.store.Begin(context.Background(), "test", time.Second)
		if err != nil {
			t.Fatalf("step %d: %+v", done, err)
		}
		if n := tx.View().Notices; len(n) != 2 {
			t.Errorf("step %d: notices %q", done, n)
		}
		if tx.View().State.ActiveTurns.Len() != 0 || tx.View().Index.Accepted != 3 {
			t.Errorf("step %d: %+v", done, tx.View().State)
		}
		_ = tx.Close()
		if d.store.exists(journalDir + "/txn_1.json") {
			t.Errorf("step %d: the journal is still there", done)
		}
		if d.store.exists(wire.StagingPath(turn)) {
			t.Errorf("step %d: the staged result is still there", done)
		}
		checkRows(t, d)
		if n := strings.Count(d.read(wire.LedgerDecisions.Path()), "DEC-90"); n != 2 {
			t.Errorf("step %d: %d ledger rows", done, n)
		}
		d.turns(1)
		d.clean()
	}
}
