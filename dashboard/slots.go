// Answers that read much wait for each other.

package dashboard

import "context"

// slot waits for permission to read much; false when ctx ended first.
func (s *Server) slot(ctx context.Context) (release func(), ok bool) {
	select {
	case s.heavy <- struct{}{}:
		return func() { <-s.heavy }, true
	case <-ctx.Done():
		return nil, false
	}
}
