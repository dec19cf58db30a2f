// Nix's hash of a directory, so that flake.nix can be checked against go.sum where there is no Nix.

package packaging_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"hash"
	"os"
	"path/filepath"
	"testing"
)

// nar writes the archive form of files that Nix hashes: every string with its length before it, padded to eight
// bytes.
type nar struct{ hash.Hash }

func (w nar) put(words ...string) {
	for _, s := range words {
		_ = binary.Write(w, binary.LittleEndian, uint64(len(s)))
		_, _ = w.Write([]byte(s))
		_, _ = w.Write(make([]byte, (8-len(s)%8)%8))
	}
}

func (w nar) node(t *testing.T, file string) {
	t.Helper()
	info, err := os.Lstat(file)
	if err != nil {
		t.Fatal(err)
	}
	w.put("(", "type")
	switch {
	case info.IsDir():
		w.put("directory")
		list, err := os.ReadDir(file) // in the order of names
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range list {
			w.put("entry", "(", "name", e.Name(), "node")
			w.node(t, filepath.Join(file, e.Name()))
			w.put(")")
		}
	case info.Mode().IsRegular():
		w.put("regular")
		if info.Mode()&0o100 != 0 {
			w.put("executable", "")
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		w.put("contents", string(data))
	default:
		t.Fatalf("%s is no file and no directory", file)
	}
	w.put(")")
}

// nixHash returns the SHA-256 hash of a file or directory as nix-hash prints it.
func nixHash(t *testing.T, file string) []byte {
	t.Helper()
	w := nar{sha256.New()}
	w.put("nix-archive-1")
	w.node(t, file)
	return w.Sum(nil)
}

// nixSRI returns a hash in the form of vendorHash.
func nixSRI(sum []byte) string { return "sha256-" + base64.StdEncoding.EncodeToString(sum) }

// nixBase32 returns the older spelling of a hash.
func nixBase32(sum []byte) string {
	const digits = "0123456789abcdfghijklmnpqrsvwxyz"
	var b bytes.Buffer
	for n := (len(sum)*8 - 1) / 5; n >= 0; n-- {
		at := n * 5
		c := uint(sum[at/8]) >> (at % 8)
		if at/8+1 < len(sum) {
			c |= uint(sum[at/8+1]) << (8 - at%8)
		}
		b.WriteByte(digits[c&31])
	}
	return b.String()
}

// The hashes that nixpkgs itself gives for an empty file and an empty directory.
func TestNixHash(t *testing.T) {
	dir := t.TempDir()
	empty := filepath.Join(dir, "file")
	if err := os.WriteFile(empty, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "dir"), 0o755); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{
		empty:                     "0ip26j2h11n1kgkz36rl4akv694yz65hr72q4kv4b3lxcbi65b3p",
		filepath.Join(dir, "dir"): "0sjjj9z1dhilhpc8pq4154czrb79z9cm044jvn75kxcjv6v5l2m5",
	} {
		if got := nixBase32(nixHash(t, file)); got != want {
			t.Errorf("%s: expected %s, got %s", file, want, got)
		}
	}
}
