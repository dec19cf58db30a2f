// Whether the repository is a partial clone, asked for only when an object is not there.

package git

import "context"

// Partial tells whether git fetches objects that are not here when they are asked for. It asks git once; a failure for
// the caller's context is not remembered.
func (g *Git) Partial(ctx context.Context) bool {
	g.versionMu.Lock()
	defer g.versionMu.Unlock()
	if g.partial == nil {
		out, err := g.Run(ctx, nil, "config", "--get-regexp", `^(extensions\.partialclone|remote\..*\.promisor)$`)
		if ctx.Err() != nil {
			return false
		}
		g.partial = new(err == nil && len(out) > 0)
	}
	return *g.partial
}
