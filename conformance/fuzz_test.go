// Hostile fixtures: any bytes yield one line of JSON, break nothing and leave nothing behind.

package conformance

import (
	"bytes"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
)

func FuzzAdapter(f *testing.F) {
	for _, data := range fixtureFiles(f, "testdata") {
		f.Add(data)
	}
	for _, data := range ownFixtures() {
		f.Add(data)
	}
	for _, data := range corpusOrNone(f) {
		f.Add(data)
	}
	look := surroundings(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		data = harmless(data)
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
		look(t)
	})
}

// surroundings gives the tests their own temporary directory and returns a check that it is empty and that the
// working directory is unchanged.
func surroundings(t interface {
	testing.TB
	Setenv(name, value string)
}) func(testing.TB) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	before := namesIn(t, ".")
	return func(t testing.TB) {
		t.Helper()
		if left := namesIn(t, tmp); len(left) > 0 {
			t.Fatalf("left behind: %v", left)
		}
		if now := namesIn(t, "."); !slices.Equal(now, before) {
			t.Fatalf("the working directory holds %v, before %v", now, before)
		}
	}
}

func namesIn(t testing.TB, dir string) (names []string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range list {
		if dir != "." || d.Name() != "testdata" { // the fuzzing engine writes there
			names = append(names, d.Name())
		}
	}
	return names
}

// harmless returns a fixture that starts programs with harmless programs instead, and with an address that has no
// listener; any other fixture is returned unchanged.
func harmless(data []byte) []byte {
	f, err := ReadFixture(data)
	if err != nil || !startsPrograms(f) {
		return data
	}
	doc := f.Raw.Clone()
	disarm(doc)
	return ojson.Compact(doc)
}

// programs returns commands that only read, write and end; the last does not exist.
func programs() []string {
	return []string{"true", "false", "cat", "echo", "agentxchain-no-such-program"}
}

func disarm(v ojson.Value) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			disarm(e)
		}
	case *ojson.Object:
		for k, member := range v.Clone().All() {
			switch k {
			case "command":
				if argv, ok := member.([]any); ok && len(argv) > 0 {
					// The fixture's length chooses which.
					list := programs()
					argv[0] = list[len(ojson.Compact(argv))%len(list)]
					if argv[0] == "cat" {
						argv = argv[:1] // it would wait forever on some files
					}
					v.Set(k, argv)
				} else if member != nil && !ok {
					v.Set(k, "true")
				}
			case "url":
				v.Set(k, "http://127.0.0.1:9/")
			case "timeout_ms":
				if n, ok := v.Int(k); ok && n > 100 {
					v.Set(k, ojson.Int(100))
				}
			case "PATH":
				v.Delete(k)
			default:
				child, _ := v.Get(k)
				disarm(child)
			}
		}
	}
}

// TestAdapterLeavesNothing runs every available fixture and checks for remains after each.
func TestAdapterLeavesNothing(t *testing.T) {
	testrepo.Thorough(t)
	look := surroundings(t)
	for _, files := range []map[string][]byte{ownFixtures(), corpusOrNone(t), fixtureFiles(t, "testdata")} {
		for name, data := range files {
			testAdapter().Execute(data)
			t.Run(name, func(t *testing.T) { look(t) })
		}
	}
}

// TestProcessTargetLeavesNothing: an adapter that is killed or crashes cannot remove what it made; its caller does.
func TestProcessTargetLeavesNothing(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	look := surroundings(t)
	for mode, want := range map[string]Status{
		"1":      StatusPass,
		"hang":   StatusError,
		"crash":  StatusError,
		"locked": StatusPass,
	} {
		t.Setenv(adapterVariable, mode)
		target := &ProcessTarget{Root: root, Command: []string{self}, Timeout: DefaultTimeout}
		if mode == "hang" {
			target.Timeout = 300 * time.Millisecond
		}
		if out := target.Execute(t.Context(), mustFixture(t, eventFixture)); out.Status != want {
			t.Errorf("%s: %+v", mode, out)
		}
		look(t)
	}
}
