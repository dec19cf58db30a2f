package sibling

import (
	"bytes"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/pack"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
)

// configByGit reads a configuration file as git does; false when git refuses it.
func configByGit(t testing.TB, data string) (gitConfig, bool) {
	t.Helper()
	testrepo.Isolate()
	name := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(name, []byte(data), 0o666); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("git", "config", "--file", name, "--no-includes", "-z", "--list").Output()
	if err != nil {
		return nil, false
	}
	cfg := make(gitConfig)
	for entry := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if entry == "" {
			continue
		}
		key, value, ok := strings.Cut(entry, "\n")
		if !ok {
			value = "true"
		}
		cfg[key] = value
	}
	return cfg, true
}

func configSeeds() []string {
	return []string{
		"", "\n", "[core]\n\tbare = false\n", "[core] bare\n",
		"[Core]\nRepositoryFormatVersion=1\n[extensions]\n objectFormat = sha256\n",
		"[a \"B c\"]\n\tk = v ; comment\n", "[a.b]\nk=1\n", "[a]\nk = \"quoted ; # \\\" \\\\ \\n\" tail  # c\n",
		"[a]\nk = one\\\ntwo\n", "[a]\r\nk = v\r\n",
		"# only\n; these\n", "[a]\nk\n", "[a]\nk =\n", "[a]\nk = \\x\n", "[a\n", "[]\nk=1\n", "k = 1\n",
		"[a]\n1k = 2\n", "[a]\nk v\n", "[a \"x\nk=1\n", "[a]\nk = \"open\n",
		"\xef\xbb\xbf[a]\nk=1\n", "[a]b=1\n", "[a] b = 1 [c] d = 2\n", "[a]\nk = v\\", "[a \"q\\\"r\\\\\"]\nk = 1\n",
		"[a]\n\tk = a  b c   \n", "[a]\nk=1\nk=2\n", "[a-b]\nk-l = \"\"\n",
		"[a]\nk = \"x\" y \"z\"  ; c\n", "[a]\nk = v # \\\nl = 2\n", "[a]\r\nk\r\n", "[a]\nk = \\t\\b\n",
		"[a.B]\nK=1\n", "[a\"b\"]\nk=1\n", "[a ]\nk=1\n",
	}
}

func TestGitConfigIsReadAsGitReadsIt(t *testing.T) {
	for _, in := range configSeeds() {
		want, ok := configByGit(t, in)
		got, err := parseGitConfig([]byte(in))
		if (err == nil) != ok || ok && !maps.Equal(got, want) {
			t.Errorf("%q: %q (%v), git says %q (%v)", in, got, err, want, ok)
		}
	}
}

// FuzzGitConfig checks that parsing only fails with an error, and parses its own output again.
func FuzzGitConfig(f *testing.F) {
	for _, s := range configSeeds() {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		cfg, err := parseGitConfig(in)
		if err != nil {
			return
		}
		for key := range cfg {
			section, _, _ := strings.Cut(key, ".")
			if section != strings.ToLower(section) {
				t.Fatalf("key %q", key)
			}
		}
		_, _, _ = cfg.format()
		// Comments and blank lines in front change nothing.
		again, err := parseGitConfig(append([]byte("# c\n\n"), bytes.TrimPrefix(in, []byte("\xef\xbb\xbf"))...))
		if err != nil || !maps.Equal(cfg, again) {
			t.Fatalf("%q and %q (%v)", cfg, again, err)
		}
	})
}

func TestGitConfigFormat(t *testing.T) {
	for _, c := range []struct{ in, object, ref string }{
		{"", "sha1", "files"}, {"[core]\nrepositoryformatversion=0\n[extensions]\nobjectformat=sha256\n", "sha1",
			"files"},
		{"[core]\nrepositoryformatversion=1\n[extensions]\nobjectformat=sha256\nrefstorage=reftable\n", "sha256",
			"reftable"},
		{"[core]\nrepositoryformatversion=2\n", "", ""},
		{"[core]\nrepositoryformatversion=1\n[extensions]\nobjectformat=md5\n", "", ""},
		{"[core]\nrepositoryformatversion=1\n[extensions]\nrefstorage=sql\n", "", ""},
	} {
		cfg, err := parseGitConfig([]byte(c.in))
		if err != nil {
			t.Fatal(err)
		}
		if object, ref, err := cfg.format(); object != c.object || ref != c.ref || (err == nil) != (c.object != "") {
			t.Errorf("%q: %s %s %v", c.in, object, ref, err)
		}
	}
}

// FuzzDelta applies foreign deltas: the result has the size they declare and is within the limit, or there is an
// error.
func FuzzDelta(f *testing.F) {
	f.Add([]byte("base text"), []byte{9, 4, 0x90, 4})
	f.Add([]byte("base text"), []byte{9, 5, 5, 'h', 'e', 'l', 'l', 'o'})
	f.Add([]byte("base text"), []byte{9, 9, 0x91, 5, 4, 5, 'x', 'y', 'z', 'a', 'b'})
	f.Add([]byte{}, []byte{0, 0})
	f.Add([]byte("b"), []byte{1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 0x90, 1})
	f.Fuzz(func(t *testing.T, base, delta []byte) {
		const limit = 1 << 16
		out, err := pack.ApplyDelta(base, delta, limit)
		if err != nil {
			return
		}
		if len(out) > limit {
			t.Fatal(len(out))
		}
	})
}

// TestDeltaOffsets reads the distance to a base, and refuses a copy from beyond the base.
func TestDeltaOffsets(t *testing.T) {
	for _, c := range []struct {
		in   []byte
		back int64
		used int
	}{{[]byte{5}, 5, 1}, {[]byte{0x80, 0}, 128, 2}, {[]byte{0x81, 0x7f}, 383, 2}, {[]byte{0xff}, 0, 0}, {nil, 0, 0},
		{bytes.Repeat([]byte{0xff}, 20), 0, 0}} {
		if back, used := pack.DeltaOffset(c.in); back != c.back || used != c.used {
			t.Errorf("%x: %d %d, want %d %d", c.in, back, used, c.back, c.used)
		}
	}
	if _, err := pack.ApplyDelta([]byte("abc"), []byte{3, 3, 0x80}, 10); err == nil {
		t.Error("a copy of 64 KiB out of three bytes")
	}
}
