// The intents of a project in its record and its files (docs/intake.md).

package intake

import (
	"bytes"
	"cmp"
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
	"github.com/git-agentxchain/git-agentxchain/protocol/intents"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// maxIntentFiles bounds how many files of intents are looked at.
const maxIntentFiles = 1000

// Intent is an intent as it is recorded, or as it lies in the work tree.
type Intent struct {
	Document *ojson.Object
	Event    *ojson.Object // nil when it is missing or unreadable
	Recorded bool          // the run's record has it; otherwise only the file counts
	Turn     string        // the active turn that works on it, "" for none
	Waits    bool          // it will be handed out to a turn of the next run
}

// List lists the intents of the run, the newest first. dir is "" for the files of an artifact,
// whose intents are in the state.
func List(dir string, v *gitstore.View) ([]*Intent, error) {
	files, err := readAll(dir)
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
		if !intents.ValidID(id) || seen[id] {
			return
		}
		seen[id] = true
		out = append(out, &Intent{
			Document: doc,
			Event:    event(dir, doc.String("event_id")),
			Recorded: recorded,
			Turn:     bound[id],
			Waits: bound[id] == "" && intents.Open(doc) && (recorded ||
				v.State.Run() == "" && doc.Bool("cross_run_durable") || intents.Of(doc, v.State.Run())),
		})
	}
	for _, e := range v.State.Intents {
		doc := e.Object("document")
		// Between turns another tool may have settled it; the next assignment records that.
		if v.State.ActiveTurns.Len() == 0 {
			for _, f := range files {
				if now, err := ojson.DecodeObject(f.Data); err == nil &&
					f.Path == intents.Path(doc.String("intent_id")) &&
					intents.Path(now.String("intent_id")) == f.Path && !intents.Open(now) {
					doc = now
				}
			}
		}
		add(doc, true)
	}
	for _, f := range files {
		if doc, err := ojson.DecodeObject(f.Data); err == nil &&
			intents.Path(doc.String("intent_id")) == f.Path {
			add(doc, false)
		}
	}
	slices.SortStableFunc(out, func(a, b *Intent) int {
		return cmp.Compare(b.Document.String("created_at"), a.Document.String("created_at"))
	})
	return out, nil
}

// readAll reads the files of intents. An unreadable one counts as missing.
func readAll(dir string) ([]protocol.FileWrite, error) {
	if dir == "" {
		return nil, nil
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	list, err := fs.ReadDir(root.FS(), intents.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, projectfile.Unreadable(intents.Dir, err)
	}
	var out []protocol.FileWrite
	for _, e := range list[:min(len(list), maxIntentFiles)] {
		id, ok := strings.CutSuffix(e.Name(), ".json")
		if !ok || !intents.ValidID(id) {
			continue
		}
		data, err := projectfile.Read(dir, intents.Path(id), intents.MaxBytes)
		if err == nil && data != nil {
			out = append(out, protocol.FileWrite{Path: intents.Path(id), Data: data})
		}
	}
	return out, nil
}

// event reads what an intent came from, nil when it cannot.
func event(dir, id string) *ojson.Object {
	file := intents.EventsDir + "/" + id + ".json"
	if dir == "" || path.Dir(file) != intents.EventsDir {
		return nil
	}
	return document(dir, file, intents.MaxBytes)
}

// document reads a JSON object of the project, nil when it cannot.
func document(dir, file string, limit int64) *ojson.Object {
	if clean, problem := wire.CleanPath(file); problem != "" || clean != file {
		return nil
	}
	data, err := projectfile.Read(dir, file, limit)
	if err != nil || data == nil {
		return nil
	}
	o, err := ojson.DecodeObject(data)
	if err != nil {
		return nil
	}
	return o
}

// Files returns the intents for an assignment: those that wait, and the recorded ones.
func Files(dir string, s *run.State) ([]intents.File, error) {
	files, err := readAll(dir)
	if err != nil {
		return nil, err
	}
	var out []intents.File
	there := make(map[string]bool)
	for _, f := range files {
		there[f.Path] = true
		doc, err := ojson.DecodeObject(f.Data)
		recorded := intents.Recorded(s, strings.TrimSuffix(path.Base(f.Path), ".json"))
		if recorded == nil && (err != nil || !intents.Open(doc) || !intents.Of(doc, s.Run())) {
			continue
		}
		if recorded != nil && err == nil && bytes.Equal(ojson.Compact(doc), ojson.Compact(recorded)) {
			continue
		}
		from := event(dir, doc.String("event_id"))
		out = append(out, intents.File{
			Path:     f.Path,
			Blob:     evidence.NewBlob(f.Data),
			Source:   run.Clip(from.String("source"), 100),
			Category: run.Clip(from.String("category"), 100),
		})
	}
	for _, e := range s.Intents {
		if p := intents.Path(e.Object("document").String("intent_id")); !there[p] {
			out = append(out, intents.File{Path: p})
		}
	}
	return out, nil
}

// Accepting tells an acceptance which recorded intents have different files by now, and the intent of a turn that
// another tool bound. It returns the intents that are only on disk, which the next assignment records.
func Accepting(dir string, s *run.State, op *protocol.AcceptTurn, turn *run.Turn) (unrecorded []string, err error) {
	files, err := Files(dir, s)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		id := strings.TrimSuffix(path.Base(f.Path), ".json")
		switch {
		case intents.Recorded(s, id) != nil:
			op.Touched = append(op.Touched, id)
		case id != turn.IntakeContext.String("intent_id"):
			unrecorded = append(unrecorded, id)
		}
	}
	id := turn.IntakeContext.String("intent_id")
	if !intents.ValidID(id) || intents.Recorded(s, id) != nil {
		return unrecorded, nil
	}
	data, err := projectfile.Read(dir, intents.Path(id), intents.MaxBytes)
	if err != nil || data == nil {
		return unrecorded, err
	}
	op.Recorded = evidence.NewBlob(data)
	return unrecorded, nil
}

// ClearMarker removes the marker of an urgent intent that no longer waits, as the reference does
// when it meets one.
func ClearMarker(dir string, s *run.State) {
	if p := Urgent(dir); p != nil {
		if doc := intents.Recorded(s, p.ID); doc == nil || intents.Open(doc) {
			return
		}
	}
	if root, err := os.OpenRoot(dir); err == nil {
		_ = root.Remove(intents.PriorityMarker)
		_ = root.Close()
	}
}
