// Tests of signatures by the standard tools, from settings as git gives them, verified in Go.

package signing

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/protocol/attest"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

var payload = []byte(`{"_type":"https://in-toto.io/Statement/v1"}`)

// tools creates a home for the programs, or skips the test if one is missing.
func tools(t *testing.T, names ...string) string {
	t.Helper()
	for _, n := range names {
		if _, err := exec.LookPath(n); err != nil {
			t.Skipf("no %s here", n)
		}
	}
	dir, err := os.MkdirTemp("", "sign") // sockets of agents need a short path
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range map[string]string{
		"HOME":          dir,
		"GNUPGHOME":     dir,
		"SSH_AUTH_SOCK": "",
		"SSH_ASKPASS":   "",
		"DISPLAY":       "",
	} {
		t.Setenv(k, v)
	}
	t.Cleanup(func() {
		_ = exec.Command("gpgconf", "--homedir", dir, "--kill", "all").Run()
		_ = os.RemoveAll(dir)
	})
	return dir
}

func run(t *testing.T, dir, stdin string, argv ...string) string {
	t.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(stdin)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v: %s", argv, err, stderr.String())
	}
	return string(out)
}

// settings returns the settings that git config reads from a file of the test.
func settings(t *testing.T, dir string, pairs ...string) Settings {
	t.Helper()
	file := filepath.Join(dir, "config")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(pairs); i += 2 {
		run(t, dir, "", "git", "config", "--file", file, "--add", pairs[i], pairs[i+1])
	}
	s := From([]byte(run(t, dir, "", "git", "config", "--file", file, "--null", "--get-regexp", Pattern)))
	s.Dir = dir
	return s
}

// verified signs and checks that the signature counts for the principal.
func verified(t *testing.T, s Settings, file, text, principal string) *attest.Envelope {
	t.Helper()
	e, err := Sign(t.Context(), s, payload)
	if err != nil {
		t.Fatal(err)
	}
	signers, problems := attest.ParseSigners(map[string][]byte{file: []byte(text)})
	if len(problems) > 0 {
		t.Fatal(problems.Join())
	}
	sig, refused := signers.Verify(e, time.Now().Add(time.Second))
	if refused != nil {
		t.Fatal(refused)
	}
	if refused := sig.SpeaksFor(principal); refused != nil || e.KeyID != "" && e.KeyID != sig.KeyID {
		t.Errorf("%v, %s and %s", refused, e.KeyID, sig.KeyID)
	}
	return e
}

func code(err error) string {
	if e, ok := errors.AsType[*wire.Error](err); ok {
		return e.Code
	}
	return ""
}

func TestSSH(t *testing.T) {
	dir := tools(t, "git", "ssh-keygen", "ssh-agent", "ssh-add")
	run(t, dir, "", "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", "key")
	pub := strings.TrimSpace(run(t, dir, "", "cat", "key.pub"))
	line := "a@example.org " + pub
	check := func(pairs ...string) {
		t.Helper()
		verified(t, settings(t, dir, append(pairs, "gpg.format", "ssh")...), attest.AllowedSignersPath, line,
			"a@example.org")
	}
	check("user.signingKey", "~/key")
	check("user.signingKey", "key")
	check("user.signingKey", filepath.Join(dir, "key.pub"))

	socket := filepath.Join(dir, "agent")
	agent := exec.Command("ssh-agent", "-D", "-a", socket)
	if err := agent.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = agent.Process.Kill(); _ = agent.Wait() }()
	t.Setenv("SSH_AUTH_SOCK", socket)
	for i := 0; ; i++ {
		if exec.Command("ssh-add", "-q", filepath.Join(dir, "key")).Run() == nil {
			break
		}
		if i == 100 {
			t.Fatal("the agent takes no key")
		}
		time.Sleep(50 * time.Millisecond)
	}
	if err := os.Remove(filepath.Join(dir, "key")); err != nil {
		t.Fatal(err)
	}
	check("user.signingKey", "key.pub")
	check("user.signingKey", "key::"+pub)
	check("user.signingKey", pub)
	check("gpg.ssh.defaultKeyCommand", "ssh-add -L")
	t.Setenv("SSH_AUTH_SOCK", "")
	s := settings(t, dir, "user.signingKey", pub, "gpg.format", "ssh")
	if _, err := Sign(t.Context(), s, payload); code(err) != wire.CodeSigningFailed {
		t.Errorf("without the agent: %v", err)
	}
}

