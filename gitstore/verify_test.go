package gitstore

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/proof"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/external"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// verdict verifies the run's tip.
func (d *driver) verdict(run string) *proof.Verdict {
	d.t.Helper()
	v, err := proof.Verify(context.Background(), d.store.repo, run, "")
	if err != nil {
		d.t.Fatal(err)
	}
	return v
}

// recordedState edits the state an operation recorded.
func recordedState(t testing.TB, d *driver, e *record.Edit, run string, change func(o *ojson.Object)) {
	t.Helper()
	recordedDoc(t, d, e, run, record.FileState, change)
}

// recordedDoc edits a document an operation recorded.
func recordedDoc(t testing.TB, d *driver, e *record.Edit, run, name string, change func(o *ojson.Object)) {
	t.Helper()
	r := d.store.reader(context.Background())
	data, _, err := r.File(mustTree(t, r, run, d), name)
	if err != nil {
		t.Fatal(err)
	}
	o, err := ojson.DecodeObject(data)
	if err != nil {
		t.Fatal(err)
	}
	change(o)
	if err := e.Put(name, ojson.Pretty(o)); err != nil {
		t.Fatal(err)
	}
}

func externalRecord(t testing.TB, d *driver, e *record.Edit, detail *ojson.Object) {
	t.Helper()
	doc, _ := (&protocol.Record{
		Rules:  protocol.RuleSet,
		Name:   protocol.OpExternal,
		Env:    d.env("x"),
		Detail: detail,
	}).Encode()
	if err := e.Put(record.FileRecord, doc); err != nil {
		t.Fatal(err)
	}
}

