// One listing of refs for a step that asks for many parts of it.

package git

import (
	"context"
	"slices"
	"strings"
	"sync"
)

// heldRefs is a listing that is kept for a while.
type heldRefs struct {
	mu       sync.Mutex
	prefixes []string // below which the listing is asked for; none when nothing is held
	listed   bool
	refs     []Ref // sorted by name
}

// HoldRefs has ListRefs below the prefixes answer from one listing, until release is called. It is
// made when it is first needed, and again after ForgetRefs: every move of refs through r calls it,
// and a caller that starts a git which moves refs by itself, or needs what other processes did, has to.
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

// ForgetRefs has the next ListRefs look again.
func (r *Repository) ForgetRefs() {
	h := &r.held
	h.mu.Lock()
	defer h.mu.Unlock()
	h.listed, h.refs = false, nil
}

// heldRefs answers from the listing that is held; ok is false when none covers the prefix.
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
