// A thousand bundles that differ from their seal, as an attacker would try to get them accepted.

package dispatch

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// attack is a bundle under attack: files on disk and the manifest to write beside them.
type attack struct {
	rnd   *rand.Rand
	dir   string
	free  []string // files that no mutation has touched: two must not undo each other
	doc   *ojson.Object
	rows  []*ojson.Object
	bytes []byte // the present manifest, once it is not a document
	skip  bool   // there is no manifest to write
}

func (a *attack) path(name string) string { return filepath.Join(a.dir, filepath.FromSlash(name)) }

// take returns a file for a mutation to change.
func (a *attack) take() string {
	i := a.rnd.IntN(len(a.free))
	name := a.free[i]
	a.free = slices.Delete(a.free, i, i+1)
	return name
}

func (a *attack) row(name string) *ojson.Object {
	i := slices.IndexFunc(a.rows, func(o *ojson.Object) bool { return o.String("path") == name })
	return a.rows[i]
}

// another adds an entry for a name that must never be accepted.
func (a *attack) another(name string) {
	o := a.rows[0].Clone()
	o.Set("path", name)
	a.rows = slices.Insert(a.rows, a.rnd.IntN(len(a.rows)+1), o)
}

func (a *attack) encode() []byte {
	if a.bytes != nil {
		return a.bytes
	}
	a.doc.Set("files", a.rows)
	return ojson.Pretty(a.doc)
}

func pickFrom[T any](a *attack, list ...T) T { return list[a.rnd.IntN(len(list))] }

// mutation changes an attack and names the finding it must cause; whole ones end the comparison before any other
// finding.
type mutation struct {
	name  string
	want  string
	whole bool
	do    func(a *attack) error
}