func TestOpenPGP(t *testing.T) {
	dir := tools(t, "git", "gpg", "gpgconf")
	gpg := []string{"gpg", "--batch", "--quiet", "--pinentry-mode", "loopback", "--passphrase", ""}
	run(t, dir, "", append(gpg, "--quick-generate-key", "A <a@example.org>", "ed25519", "sign", "0")...)
	keys := run(t, dir, "", append(gpg, "--armor", "--export")...)
	for _, pairs := range [][]string{
		{"user.signingKey", "a@example.org"},
		{"user.name", "A", "user.email", "a@example.org", "gpg.program", "gpg"},
	} {
		verified(t, settings(t, dir, pairs...), attest.OpenPGPSignersPath, keys, "a@example.org")
	}
	_, err := Sign(t.Context(), settings(t, dir, "user.signingKey", "stranger@example.org"), payload)
	if code(err) != wire.CodeSigningFailed || !strings.Contains(err.Error(), "stranger") ||
		strings.Contains(err.Error(), "GNUPG:]") {
		t.Errorf("an unknown key: %v", err)
	}
}

func TestX509(t *testing.T) {
	testrepo.Thorough(t)
	dir := tools(t, "git", "gpgsm", "gpgconf", "openssl")
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("gpgsm.conf", "disable-crl-checks\ndisable-policy-checks\n")
	write("gpg-agent.conf", "allow-loopback-pinentry\n")
	run(t, dir, "", "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "k.pem", "-out", "c.pem",
		"-days", "9", "-subj", "/CN=A", "-addext", "subjectAltName=email:a@example.org", "-addext",
		"keyUsage=digitalSignature")
	for try := range 5 { // gpgsm cannot decrypt a few of them, depending on their salt
		run(t, dir, "", "openssl", "pkcs12", "-export", "-legacy", "-inkey", "k.pem", "-in", "c.pem", "-out", "k.p12",
			"-passout", "pass:x")
		key := exec.Command("gpgsm", "--batch", "--pinentry-mode", "loopback", "--passphrase-fd", "0", "--import", "k.p12")
		key.Dir, key.Stdin = dir, strings.NewReader("x\n")
		if out, err := key.CombinedOutput(); err == nil {
			break
		} else if try == 4 {
			t.Fatalf("gpgsm takes no key: %v: %s", err, out)
		}
	}
	finger := run(t, dir, "", "openssl", "x509", "-in", "c.pem", "-noout", "-fingerprint", "-sha1")
	_, finger, _ = strings.Cut(strings.TrimSpace(finger), "=")
	write("trustlist.txt", finger+" S relax\n")
	// From here on the agent keeps the key without a passphrase: it has nowhere to ask.
	write("sign.sh", "#!/bin/sh\nexec gpgsm --batch --pinentry-mode loopback --passphrase-fd 3 \"$@\" 3<<E\nx\nE\n")
	if err := os.Chmod(filepath.Join(dir, "sign.sh"), 0o700); err != nil {
		t.Fatal(err)
	}
	cert := run(t, dir, "", "cat", "c.pem")
	s := settings(t, dir, "gpg.format", "x509", "gpg.x509.program", filepath.Join(dir, "sign.sh"),
		"user.signingKey", "a@example.org")
	verified(t, s, attest.X509SignersPath, cert, "a@example.org")
}

