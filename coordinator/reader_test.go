package coordinator

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/proof"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/gitstore/sibling"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/initiative"
	"github.com/git-agentxchain/git-agentxchain/protocol/result"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// acceptTurn stages a result of the only active turn and accepts it.
func acceptTurn(t testing.TB, dir, seed string) string {
	t.Helper()
	id := ""
	err := operate(context.Background(), dir, nil, seed, func(v *gitstore.View) protocol.Operation {
		turn := v.State.OnlyTurn()
		id = turn.TurnID
		data := ojson.Pretty(ojson.NewObject("schema_version", "1.0", "run_id", v.Run, "turn_id", id, "role", "qa",
			"runtime_id", "m", "status", "completed", "summary", "done",
			"decisions", []*ojson.Object{ojson.NewObject("id", "DEC-001", "category", "scope", "statement", "Small.",
				"rationale", "Easy.")},
			"objections", []*ojson.Object{ojson.NewObject("id", "OBJ-001", "severity", "low", "statement", "Names.",
				"status", "raised")},
			"files_changed", []string{}, "artifacts_created", []string{},
			"verification", ojson.NewObject("status", "skipped", "commands", []string{}, "evidence_summary", "none",
				"machine_evidence", []*ojson.Object{}),
			"artifact", ojson.NewObject("type", "review", "ref", nil), "proposed_next_role", "qa",
			"phase_transition_request", nil, "run_completion_request", false, "needs_human_reason", nil,
			"cost", ojson.NewObject("input_tokens", 1, "output_tokens", 1, "usd", ojson.Number("0.01"))))
		name := filepath.Join(dir, filepath.FromSlash(wire.StagingPath(id)))
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o777), os.WriteFile(name, data, 0o666)); err != nil {
			t.Fatal(err)
		}
		return &protocol.AcceptTurn{
			StagedPath: wire.StagingPath(id),
			Staged:     evidence.NewBlob(data),
			Seen:       result.Observation{Available: true},
			Files:      []evidence.FileBlob{},
			Proposed:   []evidence.FileBlob{},
		}
	})
	if err != nil {
		t.Fatalf("%+v", err)
	}
	return id
}

func giveOut(t testing.TB, dir, seed string) {
	t.Helper()
	if err := operate(context.Background(), dir, nil, seed, giveTurn); err != nil {
		t.Fatalf("%+v", err)
	}
}

func readAll(t testing.TB, dir string, opt ReadOptions) (initiative.Children, wire.Problems) {
	t.Helper()
	d, err := open(t, dir).Read()
	if err != nil {
		t.Fatal(err)
	}
	if opt.Cache == "" {
		opt.Cache = "-"
	}
	return readChildren(context.Background(), d.Config, d.Roots, opt)
}

func about(p wire.Problems, repo string) (codes []string) {
	for _, v := range p {
		if v.Value == repo && v.Field == "repos."+repo {
			codes = append(codes, v.Code)
		}
	}
	return codes
}

func TestReadChildren(t *testing.T) {
	dir := clones(t)
	api, web := filepath.Join(dir, "repos", "api"), filepath.Join(dir, "repos", "web")
	giveOut(t, api, "1")
	first := acceptTurn(t, api, "2")
	giveOut(t, api, "3")
	second := acceptTurn(t, api, "4")
	giveOut(t, web, "5")
	cache := t.TempDir()
	for _, opt := range []ReadOptions{
		{}, {Acceptances: true}, {Acceptances: true, Cache: cache}, {Acceptances: true, Cache: cache},
		{Acceptances: true, Turns: map[string][]string{"api": {first}}},
		{Acceptances: true, Turns: map[string][]string{"api": {second, "turn_never"}}},
	} {
		got, problems := readAll(t, dir, opt)
		if len(problems) > 0 || len(got) != 3 {
			t.Fatalf("%v %v", got, problems)
		}
		if got["web"].State.ActiveTurns.Len() != 1 || got["api"].State.ActiveTurns.Len() != 0 ||
			got["api"].Config == nil || got["api"].Unproven {
			t.Fatalf("%+v", got["api"])
		}
		switch {
		case opt.Acceptances && opt.Turns == nil:
			if got["api"].Accepted(first) == nil || got["api"].Accepted(second) == nil {
				t.Fatalf("%+v", got["api"].Rows)
			}
		case opt.Acceptances:
			if turn := opt.Turns["api"][0]; got["api"].Accepted(turn) == nil {
				t.Fatalf("%+v", got["api"].Rows)
			}
		}
	}
	if list, err := os.ReadDir(cache); err != nil || len(list) != 3 {
		t.Fatalf("%v %v", list, err)
	}
}

