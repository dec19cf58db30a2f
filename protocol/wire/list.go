// Names in a sentence.

package wire

func List(items []string) string {
	if len(items) == 0 {
		return "none"
	}
	return ListSome(items, len(items))
}

func OrNone(s string) string {
	if s == "" {
		return "(none)"
	}
	return s
}
