// Registrations and sessions of runners, kept in a file of the git directory that only its owner
// can read: a restart of the server forgets none.

package control

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/durable"
)

// session is one registration of a runner.
type session struct {
	ID      string `json:"session_id"`
	Runner  string `json:"runner_id"`
	Runtime string `json:"runtime_id,omitempty"` // the only runtime it serves; any when empty
	// tokens of AgentRole it serves; any when both lists are empty
	Roles        []string  `json:"roles,omitempty"`
	RoleIDs      []string  `json:"role_ids,omitempty"`
	MaxLeases    int       `json:"max_parallel_leases"` // no limit when 0
	RegisteredAt time.Time `json:"registered_at"`
	SeenAt       time.Time `json:"seen_at"`
}

const (
	sessionsFile   = "runner-control.json"
	maxSessionFile = 4 << 20
	maxSessions    = 1000
	sessionAge     = 7 * 24 * time.Hour // without a request, until it is forgotten
	seenEvery      = time.Minute        // how old seen_at on disk may be
)

// sessions holds all registrations. It is safe for concurrent use.
type sessions struct {
	mu   sync.Mutex
	dir  string
	now  func() time.Time
	byID map[string]*session
}

type sessionDoc struct {
	Sessions []*session `json:"sessions"`
}

// openSessions reads the registrations below dir. An unreadable file is moved aside, never
// overwritten: runners register again.
func openSessions(dir string, now func() time.Time) (*sessions, error) {
	s := &sessions{dir: dir, now: now, byID: make(map[string]*session)}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("the git directory cannot be written to: %w", err)
	}
	doc, err := readSessions(filepath.Join(dir, sessionsFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return s, nil
	case err != nil:
		aside := filepath.Join(dir, fmt.Sprintf("%s.damaged-%d", sessionsFile, now().Unix()))
		if err := os.Rename(filepath.Join(dir, sessionsFile), aside); err != nil {
			return nil, err
		}
		return s, nil
	}
	for _, one := range doc.Sessions {
		if one != nil && one.ID != "" && one.Runner != "" {
			s.byID[one.ID] = one
		}
	}
	return s, nil
}

func readSessions(path string) (*sessionDoc, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	if st, err := f.Stat(); err != nil || !st.Mode().IsRegular() {
		return nil, errors.Join(err, errors.New("not a regular file"))
	}
	data, err := io.ReadAll(io.LimitReader(f, maxSessionFile+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxSessionFile {
		return nil, errors.New("too large")
	}
	doc := &sessionDoc{}
	return doc, json.Unmarshal(data, doc)
}

// add registers a runner under a new session, durably.
func (s *sessions) add(one session) (*session, error) {
	var raw [16]byte
	_, _ = rand.Read(raw[:]) // never fails: it crashes the process instead
	one.ID = "session-" + hex.EncodeToString(raw[:])
	one.RegisteredAt = s.now().UTC()
	one.SeenAt = one.RegisteredAt
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget(one.size())
	s.byID[one.ID] = &one
	if err := s.save(); err != nil {
		delete(s.byID, one.ID)
		return nil, err
	}
	copied := one
	return &copied, nil
}

// get returns a copy of a session of a runner, nil when there is none, and notes that it was seen.
func (s *sessions) get(id, runner string) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.byID[id]
	if one == nil || one.Runner != runner {
		return nil
	}
	if now := s.now().UTC(); now.Sub(one.SeenAt) > seenEvery {
		one.SeenAt = now
		_ = s.save() // only the time until it is forgotten depends on it
	}
	copied := *one
	return &copied
}

// size returns the most that a session takes in the file.
func (one *session) size() int {
	n := 500 + 6*(len(one.Runner)+len(one.Runtime)) // six: of what JSON escapes
	for _, id := range slices.Concat(one.Roles, one.RoleIDs) {
		n += 6*len(id) + 20
	}
	return n
}

// forget drops sessions that were unused for long, and the oldest beyond the bounds, so that there is room for one
// more of a size: no server would read a file that is too large.
func (s *sessions) forget(room int) {
	now := s.now()
	all := make([]*session, 0, len(s.byID))
	for id, one := range s.byID {
		if now.Sub(one.SeenAt) > sessionAge {
			delete(s.byID, id)
			continue
		}
		all = append(all, one)
		room += one.size()
	}
	slices.SortFunc(all, func(a, b *session) int { return a.SeenAt.Compare(b.SeenAt) })
	for len(all) > 0 && (len(all) >= maxSessions || room > maxSessionFile) {
		delete(s.byID, all[0].ID)
		room -= all[0].size()
		all = all[1:]
	}
}

func (s *sessions) save() error {
	doc := sessionDoc{Sessions: make([]*session, 0, len(s.byID))}
	for _, one := range s.byID {
		doc.Sessions = append(doc.Sessions, one)
	}
	slices.SortFunc(doc.Sessions, func(a, b *session) int { return a.RegisteredAt.Compare(b.RegisteredAt) })
	data, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		return err
	}
	return durable.WriteFile(s.dir, sessionsFile, append(data, '\n'), 0o600)
}
