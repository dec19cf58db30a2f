// One listing of refs for a step that queries many parts of it.

package git

import (
	"context"
	"slices"
	"strings"
	"sync"
)

// heldRefs is a cached listing.
type heldRefs struct {
	mu       sync.Mutex
	prefixes []string // prefixes of the listing; none when nothing is cached
	listed   bool
	refs     []Ref // sorted by name
}

// HoldRefs makes ListRefs below the prefixes answer from one listing until release is called. The listing is made
// on first use, and again after ForgetRefs: every move of refs through r calls it, and a caller must call it after
// starting a git that moves refs by itself, or when it needs changes by other processes.
func (r *Repository) HoldRefs(prefixes ...string) (release func()) {
	h := &r.held
	h.mu.Lock()
	defer h.mu.Unlock()
	h.prefixes, h.listed, h.refs = prefixes, false, nil
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.prefixes, h.listed, h.refs = nil, false, nil
	}
}

// ForgetRefs makes the next ListRefs read the refs again.
func (r *Repository) ForgetRefs() {
	h := &r.held
	h.mu.Lock()
	defer h.mu.Unlock()
	h.listed, h.refs = false, nil
}

// heldRefs answers from the cached listing; ok is false when it does not cover the prefix.
func (r *Repository) heldRefs(ctx context.Context, prefix string) (refs []Ref, ok bool, err error) {
	h := &r.held
	h.mu.Lock()
	defer h.mu.Unlock()
	if !slices.ContainsFunc(h.prefixes, func(p string) bool { return strings.HasPrefix(prefix, p) }) {
		return nil, false, nil
	}
	if !h.listed {
		if h.refs, err = r.listRefs(ctx, h.prefixes...); err != nil {
			return nil, false, err
		}
		slices.SortFunc(h.refs, func(a, b Ref) int { return strings.Compare(a.Name, b.Name) })
		h.listed = true
	}
	from, _ := slices.BinarySearchFunc(h.refs, prefix, func(a Ref, name string) int {
		return strings.Compare(a.Name, name)
	})
	to := from
	for to < len(h.refs) && strings.HasPrefix(h.refs[to].Name, prefix) {
		to++
	}
	return slices.Clone(h.refs[from:to]), true, nil
}
