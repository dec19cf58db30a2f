// Exporting an initiative with the runs of its repositories (docs/export.md#what-is-in-it).

package restore

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/lockfile"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/initiative"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// coordinatorLock is held while an initiative is exported.
const coordinatorLock = initiative.Dir + "/coordinator.lock"

// exportCoordinator reads the workspace at dir. Its lock is held until the last of its repositories was read, so
// that the initiative does not change meanwhile, and if it cannot be taken the initiative must be the same
// afterwards; each repository is read under its own lock.
func exportCoordinator(ctx context.Context, dir string, opt ExportOptions) (_ *Export, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, failed(dir, "cannot be opened: %v", err)
	}
	defer func() { _ = root.Close() }()
	unlocked := false // an initiative that is not writable here is read again at the end
	if _, err := root.Stat(initiative.Dir); err == nil {
		lock, err := lockfile.Acquire(ctx, filepath.Join(dir, filepath.FromSlash(coordinatorLock)), "export",
			opt.LockWait)
		switch {
		case err == nil:
			defer func() { _ = lock.Release() }()
		case fail.Unwritable(err):
			unlocked = true
		default:
			return nil, err
		}
	}
	e := &Export{Kind: KindCoordinator}
	defer func() {
		if err != nil {
			e.Close()
		}
	}()
	if e.spool, err = newSpool(opt.TempDir, false); err != nil {
		return nil, temporary(err)
	}
	c, err := collect(root, coordinatorRoots())
	if err != nil {
		return nil, err
	}
	w := newEntryWriter(e.spool, opt.MaxJSONLEntries)
	if err := readFiles(root, c.paths, w.entry); err != nil {
		return nil, err
	}
	e.Files, e.Cut, e.Notices = len(c.paths), w.cut, c.behind
	config, err := lenient(w.documents[coordinatorFile])
	if err != nil || objectOf(config) == nil {
		return nil, failed(coordinatorFile, "is not a JSON object")
	}
	cfg := objectOf(config)
	entries, err := e.repositories(ctx, dir, cfg, opt)
	if err != nil {
		return nil, err
	}
	if unlocked {
		for name, was := range w.documents {
			if is, err := root.ReadFile(name); err != nil || !bytes.Equal(is, was) {
				return nil, fail.Errorf(fail.CodeLocked, err, "another command moved the initiative while it was read").
					WithHint("run this again when that command is done")
			}
		}
	}
	raw, err := compact(w.documents[coordinatorFile])
	if err != nil {
		return nil, err
	}
	summary, aggregated := e.coordinatorSummary(w, cfg)
	e.Run = summary.String("super_run_id")
	p := objectOf(get(cfg, "project"))
	short := ojson.Compact(summary)
	e.head = []part{
		member(true, "schema_version", SchemaVersion),
		member(false, "export_kind", KindCoordinator),
		member(false, "exported_at", wire.FormatTime(opt.Now())),
		member(false, "workspace_root", place(opt.From, dir)),
		member(false, "coordinator", ojson.NewObject("project_id", orNull(get(p, "id")),
			"project_name", orNull(get(p, "name")), "schema_version", orNull(get(cfg, "schema_version")),
			"repo_count", size(get(cfg, "repos")), "workstream_count", size(get(cfg, "workstreams")))),
		{text: append(memberName(false, "summary"), short[:len(short)-1]...), write: aggregated},
		{text: append(append([]byte("}"), memberName(false, "files")...), '{')},
	}
	e.tail = append([]part{{text: append(append([]byte("\n}"), memberName(false, "config")...), raw...)}}, entries...)
	return e, nil
}

