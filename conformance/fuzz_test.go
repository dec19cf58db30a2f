// Hostile fixtures: whatever the bytes, one line of JSON comes out and nothing breaks.

package conformance

import (
	"bytes"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

func FuzzAdapter(f *testing.F) {
	for _, data := range fixtureFiles(f, "testdata") {
		f.Add(data)
	}
	for _, data := range corpusOrNone(f) {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r := testAdapter().Execute(data)
		line := r.Line()
		if bytes.IndexByte(line, '\n') != len(line)-1 {
			t.Fatalf("not one line: %q", line)
		}
		o, err := ojson.DecodeObject(line)
		if err != nil {
			t.Fatalf("not JSON: %v in %q", err, line)
		}
		switch Status(o.String("status")) {
		case StatusPass, StatusFail:
			if o.Object("actual") == nil {
				t.Fatalf("a verdict without an outcome: %s", line)
			}
		case StatusError, StatusNotImplemented:
		default:
			t.Fatalf("no status: %s", line)
		}
		if bytes.Contains(line, []byte("internal error")) && !bytes.Contains(data, []byte("internal error")) {
			t.Fatalf("a defect: %s", line)
		}
	})
}
