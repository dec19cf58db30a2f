// Lists: sessions, page by page.

package client

import (
	"context"
	"iter"
	"net/url"
	"strconv"

	"github.com/git-agentxchain/git-agentxchain/interop/alx"
)

// Filter selects sessions; the zero value selects all of them.
type Filter struct {
	Status alx.SessionStatus
	UserID string
	Page   int // sessions requested at a time; the service's choice when 0
}

// Sessions yields the sessions, newest first, requesting pages as they are needed. It ends after an
// error.
func (c *Client) Sessions(ctx context.Context, f Filter) iter.Seq2[*alx.SessionItem, error] {
	return func(yield func(*alx.SessionItem, error) bool) {
		query := url.Values{}
		if f.Status != "" {
			query.Set(alx.ParamStatus, string(f.Status))
		}
		if f.UserID != "" {
			query.Set(alx.ParamUserID, f.UserID)
		}
		if f.Page > 0 {
			query.Set(alx.ParamLimit, strconv.Itoa(f.Page))
		}
		seen := map[string]bool{}
		for {
			path := alx.PathSessions
			if len(query) > 0 {
				path += "?" + query.Encode()
			}
			page, err := ask(ctx, c, request{method: "GET", path: path}, c.decoder().SessionList)
			if err != nil {
				yield(nil, err)
				return
			}
			for i := range page.Sessions {
				if !yield(&page.Sessions[i], nil) {
					return
				}
			}
			switch {
			case page.NextCursor == "":
				return
			case seen[page.NextCursor]:
				yield(nil, &MalformedError{Status: 200, Why: "a cursor comes back: the list has no end"})
				return
			}
			seen[page.NextCursor] = true
			query.Set(alx.ParamCursor, page.NextCursor)
		}
	}
}
