// The sample corpus: what is valid, what is not, where and by which rule.

package check

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

const corpus = "../testdata/"

// sampleType reads a sample's type from its name: valid/durable_authority/lease.minimal.json.
func sampleType(path string) Type {
	name, _, _ := strings.Cut(filepath.ToSlash(path), ".")
	return Type(strings.TrimPrefix(name, "valid/"))
}

func samples(t testing.TB, dir string) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	err := fs.WalkDir(os.DirFS(corpus), dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(corpus + path)
		out[path] = data
		return err
	})
	if err != nil || len(out) < 40 {
		t.Fatalf("%d samples in %s: %v", len(out), dir, err)
	}
	return out
}

func words(findings []Finding) []string {
	out := []string{}
	for _, f := range findings {
		if f.Severity == Error {
			out = append(out, f.Pointer+" "+f.Rule)
		}
	}
	slices.Sort(out)
	return out
}

// TestValidSamples: every valid sample is valid, by its type and on its own, and its type is
// recognised.
func TestValidSamples(t *testing.T) {
	for path, data := range samples(t, "valid") {
		for _, log := range []bool{false, strings.HasSuffix(path, ".jsonl")} {
			s := New(Options{Log: log, Complete: log})
			r := s.Input(path, data)
			s.Close()
			if !r.Valid() || r.Records == 0 {
				t.Errorf("%s: %s %v", path, r.Unreadable, r.Findings)
			}
			if len(r.Findings) > 0 {
				t.Errorf("%s: warns %v", path, r.Findings)
			}
			want := sampleType(path)
			if strings.HasSuffix(path, ".jsonl") || path == "valid/list.json" ||
				strings.HasPrefix(path, "valid/legacy_v0/") {
				continue
			}
			if !slices.Contains(r.Matched, want) {
				t.Errorf("%s is taken for %v", path, r.Matched)
			}
			if len(r.Matched) > 0 && r.Types[0].Type != want && data[0] == '{' &&
				want != "client_boundary/task_message" {
				t.Errorf("%s is judged as %s", path, r.Types[0].Type)
			}
			if r := New(Options{Type: want}).Input(path, data); !r.Valid() {
				t.Errorf("%s as %s: %v", path, want, r.Findings)
			}
		}
	}
}

// TestEveryTypeHasASample keeps the corpus complete.
func TestEveryTypeHasASample(t *testing.T) {
	have := map[Type]bool{}
	for path := range samples(t, "valid") {
		have[sampleType(path)] = true
	}
	for _, typ := range Types() {
		if !have[typ] {
			t.Errorf("there is no valid sample of %s", typ)
		}
	}
}

// TestInvalidSamples: each sample names its type and its fault, and exactly that is found; without
// the type it is invalid just as well.
func TestInvalidSamples(t *testing.T) {
	for path, data := range samples(t, "invalid") {
		o, err := ojson.DecodeObject(data)
		if err != nil {
			t.Fatal(path, err)
		}
		typ := Type(o.String("type"))
		base, _, _ := strings.Cut(filepath.Base(path), ".")
		switch {
		case typ != "":
		case base == "pipeline":
			typ = "pipeline_spec"
		case base == "bundle":
			typ = "resolved_role_bundle"
		default:
			typ = Type(base)
		}
		doc, _ := o.Get("document")
		want := o.Strings("want")
		slices.Sort(want)
		findings, err := Value(typ, doc)
		if err != nil {
			t.Fatal(path, err)
		}
		if got := words(findings); !slices.Equal(got, want) {
			t.Errorf("%s as %s:\n got %q\nwant %q", path, typ, got, want)
		}
		for _, f := range findings {
			if f.Message == "" || strings.Contains(f.Message, "%!") {
				t.Errorf("%s: message %q", path, f.Message)
			}
		}
		r := New(Options{}).Input("x.json", ojson.Pretty(doc))
		if r.Valid() && !portableToo(path) {
			t.Errorf("%s is valid by itself as %v", path, r.Types)
		}
	}
}

// portableToo lists strict samples whose fault the portable family allows.
func portableToo(path string) bool {
	switch filepath.Base(path) {
	case "task_message.kind.json", "task_message.reply_on_request.json":
		return true
	}
	return false
}
