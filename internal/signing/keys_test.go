package signing

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReadKey(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("a.pub", "ssh-ed25519 AAAA ada at home\n")
	write("b.pub", "sk-ssh-ed25519@openssh.com BBBB\nssh-ed25519 CCCC second\n")
	write("bad.pub", "hello\n")
	write("evil.pub", "ssh-ed25519 AA\"#AA\n")
	s := Settings{Dir: dir}
	for name, want := range map[string]Key{
		"a.pub":                   {filepath.Join(dir, "a.pub"), "ssh-ed25519 AAAA", "ada at home"},
		"a":                       {filepath.Join(dir, "a.pub"), "ssh-ed25519 AAAA", "ada at home"},
		"b":                       {filepath.Join(dir, "b.pub"), "sk-ssh-ed25519@openssh.com BBBB", ""},
		"key::ssh-ed25519 AAAA x": {"key::ssh-ed25519 AAAA", "ssh-ed25519 AAAA", "x"},
		"ssh-rsa AAAA":            {"key::ssh-rsa AAAA", "ssh-rsa AAAA", ""},
		"bad":                     {},
		"evil":                    {},
		"none":                    {},
		".":                       {},
		"key::":                   {},
		"key::ssh-rsa":            {},
		"key::ssh-rsa A\x1b":      {},
	} {
		got, err := s.ReadKey(name)
		if got != want || (err == nil) != (want != Key{}) {
			t.Errorf("%q: %+v, %v", name, got, err)
		}
	}
}

func FuzzPublicKey(f *testing.F) {
	f.Add("ssh-ed25519 AAAA comment")
	f.Add("sk-ecdsa-sha2-nistp256@openssh.com AAAA")
	f.Add("ssh-rsa \x00")
	f.Fuzz(func(t *testing.T, line string) {
		k, ok := publicKey(line)
		if ok && (strings.Count(k.Public, " ") != 1 || strings.ContainsAny(k.Public, "\n\r\t\"#'\\\x00")) {
			t.Errorf("%q gives %q", line, k.Public)
		}
	})
}
