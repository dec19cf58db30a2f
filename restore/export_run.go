// Exporting a governed run (docs/export.md#what-is-in-it).

package restore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/witness"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// exportRun reads the project at dir while it does not change. repo is a coordinator's name for it; if set, its
// events are collected.
func exportRun(ctx context.Context, dir, repo string, opt ExportOptions) (_ *Export, err error) {
	store, err := gitstore.Open(ctx, dir, gitstore.Options{Now: opt.Now})
	if err != nil {
		return nil, err
	}
	defer func() { _ = store.Close() }()
	reading, err := store.Read(ctx, "export", opt.LockWait)
	if err != nil {
		return nil, err
	}
	defer func() { _ = reading.Close() }()
	view := reading.View
	if view.StateBytes == nil {
		return nil, store.NoRunHere(ctx)
	}
	e := &Export{Kind: KindRun, Notices: slices.Clone(view.Notices)}
	defer func() {
		if err != nil {
			e.Close()
		}
	}()
	r := &runExport{opt: opt, e: e, store: store}
	if r.root, err = os.OpenRoot(store.Dir()); err != nil {
		return nil, failed(".", "cannot be opened: %v", err)
	}
	defer func() { _ = r.root.Close() }()
	if e.spool, err = newSpool(opt.TempDir, opt.InPlace && repo == ""); err != nil {
		return nil, temporary(err)
	}
	r.w = newEntryWriter(e.spool, opt.MaxJSONLEntries)
	r.w.wantRepo = repo
	if err := r.files(ctx); err != nil {
		return nil, err
	}
	if err := r.workspace(ctx); err != nil {
		return nil, err
	}
	switch {
	case opt.Bundle != "":
		e.Bundle, err = bundleOf(ctx, store, view.Run, opt)
	case !opt.Record || view.Run == "":
	case len(e.Cut) > 0:
		e.Cut = append(e.Cut, "the record of the run")
	default:
		err = r.record(ctx, view.Run)
	}
	if err != nil {
		return nil, err
	}
	if opt.Bundle == "" && e.Record == nil && view.Run != "" {
		if n, err := witness.Count(ctx, store.Repository(), view.Run); err == nil && n > 0 {
			e.Notices = append(e.Notices, "What "+text.Count(n, "witness",
				"witnesses")+" signed of the run is not in the artifact; --bundle FILE carries it")
		}
	}
	if err := reading.Still(ctx); err != nil {
		return nil, err
	}
	e.events = r.w.events
	return e, r.assemble()
}

func temporary(err error) error {
	return &wire.Error{
		Code:    "io_failed",
		Message: "The files cannot be kept until the artifact is written: " + err.Error() + ".",
		Hint:    "with --output that is the directory of the artifact, otherwise TMPDIR names one; choose one that can be written",
	}
}

// runExport is one run artifact under construction.
type runExport struct {
	opt       ExportOptions
	e         *Export
	store     *gitstore.Store
	root      *os.Root
	w         *entryWriter
	total     int // number of files before the bound
	left      []string
	dashboard *ojson.Object
	live      bool // its session files are in the artifact
	carried   []workFile
	git       *ojson.Object
}

// largeFile is the size from which a person is told how much a file adds to an artifact: it is in there twice, for
// programs and for people.
const largeFile = 16 << 20