func TestReadChildrenWithoutARecord(t *testing.T) {
	dir := clones(t)
	api := filepath.Join(dir, "repos", "api")
	giveOut(t, api, "1")
	turn := acceptTurn(t, api, "2")
	cache := t.TempDir()
	drop := func() {
		t.Helper()
		refs, err := filepath.Glob(filepath.Join(api, ".git/refs/agentxchain/runs/*"))
		if err != nil || len(refs) != 1 {
			t.Fatal(err, refs)
		}
		if err := os.Remove(refs[0]); err != nil {
			t.Fatal(err)
		}
	}
	if _, problems := readAll(t, dir, ReadOptions{Acceptances: true, Cache: cache}); len(problems) > 0 {
		t.Fatal(problems)
	}
	drop()
	got, problems := readAll(t, dir, ReadOptions{Acceptances: true})
	if len(problems) > 0 || !got["api"].Unproven || got["api"].Accepted(turn) == nil {
		t.Fatalf("%v %+v", problems, got["api"])
	}
	// What was once recorded cannot become a mere claim.
	got, problems = readAll(t, dir, ReadOptions{Acceptances: true, Cache: cache})
	if codes := about(problems, "api"); len(codes) != 1 || codes[0] != record.CodeChainBroken ||
		got["api"].State != nil || got["api"].Accepted(turn) != nil {
		t.Fatalf("%v %+v", problems, got["api"])
	}
}