func TestVerify(t *testing.T) {
	pass := func(o *ojson.Object) { o.Set("phase_gate_status", ojson.NewObject("release", wire.GatePassed)) }
	weaker := func(o *ojson.Object) { o.Object("roles").Object("qa").Set("write_authority", "authoritative") }
	t.Run("own operations are known", func(t *testing.T) {
		d := started(t)
		run := d.view().Run
		d.verdict(run) // a copied directory has no valid notes
		d.must(d.acceptOp)
		v := d.verdict(run)
		if !v.Sound() || v.Checked != 0 || len(v.Open) != 0 {
			t.Fatalf("%+v", v)
		}
	})
	t.Run("without the notes everything is checked", func(t *testing.T) {
		d := started(t)
		run := d.view().Run
		if err := os.RemoveAll(filepath.Join(d.store.repo.CommonDir, "agentxchain", "verified")); err != nil {
			t.Fatal(err)
		}
		v := d.verdict(run)
		if !v.Sound() || v.Checked == 0 {
			t.Fatalf("%+v", v)
		}
		if v = d.verdict(run); v.Checked != 0 {
			t.Fatalf("checked again: %+v", v)
		}
		fi, err := os.Stat(noteOf(t, d.store.repo))
		if err != nil || fi.Mode().Perm()&0o077 != 0 {
			t.Fatalf("the note can be read by others: %v %v", fi, err)
		}
	})
	t.Run("notes of another directory are worth nothing", func(t *testing.T) {
		d := started(t)
		run := d.view().Run
		copied := filepath.Join(t.TempDir(), "copy")
		if err := os.CopyFS(copied, os.DirFS(d.Dir)); err != nil {
			t.Fatal(err)
		}
		r, err := git.DiscoverBare(context.Background(), copied)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = r.Close() }()
		v, err := proof.Verify(context.Background(), r, run, "")
		if err != nil || v.Checked == 0 || !v.Sound() {
			t.Fatalf("%+v %v", v, err)
		}
	})
	for _, c := range []struct {
		name, op string
		edit     func(t testing.TB, d *driver, e *record.Edit, run string)
		says     string // in a finding, "" when it is valid
		open     string // claims
	}{
		{"another state under the old record", "accept_turn",
			func(t testing.TB, d *driver, e *record.Edit, run string) {
				recordedState(t, d, e, run, pass)
			}, "", ""},
		{"a gate passed by hand as another tool's work", protocol.OpExternal,
			func(t testing.TB, d *driver, e *record.Edit, run string) {
				externalRecord(t, d, e, nil)
				recordedState(t, d, e, run, pass)
			}, "no event says so", ""},
		{"as a person's repair", protocol.OpExternal, func(t testing.TB, d *driver, e *record.Edit, run string) {
			externalRecord(t, d, e, ojson.NewObject("accepted_by", ojson.NewObject("name", "A")))
			recordedState(t, d, e, run, pass)
		}, "", "gate release passed"},
		{"as the work of another rule set", "approve_transition",
			func(t testing.TB, d *driver, e *record.Edit, run string) {
				doc, _ := (&protocol.Record{Rules: 1, Name: "approve_transition", Env: d.env("x")}).Encode()
				if err := e.Put(record.FileRecord, doc); err != nil {
					t.Fatal(err)
				}
				recordedState(t, d, e, run, pass)
			}, "", "gate release passed"},
		{"a digest for the rules that no ledger yields", protocol.OpExternal,
			func(t testing.TB, d *driver, e *record.Edit, runID string) {
				externalRecord(t, d, e, nil)
				if err := e.Put(record.FileIndex, (&run.Index{Run: runID, Accepted: 99}).Encode()); err != nil {
					t.Fatal(err)
				}
			}, "", "the digest of the ledgers does not follow from them"},
		{"weaker rules that were not adopted", protocol.OpExternal,
			func(t testing.TB, d *driver, e *record.Edit, run string) {
				externalRecord(t, d, e, nil)
				recordedDoc(t, d, e, run, record.FileConfig, weaker)
			}, "", "the run's rules became weaker without config adopt"},
		{"weaker rules and what they would let through", protocol.OpExternal,
			func(t testing.TB, d *driver, e *record.Edit, run string) {
				externalRecord(t, d, e, nil)
				recordedDoc(t, d, e, run, record.FileConfig, weaker)
				recordedState(t, d, e, run, pass)
			}, "no event says so", ""},
		{"files in another tool's work", protocol.OpExternal, func(t testing.TB, d *driver, e *record.Edit, _ string) {
			externalRecord(t, d, e, nil)
			if err := e.Put(record.DirFiles+"/000000/00/reviews/x.md", []byte("fine\n")); err != nil {
				t.Fatal(err)
			}
		}, "hold files of operations", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := started(t)
			v := d.view()
			forgeCommit(t, d, v.Run, c.op, func(e *record.Edit) { c.edit(t, d, e, v.Run) })
			got := d.verdict(v.Run)
			var open []external.Claim
			for _, x := range got.Open {
				open = append(open, x.Claim)
			}
			if words := external.ClaimsInWords(open); c.open != "" && words != c.open {
				t.Errorf("open: %q, want %q", words, c.open)
			}
			if c.open != "" {
				if !got.Sound() {
					t.Errorf("%+v", got.Findings)
				}
				return
			}
			if got.Sound() || got.Good != v.Op || fail.CodeOf(got.Err()) != record.CodeUnproven {
				t.Fatalf("%+v %v", got, got.Err())
			}
			if c.says != "" && !strings.Contains(got.Findings[0].Message, c.says) {
				t.Errorf("%q", got.Findings[0].Message)
			}
		})
	}
}

// TestVerifyOnAServer checks a run in a bare repository.
func TestVerifyOnAServer(t *testing.T) {
	d := started(t)
	v := d.view()
	bare := filepath.Join(t.TempDir(), "server.git")
	gitIn(t, d.Dir, "clone", "-q", "--bare", ".", bare)
	gitIn(t, d.Dir, "push", "-q", bare, git.RunRefPrefix+v.Run)
	r, err := git.DiscoverBare(context.Background(), bare)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	got, err := proof.Verify(context.Background(), r, v.Run, "")
	if err != nil || !got.Sound() || got.Checked == 0 {
		t.Fatalf("%+v %v", got, err)
	}
	forgeCommit(t, d, v.Run, "accept_turn", func(e *record.Edit) {
		recordedState(t, d, e, v.Run, func(o *ojson.Object) { o.Set("phase", "elsewhere") })
	})
	gitIn(t, d.Dir, "push", "-q", bare, git.RunRefPrefix+v.Run)
	if got, err = proof.Verify(context.Background(), r, v.Run, ""); err != nil || got.Sound() || got.Checked != 1 {
		t.Fatalf("%+v %v", got, err)
	}
}

// noteOf returns the only note of verified operations in a repository.
func noteOf(t *testing.T, r *git.Repository) string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(r.CommonDir, "agentxchain", "verified", "*"))
	if err != nil || len(list) != 1 {
		t.Fatalf("%v %v", list, err)
	}
	return list[0]
}
