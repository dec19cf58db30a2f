// GET /alx/v1/sessions and /alx/v1/sessions/{id} (docs/serve.md#sessions).

package server

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"sort"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/interop/alx"
)

func (s *Server) session(c *call) *alx.Error {
	if why := c.wantsJSON(); why != nil {
		return why
	}
	x := s.index.session(c.id)
	if x == nil {
		return alx.Errorf(alx.CodeSessionNotFound, "There is no session %s.", clip(c.id))
	}
	c.send(http.StatusOK, x.look().body.answer(c.correlation))
	return nil
}

// sessions lists newest first. A cursor names the last session of the previous page by its sort
// key, so sessions that come or go meanwhile move nothing.
func (s *Server) sessions(c *call) *alx.Error {
	if why := c.wantsJSON(); why != nil {
		return why
	}
	limit, why := c.number("limit", alx.DefaultPage, alx.MaxSessionsPage)
	if why != nil {
		return why
	}
	q := c.r.URL.Query()
	status := alx.SessionStatus(q.Get("status"))
	if status != "" && !status.Known() {
		return alx.Errorf(alx.CodeInvalidRequest, "status is %q, which no session has.",
			clip(string(status))).With("field", "status")
	}
	all := s.index.all()
	from := 0
	if text := q.Get("cursor"); text != "" {
		last, ok := readCursor(text)
		if !ok {
			return alx.Errorf(alx.CodeInvalidCursor, "The cursor is not one of this list.")
		}
		from = sort.Search(len(all), func(i int) bool { return newestFirst(last, all[i]) < 0 })
	}
	list := &alx.SessionList{Envelope: alx.NewEnvelope(true, c.correlation), Sessions: []alx.SessionItem{}}
	var last *session
	for _, x := range all[from:] {
		snap := x.look()
		if status != "" && snap.session.Status != status || q.Has("userId") && snap.session.UserID != q.Get("userId") {
			continue
		}
		if len(list.Sessions) == limit {
			list.NextCursor = last.cursor()
			break
		}
		list.Sessions = append(list.Sessions, alx.SessionItem{Session: snap.session})
		last = x
	}
	c.send(http.StatusOK, alx.Encode(list))
	return nil
}

func (s *session) cursor() string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%d.%s", s.order, s.id()))
}

// readCursor returns a session with the sort key of the named one.
func readCursor(text string) (*session, bool) {
	data, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(text) > 512 {
		return nil, false
	}
	order, id, ok := strings.Cut(string(data), ".")
	x := &session{}
	x.origin.SessionID = id
	n, err := fmt.Sscanf(order, "%d", &x.order)
	return x, ok && err == nil && n == 1 && id != "" && x.cursor() == text
}
