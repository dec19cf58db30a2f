// Values as ECMAScript sees them, and as a message shows them.

package ojson

import "strconv"

// Truthy is ECMAScript's notion of truth: null, false, "", 0 and missing values are false, everything else is true.
func Truthy(v Value) bool {
	switch v := v.(type) {
	case nil:
		return false
	case bool:
		return v
	case string:
		return v != ""
	case Number:
		f, ok := v.Float64()
		return !ok || f != 0
	}
	return true
}

// Shown returns a value for a message: short, quoted, on one line.
func Shown(v Value) string {
	const limit = 60
	switch v := v.(type) {
	case string:
		if r := []rune(v); len(r) > limit {
			v = string(r[:limit]) + "…"
		}
		return strconv.Quote(v)
	case Number:
		if len(v) > limit {
			return "a number"
		}
		return string(v)
	case bool:
		return strconv.FormatBool(v)
	}
	return TypeName(v)
}
