// The public corpus through the adapter, unchanged and with every name changed.

package conformance

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// testClock keeps outcomes the same from run to run.
func testClock() time.Time { return time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC) }

func testAdapter() Adapter { return Adapter{Now: testClock} }

// corpus returns the fixture files of the public corpus by path: those below
// AGENTXCHAIN_CORPUS, else below the sibling directory of the module.
func corpus(t testing.TB) map[string][]byte {
	t.Helper()
	files := corpusOrNone(t)
	if len(files) == 0 {
		t.Skip("the public corpus is not here; set AGENTXCHAIN_CORPUS to its directory")
	}
	return files
}

// corpusOrNone is like corpus, for tests that also have other fixtures.
func corpusOrNone(t testing.TB) map[string][]byte {
	t.Helper()
	root := os.Getenv("AGENTXCHAIN_CORPUS")
	if root == "" {
		return fixtureFiles(t, filepath.Join("..", "..", "shared", "conformance", "upstream-v7"))
	}
	files := fixtureFiles(t, root)
	if len(files) == 0 {
		t.Fatalf("AGENTXCHAIN_CORPUS=%s holds no fixtures", root)
	}
	return files
}

func fixtureFiles(t testing.TB, root string) map[string][]byte {
	t.Helper()
	out := make(map[string][]byte)
	err := filepath.WalkDir(root, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(p) != ".json" {
			return err
		}
		data, err := os.ReadFile(p)
		rel, _ := filepath.Rel(root, p)
		out[filepath.ToSlash(rel)] = data
		return err
	})
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return out
}

func TestPublicCorpus(t *testing.T) {
	counts := make(map[int]map[Status]int)
	for name, data := range corpus(t) {
		f, err := ReadFixture(data)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		r := testAdapter().Execute(data)
		if counts[f.Tier] == nil {
			counts[f.Tier] = make(map[Status]int)
		}
		counts[f.Tier][r.Status]++
		want := StatusPass
		if _, err := lookup(f.Operation); err != nil {
			want = StatusNotImplemented
		}
		if r.Status != want {
			t.Errorf("%s: %s", name, r.Line())
		}
	}
	t.Log(counts)
	for status, n := range counts[1] {
		if status != StatusPass {
			t.Errorf("tier 1: %d fixtures end in %s", n, status)
		}
	}
}

// TestPublicCorpusRenamed gives runs, turns, roles, gates, runtimes and files of the fixtures other names: an
// adapter that depends on the names fails here.
func TestPublicCorpusRenamed(t *testing.T) {
	rename := regexp.MustCompile(
		`\b(dev|pm|qa|run_001|turn_abc|turn_001|local|cloud|quality_gate|planning_gate|ship_gate|qa_ship_verdict|feature)\b`)
	names := map[string]string{
		"dev":             "builder",
		"pm":              "steward",
		"qa":              "assayer",
		"run_001":         "run_7f3",
		"turn_abc":        "turn_k9",
		"turn_001":        "turn_m2",
		"local":           "near",
		"cloud":           "far",
		"quality_gate":    "gate_of_steel",
		"planning_gate":   "first_gate",
		"ship_gate":       "harbour",
		"qa_ship_verdict": "last_word",
		"feature":         "marvel",
	}
	for name, data := range corpus(t) {
		changed := rename.ReplaceAllStringFunc(string(data), func(s string) string { return names[s] })
		changed = strings.Replace(changed, `"fixture_id": "`, `"fixture_id": "ZZ-`, 1)
		r := testAdapter().Execute([]byte(changed))
		if r.Status != StatusPass && r.Status != StatusNotImplemented {
			t.Errorf("%s renamed: %s", name, r.Line())
		}
	}
}
