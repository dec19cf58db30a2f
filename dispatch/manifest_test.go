// Sealing and verification of bundles.

package dispatch

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var sealID = Identity{RunID: "run_001", TurnID: "turn_abc", Role: "dev"}

func describe(files map[string][]byte) map[string]FileInfo {
	out := make(map[string]FileInfo)
	for p, data := range files {
		out[p] = InfoOf(data)
	}
	return out
}

func kinds(errs []ManifestError) []string {
	var out []string
	for _, e := range errs {
		out = append(out, strings.TrimSuffix(e.Type+" "+e.Path, " "))
	}
	return out
}

func TestSeal(t *testing.T) {
	files := map[string][]byte{"b.md": []byte("b"), "A.json": []byte("{}"), "sub/c": nil, ManifestFile: []byte("old")}
	m, err := Seal(sealID, "2026-01-02T03:04:05.678Z", files)
	if err != nil {
		t.Fatal(err)
	}
	want := `{
  "manifest_version": "1.0",
  "run_id": "run_001",
  "turn_id": "turn_abc",
  "role": "dev",
  "finalized_at": "2026-01-02T03:04:05.678Z",
  "files": [
    {
      "path": "A.json",
      "sha256": "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a",
      "size": 2
    },
    {
      "path": "b.md",
      "sha256": "3e23e8160039594a33894f6564e1b1348bbd7a0088d42c4acb73eeaed59c009d",
      "size": 1
    },
    {
      "path": "sub/c",
      "sha256": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
      "size": 0
    }
  ]
}
`
	if d := cmp.Diff(want, string(m)); d != "" {
		t.Error(d)
	}
	if errs := VerifyManifest(sealID, m, describe(files)); errs != nil {
		t.Error(errs)
	}
	for name, bad := range map[string]map[string][]byte{
		"empty":              {},
		"only itself":        {ManifestFile: nil},
		"escape":             {"../x": nil},
		"absolute":           {"/x": nil},
		"unclean":            {"a//b": nil},
		"backslash":          {`a\b`: nil},
		"not utf-8":          {"a\xff": nil},
		"case":               {"a": nil, "A": nil},
		"accents":            {"caf\u00e9": nil, "cafe\u0301": nil},
		"file and directory": {"a": nil, "A/b": nil},
	} {
		if _, err := Seal(sealID, "", bad); err == nil {
			t.Errorf("%s: sealed", name)
		}
	}
}

