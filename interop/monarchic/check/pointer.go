// JSON pointers (RFC 6901), and how they read in the document's own spelling.

package check

import (
	"strconv"
	"strings"
)

func child(pointer, name string) string {
	if strings.ContainsAny(name, "~/") {
		name = strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
	}
	return pointer + "/" + name
}

func index(pointer string, i int) string { return pointer + "/" + strconv.Itoa(i) }

// original replaces the canonical names in a pointer by those the document uses.
func (j *judge) original(pointer string) string {
	if len(j.spelled) == 0 || pointer == "" {
		return pointer
	}
	var b strings.Builder
	for end := 1; end <= len(pointer); end++ {
		if end < len(pointer) && pointer[end] != '/' {
			continue
		}
		prefix := pointer[:end]
		if name, ok := j.spelled[prefix]; ok {
			b.WriteString(child("", name))
		} else {
			b.WriteString(prefix[strings.LastIndexByte(prefix, '/'):])
		}
	}
	return b.String()
}
