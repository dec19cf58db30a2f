// A governed project in memory for the tests of the operations: a work tree with commits, staged results, ledgers.
// Every operation is checked against the invariants (ops_invariants_test.go); ops_acts_test.go has the possible
// actions.

package protocol

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/gates"
	"github.com/git-agentxchain/git-agentxchain/protocol/result"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// testingT is what testing.T, testing.B and rapid.T have in common.
type testingT interface {
	Helper()
	Fatalf(format string, args ...any)
	Errorf(format string, args ...any)
}

type opsWorld struct {
	t       testingT
	cfg     *config.Config
	state   *run.State
	index   *run.Index
	ledgers map[wire.Ledger][]byte
	session *ojson.Object
	tasks   []byte
	files   map[string][]byte // written by operations

	revs   []map[string]string // path -> contents, one per commit
	work   map[string]string
	staged map[string]*ojson.Object

	now    time.Time
	step   time.Duration // how far the clock advances per operation
	ops    int
	actor  evidence.Actor
	checks bool // check every operation against the invariants

	same, sameOf *config.Config // see equal
}

// opsConfig returns a configuration of three phases with a reviewer, two writers and two API roles. edit may change
// the document.
func opsConfig(t testingT, edit func(cfg *ojson.Object)) *config.Config {
	t.Helper()
	doc, err := ojson.DecodeObject([]byte(`{
  "schema_version": "1.0",
  "project": {"id": "p", "name": "P"},
  "roles": {
    "pm":   {"title": "PM", "mandate": "plan", "write_authority": "review_only", "runtime": "man"},
    "dev":  {"title": "Dev", "mandate": "build", "write_authority": "authoritative", "runtime": "man"},
    "ops":  {"title": "Ops", "mandate": "build", "write_authority": "authoritative", "runtime": "loc"},
    "qa":   {"title": "QA", "mandate": "check", "write_authority": "review_only", "runtime": "man"},
    "arch": {"title": "Arch", "mandate": "propose", "write_authority": "proposed", "runtime": "api"},
    "crit": {"title": "Crit", "mandate": "review", "write_authority": "review_only", "runtime": "api"}
  },
  "runtimes": {
    "man": {"type": "manual"},
    "loc": {"type": "local_cli", "command": ["true"]},
    "api": {"type": "api_proxy", "provider": "anthropic", "model": "m", "auth_env": "KEY"}
  },
  "routing": {
    "planning": {"entry_role": "pm", "allowed_next_roles": ["pm","dev","ops","qa","arch","crit","human"], "exit_gate": "plan_ok", "max_concurrent_turns": 4},
    "build":    {"entry_role": "dev", "allowed_next_roles": ["pm","dev","ops","qa","arch","crit","human"], "exit_gate": "build_ok", "max_concurrent_turns": 4},
    "ship":     {"entry_role": "qa", "allowed_next_roles": ["pm","dev","ops","qa","arch","crit","human"], "exit_gate": "ship_ok", "max_concurrent_turns": 4}
  },
  "gates": {
    "plan_ok": {"requires_files": ["docs/plan.md"], "requires_human_approval": true},
    "build_ok": {"requires_files": ["docs/build.md"]},
    "ship_ok": {"requires_human_approval": true}
  },
  "workflow_kit": {},
  "rules": {"max_turn_retries": 2}
}`))
	if err != nil {
		t.Fatalf("config: %v", err)
	}
	if edit != nil {
		edit(doc)
	}
	cfg, problems, err := config.Decode(ojson.Pretty(doc))
	if err != nil || len(problems) > 0 {
		t.Fatalf("config: %v %v", err, problems)
	}
	return cfg
}

// set changes a nested member of a document: set(cfg, "gates.ship_ok.credentialed", true).
func set(doc *ojson.Object, path string, v any) {
	keys := strings.Split(path, ".")
	for _, k := range keys[:len(keys)-1] {
		next := doc.Object(k)
		if next == nil {
			next = &ojson.Object{}
			doc.Set(k, next)
		}
		doc = next
	}
	doc.Set(keys[len(keys)-1], v)
}

func sets(pairs ...any) func(*ojson.Object) {
	return func(doc *ojson.Object) {
		for i := 0; i+1 < len(pairs); i += 2 {
			set(doc, pairs[i].(string), pairs[i+1])
		}
	}
}

func obj(text string) *ojson.Object {
	o, err := ojson.DecodeObject([]byte(text))
	if err != nil {
		panic(err)
	}
	return o
}

func arr(text string) []any { return obj(`{"a":` + text + `}`).Array("a") }

// newOpsWorld returns an idle project with one commit.
func newOpsWorld(t testingT, edit func(cfg *ojson.Object)) *opsWorld {
	t.Helper()
	w := &opsWorld{
		t:       t,
		cfg:     opsConfig(t, edit),
		ledgers: make(map[wire.Ledger][]byte),
		files:   make(map[string][]byte),
		work:    make(map[string]string),
		staged:  make(map[string]*ojson.Object),
		now: time.Date(2026, 1, 2, 3, 4, 5, 0,
			time.UTC),
		step:   time.Second,
		checks: true,
		actor:  evidence.Actor{Name: "Ada", Email: "ada@example.org", Terminal: true},
	}
	w.state = w.reread(run.FreshState(w.cfg, ""))
	w.index = &run.Index{}
	w.work["README.md"] = "readme"
	w.commit()
	return w
}

// startedWorld returns a project with a run.
func startedWorld(t testingT, edit func(cfg *ojson.Object)) *opsWorld {
	t.Helper()
	w := newOpsWorld(t, edit)
	w.must(&InitRun{Prior: evidence.NewBlob(w.state.Encode())})
	return w
}

