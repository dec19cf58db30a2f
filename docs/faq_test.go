package docs_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// Every code that faq.md explains is one the program ends with.
func TestFAQNamesCodes(t *testing.T) {
	read := func(name string) string {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	all := read("errors.md")
	rows := regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\|").FindAllStringSubmatch(read("faq.md"), -1)
	if len(rows) < 10 {
		t.Fatalf("only %d codes", len(rows))
	}
	for _, row := range rows {
		if !strings.Contains(all, "| `"+row[1]+"` |") {
			t.Errorf("faq.md explains %s, which errors.md does not have", row[1])
		}
	}
}