func TestHangingSigner(t *testing.T) {
	dir := tools(t, "git")
	program := filepath.Join(dir, "hang")
	if err := os.WriteFile(program, []byte("#!/bin/sh\nsleep 600 & sleep 600\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	_, err := Sign(ctx, settings(t, dir, "gpg.program", program, "user.signingKey", "x"), payload)
	if code(err) != wire.CodeSigningFailed {
		t.Errorf("%v", err)
	}
}

func TestHostileSigner(t *testing.T) {
	dir := tools(t, "git")
	program := filepath.Join(dir, "odd")
	for name, c := range map[string]struct{ script, want string }{
		"silent":    {"exit 1", "did not say why"},
		"too loud":  {"yes", "bytes"},
		"terminal":  {`printf '\033[2Jboo' >&2; exit 1`, "boo"},
		"no result": {"exit 0", "no signature"},
		"a lie":     {"echo -----BEGIN SSH SIGNATURE-----", "no signature"},
	} {
		if err := os.WriteFile(program, []byte("#!/bin/sh\n"+c.script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		_, err := Sign(t.Context(), settings(t, dir, "gpg.program", program, "user.signingKey", "x"), payload)
		if code(err) != wire.CodeSigningFailed || !strings.Contains(err.Error(), c.want) ||
			strings.ContainsRune(err.Error(), '\x1b') {
			t.Errorf("%s: %v", name, err)
		}
	}
	for said, want := range map[string]string{
		"incorrect passphrase supplied":                       "ssh-add",
		"Could not get agent socket":                          "ssh-add -l",
		"gpg: signing failed: Unusable secret key":            "--quick-set-expire",
		"gpg: signing failed: Inappropriate ioctl for device": "GPG_TTY",
	} {
		if err := os.WriteFile(program, []byte("#!/bin/sh\necho "+said+" >&2; exit 1\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		var e *wire.Error
		_, err := Sign(t.Context(), settings(t, dir, "gpg.program", program, "user.signingKey", "x"), payload)
		if !errors.As(err, &e) || !strings.Contains(e.Hint, want) {
			t.Errorf("%s: %+v", said, e)
		}
	}
}

func TestSetup(t *testing.T) {
	dir := tools(t, "git", "ssh-keygen")
	run(t, dir, "", "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", "key")
	for name, c := range map[string]struct {
		pairs []string
		lacks []string
	}{
		"ready":         {[]string{"gpg.format", "ssh", "user.signingKey", "~/key"}, nil},
		"the last":      {[]string{"gpg.format", "x", "gpg.format", "ssh", "user.signingKey", "~/key"}, nil},
		"no key":        {[]string{"gpg.format", "ssh"}, []string{"user.signingKey"}},
		"key not there": {[]string{"gpg.format", "ssh", "user.signingKey", "~/none"}, []string{"user.signingKey"}},
		"format":        {[]string{"gpg.format", "pigeon"}, []string{"gpg.format ssh"}},
		"program": {[]string{"gpg.format", "ssh", "user.signingKey", "key", "gpg.ssh.program", "/none"},
			[]string{"gpg.ssh.program"}},
		"nothing of openpgp": {[]string{"gpg.program", "/none"}, []string{"gpg.openpgp.program", "user.signingKey"}},
	} {
		s := settings(t, dir, append(c.pairs, "gpg.minTrustLevel", "never")...)
		setup := s.setup()
		if setup.Ready != (len(c.lacks) == 0) || len(setup.Missing) != len(c.lacks) {
			t.Errorf("%s: %+v", name, setup)
			continue
		}
		for i, l := range c.lacks {
			if !strings.HasPrefix(setup.Missing[i].Command, "git config --global "+l) || setup.Missing[i].What == "" {
				t.Errorf("%s: %+v", name, setup.Missing[i])
			}
		}
		if _, err := Sign(t.Context(), s, payload); !setup.Ready && code(err) != wire.CodeSigningNotConfigured {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCanSign(t *testing.T) {
	for list, want := range map[string]bool{
		"sec:u:255:22:X:1::::::cSC:::+:::23::0:\nssb:u:255:22:Y:1:2:::::s:::+:::23:\n": true,
		"sec:u:255:22:X:1::::::cC:::+:::23::0:\nssb:e:255:22:Y:1:2:::::s:::+:::23:\n":  false,
		"sec:r:255:22:X:1::::::c:::+:::23::0:\n":                                       false,
		"":                                                                             false,
	} {
		if canSign(list) != want {
			t.Errorf("%q: %v", list, !want)
		}
	}
}

func TestWords(t *testing.T) {
	for s, want := range map[string][]string{
		`ssh-add -L`:         {"ssh-add", "-L"},
		`a "b c" 'd\e' f\ g`: {"a", "b c", `d\e`, "f g"},
		`a ""`:               {"a", ""},
		`a "b`:               nil,
	} {
		got, ok := words(s)
		if ok && want != nil && !slices.Equal(got, want) || ok != (want != nil) {
			t.Errorf("%q: %q %v", s, got, ok)
		}
	}
}

func FuzzFrom(f *testing.F) {
	f.Add([]byte("gpg.format\nssh\x00user.signingkey\n~/x\x00gpg.ssh.defaultkeycommand\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s := From(data)
		_, _ = words(s.DefaultKeyCommand)
		_ = s.program()
	})
}
