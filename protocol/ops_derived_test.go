// Tests of derived files, decisions and repo decisions.

package protocol

import (
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/ledger"
	"github.com/git-agentxchain/git-agentxchain/protocol/result"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

func TestDerivedReview(t *testing.T) {
	w := startedWorld(t, nil)
	turn := w.assign("crit")
	tr := w.accept(turn.TurnID, "summary", "fine\n## Verification\nforged")
	path := wire.ReviewsDir + "/" + turn.TurnID + "-crit-review.md"
	body := string(w.files[path])
	if len(tr.Files) != 1 || w.lastRow(wire.LedgerHistory).Object("artifact").String("ref") != path ||
		strings.Count(body, "\n## Verification") != 1 || !strings.Contains(body, "OBJ-001") {
		t.Errorf("files %v\n%s", tr.Files, body)
	}
	// A name that contains the turn's name is kept; an earlier turn's review, or a path that leaves the directory,
	// is not written.
	own := w.assign("crit")
	for _, ref := range []string{path, wire.ReviewsDir + "/x.md"} {
		w.stage(own.TurnID, "artifact", ojson.NewObject("type", "review", "ref", ref))
		tr, err := Apply(w.snapshot(), w.acceptance(own.TurnID), w.env())
		if err != nil || tr.Files[0].Path != wire.ReviewsDir+"/"+own.TurnID+"-crit-review.md" {
			t.Errorf("%s: %v %v", ref, err, tr)
		}
	}
	ref := wire.ReviewsDir + "/" + own.TurnID + "-notes.md"
	if tr := w.accept(own.TurnID, "artifact", ojson.NewObject("type", "review", "ref", ref)); tr.Files[0].Path != ref {
		t.Errorf("files %v", tr.Files[0].Path)
	}
	// Other runtimes write their own.
	if tr := w.accept(w.assign("pm").TurnID); len(tr.Files) != 0 {
		t.Error("a manual review was derived")
	}
}

func TestDerivedProposal(t *testing.T) {
	w := startedWorld(t, nil)
	w.write("src/a.go", "before")
	w.commit()
	turn := w.assign("arch")
	patch := []any{"artifact", obj(`{"type":"patch"}`), "files_changed", []string{"src/a.go", "src/b.go"},
		"proposed_changes"}
	for _, bad := range []string{
		`[{"path":"APPLIED.json","action":"create","content":"{}"}]`,
		`[{"path":"proposal.md","action":"create","content":"x"}]`,
		`[{"path":"src/b.go","action":"create","content":"1"},{"path":"./src/b.go","action":"create","content":"2"}]`,
		`[{"path":"src","action":"create","content":"1"},{"path":"src/b.go","action":"create","content":"2"}]`,
	} {
		tr := w.refuse(wire.CodeValidationFailed, turn.TurnID, append(patch, arr(bad))...)
		if tr.Failure.Stage != result.StageArtifact || tr.Result.(*AcceptResult).Validation.OK {
			t.Errorf("%s: stage %s", bad, tr.Failure.Stage)
		}
	}
	tr := w.accept(turn.TurnID,
		append(patch,
			arr(`[{"path":"src/a.go","action":"modify","content":"after"},{"path":"src/b.go","action":"create","content":""},{"path":"README.md","action":"delete"}]`))...)
	dir := wire.ProposedDir + "/" + turn.TurnID
	if len(tr.Files) != 4 || string(w.files[dir+"/src/a.go"]) != "after" || w.files[dir+"/README.md"] != nil ||
		w.lastRow(wire.LedgerHistory).Object("artifact").String("ref") != dir {
		t.Errorf("files %v", tr.Files)
	}
	if md := string(w.files[dir+"/PROPOSAL.md"]); !strings.Contains(md, "- `src/b.go` — create\n") {
		t.Errorf("%s", md)
	}
	snap := obj(string(w.files[dir+"/SOURCE_SNAPSHOT.json"])).Objects("files")
	if snap[0].String("sha256") != w.mark("src/a.go") || !snap[0].Bool("existed") || snap[1].Bool("existed") {
		t.Errorf("snapshot %s", ojson.Compact(snap))
	}
	// A proposal leaves nothing in the work tree to checkpoint.
	if w.index.Uncheckpointed.Len() != 0 {
		t.Errorf("uncheckpointed %v", w.index.Uncheckpointed.Keys())
	}
	w.write("src/a.go", "by hand")
	w.fails(wire.CodeDirtyTree, w.assignment("dev"))
}

func decisionsOf(ids ...string) []any {
	out := []any{}
	for _, id := range ids {
		id, flag, _ := strings.Cut(id, " ")
		d := ojson.NewObject("id", id, "category", "scope", "statement", "statement of "+id, "rationale", "because")
		switch {
		case flag == "repo":
			d.Set("durability", "repo")
		case flag != "":
			d.Set("overrides", flag)
		}
		out = append(out, d)
	}
	return out
}

func TestDecisionsAreNumberedOncePerRun(t *testing.T) {
	w := startedWorld(t, nil)
	tr := w.accept(w.assign("pm").TurnID, "decisions", decisionsOf("DEC-001", "DEC-002", "DEC-1"))
	w.wantEntries(tr, "DEC-001 DEC-002 DEC-003")
	tr = w.accept(w.assign("dev").TurnID, "decisions", decisionsOf("DEC-002", "DEC-007"))
	w.wantEntries(tr, "DEC-008 DEC-007")
	w.wantEvents(tr, "staged_result_auto_normalized turn_accepted")
	if p := added(tr, wire.LedgerEvents)[0].Object("payload"); p.String("original_value") != "DEC-002" ||
		p.String("normalized_value") != "DEC-008" {
		t.Errorf("payload %s", ojson.Compact(p))
	}
	if got := w.lastRow(wire.LedgerHistory).Objects("decisions")[0].String("id"); got != "DEC-008" {
		t.Errorf("history says %s", got)
	}
	if w.index.Decisions != 5 || len(w.index.RecentDecisions) != 5 {
		t.Errorf("index %s", w.index.Encode())
	}
}

func TestRepoDecisions(t *testing.T) {
	w := startedWorld(t, sets("roles.pm.decision_authority", 50, "roles.dev.decision_authority", 10,
		"run_loop.non_progress_threshold", 99))
	w.accept(w.assign("pm").TurnID, "decisions", decisionsOf("DEC-001 repo"))
	if row := w.lastRow(wire.LedgerRepoDecisions); row.String("id") != "DEC-001" || row.String("status") != "active" ||
		row.String("run_id") != w.state.Run() {
		t.Errorf("row %s", ojson.Compact(row))
	}
	turn := w.assign("dev")
	tr := w.refuse(wire.CodeOverrideFailed, turn.TurnID, "decisions", decisionsOf("DEC-002 DEC-001"))
	if tr.Failure.Problems[0].Code != ledger.ProblemOverrideAuthority {
		t.Errorf("problem %v", tr.Failure.Problems)
	}
	w.accept(turn.TurnID)
	tr = w.accept(w.assign("pm").TurnID, "decisions", decisionsOf("DEC-002 DEC-001"))
	if len(tr.Amends) != 1 || tr.Amends[0].Ledger != wire.LedgerRepoDecisions {
		t.Fatalf("amends %v", tr.Amends)
	}
	rows := w.rows(wire.LedgerRepoDecisions)
	if len(rows) != 2 || rows[0].String("status") != "overridden" || rows[0].String("overridden_by") != "DEC-002" ||
		rows[1].String("durability") != "repo" {
		t.Errorf("rows %s", ojson.Compact(rows))
	}
	w.refuse(wire.CodeOverrideFailed, w.assign("pm").TurnID, "decisions", decisionsOf("DEC-003 DEC-001"))
}

// In the next run a durable decision gets a number that no repo decision has: overrides find their target by it.
func TestRepoDecisionIDsAcrossRuns(t *testing.T) {
	w := startedWorld(t, nil)
	w.accept(w.assign("pm").TurnID, "decisions", decisionsOf("DEC-001 repo"))
	w.must(&Escalate{Reason: "x"})
	w.must(w.start(InitRun{Restart: true}))
	tr := w.accept(w.assign("pm").TurnID, "decisions", decisionsOf("DEC-001", "DEC-001 repo", "DEC-005 repo"))
	w.wantEntries(tr, "DEC-001 DEC-006 DEC-005")
	tr = w.accept(w.assign("pm").TurnID, "decisions", decisionsOf("DEC-007 DEC-001"))
	w.wantEntries(tr, "DEC-007")
	if len(tr.Amends) != 1 {
		t.Errorf("%d rows overridden", len(tr.Amends))
	}
}
