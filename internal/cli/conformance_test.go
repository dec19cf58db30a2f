// conformance adapter as a verifier sees it: one line out, the verdict as exit status.

package cli

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

func adapterRun(t *testing.T, in io.Reader, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	status = Main(append([]string{"git-agentxchain", "conformance", "adapter"}, args...), term.Env{
		Stdin:  in,
		Stdout: &out,
		Stderr: &errs,
		Dir:    t.TempDir(),
	})
	return status, out.String(), errs.String()
}

func TestConformanceAdapter(t *testing.T) {
	const fixture = `{"fixture_id":"X","tier":1,"surface":"event_lifecycle","description":"d","type":"validate","setup":{},` +
		`"input":{"operation":"OP","args":{"events":[]}},"expected":{"error_type":"invalid_events"}}`
	for _, c := range []struct {
		name, in string
		exit     int
		status   string
	}{
		{"pass", strings.Replace(fixture, "OP", "validate_event_ordering", 1), 0, "pass"},
		{"fail", strings.Replace(fixture, "OP", "validate_event", 1), 1, "fail"},
		{"error", `{"fixture_id":`, 2, "error"},
		{"nothing", "", 2, "error"},
		{"not implemented", strings.Replace(fixture, "OP", "sing", 1), 3, "not_implemented"},
	} {
		for _, flags := range [][]string{nil, {"--json"}} {
			exit, stdout, stderr := adapterRun(t, strings.NewReader(c.in), flags...)
			o, err := ojson.DecodeObject([]byte(stdout))
			if err != nil || strings.Count(stdout, "\n") != 1 || o.String("status") != c.status || o.Has("ok") ||
				exit != c.exit {
				t.Errorf("%s %v: exit %d, stdout %q, %v", c.name, flags, exit, stdout, err)
			}
			if (stderr != "") != (c.status == "error") {
				t.Errorf("%s: stderr %q", c.name, stderr)
			}
		}
	}
}

func TestConformanceAdapterReadsFixtureFiles(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "..", "fixtures", "1", "*", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no fixtures: %v", err)
	}
	for _, p := range files {
		f, err := os.Open(p)
		if err != nil {
			t.Fatal(err)
		}
		if exit, stdout, _ := adapterRun(t, f); exit != 0 {
			t.Errorf("%s: exit %d, %s", filepath.Base(p), exit, stdout)
		}
		_ = f.Close()
	}
}

func TestConformanceAdapterUsage(t *testing.T) {
	exit, stdout, stderr := adapterRun(t, strings.NewReader(""), "fixture.json")
	if exit != 2 || stdout != "" || strings.Count(stderr, "\n") != 1 {
		t.Errorf("exit %d, stdout %q, stderr %q", exit, stdout, stderr)
	}
}
