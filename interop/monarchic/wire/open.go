// What an open object keeps besides its known members.

package wire

import (
	"maps"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// Open, embedded in a struct, makes it an open object: members without a field survive, and so do
// the order and the number spellings of everything read.
type Open struct {
	seen    bool                   // the struct was read, not made
	bare    bool                   // it was read from a bare string
	order   []string               // member names as read, canonical spelling
	known   map[string]ojson.Value // known members as read
	unknown map[string]ojson.Value
}

func (o *Open) opened() *Open { return o }

// Unknown returns the unknown members in document order, nil when there are none.
func (o *Open) Unknown() *ojson.Object {
	if len(o.unknown) == 0 {
		return nil
	}
	out := &ojson.Object{}
	for _, k := range o.order {
		if v, ok := o.unknown[k]; ok {
			out.Set(k, v)
		}
	}
	return out
}

// SetUnknown adds or replaces a member without a field.
func (o *Open) SetUnknown(key string, v any) {
	o.unknown = maps.Clone(o.unknown)
	if o.unknown == nil {
		o.unknown = make(map[string]ojson.Value)
	}
	if !slices.Contains(o.order, key) {
		o.order = append(slices.Clip(o.order), key)
	}
	o.unknown[key] = ojson.Of(v)
}

type opener interface{ opened() *Open }

// Declares reports whether the document that the object was read from has the member, even if it is
// empty or null.
func (o *Open) Declares(member string) bool { _, ok := o.known[member]; return ok }
