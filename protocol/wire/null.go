// Members that may be absent or null.

package wire

// OrEmpty returns *p or "".
func OrEmpty(p *string) string {
	if p == nil {
		return ""
	}
	return *p
}

// NonNil returns s as a list that JSON shows as [], never as null.
func NonNil(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}
