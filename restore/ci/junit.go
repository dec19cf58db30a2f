// JUnit XML, which most build servers read.

package ci

import (
	"bytes"
	"encoding/xml"
	"fmt"
)

// tally counts cases.
type tally struct {
	tests, failures, errors, skipped int
	seconds                          float64
}

func (t *tally) add(c Case) {
	t.tests++
	t.seconds += c.Seconds
	switch c.Outcome {
	case Failed:
		t.failures++
	case Broken:
		t.errors++
	case Skipped:
		t.skipped++
	}
}

func (t *tally) write(b *bytes.Buffer, element, name string) {
	fmt.Fprintf(b, "<%s name=%s tests=\"%d\" failures=\"%d\" errors=\"%d\" skipped=\"%d\" time=\"%.3f\">\n",
		element, attribute(name), t.tests, t.failures, t.errors, t.skipped, t.seconds)
}

// JUnit writes the suites as one document.
func JUnit(suites []Suite) []byte {
	var b bytes.Buffer
	b.WriteString(xml.Header)
	var all tally
	for _, s := range suites {
		for _, c := range s.Cases {
			all.add(c)
		}
	}
	all.write(&b, "testsuites", "AgentXchain Governance")
	for _, s := range suites {
		var t tally
		for _, c := range s.Cases {
			t.add(c)
		}
		b.WriteString("  ")
		t.write(&b, "testsuite", s.Name)
		for _, c := range s.Cases {
			writeCase(&b, s.Class, c)
		}
		b.WriteString("  </testsuite>\n")
	}
	b.WriteString("</testsuites>\n")
	return b.Bytes()
}

func writeCase(b *bytes.Buffer, class string, c Case) {
	fmt.Fprintf(b, "    <testcase name=%s classname=%s time=\"%.3f\"", attribute(c.Name), attribute(class), c.Seconds)
	if c.File != "" {
		fmt.Fprintf(b, " file=%s", attribute(c.File))
	}
	switch c.Outcome {
	case Failed, Broken:
		element := "failure"
		if c.Outcome == Broken {
			element = "error"
		}
		fmt.Fprintf(b, ">\n      <%s message=%s>", element, attribute(c.Message))
		_ = xml.EscapeText(b, []byte(c.Message)) // a buffer takes everything
		fmt.Fprintf(b, "</%s>\n    </testcase>\n", element)
	case Skipped:
		fmt.Fprintf(b, ">\n      <skipped message=%s/>\n    </testcase>\n", attribute(c.Message))
	default:
		b.WriteString("/>\n")
	}
}

// attribute quotes a value; characters not allowed in XML become U+FFFD.
func attribute(s string) string {
	var b bytes.Buffer
	b.WriteByte('"')
	_ = xml.EscapeText(&b, []byte(s)) // escapes quotes and line ends too
	b.WriteByte('"')
	return b.String()
}