func TestVerifyManifest(t *testing.T) {
	files := map[string][]byte{
		"ASSIGNMENT.json": []byte("{}"),
		"PROMPT.md":       []byte("# Task"),
		"CONTEXT.md":      []byte("ctx"),
	}
	sealed, err := Seal(sealID, "2026-01-02T03:04:05.678Z", files)
	if err != nil {
		t.Fatal(err)
	}
	entry := func(path, rest string) string {
		return `{"manifest_version":"1.0","files":[{"path":"` + path + `",` + rest + `}]}`
	}
	digest := `"sha256":"` + InfoOf([]byte("# Task")).SHA256 + `","size":6`
	none := func(m map[string]FileInfo) { clear(m) }
	for name, tc := range map[string]struct {
		id       *Identity
		manifest string // "" means the sealed one
		edit     func(map[string]FileInfo)
		want     []string
	}{
		"as sealed": {},
		"other id": {
			id:   &Identity{"run_002", "turn_x", "qa"},
			want: []string{"invalid_manifest", "invalid_manifest", "invalid_manifest"},
		},
		"id unknown": {id: &Identity{}},
		"unexpected": {edit: func(m map[string]FileInfo) {
			m["X"], m["B"] = InfoOf(nil), InfoOf(nil)
		}, want: []string{"unexpected_file B", "unexpected_file X"}},
		"nested extra": {edit: func(m map[string]FileInfo) {
			m["d/X"] = InfoOf(nil)
		}, want: []string{"unexpected_file d/X"}},
		"same size": {edit: func(m map[string]FileInfo) {
			m["PROMPT.md"] = InfoOf([]byte("# task"))
		}, want: []string{"digest_mismatch PROMPT.md"}},
		"other size": {edit: func(m map[string]FileInfo) {
			m["PROMPT.md"] = InfoOf([]byte("longer than it was"))
		}, want: []string{"size_mismatch PROMPT.md", "digest_mismatch PROMPT.md"}},
		"missing": {edit: func(m map[string]FileInfo) {
			delete(m, "CONTEXT.md")
		}, want: []string{"missing_file CONTEXT.md"}},
		"accumulated": {edit: func(m map[string]FileInfo) {
			delete(m, "CONTEXT.md")
			m["ROGUE.txt"] = InfoOf(nil)
			m["ASSIGNMENT.json"] = InfoOf([]byte("[]"))
		}, want: []string{"digest_mismatch ASSIGNMENT.json", "missing_file CONTEXT.md", "unexpected_file ROGUE.txt"}},
		"symlink": {edit: func(m map[string]FileInfo) {
			m["PROMPT.md"] = FileInfo{Kind: "symlink"}
		}, want: []string{"invalid_manifest PROMPT.md"}},
		"extra symlink": {edit: func(m map[string]FileInfo) {
			m["l"] = FileInfo{Kind: "symlink"}
		}, want: []string{"unexpected_file l"}},
		"directory": {edit: func(m map[string]FileInfo) {
			m["PROMPT.md"] = FileInfo{Kind: "directory"}
		}, want: []string{"invalid_manifest PROMPT.md"}},
		"empty directory": {edit: func(m map[string]FileInfo) { m["d"] = FileInfo{Kind: "directory"} }},
		"not json":        {manifest: "{ invalid json", want: []string{"invalid_manifest"}},
		"null":            {manifest: "null", want: []string{"invalid_manifest"}},
		"array":           {manifest: "[]", want: []string{"invalid_manifest"}},
		"no files":        {manifest: `{"manifest_version":"1.0"}`, want: []string{"invalid_manifest"}},
		"files object":    {manifest: `{"manifest_version":"1.0","files":{}}`, want: []string{"invalid_manifest"}},
		"no version":      {manifest: `{"files":[]}`, want: []string{"invalid_manifest"}},
		"other version":   {manifest: `{"manifest_version":"2.0","files":[]}`, want: []string{"invalid_manifest"}},
		"duplicate key": {
			manifest: `{"manifest_version":"1.0","files":[],"files":[]}`,
			want:     []string{"invalid_manifest"},
		},
		"parent path": {
			id:       &Identity{},
			manifest: entry("../PROMPT.md", digest),
			edit:     none,
			want:     []string{"invalid_manifest ../PROMPT.md"},
		},
		"absolute path": {
			id:       &Identity{},
			manifest: entry("/etc/passwd", digest),
			edit:     none,
			want:     []string{"invalid_manifest /etc/passwd"},
		},
		"hidden parent": {
			id:       &Identity{},
			manifest: entry("a/../../x", digest),
			edit:     none,
			want:     []string{"invalid_manifest a/../../x"},
		},
		"itself": {
			id:       &Identity{},
			manifest: entry("MANIFEST.json", digest),
			edit:     none,
			want:     []string{"invalid_manifest MANIFEST.json"},
		},
		"no path": {
			id:       &Identity{},
			manifest: `{"manifest_version":"1.0","files":[{}]}`,
			edit:     none,
			want:     []string{"invalid_manifest"},
		},
		"not an object": {
			id:       &Identity{},
			manifest: `{"manifest_version":"1.0","files":[1,null]}`,
			edit:     none,
			want:     []string{"invalid_manifest", "invalid_manifest"},
		},
		"no digest": {id: &Identity{}, manifest: entry("PROMPT.md", `"size":6`), want: []string{
			"invalid_manifest PROMPT.md", "unexpected_file ASSIGNMENT.json", "unexpected_file CONTEXT.md",
		}},
		"upper digest": {
			id:       &Identity{},
			manifest: entry("x", strings.ToUpper(digest)),
			edit:     none,
			want:     []string{"invalid_manifest x"},
		},
		"broken size": {
			id:       &Identity{},
			manifest: entry("x", strings.Replace(digest, ":6", ":6.5", 1)),
			edit:     none,
			want:     []string{"invalid_manifest x"},
		},
		"negative size": {
			id:       &Identity{},
			manifest: entry("x", strings.Replace(digest, ":6", ":-6", 1)),
			edit:     none,
			want:     []string{"invalid_manifest x"},
		},
		"duplicate entry": {
			id: &Identity{},
			manifest: `{"manifest_version":"1.0","files":[{"path":"PROMPT.md",` + digest + `},{"path":"PROMPT.md",` +
				digest + `}]}`,
			edit: func(m map[string]FileInfo) { delete(m, "ASSIGNMENT.json"); delete(m, "CONTEXT.md") },
			want: []string{"invalid_manifest PROMPT.md"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			id, manifest, have := sealID, string(sealed), describe(files)
			if tc.id != nil {
				id = *tc.id
			}
			if tc.manifest != "" {
				manifest = tc.manifest
			}
			if tc.edit != nil {
				tc.edit(have)
			}
			errs := VerifyManifest(id, []byte(manifest), have)
			if tc.manifest != "" && id == sealID {
				// An unreadable manifest ends the comparison.
				if len(errs) != 1 {
					t.Fatal(errs)
				}
			}
			if d := cmp.Diff(tc.want, kinds(errs)); d != "" {
				t.Error(d)
			}
			for _, e := range errs {
				if e.Detail == "" {
					t.Errorf("%s says nothing", e.Type)
				}
			}
		})
	}
	if got := kinds(VerifyManifest(sealID, nil, describe(files))); !slices.Equal(got, []string{MissingManifest}) {
		t.Error(got)
	}
	if got := JoinManifestErrors([]ManifestError{
		{Type: "a", Detail: "b"},
		{Type: "c", Detail: "d"},
	}); got != "a: b; c: d" {
		t.Error(got)
	}
}