// files writes the entries of all files.
func (r *runExport) files(ctx context.Context) error {
	c, err := collect(r.root, runRoots())
	if err != nil {
		return err
	}
	r.dashboard, r.live = dashboardSession(r.root, r.opt.Live)
	if !r.live {
		// Leftovers of an ended dashboard prove nothing, and a restore would refuse them
		// (docs/compatibility.md#where-we-differ-on-purpose).
		c.paths = slices.DeleteFunc(c.paths, func(p string) bool { return p == pidFile || p == dashboardFile })
	}
	r.left = c.behind
	r.total = len(c.paths)
	paths := bound(c.paths, r.opt.MaxFiles)
	done, found := 0, secretSearch{allowed: r.opt.AllowSecrets}
	err = readFiles(r.root, paths, func(f *fileRead) error {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		done++
		defer r.opt.Progress(done, len(paths))
		found.look(f)
		at := r.w.spool.n
		if err := r.w.entry(f); err != nil {
			return err
		}
		if size := len(f.content); size >= largeFile {
			r.e.Notices = append(r.e.Notices,
				fmt.Sprintf("%s has %d bytes and takes %d of the artifact; --compress makes that less, "+
					"and a file that the run does not need can lie outside of .planning", f.path, size,
					r.w.spool.n-at))
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := found.refusal(); err != nil {
		return err
	}
	e := r.e
	e.Files = len(paths)
	e.Cut = r.w.cut
	if len(paths) < r.total {
		e.Cut = append(e.Cut, fmt.Sprintf("%d of %d files", len(paths), r.total))
	}
	e.Notices = append(e.Notices, c.behind...)
	r.unfit(paths)
	return nil
}

// maxUnfit is how many files that a restore would refuse are named.
const maxUnfit = 20

// unfit notes files whose names a restore refuses, so that the artifact does not promise what it cannot keep.
func (r *runExport) unfit(paths []string) {
	var rules pathRules
	n := 0
	for _, p := range paths {
		if !restorable(p) {
			continue // a restore ignores it
		}
		var refusal *wire.Error
		if !errors.As(rules.check(p), &refusal) {
			continue
		}
		if n++; n <= maxUnfit {
			why := strings.TrimSuffix(refusal.Message, ".")
			r.left = append(r.left, why)
			r.e.Notices = append(r.e.Notices, why)
		}
	}
	if n > maxUnfit {
		r.left = append(r.left, fmt.Sprintf("%d more files have names that a restore refuses", n-maxUnfit))
	}
}

// assemble adds the members around the files.
func (r *runExport) assemble() error {
	e, w := r.e, r.w
	config, err := lenient(w.documents[wire.ConfigPath])
	if err != nil || objectOf(config) == nil {
		return failed(wire.ConfigPath, "is not a JSON object")
	}
	state, err := lenient(w.documents[statePath])
	if err != nil || objectOf(state) == nil {
		return failed(statePath, "is not a JSON object")
	}
	rawConfig, err := compact(w.documents[wire.ConfigPath])
	if err != nil {
		return err
	}
	rawState, err := compact(w.documents[statePath])
	if err != nil {
		return err
	}
	cfg, st := objectOf(config), objectOf(state)
	summary := r.summary(cfg, st)
	e.Run = summary.String("run_id")
	e.head = []part{
		member(true, "schema_version", SchemaVersion),
		member(false, "export_kind", KindRun),
		member(false, "exported_at", wire.FormatTime(r.opt.Now())),
		member(false, "project_root", place(r.opt.From, r.store.Dir())),
		member(false, "project", projectOf(cfg, st)),
		member(false, "summary", summary),
		member(false, "workspace", ojson.NewObject("git", r.git)),
		{text: append(memberName(false, "files"), '{')},
	}
	before := memberName(false, "config")
	if e.Record == nil {
		before = append([]byte("\n}"), before...) // the record itself ends the files
	}
	tail := append(memberName(false, "state"), rawState...)
	if e.Work = len(r.carried); e.Work > 0 {
		tail = append(tail, workMember(r.carried, r.git.String("head_sha"))...)
	}
	e.tail = []part{
		{text: append(before, rawConfig...)},
		{text: append(tail, "\n}"...)},
	}
	return nil
}

// projectOf returns the project's identity (docs/export.md#what-is-in-it).
func projectOf(cfg, state *ojson.Object) *ojson.Object {
	p := objectOf(get(cfg, "project"))
	o := &ojson.Object{}
	set(o, "id", get(p, "id"))
	set(o, "name", get(p, "name"))
	o.Set("goal", orNull(get(p, "goal")))
	o.Set("template", or(get(cfg, "template"), "generic"))
	o.Set("protocol_mode", or(get(cfg, "protocol_mode"), or(get(state, "protocol_mode"), "governed")))
	// The generation of governed configurations, however the file spells it.
	version := get(cfg, "schema_version")
	if s, ok := version.(string); ok && strings.HasPrefix(s, "1.") {
		version = ojson.Int(4)
	}
	set(o, "schema_version", version)
	return o
}

// summary is computed from exactly the bytes in the artifact (docs/export.md#what-is-in-it).
func (r *runExport) summary(cfg, st *ojson.Object) *ojson.Object {
	w := r.w
	var delegated any
	if _, ok := w.rows[wire.LedgerHistory.Path()]; ok {
		delegated, _ = w.history.summary()
	}
	var decided any
	if s := summarizeDecisions(w.decisions, cfg); s != nil {
		decided = s
	}
	phase := orNull(get(st, "phase"))
	counts := &artifact{inFiles: make(map[string]bool)}
	for _, p := range w.paths {
		counts.seen(p)
	}
	return ojson.NewObject(
		"project_goal", orNull(get(objectOf(get(cfg, "project")), "goal")),
		"run_id", orNull(get(st, "run_id")),
		"status", orNull(get(st, "status")),
		"phase", phase,
		"workflow_phase_order", phaseOrder(cfg, phase),
		"provenance", provenanceOf(get(st, "provenance")),
		"inherited_context", orNull(get(st, "inherited_context")),
		"active_turn_ids", turnList(get(st, "active_turns")),
		"retained_turn_ids", turnList(get(st, "retained_turns")),
		"history_entries", w.rows[wire.LedgerHistory.Path()],
		"decision_entries", w.rows[wire.LedgerDecisions.Path()],
		"hook_audit_entries", w.rows[wire.LedgerHookAudit.Path()],
		"notification_audit_entries", w.rows[wire.LedgerNotifications.Path()],
		"dispatch_artifact_files", counts.dispatch,
		"staging_artifact_files", counts.staging,
		"intake_present", counts.intake,
		"coordinator_present", counts.multi,
		"dashboard_session", r.dashboard,
		"delegation_summary", delegated,
		"repo_decisions", decided,
		"export_files_truncated", r.e.Files < r.total,
		"total_collected_files", r.total,
		"included_files", r.e.Files,
	)
}

func turnList(turns any) []string {
	ids := slices.Clone(objectOf(turns).Keys())
	slices.SortStableFunc(ids, collate)
	if ids == nil {
		ids = []string{}
	}
	return ids
}

// phaseOrder returns the order of the phases in routing, null without one. It leaves out an order that would
// contradict the rest of the summary.
func phaseOrder(cfg *ojson.Object, phase any) any {
	routing := objectOf(get(cfg, "routing"))
	if routing.Len() == 0 {
		return nil
	}
	order := []any{}
	for _, p := range routing.Keys() {
		order = append(order, p)
	}
	check := &artifact{}
	check.checkPhaseOrder(ojson.NewObject("workflow_phase_order", order, "phase", phase))
	if len(check.list) > 0 {
		return nil
	}
	return order
}

// provenanceOf returns a run's provenance in the form of artifacts (docs/export.md#what-is-in-it).
func provenanceOf(v any) any {
	p := objectOf(v)
	trigger := p.String("trigger")
	if p == nil || run.NormalizeProvenance(p).String("trigger") != trigger {
		return nil
	}
	full := run.NormalizeProvenance(p)
	out := &ojson.Object{}
	for _, k := range [...]string{"trigger", "parent_run_id", "trigger_reason", "intake_intent_id", "created_by"} {
		set(out, k, get(full, k))
	}
	return out
}