func mutations() []mutation {
	entry := func(name, want string, f func(a *attack)) mutation {
		return mutation{name, want, false, func(a *attack) error { f(a); return nil }}
	}
	text := func(name string, f func(a *attack, m []byte) []byte) mutation {
		return mutation{name, InvalidManifest, true, func(a *attack) error { a.bytes = f(a, a.encode()); return nil }}
	}
	instead := func(name string, f func(path string) error) mutation {
		return mutation{name, InvalidManifest, false, func(a *attack) error {
			path := a.path(a.take())
			return errors.Join(os.Remove(path), f(path))
		}}
	}
	return []mutation{
		text("truncated", func(a *attack, m []byte) []byte { return m[:a.rnd.IntN(len(m)-2)] }),
		text("garbage", func(a *attack, m []byte) []byte {
			return append(bytes.Clone(m), pickFrom(a, "x", "{}", "]", "\x00", "//")...)
		}),
		text("not UTF-8", func(_ *attack, m []byte) []byte {
			return bytes.Replace(m, []byte("turn_abc"), []byte("turn\xffabc"), 1)
		}),
		text("byte order mark", func(_ *attack, m []byte) []byte { return append([]byte("\xef\xbb\xbf"), m...) }),
		text("deep", func(a *attack, m []byte) []byte {
			n := 20 + a.rnd.IntN(100000)
			return bytes.Replace(m, []byte(`"files"`),
				[]byte(`"x": `+strings.Repeat("[", n)+strings.Repeat("]", n)+`, "files"`), 1)
		}),
		text("huge", func(_ *attack, m []byte) []byte {
			return append(bytes.Repeat([]byte(" "), maxManifestBytes), m...)
		}),
		text("duplicate member", func(_ *attack, m []byte) []byte {
			return bytes.Replace(m, []byte(`"role"`), []byte(`"files": [], "role"`), 1)
		}),
		text("scalar", func(a *attack, _ []byte) []byte {
			return []byte(pickFrom(a, "null", "1", `"x"`, "[]", "true", "1e999999999", "-0", "", " "))
		}),
		text("files of another type", func(a *attack, _ []byte) []byte {
			a.doc.Set("files", pickFrom[ojson.Value](a, nil, "x", ojson.Int(1), true, &ojson.Object{}))
			return ojson.Pretty(a.doc)
		}),
		text("other version", func(a *attack, _ []byte) []byte {
			a.doc.Set("manifest_version", pickFrom[ojson.Value](a, nil, "", "2.0", "1", ojson.Int(1), true, []any{}))
			a.doc.Set("files", a.rows)
			return ojson.Pretty(a.doc)
		}),
		text("too many entries", func(a *attack, _ []byte) []byte {
			var many []*ojson.Object
			for i := range maxManifestFiles + 1 {
				many = append(many, ojson.NewObject("path", fmt.Sprint(i)))
			}
			a.doc.Set("files", many)
			return ojson.Compact(a.doc)
		}),
		{"no manifest", MissingManifest, true, func(a *attack) error { a.skip = true; return nil }},
		{"manifest is a directory", InvalidManifest, true, func(a *attack) error {
			a.skip = true
			return os.Mkdir(a.path(ManifestFile), 0o777)
		}},
		{"manifest is a link", InvalidManifest, true, func(a *attack) error {
			a.skip = true
			if err := os.WriteFile(a.dir+"-real", a.encode(), 0o666); err != nil {
				return err
			}
			return os.Symlink(filepath.Base(a.dir)+"-real", a.path(ManifestFile))
		}},
		entry("of another turn", InvalidManifest, func(a *attack) {
			a.doc.Set(pickFrom(a, "run_id", "turn_id", "role"),
				pickFrom[ojson.Value](a, nil, "", "other", ojson.Int(1), []any{"run_001"}))
		}),
		entry("traversal", InvalidManifest, func(a *attack) {
			a.another(pickFrom(a, "../x", "..", ".", "", "/etc/passwd", "//x", "a/../../x", "a/./b", "a//b", "a/", "/",
				`..\x`, `\\host\x`, `a\b`, "C:/x", "c:x", "x/../PROMPT.md", "./PROMPT.md", "PROMPT.md/", "\x00",
				"PROMPT.md\x00", ".git/config", "a/.GIT/x", ManifestFile, strings.Repeat("a/", 3000)+"b"))
		}),
		entry("the same twice", InvalidManifest, func(a *attack) {
			a.another(a.rows[a.rnd.IntN(len(a.rows))].String("path"))
		}),
		entry("as good as the same", InvalidManifest, func(a *attack) {
			a.another(pickFrom(a, "prompt.md", "PROMPT.MD", "PROMPT.md.", "PROMPT.md ", "prompt.md:stream",
				"P\u200dROMPT.md", "notes/Cafe\u0301.md", "NOTES/CAF\u00c9.md", "PROMPT.md/x", "notes"))
		}),
		entry("path of another type", InvalidManifest, func(a *attack) {
			a.row(a.take()).Set("path", pickFrom[ojson.Value](a, nil, ojson.Int(7), true, []any{"PROMPT.md"},
				ojson.NewObject("path", "PROMPT.md")))
		}),
		entry("no entry", InvalidManifest, func(a *attack) {
			a.rows = append(a.rows, &ojson.Object{})
		}),
		entry("digest of another type", InvalidManifest, func(a *attack) {
			o := a.row(a.take())
			o.Set("sha256", pickFrom[ojson.Value](a, nil, ojson.Int(0), "", "0",
				strings.ToUpper(o.String("sha256"))+"x", o.String("sha256")+" ", strings.Repeat("g", 64),
				"sha256:"+o.String("sha256")))
		}),
		entry("size of another type", InvalidManifest, func(a *attack) {
			a.row(a.take()).Set("size", pickFrom[ojson.Value](a, nil, "3", ojson.Number("-1"), ojson.Number("1e400"),
				ojson.Number("99999999999999999999999999"), ojson.Number("1.5"), true))
		}),
		entry("other size", SizeMismatch, func(a *attack) {
			o := a.row(a.take())
			n, _ := o.Int("size")
			o.Set("size", n+1+a.rnd.IntN(1<<40))
		}),
		entry("swapped digest", DigestMismatch, func(a *attack) {
			o := a.row(a.take())
			o.Set("sha256", InfoOf([]byte("something else")).SHA256)
		}),
		entry("not declared", UnexpectedFile, func(a *attack) {
			name := a.take()
			a.rows = slices.DeleteFunc(a.rows, func(o *ojson.Object) bool { return o.String("path") == name })
		}),
		entry("declared in vain", MissingFile, func(a *attack) {
			a.another("orders-" + fmt.Sprint(a.rnd.IntN(1000)) + ".md")
		}),
		{"removed", MissingFile, false, func(a *attack) error { return os.Remove(a.path(a.take())) }},
		{"rewritten", DigestMismatch, false, func(a *attack) error {
			path := a.path(a.take())
			data, err := os.ReadFile(path)
			data[a.rnd.IntN(len(data))] ^= byte(1 + a.rnd.IntN(255))
			return errors.Join(err, os.WriteFile(path, data, 0o666))
		}},
		{"appended to", SizeMismatch, false, func(a *attack) error {
			path := a.path(a.take())
			data, err := os.ReadFile(path)
			return errors.Join(err, os.WriteFile(path, append(data, make([]byte, 1+a.rnd.IntN(1000))...), 0o666))
		}},
		{"added", UnexpectedFile, false, func(a *attack) error {
			name := pickFrom(a, "extra.md", "notes/extra.md", ".hidden", "MANIFEST.json.bak", "manifest.JSON",
				"notes/stdout.log", "new/deep/er/file")
			return errors.Join(os.MkdirAll(filepath.Dir(a.path(name)), 0o777), os.WriteFile(a.path(name), nil, 0o666))
		}},
		{"linked in", UnexpectedFile, false, func(a *attack) error {
			return os.Symlink(pickFrom(a, "/etc/passwd", "..", "PROMPT.md", "nowhere", "loop"), a.path("loop"))
		}},
		instead("a directory", func(p string) error { return os.Mkdir(p, 0o777) }),
		instead("a full directory", func(p string) error {
			return errors.Join(os.Mkdir(p, 0o777), os.Symlink("x", filepath.Join(p, "x")))
		}),
		instead("a link", func(p string) error { return os.Symlink("/etc/passwd", p) }),
		instead("a link to itself", func(p string) error { return os.Symlink(filepath.Base(p), p) }),
		instead("a pipe", mkfifo),
	}
}

