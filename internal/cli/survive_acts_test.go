// The changing commands whose system calls fail one by one, each with a place to run in.

package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/faults"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
)

// acts maps names to functions that prepare the acts.
var acts = map[string]func(*act){
	"accept":            acceptAct,
	"accept-review":     reviewAct,
	"assign":            assignAct,
	"assign-first":      assignFirstAct,
	"reject":            rejectAct,
	"approve":           approveAct,
	"checkpoint":        checkpointAct,
	"accept-checkpoint": acceptCheckpointAct,
	"proposal":          proposalAct,
	"sync-push":         syncPushAct,
	"sync-fetch":        syncFetchAct,
	"sync-join":         syncJoinAct,
	"restore":           restoreAct,
	"restore-join":      restoreJoinAct,
	"repair":            repairAct,
	"recover":           recoverAct,
	"archive":           archiveAct,
	"multi-step":        multiStepAct,
	"multi-gate":        multiGateAct,
	"multi-vote":        multiVoteAct,
	"multi-abandon":     multiAbandonAct,
}

// newAct makes the place.
func newAct(t *testing.T, name string) *act {
	t.Helper()
	testrepo.InMemory()
	asAda(t)
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	a := &act{t: t, name: name, base: filepath.Join(base, "w"), dir: "p", trees: []string{"p"}}
	for _, dir := range []string{"home", "tmp"} {
		if err := os.MkdirAll(filepath.Join(a.base, dir), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	return a
}

// do runs what comes before the act, in a directory below the base.
func (a *act) do(dir string, command ...string) string {
	a.t.Helper()
	out, err := at(filepath.Join(a.base, dir), a.env(), command[0], command[1:]...)
	if err != nil {
		a.t.Fatalf("%v: %v\n%s", command, err, out)
	}
	return out
}

// project makes a governed project with one role that writes, a gate for a person, and files of a person:
// committed, staged, changed, new and ignored ones.
func (a *act) project(dir string, members ...string) {
	a.do(".", append([]string{"project", dir,
		`roles={"dev":{"title":"Dev","mandate":"Build it.","write_authority":"authoritative","runtime":"manual"}}`,
		`runtimes={"manual":{"type":"manual"}}`,
		`routing={"build":{"entry_role":"dev","allowed_next_roles":["dev","human"],"exit_gate":"done"}}`,
		`gates={"done":{"requires_human_approval":true}}`, `prompts={}`, `workflow_kit=`, `approval_policy=`,
		`rules.challenge_required=false`},
		members...)...)
	write(a.t, filepath.Join(a.base, dir), "mine/tracked.txt", person)
	write(a.t, filepath.Join(a.base, dir), ".git/info/exclude", "ignored.txt\n")
	a.do(dir, "git", "add", "-A")
	a.do(dir, "git", "commit", "-q", "-m", "of a person")
	write(a.t, filepath.Join(a.base, dir), "mine/ignored.txt", person)
}

// ag runs git agentxchain in the project.
func (a *act) ag(args ...string) string {
	a.t.Helper()
	return a.do(a.dir, append([]string{"git", "agentxchain"}, args...)...)
}

const surviveEvidence = `verification={"status":"pass","commands":["true"],"evidence_summary":"ran",` +
	`"machine_evidence":[{"command":"true","exit_code":0}]}`

// stage stages a result of the active turn.
func (a *act) stage(dir string, members ...string) {
	a.do(dir, append([]string{"stage", "proposed_next_role=human", surviveEvidence}, members...)...)
}

// written makes the active turn write two files, one of them in new directories.
func (a *act) written() {
	write(a.t, filepath.Join(a.base, a.dir), "main.go", "package main\n")
	write(a.t, filepath.Join(a.base, a.dir), "deep/down/new.txt", "new\n")
	a.stage(a.dir, `files_changed=["main.go","deep/down/new.txt"]`, `artifact={"type":"workspace","ref":"git:dirty"}`)
}

const surviveHooks = `hooks={"before_acceptance":[{"name":"ask","type":"process","command":["true"],"timeout_ms":30000,"mode":"advisory"}],` +
	`"after_acceptance":[{"name":"tell","type":"process","command":["true"],"timeout_ms":30000,"mode":"advisory"}]}`

func acceptAct(a *act) {
	a.project("p", surviveHooks)
	a.ag("assign", "dev")
	a.written()
	a.args = []string{"accept"}
}

func reviewAct(a *act) {
	a.project("p")
	a.ag("assign", "dev")
	a.stage("p", `artifact={"type":"review"}`)
	a.args = []string{"accept"}
}

func assignFirstAct(a *act) {
	a.project("p")
	a.args = []string{"assign", "dev"}
}

func assignAct(a *act) {
	reviewAct(a)
	a.ag("accept")
	a.args = []string{"assign", "dev"}
}

func rejectAct(a *act) {
	reviewAct(a)
	a.args = []string{"reject", "--reason", "thin"}
}

func approveAct(a *act) {
	a.project("p")
	a.ag("assign", "dev")
	a.stage("p", `artifact={"type":"review"}`, "run_completion_request=true")
	a.ag("accept")
	a.args = []string{"approve"}
}

func checkpointAct(a *act) {
	acceptAct(a)
	a.ag("accept")
	a.args = []string{"checkpoint"}
}

func acceptCheckpointAct(a *act) {
	a.project("p")
	a.ag("assign", "dev")
	a.written()
	a.args, a.again = []string{"accept", "--checkpoint"}, []string{"checkpoint"}
}

func proposalAct(a *act) {
	a.do(".", "project", "p",
		`roles.arch={"title":"Architect","mandate":"Propose.","write_authority":"proposed","runtime":"api"}`,
		`runtimes.api={"type":"api_proxy","provider":"anthropic","model":"m","auth_env":"KEY"}`,
		`routing.planning.allowed_next_roles=["arch","human"]`)
	write(a.t, filepath.Join(a.base, "p"), "src.txt", "old\n")
	a.do("p", "git", "add", "-A")
	a.do("p", "git", "commit", "-q", "-m", "base")
	a.ag("assign", "arch")
	a.do("p", "stage", `artifact={"type":"patch"}`, "files_changed=[]", "proposed_next_role=human",
		`proposed_changes=[{"path":"src.txt","action":"modify","content":"new\n"},{"path":"b.txt","action":"create","content":"b\n"}]`)
	a.ag("accept")
	a.args = []string{"proposal", "apply"}
}

// remote gives the project a bare repository beside it.
func (a *act) remote() {
	a.do(".", "git", "init", "-q", "--bare", "-b", "main", "server.git")
	a.do("p", "git", "remote", "add", "origin", filepath.Join(a.base, "server.git"))
	a.do("p", "git", "push", "-q", "-u", "origin", "main")
	a.bare = []string{"server.git"}
}

func syncPushAct(a *act) {
	a.project("p")
	a.remote()
	a.do("p", "git", "config", "agentxchain.sync", "manual")
	a.ag("assign", "dev")
	a.args, a.repeats = []string{"sync"}, true
}

// syncFetchAct makes a clone take over what was recorded elsewhere.
func syncFetchAct(a *act) {
	a.cloneInSync()
	a.stage("p", `artifact={"type":"review"}`)
	a.ag("accept")
	a.ag("assign", "dev")
	a.ag("sync")
	a.dir, a.trees = "clone", []string{"clone"}
}

// syncJoinAct makes a clone join what was recorded elsewhere with what was done here since.
func syncJoinAct(a *act) {
	a.cloneInSync()
	a.ag("inject", "Name the files", "--priority", "p1")
	a.ag("sync")
	a.dir, a.trees = "clone", []string{"clone"}
	a.ag("inject", "Sort the sidebar", "--priority", "p1")
}

// cloneInSync makes the server of syncPushAct and a clone of it that has the run.
func (a *act) cloneInSync() {
	syncPushAct(a)
	a.ag("sync")
	a.do(".", "git", "clone", "-q", "server.git", "clone")
	a.do("clone", "git", "config", "agentxchain.sync", "manual")
	a.do("clone", "git", "agentxchain", "sync")
}

func restoreAct(a *act) {
	approveAct(a)
	a.ag("export", "--no-record", "-o", "../run.json")
	a.do(".", "git", "clone", "-q", "p", "clone")
	a.dir, a.trees, a.args = "clone", []string{"clone"}, []string{"restore", "../run.json"}
}

// restoreJoinAct joins the record in an artifact with what was done here since.
func restoreJoinAct(a *act) {
	approveAct(a)
	a.ag("export", "-o", "../run.json")
	a.do(".", "git", "clone", "-q", "p", "clone")
	a.do("clone", "git-agentxchain", "restore", "../run.json")
	a.do("clone", "git-agentxchain", "inject", "Sort the sidebar", "--priority", "p1")
	a.ag("inject", "Name the files", "--priority", "p1")
	a.ag("export", "-o", "../on.json")
	a.dir, a.trees, a.args = "clone", []string{"clone"}, []string{"restore", "../on.json"}
}

// repairAct restores overwritten working files of a run.
func repairAct(a *act) {
	assignAct(a)
	a.ag("assign", "dev")
	name := filepath.Join(a.base, "p", ".agentxchain", "history.jsonl")
	if err := os.WriteFile(name, []byte("{}\n"), 0o666); err != nil {
		a.t.Fatal(err)
	}
	a.args, a.repairs = []string{"repair", "--from-ref", "--yes"}, true
}

// recoverAct completes what a killed command left.
func recoverAct(a *act) {
	acceptAct(a)
	if out, err := at(filepath.Join(a.base, "p"), append(a.env(), faults.Env+"=commit.after-ref"), "git-agentxchain",
		"accept"); err == nil {
		a.t.Fatalf("it was not killed: %s", out)
	}
	a.args, a.repairs = []string{"doctor", "--fix"}, true
}

func archiveAct(a *act) {
	syncPushAct(a)
	a.ag("abandon", "--reason", "tried")
	run := a.do("p", "git", "for-each-ref", "--format=%(refname:lstrip=3)", "refs/agentxchain/runs")
	a.ag("assign", "dev", "--new-run")
	a.ag("sync")
	a.args, a.moves, a.repeats = []string{"runs", "archive", run}, true, true
}

const surviveInitiative = `{"schema_version":"0.1","project":{"id":"shop","name":"Shop"},
"repos":{"api":{"path":"../api"},"web":{"path":"../web"}},
"workstreams":{"build":{"phase":"implementation","repos":["api","web"],"entry_repo":"api","depends_on":[],"completion_barrier":"all_repos_accepted"}},
"routing":{"implementation":{}}}`

// initiative makes an initiative over two repositories, whose first turn is accepted and not counted yet. gates
// is the exit gate of each.
func (a *act) initiative(result, gates string) { a.initiativeOf(result, gates, surviveInitiative, "") }

// initiativeOf makes an initiative with a given configuration, whose workspace lists who signs.
func (a *act) initiativeOf(result, gates, multi, signers string) {
	for _, r := range []string{"api", "web"} {
		a.do(".", "project", r, "approval_policy=", "gates="+gates, "workflow_kit={}",
			"rules.challenge_required=false",
			`routing={"implementation":{"entry_role":"dev","allowed_next_roles":["dev","human"],"exit_gate":"built"}}`)
	}
	a.do(".", "git", "init", "-q", "-b", "main", "ws")
	write(a.t, filepath.Join(a.base, "ws"), "agentxchain-multi.json", multi)
	if signers != "" {
		write(a.t, filepath.Join(a.base, "ws"), ".agentxchain/allowed_signers", signers)
	}
	a.do("ws", "git", "add", "-A")
	a.do("ws", "git", "commit", "-q", "-m", "workspace")
	a.dir, a.trees = "ws", []string{"ws", "api", "web"}
	a.ag("multi", "init")
	a.ag("multi", "step")
	a.accepted("api", result)
	a.more = func() string {
		left, _ := filepath.Glob(filepath.Join(a.base, "ws", ".agentxchain", "multirepo", "*pending*"))
		return strings.Join(left, " ")
	}
}

// accepted makes an accepted turn of a repository of the initiative.
func (a *act) accepted(repo, result string) {
	write(a.t, filepath.Join(a.base, repo), "src/"+repo+".txt", repo+"\n")
	a.stage(repo, `files_changed=["src/`+repo+`.txt"]`, result)
	a.do(repo, "git", "agentxchain", "accept", "--checkpoint")
}

func multiStepAct(a *act) {
	a.initiative("summary=built", `{"built":{}}`)
	a.args, a.again = []string{"multi", "step"}, []string{"multi", "run"}
}

// multiAbandonAct ends an initiative that has a recovery report.
func multiAbandonAct(a *act) {
	a.initiative("summary=built", `{"built":{}}`)
	write(a.t, filepath.Join(a.base, "ws"), ".agentxchain/multirepo/RECOVERY_REPORT.md", "# Recovery Report\n")
	a.args, a.again = []string{"multi", "abandon", "--reason", "tried"}, []string{"multi", "resync"}
}

// multiVoteAct gives the first of two signatures that the end of an initiative needs.
func multiVoteAct(a *act) {
	const done = "run_completion_request=true"
	a.do("home", "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "ada", "-f", "ada")
	key := strings.Join(strings.Fields(a.do("home", "cat", "ada.pub"))[:2], " ")
	authority := `"authority":{"approvers":{"leads":{"principals":["ada@example.org","bob@example.org"],"threshold":2}},` +
		`"gates":{"initiative_ship":{"by":"leads","signed":true}},"protected_branch":"main"}}`
	a.initiativeOf(done, `{"built":{"requires_human_approval":true}}`,
		strings.TrimSuffix(surviveInitiative, "}")+","+authority, "ada@example.org "+key+"\n")
	a.do("ws", "git", "config", "gpg.format", "ssh")
	a.do("ws", "git", "config", "user.signingKey", filepath.Join(a.base, "home", "ada"))
	a.ag("multi", "step")
	a.accepted("web", done)
	a.ag("multi", "step")
	a.args, a.again = []string{"multi", "approve-gate", "--yes", "--sign"}, []string{"multi", "resync"}
}

// multiGateAct makes the decision that completes both runs and the initiative together.
func multiGateAct(a *act) {
	const done = "run_completion_request=true"
	a.initiative(done, `{"built":{"requires_human_approval":true}}`)
	a.ag("multi", "step")
	a.accepted("web", done)
	a.ag("multi", "step")
	a.args, a.again = []string{"multi", "approve-gate"}, []string{"multi", "resync"}
}
