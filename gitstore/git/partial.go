// Whether the repository is a partial clone, asked only when an object is missing.

package git

import "context"

// Partial reports whether git fetches missing objects on demand. It asks git once; a failure caused by the caller's
// context is not cached.
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