// repositories exports every repository of the configuration, in order, and returns the member that holds them.
func (e *Export) repositories(ctx context.Context, dir string, cfg *ojson.Object, opt ExportOptions) ([]part, error) {
	parts := []part{{text: append(memberName(false, "repos"), '{')}}
	separator := "\n"
	for id, v := range objectOf(get(cfg, "repos")).All() {
		declared, _ := get(objectOf(v), "path").(string)
		remote, _ := get(objectOf(v), "remote").(string)
		text := ojson.AppendString([]byte(separator), id)
		separator = ",\n"
		e.Repos++
		child, err := exportRepository(ctx, dir, id, declared, remote, opt)
		if err != nil {
			// A concurrent command there, or our own end, is not the repository's fault.
			if ctx.Err() != nil || wire.ErrorCode(err) == fail.CodeLocked || wire.ErrorCode(err) == "io_failed" {
				return nil, err
			}
			message := strings.ToValidUTF8(strings.ReplaceAll(err.Error(), "\n", " "), "\ufffd")
			e.Failed++
			how := "as failed: "
			if errors.Is(err, errOnServer) {
				how = "without its run: "
			}
			e.Notices = append(e.Notices, "The repository "+id+" is in the artifact "+how+message)
			parts = append(parts, part{text: append(append(text, ':'),
				ojson.Compact(ojson.NewObject("ok", false, "path", declared, "error", message))...)})
			continue
		}
		e.repos = append(e.repos, child)
		e.Files += child.Files
		if child.Record != nil {
			e.Records++
		}
		for _, n := range child.Notices {
			e.Notices = append(e.Notices, id+": "+n)
		}
		for _, n := range child.Cut {
			e.Cut = append(e.Cut, id+": "+n)
		}
		text = append(append(append(text, `:{"ok":true,"path":`...), ojson.Compact(declared)...), `,"export":`...)
		parts = append(parts, part{text: text, write: child.write}, part{text: []byte("}")})
	}
	return append(parts, part{text: []byte("\n}\n}")}), nil
}

// errOnServer says why a repository without a problem is not exported.
var errOnServer = errors.New("it is only on its server here; git agentxchain export in a clone of it exports its run")

// exportRepository exports one repository; remote is its server, "" for none. A project above a missing one must
// not be mistaken for it (docs/compatibility.md#where-we-differ-on-purpose).
func exportRepository(ctx context.Context, dir, id, declared, remote string, opt ExportOptions) (*Export, error) {
	if declared == "" {
		return nil, errors.New("agentxchain-multi.json gives it no path")
	}
	at := filepath.FromSlash(declared)
	if !filepath.IsAbs(at) {
		at = filepath.Join(dir, at)
	}
	if _, err := os.Stat(at); remote != "" && errors.Is(err, fs.ErrNotExist) {
		return nil, errOnServer
	}
	if !isFile(filepath.Join(at, wire.ConfigPath)) {
		return nil, errors.New("there is no governed project at " + declared)
	}
	return exportRun(ctx, at, id, opt)
}

// coordinatorSummary returns the summary, and a function that writes the member with the events after it.
func (e *Export) coordinatorSummary(w *entryWriter, cfg *ojson.Object) (*ojson.Object, func(io.Writer) error) {
	document := func(name string) *ojson.Object {
		v, err := lenient(w.documents[multiDir+"/"+name])
		if err != nil {
			return nil
		}
		return objectOf(v)
	}
	state := document("state.json")
	phase := orNull(get(state, "phase"))
	summary := ojson.NewObject(
		"super_run_id", orNull(get(state, "super_run_id")),
		"status", orNull(get(state, "status")),
		"phase", phase,
		"workflow_phase_order", phaseOrder(cfg, phase),
		"repo_run_statuses", repoStatuses(state),
		"barrier_count", document("barriers.json").Len(),
		"history_entries", w.rows[multiDir+"/history.jsonl"],
		"decision_entries", w.rows[multiDir+"/decision-ledger.jsonl"],
	)
	var all []event
	spools := make(map[string]*spool)
	for _, r := range e.repos {
		for _, ev := range r.events {
			spools[ev.repo] = r.spool
		}
		all = append(all, r.events...)
		r.events = nil
	}
	sortEvents(all)
	repos, types := countEvents(all)
	start := ojson.Compact(ojson.NewObject("total_events", len(all), "repos_with_events", repos,
		"event_type_counts", types))
	return summary, func(out io.Writer) error {
		if _, err := out.Write(append(append([]byte(`,"aggregated_events":`), start[:len(start)-1]...),
			`,"events":[`...)); err != nil {
			return err
		}
		for i, ev := range all {
			raw, err := spools[ev.repo].at(ev.start, ev.length)
			if err != nil {
				return err
			}
			o, err := ojson.DecodeLimited(raw, ojson.Limits{Bytes: len(raw) + 1, Depth: 256})
			if err != nil {
				return err
			}
			row := objectOf(o)
			row.Set("repo_id", ev.repo)
			b := []byte{','}
			if i == 0 {
				b = b[:0]
			}
			if _, err := out.Write(append(b, ojson.Compact(row)...)); err != nil {
				return err
			}
		}
		_, err := io.WriteString(out, "]}")
		return err
	}
}