// TestForgedAcceptancesAreNamed forges acceptances in ways that must never count, and leaves the other repositories
// as they are.
func TestForgedAcceptancesAreNamed(t *testing.T) {
	state := string(wire.DocState)
	edit := func(t *testing.T, dir string, f func(*ojson.Object)) {
		o, err := ojson.DecodeObject([]byte(contents(t, dir, state)))
		if err != nil {
			t.Fatal(err)
		}
		f(o)
		write(t, dir, state, string(ojson.Pretty(o)))
	}
	claim := func(t *testing.T, dir, turn string) {
		o, _ := ojson.DecodeObject([]byte(contents(t, dir, state)))
		write(t, dir, wire.LedgerHistory.Path(), contents(t, dir,
			wire.LedgerHistory.Path())+string(ojson.Compact(ojson.NewObject("turn_id", turn,
			"run_id", o.String("run_id"), "role", "qa", "status", "completed", "summary", "forged", "phase", "review",
			"accepted_at", "2026-01-02T04:04:05.000Z")))+"\n")
	}
	// told makes a complete claim, except for the given changes to the row.
	told := func(row ...any) func(t *testing.T, dir, turn string) {
		return func(t *testing.T, dir, turn string) {
			o, _ := ojson.DecodeObject([]byte(contents(t, dir, state)))
			r := ojson.NewObject("turn_id", turn, "run_id", o.String("run_id"), "role", "qa", "status", "completed",
				"summary", "forged", "phase", "review", "accepted_at", "2026-01-02T04:04:05.000Z")
			for i := 0; i < len(row); i += 2 {
				r.Set(row[i].(string), row[i+1])
			}
			event := ojson.NewObject("event_id", "evt_0123456789abcdef", "event_type", run.EventTurnAccepted,
				"timestamp", "2026-01-02T04:04:05.000Z", "run_id", o.String("run_id"), "phase", "review",
				"status", "active", "turn", ojson.NewObject("turn_id", turn, "role_id", "qa"), "intent_id", nil,
				"payload", ojson.NewObject())
			for l, o := range map[wire.Ledger]*ojson.Object{wire.LedgerHistory: r, wire.LedgerEvents: event} {
				write(t, dir, l.Path(), contents(t, dir, l.Path())+string(ojson.Compact(o))+"\n")
			}
			edit(t, dir, func(o *ojson.Object) { o.Set("active_turns", ojson.NewObject()) })
		}
	}
	t.Run("nothing is wrong with it", func(t *testing.T) {
		dir := clones(t)
		api := filepath.Join(dir, "repos", "api")
		giveOut(t, api, "1")
		before, _ := readAll(t, dir, ReadOptions{})
		turn := before["api"].State.ActiveTurns.Keys()[0]
		told()(t, api, turn)
		got, problems := readAll(t, dir, ReadOptions{Acceptances: true})
		if len(problems) > 0 || got["api"].Accepted(turn) == nil || got["api"].Proven(turn) {
			t.Fatalf("%v %+v", problems, got["api"])
		}
	})
	for name, c := range map[string]struct {
		forge func(t *testing.T, dir, turn string)
		code  string
		lost  bool // the repository cannot be believed at all
	}{
		"in another role": {told("role", "dev"), record.CodeLedgerTampered, false},
		"with decisions that no turn made": {told("decisions",
			[]any{ojson.NewObject("id", "DEC-101")}), record.CodeLedgerTampered, false},
		"a row": {claim, CodeForged, false},
		"a row and a state": {func(t *testing.T, dir, turn string) {
			claim(t, dir, turn)
			edit(t, dir, func(o *ojson.Object) { o.Set("active_turns", ojson.NewObject()) })
		}, record.CodeLedgerTampered, false},
		"a record": {func(t *testing.T, dir, turn string) {
			git := func(stdin string, args ...string) string {
				cmd := exec.Command("git", append([]string{"-C", dir}, args...)...)
				cmd.Stdin = strings.NewReader(stdin)
				out, err := cmd.Output()
				if err != nil {
					t.Fatal(args, err)
				}
				return strings.TrimSpace(string(out))
			}
			claim(t, dir, turn)
			edit(t, dir, func(o *ojson.Object) { o.Set("active_turns", ojson.NewObject()) })
			ref := git("", "for-each-ref", "--format=%(refname)", "refs/agentxchain/runs")
			t.Setenv("GIT_INDEX_FILE", filepath.Join(t.TempDir(), "index"))
			git("", "read-tree", ref)
			for path, data := range map[string]string{
				"state.json":               contents(t, dir, state),
				"ledger/history/000000/00": contents(t, dir, wire.LedgerHistory.Path()),
			} {
				git("", "update-index", "--add", "--cacheinfo",
					"100644,"+git(data, "hash-object", "-w", "--stdin")+","+path)
			}
			old := git("", "log", "-1", "--format=%B", ref)
			git("", "update-ref", ref, git(strings.ReplaceAll(old, "assign_turn", "accept_turn"), "commit-tree",
				git("", "write-tree"), "-p", ref))
		}, proof.FindReplay, true},
	} {
		t.Run(name, func(t *testing.T) {
			dir := clones(t)
			api := filepath.Join(dir, "repos", "api")
			giveOut(t, api, "1")
			before, _ := readAll(t, dir, ReadOptions{})
			turn := before["api"].State.ActiveTurns.Keys()[0]
			c.forge(t, api, turn)
			for _, turns := range []map[string][]string{nil, {"api": {turn}}} {
				got, problems := readAll(t, dir, ReadOptions{Acceptances: true, Turns: turns})
				codes := about(problems, "api")
				if len(codes) == 0 || !strings.Contains(strings.Join(codes, " "), c.code) ||
					len(codes) != len(problems) {
					t.Fatalf("%v", problems)
				}
				if got["api"].Accepted(turn) != nil || (got["api"].State == nil) != c.lost {
					t.Fatalf("%+v", got["api"])
				}
				if !c.lost && !got["api"].Active(turn) {
					t.Fatal("the turn is not at work any more")
				}
				if got["web"].State == nil || got["docs"].State == nil {
					t.Fatal("the others suffer")
				}
			}
		})
	}
}

func TestReadChildrenNamesWhatItRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		set  func(dir string) error
		code string
	}{
		"huge state": {func(dir string) error {
			return os.Truncate(filepath.Join(dir, string(wire.DocState)), 1<<30)
		}, fail.CodeUnreadable},
		"no config": {func(dir string) error {
			return os.Remove(filepath.Join(dir, wire.ConfigPath))
		}, "repo_not_governed"},
		"bad config": {func(dir string) error {
			return os.WriteFile(filepath.Join(dir, wire.ConfigPath), []byte(`{"roles":1}`), 0o666)
		}, "repo_not_governed"},
		"git dir is gone": {func(dir string) error {
			return os.WriteFile(filepath.Join(dir, ".git/commondir"), []byte("../../web/.git\n"), 0o666)
		}, sibling.CodeGitDirElsewhere},
	} {
		t.Run(name, func(t *testing.T) {
			dir := clones(t)
			if err := c.set(filepath.Join(dir, "repos", "api")); err != nil {
				t.Fatal(err)
			}
			got, problems := readAll(t, dir, ReadOptions{Acceptances: true})
			if codes := about(problems, "api"); len(codes) != 1 || codes[0] != c.code || got["api"].State != nil ||
				got["web"].State == nil {
				t.Fatalf("%v %+v", problems, got["api"])
			}
		})
	}
}

// manyClones makes a configuration of n repositories that are all clones with a run of some operations.
func manyClones(t testing.TB, n, turns int) (*initiative.Config, *Roots) {
	t.Helper()
	dir := t.TempDir()
	from, err := childTemplate()
	if err != nil {
		t.Fatal(err)
	}
	one := filepath.Join(dir, "one")
	if err := os.CopyFS(one, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	for i := range turns {
		giveOut(t, one, fmt.Sprint("g", i))
		acceptTurn(t, one, fmt.Sprint("a", i))
	}
	giveOut(t, one, "last")
	var repos []string
	for i := range n {
		name := fmt.Sprintf("r%03d", i)
		if err := os.CopyFS(filepath.Join(dir, name), os.DirFS(one)); err != nil {
			t.Fatal(err)
		}
		repos = append(repos, fmt.Sprintf(`%q:{"path":%q}`, name, name))
	}
	cfg, problems, e := initiative.Decode([]byte(`{"schema_version":"0.1","project":{"id":"x","name":"X"},"repos":{` +
		strings.Join(repos, ",") +
		`},"workstreams":{"w":{"phase":"review","repos":["r000"],"entry_repo":"r000","depends_on":[],"completion_barrier":"all_repos_accepted"}},"routing":{"review":{"entry_workstream":"w"}}}`))
	if e != nil || len(problems) > 0 {
		t.Fatal(e, problems)
	}
	workspace := filepath.Join(dir, "workspace")
	if err := os.Mkdir(workspace, 0o777); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		name := fmt.Sprintf("r%03d", i)
		cfg.Repo(name).Path = filepath.Join("..", name)
	}
	roots, problems, _ := resolve(cfg, workspace)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return cfg, roots
}

// BenchmarkReadChildren reads 50 and 500 siblings with a run of 21 operations.
func BenchmarkReadChildren(b *testing.B) {
	for _, n := range []int{50, 500} {
		cfg, roots := manyClones(b, n, 10)
		cache := b.TempDir()
		for _, opt := range []ReadOptions{
			{Cache: "-"},
			{Acceptances: true, Cache: cache},
			{Acceptances: true, Cache: "-"},
		} {
			b.Run(fmt.Sprintf("%d acceptances=%v cache=%v", n, opt.Acceptances, opt.Cache != "-"), func(b *testing.B) {
				for b.Loop() {
					children, problems := readChildren(context.Background(), cfg, roots, opt)
					if len(problems) > 0 || len(children) != n {
						b.Fatal(problems)
					}
				}
			})
		}
	}
}
