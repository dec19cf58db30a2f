// Intents: work that people put in front of the run (docs/intake.md).

package runner

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/projectfile"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// maxIntentFiles bounds how many files of intents are looked at.
const maxIntentFiles = 1000

// IntentSpec is work a person asks for.
type IntentSpec = protocol.IntentSpec

// Intent is an intent as it is recorded, or as it lies in the work tree.
type Intent struct {
	Document *ojson.Object
	Event    *ojson.Object // nil when it is not there or cannot be read
	Recorded bool          // the run's record has it; the file alone counts otherwise
	Turn     string        // the active turn that works on it, "" for none
	Waits    bool          // it is handed out to a turn of the run to come
}

// Injected is the outcome of Inject.
type Injected struct {
	Done
	Intent    *ojson.Object
	Duplicate bool // an intent that says the same and is not over was found
}

// Inject records approved work for the run. Before a run has begun, or after it is over,
// the intent is a file that the next run takes. An intent with the same description and
// priority that is not over is returned instead. It is refused from inside a dispatched
// turn.
//
// Errors: inside_dispatched_turn, invalid_argument and those of every change.
func (r *Runner) Inject(ctx context.Context, spec *IntentSpec) (*Injected, error) {
	out := &Injected{}
	v, err := r.View(ctx)
	if err != nil {
		return out, err
	}
	if refusal := protocol.CheckInjector(r.actor(ctx)); refusal != nil {
		return out, refusal
	}
	if refusal := spec.Check(v.Config); refusal != nil {
		return out, refusal
	}
	all, err := r.intents(v)
	if err != nil {
		return out, err
	}
	for _, x := range all {
		signal := x.Event.Object("signal")
		if !v.State.Status.Ended() && x.Waits && signal.String("description") == wire.TrimSpace(spec.Description) && signal.String("priority") == spec.Priority {
			out.Intent, out.Duplicate = x.Document, true
			return out, nil
		}
	}
	if v.State.Run() == "" || v.State.Status.Ended() {
		env := protocol.Env{Now: r.Now(), Seed: r.opt.Seed()}
		intent, event := protocol.NewIntent(spec, &env, "")
		r.clearMarker(v.State)
		var files []gitstore.NewFile
		for _, f := range protocol.IntentFiles(intent, event, env.Time()) {
			if data, err := projectfile.Read(r.store.Dir(), f.Path, protocol.MaxIntentBytes); f.Path == protocol.PriorityMarker && (err != nil || data != nil) {
				continue // another urgent one is marked
			}
			files = append(files, gitstore.NewFile{Path: f.Path, Data: f.Data})
		}
		out.Intent = intent
		return out, r.store.WriteNew(files)
	}
	done, err := r.do(ctx, "inject", func(context.Context, *change) (protocol.Operation, error) {
		return &protocol.InjectIntent{Spec: *spec}, nil
	})
	out.Done = *done
	if done.Transition != nil {
		if res, ok := done.Transition.Result.(*protocol.InjectResult); ok {
			out.Intent = res.Intent
		}
	}
	return out, err
}

// Intents lists the intents of the project, the newest first.
func (r *Runner) Intents(ctx context.Context) ([]*Intent, error) {
	v, err := r.View(ctx)
	if err != nil {
		return nil, err
	}
	return r.intents(v)
}

func (r *Runner) intents(v *View) ([]*Intent, error) {
	files, err := r.intentFiles()
	if err != nil {
		return nil, err
	}
	var out []*Intent
	seen, bound := make(map[string]bool), make(map[string]string)
	for id, t := range v.State.ActiveTurns.All() {
		if t != nil {
			bound[t.IntakeContext.String("intent_id")] = id
		}
	}
	add := func(doc *ojson.Object, recorded bool) {
		id := doc.String("intent_id")
		if !protocol.IntentID(id) || seen[id] {
			return
		}
		seen[id] = true
		out = append(out, &Intent{
			Document: doc,
			Event:    r.intakeEvent(doc.String("event_id")),
			Recorded: recorded,
			Turn:     bound[id],
			Waits:    bound[id] == "" && protocol.IntentOpen(doc) && (recorded || v.State.Run() == "" && doc.Bool("cross_run_durable") || protocol.IntentOf(doc, v.State.Run())),
		})
	}
	for _, e := range v.State.Intents {
		doc := e.Object("document")
		// Between turns another tool may have settled it; the next assignment records that.
		if v.State.ActiveTurns.Len() == 0 {
			for _, f := range files {
				if now, err := ojson.DecodeObject(f.Data); err == nil && f.Path == protocol.IntentPath(doc.String("intent_id")) &&
					protocol.IntentPath(now.String("intent_id")) == f.Path && !protocol.IntentOpen(now) {
					doc = now
				}
			}
		}
		add(doc, true)
	}
	for _, f := range files {
		if doc, err := ojson.DecodeObject(f.Data); err == nil && protocol.IntentPath(doc.String("intent_id")) == f.Path {
			add(doc, false)
		}
	}
	slices.SortStableFunc(out, func(a, b *Intent) int {
		return cmp.Compare(b.Document.String("created_at"), a.Document.String("created_at"))
	})
	return out, nil
}