func TestHostileBundles(t *testing.T) {
	if !canLink(t) {
		t.Skip("no symbolic links here")
	}
	all := mutations()
	tries := testrepo.Times(t.Name(), 3*len(all), 1050)
	rnd := rand.New(rand.NewPCG(7, 2026))
	testrepo.InMemory()
	top := t.TempDir()
	root, err := os.OpenRoot(top)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	seen := make(map[string]int)
	for i := range tries {
		dir := fmt.Sprintf("b%04d", i)
		files := map[string][]byte{
			"ASSIGNMENT.json":    []byte("{}"),
			"PROMPT.md":          []byte("# Task"),
			"CONTEXT.md":         []byte("context"),
			"notes/caf\u00e9.md": []byte("a note"),
			"notes/b":            bytes.Repeat([]byte("b"), 1+rnd.IntN(3000)),
			"c.bin":              {0, 1, 2, byte(i)},
		}
		m, err := Seal(sealID, "t", files)
		if err != nil {
			t.Fatal(err)
		}
		a := &attack{rnd: rnd, dir: filepath.Join(top, dir), free: slices.Sorted(maps.Keys(files))}
		for name, data := range files {
			put(t, a.dir, name, string(data))
		}
		if a.doc, err = ojson.DecodeObject(m); err != nil {
			t.Fatal(err)
		}
		a.rows = a.doc.Objects("files")

		// Each mutation alone first, then up to three together.
		chosen := []mutation{all[i%len(all)]}
		if i >= 2*len(all) {
			for range rnd.IntN(3) {
				next := all[rnd.IntN(len(all))]
				// A mutation that replaces the whole manifest comes last and once, and no two may use the same
				// fixed name.
				if !chosen[len(chosen)-1].whole &&
					!slices.ContainsFunc(chosen, func(m mutation) bool { return m.name == next.name }) {
					chosen = append(chosen, next)
				}
			}
		}
		var what []string
		for _, mu := range chosen {
			what = append(what, mu.name)
			if err := mu.do(a); err != nil {
				t.Fatalf("%d %q: %v", i, what, err)
			}
		}
		if !a.skip {
			put(t, a.dir, ManifestFile, string(a.encode()))
		}
		judge(t, root, dir, chosen, fmt.Sprintf("%d %q", i, what))
		for _, w := range what {
			seen[w]++
		}
		if err := os.RemoveAll(a.dir); err != nil {
			t.Fatal(err)
		}
		_ = os.Remove(a.dir + "-real")
	}
	for _, mu := range all {
		if seen[mu.name] < tries/105 {
			t.Errorf("%s was tried %d times only", mu.name, seen[mu.name])
		}
	}
}

// judge checks that a bundle is refused for the reasons given.
func judge(t *testing.T, root *os.Root, dir string, chosen []mutation, what string) {
	t.Helper()
	r, err := Verify(root, dir, sealID)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if r.OK() {
		t.Fatalf("%s: accepted", what)
	}
	types := make(map[string]bool)
	for _, e := range r.Problems {
		types[e.Type] = true
		if e.Detail == "" || e.Path == "" && e.Type != InvalidManifest && e.Type != MissingManifest {
			t.Errorf("%s: incomplete finding %+v", what, e)
		}
	}
	last := chosen[len(chosen)-1]
	if last.whole {
		if len(r.Problems) != 1 || r.Problems[0].Type != last.want {
			t.Errorf("%s: %v, want %s alone", what, kinds(r.Problems), last.want)
		}
	} else {
		// An entry that hides another one hides what is wrong with that one.
		for _, mu := range chosen {
			if !types[mu.want] && !strings.Contains(what, "the same") {
				t.Errorf("%s: %v, want %s among them", what, kinds(r.Problems), mu.want)
			}
		}
	}
	v, err := OpenVerified(root, dir, sealID)
	var coded *wire.Error
	if v != nil || !errors.As(err, &coded) || coded.Code != CodeBundleInvalid ||
		len(coded.Details.Objects("problems")) == 0 {
		t.Fatalf("%s: handed out, or refused otherwise: %v", what, err)
	}
	if first := coded.Details.Objects("problems")[0].String("type"); first != r.Problems[0].Type {
		t.Errorf("%s: refused for %s, verified as %s", what, first, r.Problems[0].Type)
	}
}

func canLink(t *testing.T) bool { return os.Symlink("x", filepath.Join(t.TempDir(), "l")) == nil }
