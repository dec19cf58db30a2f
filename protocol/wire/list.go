// Names in a sentence.

package wire

// List joins items with commas; it returns "none" for no items.
func List(items []string) string {
	if len(items) == 0 {
		return "none"
	}
	return ListSome(items, len(items))
}

// OrNone returns s, or "(none)" for "".
func OrNone(s string) string {
	if s == "" {
		return "(none)"
	}
	return s
}