// intentFiles reads the files of intents. One that cannot be read is as one that is not
// there.
func (r *Runner) intentFiles() ([]protocol.FileWrite, error) {
	if r.store == nil { // the files of an artifact: what they hold of intents is in the state
		return nil, nil
	}
	root, err := os.OpenRoot(r.store.Dir())
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	list, err := fs.ReadDir(root.FS(), protocol.IntentsDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, projectfile.Unreadable(protocol.IntentsDir, err)
	}
	var out []protocol.FileWrite
	for _, e := range list[:min(len(list), maxIntentFiles)] {
		id, ok := strings.CutSuffix(e.Name(), ".json")
		if !ok || !protocol.IntentID(id) {
			continue
		}
		data, err := projectfile.Read(r.store.Dir(), protocol.IntentPath(id), protocol.MaxIntentBytes)
		if err == nil && data != nil {
			out = append(out, protocol.FileWrite{Path: protocol.IntentPath(id), Data: data})
		}
	}
	return out, nil
}

// intakeEvent reads what an intent came from, nil when it cannot be.
func (r *Runner) intakeEvent(id string) *ojson.Object {
	file := protocol.IntakeEventsDir + "/" + id + ".json"
	if clean, problem := wire.CleanPath(file); problem != "" || clean != file || path.Dir(file) != protocol.IntakeEventsDir {
		return nil
	}
	if r.store == nil {
		return nil
	}
	data, err := projectfile.Read(r.store.Dir(), file, protocol.MaxIntentBytes)
	if err != nil || data == nil {
		return nil
	}
	o, err := ojson.DecodeObject(data)
	if err != nil {
		return nil
	}
	return o
}

// intake is what an assignment is told of intents: those that wait, and those on record.
func (c *change) intake() ([]protocol.IntentFile, error) {
	s := c.view.State
	files, err := c.r.intentFiles()
	if err != nil {
		return nil, err
	}
	var out []protocol.IntentFile
	there := make(map[string]bool)
	for _, f := range files {
		there[f.Path] = true
		doc, err := ojson.DecodeObject(f.Data)
		recorded := protocol.Intent(s, strings.TrimSuffix(path.Base(f.Path), ".json"))
		if recorded == nil && (err != nil || !protocol.IntentOpen(doc) || !protocol.IntentOf(doc, s.Run())) {
			continue
		}
		if recorded != nil && err == nil && bytes.Equal(ojson.Compact(doc), ojson.Compact(recorded)) {
			continue
		}
		event := c.r.intakeEvent(doc.String("event_id"))
		out = append(out, protocol.IntentFile{
			Path:     f.Path,
			Blob:     evidence.NewBlob(f.Data),
			Source:   run.Clip(event.String("source"), 100),
			Category: run.Clip(event.String("category"), 100),
		})
	}
	for _, e := range s.Intents {
		if p := protocol.IntentPath(e.Object("document").String("intent_id")); !there[p] {
			out = append(out, protocol.IntentFile{Path: p})
		}
	}
	return out, nil
}

// intakeOf tells an acceptance which intents on record have other files by now, and of
// the intent of a turn that another tool bound.
func (c *change) intakeOf(op *protocol.AcceptTurn, turn *run.Turn) error {
	files, err := c.intake()
	if err != nil {
		return err
	}
	for _, f := range files {
		id := strings.TrimSuffix(path.Base(f.Path), ".json")
		if protocol.Intent(c.view.State, id) != nil {
			op.Touched = append(op.Touched, id)
		}
	}
	id := turn.IntakeContext.String("intent_id")
	if !protocol.IntentID(id) || protocol.Intent(c.view.State, id) != nil {
		return nil
	}
	data, err := c.readFile(protocol.IntentPath(id), protocol.MaxIntentBytes)
	if err != nil || data == nil {
		return err
	}
	op.Intent = evidence.NewBlob(data)
	return nil
}

// clearMarker removes the marker of an urgent intent that does not wait any more, as the
// reference does when it meets one.
func (r *Runner) clearMarker(s *run.State) {
	if p := r.PriorityIntent(); p != nil {
		if doc := protocol.Intent(s, p.ID); doc == nil || protocol.IntentOpen(doc) {
			return
		}
	}
	if root, err := os.OpenRoot(r.store.Dir()); err == nil {
		_ = root.Remove(protocol.PriorityMarker)
		_ = root.Close()
	}
}
