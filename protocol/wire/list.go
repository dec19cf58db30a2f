// Names in a sentence.

package wire

// List joins items by commas, "none" without any.
func List(items []string) string {
	if len(items) == 0 {
		return "none"
	}
	return ListSome(items, len(items))
}

// OrNone is s, or "(none)" for "".
func OrNone(s string) string {
	if s == "" {
		return "(none)"
	}
	return s
}
