package gitconfig

import (
	"strings"
	"testing"
)

// FuzzConfigEntries checks that no configuration panics, and that names are in lower case, as in git.
func FuzzConfigEntries(f *testing.F) {
	f.Add([]byte("[core]\n\tbare = false\n[remote \"o\\\"x\"]\n\turl = \"a;b\" # c\n\tx\n\ty = a\\\n b\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		list, _ := Parse(data)
		for _, e := range list {
			if name := e.Key[strings.LastIndexByte(e.Key, '.')+1:]; name == "" || strings.ToLower(name) != name {
				t.Errorf("key %q", e.Key)
			}
		}
	})
}
