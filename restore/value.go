// JSON values as JavaScript's operators see them: absent is not null, equality is strict, and some values are
// falsy.

package restore

import (
	"bytes"
	"math"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/restore/internal/scan"
)

// absent is a missing member, which differs from null.
type absent struct{}

// get returns a member, absent{} when o has none or is nil.
func get(o *ojson.Object, key string) any {
	if v, ok := o.Get(key); ok {
		return v
	}
	return absent{}
}

// objectOf returns v if it is an object, else nil.
func objectOf(v any) *ojson.Object {
	o, _ := v.(*ojson.Object)
	return o
}

// none reports whether v is null or absent.
func none(v any) bool {
	if _, ok := v.(absent); ok {
		return true
	}
	return v == nil
}

// orNull returns v, or null if v is falsy.
func orNull(v any) any {
	if truthy(v) {
		return v
	}
	return nil
}

// or returns v, or other if v is falsy.
func or(v, other any) any {
	if truthy(v) {
		return v
	}
	return other
}

// identical is strict equality: scalars by value, objects and arrays never.
func identical(a, b any) bool {
	switch x := a.(type) {
	case *ojson.Object, []any:
		return false
	case ojson.Number:
		y, ok := b.(ojson.Number)
		if !ok {
			return false
		}
		fx, okX := x.Float64()
		fy, okY := y.Float64()
		return okX && okY && fx == fy
	case string:
		y, ok := b.(string)
		return ok && x == y
	case bool:
		y, ok := b.(bool)
		return ok && x == y
	case nil:
		return b == nil
	case absent:
		_, ok := b.(absent)
		return ok
	}
	return false
}

// deepEqual is structural equality as scan.Sum defines it; absent equals absent.
func deepEqual(a, b any) bool {
	_, noA := a.(absent)
	_, noB := b.(absent)
	if noA || noB {
		return noA && noB
	}
	ca, cb := ojson.Compact(a), ojson.Compact(b)
	if bytes.Equal(ca, cb) {
		return true
	}
	da, errA := sum(ca)
	db, errB := sum(cb)
	return errA == nil && errB == nil && da == db
}

func sum(data []byte) (scan.Digest, error) { return scan.Sum(scan.Bytes(data, scan.Limits{})) }

// integer returns v if it is an integer that doubles represent exactly.
func integer(v any) (int64, bool) {
	n, ok := v.(ojson.Number)
	if !ok {
		return 0, false
	}
	f, ok := n.Float64()
	if !ok || f != math.Trunc(f) || math.Abs(f) >= 1<<53 {
		return 0, false
	}
	return int64(f), true
}

// isCount reports whether v is a non-negative integer.
func isCount(v any) bool {
	n, ok := integer(v)
	return ok && n >= 0
}

// counts reports whether v is the number n.
func counts(v any, n int) bool { return identical(v, ojson.Int(n)) }

// isText reports whether v is a non-empty string.
func isText(v any) bool {
	s, ok := v.(string)
	return ok && s != ""
}

// texts reports whether v is an array of non-empty strings.
func texts(v any) bool {
	list, ok := v.([]any)
	for _, s := range list {
		ok = ok && isText(s)
	}
	return ok
}

// truthy is ojson.Truthy for a value that may also be absent.
func truthy(v any) bool {
	if _, missing := v.(absent); missing {
		return false
	}
	return ojson.Truthy(v)
}
