// What is kept of a session besides its run: who asked for what, in one small file.

package server

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/durable"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/interop/alx"
)

// record is one session as it was requested. It is written before the request is answered and has
// only the run's id and how to begin it: the run's ref says how far it has come. Members that
// another version has written survive.
type record struct {
	Schema         string      `json:"schema_version"`
	SessionID      string      `json:"session_id"`
	ExecutionID    string      `json:"execution_id"`
	Seed           string      `json:"seed"` // of the run's first operation; the execution id follows from it
	Order          int64       `json:"order"`
	UserID         string      `json:"user_id"`
	Intent         string      `json:"intent"`
	Constraints    ojson.Value `json:"constraints,omitempty"`
	CorrelationID  string      `json:"correlation_id"`
	IdempotencyKey string      `json:"idempotency_key,omitempty"`
	RequestDigest  string      `json:"request_digest"`
	CreatedAt      string      `json:"created_at"`
	Base           string      `json:"base"` // commit that the branch begins at
	Branch         string      `json:"branch"`
	Workspace      string      `json:"workspace"` // absolute directory of the linked work tree
	Failed         *alx.Error  `json:"failed,omitempty"`
	FailedAt       string      `json:"failed_at,omitempty"`
	SettledAt      string      `json:"settled_at,omitempty"` // when the run was complete and its branch settled
	RemovedAt      string      `json:"workspace_removed_at,omitempty"`
	Extra          ojson.Extra
}

const recordSchema = "1"

// maxRecord bounds a session's file, in bytes: an intent and its constraints, with room.
const maxRecord = 4 << 20

// records is the directory of the session files.
type records struct{ dir string }

func (r records) path(id string) string { return filepath.Join(r.dir, id+".json") }

// save writes a session durably and atomically.
func (r records) save(rec *record) error {
	if err := os.MkdirAll(r.dir, 0o700); err != nil {
		return err
	}
	return durable.WriteFile(r.dir, rec.SessionID+".json", ojson.Pretty(ojson.Marshal(rec)), 0o600)
}

// load reads every session. problems names those that cannot be read, which are left alone.
func (r records) load() (list []*record, problems []string, err error) {
	entries, err := os.ReadDir(r.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	for _, e := range entries {
		id, ok := strings.CutSuffix(e.Name(), ".json")
		if !ok || !alx.SaneSessionID(id) || !e.Type().IsRegular() {
			continue
		}
		rec, err := r.read(id)
		if err != nil {
			problems = append(problems, fmt.Sprintf("%s: %v", r.path(id), err))
			continue
		}
		list = append(list, rec)
	}
	return list, problems, nil
}

func (r records) read(id string) (*record, error) {
	f, err := os.Open(r.path(id))
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	fi, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if fi.Size() > maxRecord {
		return nil, fmt.Errorf("larger than %d bytes", maxRecord)
	}
	data := make([]byte, fi.Size())
	if _, err := f.ReadAt(data, 0); err != nil && len(data) > 0 {
		return nil, err
	}
	doc, err := ojson.DecodeObject(data)
	if err != nil {
		return nil, err
	}
	rec := &record{}
	if wrong := ojson.Unmarshal(doc, rec); len(wrong) > 0 {
		return nil, fmt.Errorf("%s must be %s, not %s", wrong[0].Path, wrong[0].Want, wrong[0].Got)
	}
	if rec.SessionID != id || rec.ExecutionID == "" || !filepath.IsAbs(rec.Workspace) {
		return nil, errors.New("not the record of that session")
	}
	return rec, nil
}