// inPhase moves a fresh run to the phase by hand-made approvals.
func (w *opsWorld) inPhase(phase string) *opsWorld {
	w.t.Helper()
	for w.state.Phase != phase {
		role := w.cfg.Route(w.state.Phase).EntryRole
		w.write("docs/plan.md", "plan")
		w.write("docs/build.md", "build")
		w.commit()
		turn := w.assign(role)
		members := []any{"phase_transition_request", w.cfg.NextPhase(w.state.Phase)}
		if role == "dev" {
			w.write("src/main.go", "code of "+turn.TurnID)
			members = append(members, "files_changed", []string{"src/main.go"})
		}
		w.accept(turn.TurnID, members...)
		if w.state.Status == wire.StatusPaused {
			w.must(w.approval())
		}
		w.commit()
	}
	return w
}

// --- work tree

func (w *opsWorld) commit() string {
	w.revs = append(w.revs, maps.Clone(w.work))
	return w.head()
}

func rev(n int) string { return fmt.Sprintf("%040x", n+1) }

func (w *opsWorld) head() string { return rev(len(w.revs) - 1) }

func (w *opsWorld) write(path, content string) { w.work[path] = content }

func mark(content string, ok bool) string {
	if !ok {
		return "deleted"
	}
	return "sha256:" + evidence.NewBlob([]byte(content)).Digest
}

func (w *opsWorld) mark(path string) string {
	c, ok := w.work[path]
	return mark(c, ok)
}

func differing(a, b map[string]string) []string {
	var out []string
	for p, c := range a {
		if d, ok := b[p]; !ok || c != d {
			out = append(out, p)
		}
	}
	for p := range b {
		if _, ok := a[p]; !ok {
			out = append(out, p)
		}
	}
	slices.Sort(out)
	return out
}

// dirty lists every dirty path that is not operational.
func (w *opsWorld) dirty() []string {
	return slices.DeleteFunc(differing(w.work, w.revs[len(w.revs)-1]), wire.Operational)
}

func (w *opsWorld) projectDirty() []string {
	return slices.DeleteFunc(w.dirty(), func(p string) bool { return !wire.ProjectOwned(p) })
}

func (w *opsWorld) baseline() *run.Baseline {
	head := w.head()
	b := &run.Baseline{
		Kind:       "git_worktree",
		HeadRef:    &head,
		Clean:      len(w.projectDirty()) == 0,
		CapturedAt: wire.FormatTime(w.now),
	}
	for _, p := range w.dirty() {
		b.DirtySnapshot.Set(p, w.mark(p))
	}
	return b
}

// observe returns what a store reports of the work tree (docs/spec/observation.md#what-is-observed).
func (w *opsWorld) observe(turn *run.Turn) result.Observation {
	base := turn.Baseline
	from := len(w.revs) - 1
	for i := range w.revs {
		if base != nil && rev(i) == wire.OrEmpty(base.HeadRef) {
			from = i
		}
	}
	changed := wire.PathSet(w.dirty(), differing(w.work, w.revs[from]))
	dirty := wire.PathSet(w.dirty())
	if base != nil {
		for _, p := range base.DirtySnapshot.Keys() {
			changed[p] = true
		}
	}
	head, summary := w.head(), "summary"
	o := result.Observation{Available: true, HeadRef: &head, DiffSummary: &summary, Dirty: w.projectDirty()}
	for _, p := range slices.Sorted(maps.Keys(changed)) {
		if !wire.Observable(p) {
			continue
		}
		if base != nil {
			if was, ok := base.DirtySnapshot.Get(p); ok && was == w.mark(p) {
				if dirty[p] {
					o.UnchangedDirt = append(o.UnchangedDirt, p)
				}
				continue
			}
		}
		o.FilesChanged = append(o.FilesChanged, p)
		o.Markers.Set(p, w.mark(p))
	}
	for id, doc := range w.staged {
		if files := doc.Strings("files_changed"); id != turn.TurnID && len(files) > 0 && w.state.ActiveTurns.Has(id) {
			o.Siblings = append(o.Siblings, result.SiblingClaim{TurnID: id, FilesChanged: files})
		}
	}
	slices.SortFunc(o.Siblings, func(a, b result.SiblingClaim) int { return strings.Compare(a.TurnID, b.TurnID) })
	return o
}

func (w *opsWorld) gateFiles() []evidence.FileBlob {
	paths := gates.Files(w.cfg, w.state.Phase)
	if f := w.state.LastGateFailure; f != nil {
		for _, p := range f.MissingFiles {
			if !slices.Contains(paths, p) {
				paths = append(paths, p)
			}
		}
	}
	out := []evidence.FileBlob{}
	for _, p := range paths {
		fb := evidence.FileBlob{Path: p}
		if c, ok := w.work[p]; ok {
			fb.Blob = evidence.NewBlob([]byte(c))
		}
		out = append(out, fb)
	}
	return out
}

// adopting adopts the present configuration in place of was.
func (w *opsWorld) adopting(was *config.Config) *AdoptConfig {
	op := &AdoptConfig{
		Before: config.RulesDigest(was),
		After:  config.RulesDigest(w.cfg),
		Was:    evidence.NewBlob(ojson.Pretty(was.Raw)),
	}
	for _, c := range config.RuleChanges(was, w.cfg) {
		op.Changes = append(op.Changes, AdoptedChange(c))
	}
	return op
}

// blockOnHook blocks the run as a hook does that refuses to accept a turn.
func (w *opsWorld) blockOnHook(turn string) {
	w.must(&Block{
		BlockedOn:   "hook:before_acceptance:h",
		Category:    "hook_block",
		TypedReason: "hook_block",
		Owner:       "human",
		Action:      "x",
		TurnID:      turn,
	})
}
