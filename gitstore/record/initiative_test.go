package record

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/initiative"
)

const initiativeConfig = `{"schema_version":"0.1","project":{"id":"shop","name":"Shop"},"repos":{"api":{"path":"../api"}},` +
	`"workstreams":{"plan":{"phase":"planning","repos":["api"],"entry_repo":"api","depends_on":[],"completion_barrier":"all_repos_accepted"}},` +
	`"routing":{"planning":{},"qa":{}}}`

func initiativeState(phase, status string) []byte {
	return fmt.Appendf(nil,
		`{"schema_version":"0.1","super_run_id":"srun_1","project_id":"shop","status":%q,"phase":%q,"repo_runs":{},`+
			`"pending_gate":null,"phase_gate_status":{},"created_at":"2026-01-02T03:04:05.000Z","updated_at":"2026-01-02T03:04:05.000Z"}`, status, phase)
}

// TestVerifyInitiativeRefuses forges the next change of a valid record, each in one way.
func TestVerifyInitiativeRefuses(t *testing.T) {
	r := testrepo.New(t, testrepo.Options{})
	ctx := context.Background()
	repo, err := git.Discover(ctx, r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = repo.Close() }()
	row := `{"type":"run_initialized","super_run_id":"srun_1"}` + "\n"
	files := map[string][]byte{
		initiative.ConfigFile: []byte(initiativeConfig),
		initiative.StatePath:  initiativeState("planning", "active"),
		initiative.BarriersPath: []byte(
			`{"plan_completion":{"workstream_id":"plan","type":"all_repos_accepted","status":"pending","required_repos":["api"],"satisfied_repos":[]}}`),
		initiative.HistoryPath: []byte(row + row),
	}
	commit := func(edit func(in *Initiative)) object.OID {
		t.Helper()
		in := Initiative{Run: "srun_1", Op: "step", Subject: "step", State: files[initiative.StatePath],
			Files: maps.Clone(files),
			Env:   protocol.Env{Now: time.Unix(1e9, 0), Actor: evidence.Actor{Name: "Ada", Email: "ada@example.org"}}}
		edit(&in)
		up, err := PrepareInitiative(ctx, repo, in)
		if err != nil {
			t.Fatal(err)
		}
		return up.New
	}
	first := commit(func(*Initiative) {})
	r.Git("update-ref", InitiativeRefPrefix+"srun_1", string(first))
	if err := VerifyInitiative(ctx, repo, "srun_1", first, "", "shop"); err != nil {
		t.Fatal(err)
	}
	set := func(name, data string) func(*Initiative) {
		return func(in *Initiative) { in.Files[name] = []byte(data) }
	}
	state := func(phase, status string) func(*Initiative) {
		return func(in *Initiative) {
			in.State = initiativeState(phase, status)
			in.Files[initiative.StatePath] = in.State
		}
	}
	for name, c := range map[string]struct {
		edit func(*Initiative)
		want string
	}{
		"onward":              {set(initiative.HistoryPath, row+row+row), ""},
		"a row is gone":       {set(initiative.HistoryPath, row), "does not go on"},
		"a ledger is gone":    {func(in *Initiative) { delete(in.Files, initiative.HistoryPath) }, "does not go on"},
		"a file of its own":   {set(initiative.Dir+"/run.sh", "x"), "not a file of an initiative"},
		"a name that escapes": {set(initiative.ContextDir+"/nul./x", "x"), "not a file of an initiative"},
		"outside":             {set("src/main.go", "x"), "not a file of an initiative"},
		"another state": {func(in *Initiative) {
			in.State, in.Files[initiative.HistoryPath] = []byte("x"), []byte(row+row+row)
		}, "not the one it was made with"},
		"a phase":        {state("qa", "active"), "no row of the history approves"},
		"no phase of it": {state("ship", "active"), "agentxchain-multi.json does not have"},
		"complete":       {state("planning", "completed"), "no row of the history completes"},
		"abandoned": {func(in *Initiative) {
			in.State = bytes.Replace(in.State, []byte(`"active"`),
				[]byte(`"blocked","abandoned_at":"2026-01-02T03:04:05.000Z"`), 1)
			in.Files[initiative.StatePath] = in.State
		}, "no row of the history abandons"},
		"a barrier": {set(initiative.BarriersPath, strings.Replace(string(files[initiative.BarriersPath]), "pending",
			"satisfied", 1)),
			"no acceptance in the history"},
		"other people": {func(in *Initiative) {
			in.State = bytes.Replace(in.State, []byte(`"status"`), []byte(`"authority_base":"`+strings.Repeat("1", 40)+`","status"`), 1)
			in.Files[initiative.StatePath] = in.State
		}, "it changes authority_base"},
		"another project": {set(initiative.ConfigFile, strings.Replace(initiativeConfig, `"shop"`, `"other"`, 1)),
			"belongs to project other"},
	} {
		err := VerifyInitiative(ctx, repo, "srun_1", commit(c.edit), first, "shop")
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	// A link among the files, and two parents.
	tree := strings.Replace(r.Git("ls-tree", "-r", string(first)), "100644 blob", "120000 blob", 1)
	r.Git("read-tree", "--empty")
	for line := range strings.SplitSeq(tree, "\n") {
		f := strings.Fields(line)
		r.Git("update-index", "--add", "--cacheinfo", f[0]+","+f[2]+","+f[3])
	}
	linked := object.OID(r.Git("commit-tree", "-p", string(first), "-m", r.Git("show", "-s", "--format=%B",
		string(first)), r.Git("write-tree")))
	two := object.OID(r.Git("commit-tree", "-p", string(first), "-p", string(linked), "-m", r.Git("show", "-s",
		"--format=%B", string(first)),
		string(first)+"^{tree}"))
	for _, op := range []object.OID{linked, two} {
		if err := VerifyInitiative(ctx, repo, "srun_1", op, first, "shop"); fail.CodeOf(err) != CodeUnproven {
			t.Errorf("%v, want %s", err, CodeUnproven)
		}
	}
}