// Every bundle verifies as sealed, and every single change to it is found and
// named.
func TestSealFindsAnyChange(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		files := rapid.MapOfN(rapid.StringMatching(`[A-Za-z0-9_.é-]{1,6}(/[a-z]{1,3})?`).Filter(safePath),
			rapid.SliceOf(rapid.Byte()), 1, 6).Draw(rt, "files")
		delete(files, ManifestFile)
		seen := newNames()
		for _, p := range slices.Sorted(maps.Keys(files)) {
			if seen.add(p) != "" {
				delete(files, p)
			}
		}
		m, err := Seal(sealID, "t", files)
		if err != nil {
			if len(files) > 0 {
				rt.Fatal(err)
			}
			return
		}
		if errs := VerifyManifest(sealID, m, describe(files)); errs != nil {
			rt.Fatalf("as sealed: %v", errs)
		}
		have := describe(files)
		path := rapid.SampledFrom(slices.Sorted(maps.Keys(files))).Draw(rt, "path")
		var want []string
		switch rapid.IntRange(0, 3).Draw(rt, "change") {
		case 0:
			delete(have, path)
			want = []string{"missing_file " + path}
		case 1:
			have[path] = InfoOf(append(slices.Clone(files[path]), 0))
			want = []string{"size_mismatch " + path, "digest_mismatch " + path}
		case 2:
			data := slices.Clone(files[path])
			if len(data) == 0 {
				return
			}
			data[rapid.IntRange(0, len(data)-1).Draw(rt, "at")] ^= 1
			have[path] = InfoOf(data)
			want = []string{"digest_mismatch " + path}
		case 3:
			have["NEW FILE"] = InfoOf(nil)
			want = []string{"unexpected_file NEW FILE"}
		}
		if d := cmp.Diff(want, kinds(VerifyManifest(sealID, m, have))); d != "" {
			rt.Error(d)
		}
	})
}

func FuzzVerifyManifest(f *testing.F) {
	files := map[string][]byte{"PROMPT.md": []byte("# Task"), "a/b": nil}
	m, err := Seal(sealID, "t", files)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(m)
	for _, s := range []string{"", "null", "[]",
		`{"manifest_version":"1.0","files":[{"path":"../x","sha256":"","size":1e400}]}`,
		`{"manifest_version":1,"files":null}`, "{\"manifest_version\":\"1.0\",\"files\":[{\"path\":\"\\ud800\"}]}"} {
		f.Add([]byte(s))
	}
	have := describe(files)
	f.Fuzz(func(t *testing.T, data []byte) {
		errs := VerifyManifest(sealID, data, have)
		for _, e := range errs {
			switch e.Type {
			case MissingManifest, InvalidManifest, MissingFile, UnexpectedFile, SizeMismatch, DigestMismatch:
			default:
				t.Fatalf("unknown type %q", e.Type)
			}
			if e.Detail == "" || (e.Type != InvalidManifest && e.Type != MissingManifest && e.Path == "") {
				t.Fatalf("incomplete finding %+v", e)
			}
		}
		if d := cmp.Diff(errs, VerifyManifest(sealID, data, have)); d != "" {
			t.Fatal(d)
		}
	})
}
