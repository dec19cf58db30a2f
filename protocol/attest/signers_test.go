// The files of signers, and signatures of the real programs verified with them.

package attest

import (
	"bytes"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/sha256"
	"crypto/x509"
	"encoding/asn1"
	"encoding/binary"
	"encoding/pem"
	"fmt"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/smallstep/pkcs7"
	"golang.org/x/crypto/ssh"
)

var now = time.Now().UTC().Truncate(time.Millisecond)

// program runs one of the standard tools, or skips the test where it is missing.
type program struct {
	*testing.T
	dir string
	env []string
}

func programs(t *testing.T, names ...string) *program {
	t.Helper()
	for _, n := range names {
		if _, err := exec.LookPath(n); err != nil {
			t.Skipf("no %s here", n)
		}
	}
	// Sockets of gpg's agent need a short path.
	dir, err := os.MkdirTemp("", "attest")
	if err != nil {
		t.Fatal(err)
	}
	p := &program{
		T:   t,
		dir: dir,
		env: append(os.Environ(), "GNUPGHOME="+dir, "HOME="+dir, "SSH_AUTH_SOCK=", "TZ=UTC", "LC_ALL=C"),
	}
	t.Cleanup(func() {
		if slices.Contains(names, "gpg") || slices.Contains(names, "gpgsm") {
			_, _ = p.try(nil, "gpgconf", "--kill", "all")
		}
		_ = os.RemoveAll(dir)
	})
	return p
}

func (p *program) try(stdin []byte, argv ...string) ([]byte, error) {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdin = p.dir, p.env, bytes.NewReader(stdin)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%s: %w: %s", strings.Join(argv, " "), err, stderr.String())
	}
	return out, err
}

func (p *program) run(stdin []byte, argv ...string) []byte {
	p.Helper()
	out, err := p.try(stdin, argv...)
	if err != nil {
		p.Fatal(err)
	}
	return out
}

func (p *program) write(name, text string) {
	p.Helper()
	if err := os.WriteFile(filepath.Join(p.dir, name), []byte(text), 0o600); err != nil {
		p.Fatal(err)
	}
}

func (p *program) read(name string) string {
	p.Helper()
	data, err := os.ReadFile(filepath.Join(p.dir, name))
	if err != nil {
		p.Fatal(err)
	}
	return strings.TrimSpace(string(data))
}

// key makes an SSH key and returns its public half without the comment.
func (p *program) key(name string, args ...string) string {
	p.Helper()
	p.run(nil, append([]string{"ssh-keygen", "-q", "-N", "", "-C", "", "-f", name}, args...)...)
	return p.read(name + ".pub")
}

func (p *program) sign(key, namespace string, payload []byte) *Envelope {
	p.Helper()
	return &Envelope{
		Payload:   payload,
		Format:    FormatSSH,
		Signature: p.run(PAE(PayloadType, payload), "ssh-keygen", "-q", "-Y", "sign", "-n", namespace, "-f", key),
	}
}

func signers(t *testing.T, files map[string]string) *Signers {
	t.Helper()
	m := make(map[string][]byte)
	for name, text := range files {
		m[name] = []byte(text)
	}
	s, problems := ParseSigners(m)
	if len(problems) > 0 {
		t.Fatal(problems.Join())
	}
	return s
}

func allowing(t *testing.T, lines ...string) *Signers {
	t.Helper()
	return signers(t, map[string]string{AllowedSignersPath: strings.Join(lines, "\n") + "\n"})
}

// code returns the outcome of a judgement, "" when valid; a principal other than "" is checked too.
func code(s *Signers, e *Envelope, at time.Time, principal string) string {
	sig, err := s.Verify(e, at)
	if err == nil && principal != "" {
		err = sig.SpeaksFor(principal)
	}
	if err == nil {
		return ""
	}
	return err.Code
}

func TestSSHKinds(t *testing.T) {
	testrepo.Thorough(t)
	p := programs(t, "ssh-keygen")
	payload, _ := example().Encode()
	for name, args := range map[string][]string{
		"ed25519": {"-t", "ed25519"},
		"ecdsa":   {"-t", "ecdsa", "-b", "384"},
		"rsa":     {"-t", "rsa", "-b", "3072"},
	} {
		pub := p.key(name, args...)
		s := allowing(t, "maintainer@example.org "+pub)
		e := p.sign(name, Namespace, payload)
		sig, err := s.Verify(e, now)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !slices.Equal(sig.Principals, []string{"maintainer@example.org"}) || !strings.HasPrefix(sig.KeyID,
			"SHA256:") {
			t.Errorf("%s: %+v", name, sig)
		}
		other := *e
		other.Payload = append(slices.Clone(payload), ' ')
		if c := code(s, &other, now, ""); c != wire.CodeSignatureInvalid {
			t.Errorf("%s: a changed statement: %q", name, c)
		}
		if c := code(&Signers{}, e, now, ""); c != wire.CodeSignerUnknown {
			t.Errorf("%s: no signers: %q", name, c)
		}
	}
	p.key("weak", "-t", "rsa", "-b", "1024")
	if c := code(&Signers{}, p.sign("weak", Namespace, payload), now, ""); c != wire.CodeSignatureFormat {
		t.Errorf("a weak key: %q", c)
	}
}

// TestAllowedSignersAsSSHReadsThem compares our reading of lines with ssh-keygen itself.
func TestAllowedSignersAsSSHReadsThem(t *testing.T) {
	p := programs(t, "ssh-keygen")
	payload, _ := example().Encode()
	key, other := p.key("k", "-t", "ed25519"), p.key("o", "-t", "ed25519")
	env := p.sign("k", Namespace, payload)
	p.write("sig", string(env.Signature))
	who := "maintainer@example.org"
	day := func(d int) string { return now.AddDate(0, 0, d).Format("20060102") }
	for name, c := range map[string]struct{ line, want string }{
		"plain":               {who + " " + key, ""},
		"comment":             {"# x\n\n  \t\n" + who + " " + key + " of a person", ""},
		"another key":         {who + " " + other, wire.CodeSignerUnknown},
		"another name":        {"x@example.org " + key, wire.CodeSignerUnknown},
		"list":                {"x@example.org," + who + " " + key, ""},
		"wildcard":            {"*@example.org " + key, ""},
		"question marks":      {"maintaine?@example.org " + key, ""},
		"negated":             {"*@example.org,!maintainer@* " + key, wire.CodeSignerUnknown},
		"negated first":       {"!maintainer@*,*@example.org " + key, wire.CodeSignerUnknown},
		"quoted":              {`"` + who + `" ` + key, ""},
		"quoted with a space": {`"a b,` + who + `" ` + key, ""},
		"other case":          {"Maintainer@example.org " + key, wire.CodeSignerUnknown},
		"namespace":           {who + ` namespaces="file,git" ` + key, ""},
		"namespace pattern":   {who + ` NameSpaces="g*" ` + key, ""},
		"other namespace":     {who + ` namespaces="file" ` + key, wire.CodeSignerNamespace},
		"negated namespace":   {who + ` namespaces="*,!git" ` + key, wire.CodeSignerNamespace},
		"valid":               {who + ` valid-after="` + day(-1) + `Z",valid-before="` + day(2) + `Z" ` + key, ""},
		"over":                {who + ` valid-before="` + day(-1) + `Z" ` + key, wire.CodeSignerExpired},
		"not yet":             {who + ` valid-after="` + day(2) + `1200Z" ` + key, wire.CodeSignerExpired},
		"with seconds":        {who + ` valid-after="` + day(-2) + `121314Z" ` + key, ""},
		"without Z, UTC":      {who + ` valid-before="` + day(-1) + `" ` + key, wire.CodeSignerExpired},
		"one of two lines":    {who + ` valid-before="20010101Z" ` + key + "\n" + who + " " + key, ""},
		"an authority":        {who + " cert-authority " + key, wire.CodeSignerUnknown},
		"carriage returns":    {who + " " + key + "\r\n", ""},
		"tabs":                {who + "\t" + key, ""},
	} {
		s := allowing(t, c.line)
		if got := code(s, env, now, who); got != c.want {
			t.Errorf("%s: %q, not %q", name, got, c.want)
		}
		p.write("allowed", c.line+"\n")
		_, err := p.try(PAE(PayloadType, payload), "ssh-keygen", "-Y", "verify", "-f", "allowed", "-I", who, "-n",
			Namespace, "-s", "sig")
		if (err == nil) != (c.want == "") {
			t.Errorf("%s: ssh-keygen says %v", name, err)
		}
	}
	for name, line := range map[string]string{
		"nothing but a name":  who,
		"no key":              who + " cert-authority",
		"an unknown option":   who + " trusted " + key,
		"a time that is none": who + ` valid-before="20011301" ` + key,
		"an unquoted time":    who + ` valid-before=20300101 ` + key,
		"an open quote":       `"` + who + " " + key,
		"an open option":      who + ` namespaces="git ` + key,
		"twice":               who + ` namespaces="git",namespaces="git" ` + key,
		"a comma at the end":  who + ` cert-authority, ` + key,
		"dates the wrong way": who + ` valid-after="20300101",valid-before="20200101" ` + key,
		"a broken key":        who + " " + key[:30],
		"another type":        who + " ssh-rsa " + strings.Fields(key)[1],
	} {
		s, problems := ParseSigners(map[string][]byte{AllowedSignersPath: []byte("# one\n" + line + "\n")})
		if len(problems) != 1 || problems[0].Field != AllowedSignersPath+":2" || len(s.allowed) > 0 {
			t.Errorf("%s: %v", name, problems)
		}
		p.write("allowed", line+"\n")
		if _, err := p.try(PAE(PayloadType, payload), "ssh-keygen", "-Y", "verify", "-f", "allowed", "-I", who,
			"-n", Namespace, "-s", "sig"); err == nil {
			t.Errorf("%s: ssh-keygen takes it", name)
		}
	}
}

func TestSSHPrincipals(t *testing.T) {
	p := programs(t, "ssh-keygen")
	payload, _ := example().Encode()
	key := p.key("k", "-t", "ed25519")
	e := p.sign("k", Namespace, payload)
	s := allowing(t,
		`b@x,!c@x,c@x,*@y `+key,
		`old@x valid-before="20010101" `+key,
		`file@x namespaces="file" `+key)
	sig, err := s.Verify(e, now)
	if err != nil || !slices.Equal(sig.Principals, []string{"b@x"}) {
		t.Fatalf("%v %+v", err, sig)
	}
	for name, want := range map[string]string{
		"b@x": "", "any@y": "", "c@x": wire.CodeSignerUnknown, "*@y": "",
		"old@x": wire.CodeSignerExpired, "file@x": wire.CodeSignerNamespace,
	} {
		if c := code(s, e, now, name); c != want {
			t.Errorf("%s: %q, not %q", name, c, want)
		}
	}
	if c := code(s, p.sign("k", "file", payload), now, ""); c != wire.CodeSignerNamespace {
		t.Errorf("another namespace: %q", c)
	}
}

func TestRevokedSigners(t *testing.T) {
	p := programs(t, "ssh-keygen")
	payload, _ := example().Encode()
	key := p.key("k", "-t", "ed25519")
	e := p.sign("k", Namespace, payload)
	sig, err := allowing(t, "a@x "+key).Verify(e, now)
	if err != nil {
		t.Fatal(err)
	}
	p.write("list", key+"\n")
	p.run(nil, "ssh-keygen", "-q", "-k", "-f", "krl", "list")
	for name, c := range map[string]struct{ text, want string }{
		"empty":       {"# no one\n", ""},
		"key":         {key + " lost\n", wire.CodeSignerRevoked},
		"fingerprint": {sig.KeyID + "\n", wire.CodeSignerRevoked},
		"a KRL":       {p.read("krl"), wire.CodeSignersInvalid},
		"no key":      {"a sentence\n", wire.CodeSignersInvalid},
		"too large":   {strings.Repeat("#\n", maxSignersFile), wire.CodeSignersInvalid},
	} {
		s, problems := ParseSigners(map[string][]byte{
			AllowedSignersPath: []byte("a@x " + key),
			RevokedSignersPath: []byte(c.text),
		})
		if got := code(s, e, now, ""); got != c.want || (len(problems) > 0) != (c.want == wire.CodeSignersInvalid) {
			t.Errorf("%s: %q, %v", name, got, problems)
		}
	}
}

func TestSSHCertificates(t *testing.T) {
	p := programs(t, "ssh-keygen")
	payload, _ := example().Encode()
	ca, key := p.key("ca", "-t", "ed25519"), p.key("k", "-t", "ed25519")
	s := allowing(t, "*@example.org cert-authority "+ca)
	certify := func(args ...string) *Envelope {
		p.run(nil, append(append([]string{"ssh-keygen", "-q", "-s", "ca", "-I", "id"}, args...), "k.pub")...)
		return p.sign("k-cert.pub", Namespace, payload)
	}
	for name, c := range map[string]struct {
		args      []string
		principal string
		want      string
	}{
		"good":           {[]string{"-n", "a@example.org,b@other.org"}, "a@example.org", ""},
		"another name":   {[]string{"-n", "a@example.org"}, "c@example.org", wire.CodeSignerUnknown},
		"not for the CA": {[]string{"-n", "a@example.org,b@other.org"}, "b@other.org", wire.CodeSignerUnknown},
		"for every name": {nil, "a@example.org", wire.CodeSignerUnknown},
		"of a host":      {[]string{"-h", "-n", "a@example.org"}, "a@example.org", wire.CodeSignerUnknown},
		"over": {[]string{"-n", "a@example.org", "-V", "20200101:20200102"}, "a@example.org",
			wire.CodeSignerExpired},
		"critical option": {[]string{"-n", "a@example.org", "-O", "force-command=x"}, "a@example.org",
			wire.CodeSignerUnknown},
	} {
		if got := code(s, certify(c.args...), now, c.principal); got != c.want {
			t.Errorf("%s: %q, not %q", name, got, c.want)
		}
	}
	e := certify("-n", "a@example.org")
	if c := code(allowing(t, "*@example.org "+ca), e, now, ""); c != wire.CodeSignerUnknown {
		t.Errorf("a CA that is a plain key: %q", c)
	}
	for _, r := range []string{ca, key} {
		s := signers(t, map[string]string{AllowedSignersPath: "* cert-authority " + ca, RevokedSignersPath: r})
		if c := code(s, e, now, ""); c != wire.CodeSignerRevoked {
			t.Errorf("revoked: %q", c)
		}
	}
}

// TestHardwareKeys simulates the hardware: the key signs what an authenticator would.
func TestHardwareKeys(t *testing.T) {
	pub, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	blob := ssh.Marshal(struct {
		Type        string
		Key         []byte
		Application string
	}{ssh.KeyAlgoSKED25519, pub, "ssh:"})
	key, err := ssh.ParsePublicKey(blob)
	if err != nil {
		t.Fatal(err)
	}
	payload, _ := example().Encode()
	s := allowing(t, "a@x "+string(ssh.MarshalAuthorizedKey(key)))
	for flags, want := range map[byte]string{1: "", 5: "", 0: wire.CodeSignatureInvalid} {
		digest := sha256.Sum256(PAE(PayloadType, payload))
		data := append([]byte(sshMagic), ssh.Marshal(signedSSH{
			Namespace: Namespace,
			Hash:      "sha256",
			Digest:    digest[:],
		})...)
		app, msg := sha256.Sum256([]byte("ssh:")), sha256.Sum256(data)
		tail := binary.BigEndian.AppendUint32([]byte{flags}, 7)
		raw := ed25519.Sign(private, slices.Concat(app[:], tail, msg[:]))
		inner := append(ssh.Marshal(struct {
			Format string
			Blob   []byte
		}{ssh.KeyAlgoSKED25519, raw}), tail...)
		e := &Envelope{
			Payload: payload,
			Format:  FormatSSH,
			Signature: pem.EncodeToMemory(&pem.Block{
				Type: "SSH SIGNATURE",
				Bytes: append([]byte(sshMagic), ssh.Marshal(sshSignature{
					Version:   1,
					PublicKey: blob,
					Namespace: Namespace,
					Hash:      "sha256",
					Signature: inner,
				})...),
			}),
		}
		if c := code(s, e, now, "a@x"); c != want {
			t.Errorf("flags %d: %q, not %q", flags, c, want)
		}
	}
}

func TestOpenPGP(t *testing.T) {
	p := programs(t, "gpg", "gpgconf")
	payload, _ := example().Encode()
	gpg := func(stdin []byte, args ...string) []byte {
		return p.run(stdin, append([]string{"gpg", "--batch", "--quiet", "--pinentry-mode", "loopback",
			"--passphrase", ""}, args...)...)
	}
	gpg(nil, "--quick-generate-key", "A Person <a@example.org>", "ed25519", "sign", "1y")
	gpg(nil, "--quick-generate-key", "Old <old@example.org>", "rsa2048", "sign", "1d")
	gpg(nil, "--quick-generate-key", "Stranger <s@example.org>", "ed25519", "sign", "0")
	sign := func(who string, more ...string) *Envelope {
		return &Envelope{
			Payload:   payload,
			Format:    FormatOpenPGP,
			Signature: gpg(PAE(PayloadType, payload), append(more, "-bsau", who)...),
		}
	}
	file := string(gpg(nil, "--armor", "--export", "a@example.org")) + "between\n" + string(gpg(nil, "--armor",
		"--export", "old@example.org"))
	s := signers(t, map[string]string{OpenPGPSignersPath: file})
	e := sign("a@example.org")
	sig, err := s.Verify(e, now)
	if err != nil || !slices.Equal(sig.Principals, []string{"a@example.org"}) || !strings.HasPrefix(sig.KeyID,
		"openpgp:") {
		// The key is made within the second to which now was truncated.
		sig, err = s.Verify(e, now.Add(time.Minute))
	}
	if err != nil || !slices.Equal(sig.Principals, []string{"a@example.org"}) {
		t.Fatalf("%v %+v", err, sig)
	}
	soon := now.Add(time.Minute)
	changed := *e
	changed.Payload = []byte("{}")
	lost := string(gpg(nil, "--armor", "--export-options", "export-minimal", "--export", "a@example.org"))
	p.write("commands", "")
	revocation := p.read("openpgp-revocs.d/" + strings.ToUpper(strings.TrimPrefix(sig.Key, "openpgp:")) + ".rev")
	_, revocation, _ = strings.Cut(revocation, "\n:")
	gpg([]byte(revocation), "--import")
	revoked := string(gpg(nil, "--armor", "--export", "a@example.org"))
	for name, c := range map[string]struct {
		s    *Signers
		e    *Envelope
		at   time.Time
		who  string
		want string
	}{
		"rsa":            {s, sign("old@example.org"), soon, "old@example.org", ""},
		"over":           {s, sign("old@example.org"), now.AddDate(0, 0, 3), "", wire.CodeSignerExpired},
		"before the key": {s, e, now.AddDate(-1, 0, 0), "", wire.CodeSignerExpired},
		"other name":     {s, e, soon, "old@example.org", wire.CodeSignerUnknown},
		"stranger":       {s, sign("s@example.org"), soon, "", wire.CodeSignerUnknown},
		"changed":        {s, &changed, soon, "", wire.CodeSignatureInvalid},
		"SHA-1":          {s, sign("old@example.org", "--digest-algo", "SHA1"), soon, "", wire.CodeSignatureFormat},
		"listed revoked": {signers(t, map[string]string{OpenPGPSignersPath: lost, RevokedSignersPath: sig.KeyID}),
			e, soon, "", wire.CodeSignerRevoked},
		"revoked": {signers(t, map[string]string{OpenPGPSignersPath: revoked}), e, soon, "",
			wire.CodeSignerRevoked},
		// The new export is added below the old one, or above it.
		"revoked in the second copy": {signers(t, map[string]string{OpenPGPSignersPath: lost + "\n" + revoked}), e,
			soon, "", wire.CodeSignerRevoked},
		"revoked in the first copy": {signers(t, map[string]string{OpenPGPSignersPath: revoked + "\n" + lost}), e,
			soon, "", wire.CodeSignerRevoked},
	} {
		if got := code(c.s, c.e, c.at, c.who); got != c.want {
			_, err := c.s.Verify(c.e, c.at)
			t.Errorf("%s: %q, not %q: %v", name, got, c.want, err)
		}
	}
	secret := gpg(nil, "--armor", "--export-secret-keys", "s@example.org")
	if _, problems := ParseSigners(map[string][]byte{OpenPGPSignersPath: secret}); len(problems) != 1 {
		t.Errorf("a private key: %v", problems)
	}
}

func TestX509(t *testing.T) {
	p := programs(t, "openssl")
	payload, _ := example().Encode()
	p.write("ca.cnf",
		"[req]\ndistinguished_name=dn\nx509_extensions=v3\nprompt=no\n"+
			"[dn]\nCN=CA\n[v3]\nbasicConstraints=critical,CA:TRUE\nkeyUsage=keyCertSign\nsubjectKeyIdentifier=hash\n")
	p.write("leaf.ext",
		"subjectAltName=email:a@example.org\nkeyUsage=digitalSignature\nextendedKeyUsage=emailProtection\n")
	p.run(nil, "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "ca.key", "-out", "ca.pem",
		"-days", "30", "-config", "ca.cnf")
	for _, kind := range [][]string{{"-newkey", "rsa:2048"}, {"-newkey", "ec", "-pkeyopt",
		"ec_paramgen_curve:P-256"}} {
		p.run(nil, append([]string{"openssl", "req", "-nodes", "-keyout", "leaf.key", "-out", "leaf.csr", "-subj",
			"/CN=A/emailAddress=b@example.org"}, kind...)...)
		p.run(nil, "openssl", "x509", "-req", "-in", "leaf.csr", "-CA", "ca.pem", "-CAkey", "ca.key",
			"-CAcreateserial", "-days", "10", "-extfile", "leaf.ext", "-out", "leaf.pem")
		sign := func(args ...string) *Envelope {
			return &Envelope{
				Payload: payload,
				Format:  FormatX509,
				Signature: p.run(PAE(PayloadType, payload), append([]string{"openssl", "cms", "-sign", "-binary",
					"-outform", "PEM",
					"-signer", "leaf.pem", "-inkey", "leaf.key"}, args...)...),
			}
		}
		e := sign("-md", "sha256")
		ca, leaf := p.read("ca.pem"), p.read("leaf.pem")
		s := signers(t, map[string]string{X509SignersPath: ca})
		soon := now.Add(time.Minute)
		sig, err := s.Verify(e, soon)
		if err != nil || !slices.Equal(sig.Principals, []string{"a@example.org", "b@example.org"}) {
			t.Fatalf("%v %+v", err, sig)
		}
		changed := *e
		changed.Payload = []byte("{}")
		for name, c := range map[string]struct {
			s    *Signers
			e    *Envelope
			at   time.Time
			want string
		}{
			"the leaf itself":    {signers(t, map[string]string{X509SignersPath: leaf}), e, soon, ""},
			"without its own":    {signers(t, map[string]string{X509SignersPath: leaf}), sign("-nocerts"), soon, ""},
			"without attributes": {s, sign("-noattr"), soon, ""},
			"no certificate":     {s, sign("-nocerts"), soon, wire.CodeSignerUnknown},
			"stranger":           {&Signers{}, e, soon, wire.CodeSignerUnknown},
			"over":               {s, e, now.AddDate(0, 0, 11), wire.CodeSignerExpired},
			"changed":            {s, &changed, soon, wire.CodeSignatureInvalid},
			"SHA-1":              {s, sign("-md", "sha1"), soon, wire.CodeSignatureFormat},
			"with its content":   {s, sign("-nodetach"), soon, wire.CodeSignatureFormat},
			"revoked": {signers(t, map[string]string{X509SignersPath: ca,
				RevokedSignersPath: sig.KeyID}), e, soon, wire.CodeSignerRevoked},
		} {
			if got := code(c.s, c.e, c.at, ""); got != c.want {
				_, err := c.s.Verify(c.e, c.at)
				t.Errorf("%s: %q, not %q: %v", name, got, c.want, err)
			}
		}
	}
}

// TestRevokedCertificateInDisguise lets the owner of a revoked certificate change unsigned bytes of it.
func TestRevokedCertificateInDisguise(t *testing.T) {
	p := programs(t, "openssl")
	payload, _ := example().Encode()
	p.write("leaf.ext", "subjectAltName=email:a@example.org\nkeyUsage=digitalSignature\n")
	p.run(nil, "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-384", "-nodes", "-keyout",
		"ca.key", "-out", "ca.pem", "-days", "30", "-subj", "/CN=CA", "-addext", "keyUsage=keyCertSign")
	p.run(nil, "openssl", "req", "-newkey", "rsa:2048", "-nodes", "-keyout", "leaf.key", "-out", "leaf.csr", "-subj",
		"/CN=A")
	p.run(nil, "openssl", "x509", "-req", "-in", "leaf.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial",
		"-days", "10", "-extfile", "leaf.ext", "-out", "leaf.pem")
	block, _ := pem.Decode([]byte(p.read("leaf.pem")))
	secret, _ := pem.Decode([]byte(p.read("leaf.key")))
	key, err := x509.ParsePKCS8PrivateKey(secret.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	revoking := signers(t, map[string]string{
		X509SignersPath:    p.read("ca.pem"),
		RevokedSignersPath: "x509:" + wire.SHA256(block.Bytes),
	})
	allowing := signers(t, map[string]string{X509SignersPath: p.read("ca.pem")})
	for name, c := range map[string]struct {
		change         func(parts *certificate)
		want, unlisted string
	}{
		"as it is": {func(*certificate) {}, wire.CodeSignerRevoked, ""},
		"the other signature": {func(c *certificate) {
			var s struct{ R, S *big.Int }
			if _, err := asn1.Unmarshal(c.Signature.Bytes, &s); err != nil {
				t.Fatal(err)
			}
			s.S.Sub(elliptic.P384().Params().N, s.S)
			c.Signature.Bytes, _ = asn1.Marshal(s)
			c.Signature.BitLength = 8 * len(c.Signature.Bytes)
		}, wire.CodeSignerRevoked, ""},
		"more at its end": {func(c *certificate) { c.More = asn1.NullRawValue },
			wire.CodeSignatureFormat, wire.CodeSignatureFormat},
	} {
		var parts certificate
		if _, err := asn1.Unmarshal(block.Bytes, &parts); err != nil {
			t.Fatal(err)
		}
		c.change(&parts)
		der, err := asn1.Marshal(parts)
		if err != nil {
			t.Fatal(err)
		}
		cert, err := x509.ParseCertificate(der)
		if err != nil {
			t.Fatal(err)
		}
		signed, err := pkcs7.NewSignedData(PAE(PayloadType, payload))
		if err != nil {
			t.Fatal(err)
		}
		signed.SetDigestAlgorithm(pkcs7.OIDDigestAlgorithmSHA256)
		if err := signed.AddSigner(cert, key, pkcs7.SignerInfoConfig{}); err != nil {
			t.Fatal(err)
		}
		signed.Detach()
		cms, err := signed.Finish()
		if err != nil {
			t.Fatal(err)
		}
		e := &Envelope{
			Payload:   payload,
			Format:    FormatX509,
			Signature: pem.EncodeToMemory(&pem.Block{Type: "CMS", Bytes: cms}),
		}
		soon := now.Add(time.Minute)
		if got := code(revoking, e, soon, "a@example.org"); got != c.want {
			t.Errorf("%s: %q, not %q", name, got, c.want)
		}
		if got := code(allowing, e, soon, "a@example.org"); got != c.unlisted {
			t.Errorf("%s, not revoked: %q, not %q", name, got, c.unlisted)
		}
	}
}

// TestLimitedAuthority lets an authority that is limited to one domain certify an address of another.
func TestLimitedAuthority(t *testing.T) {
	testrepo.Thorough(t)
	p := programs(t, "openssl")
	payload, _ := example().Encode()
	p.run(nil, "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "ca.key", "-out", "ca.pem",
		"-days", "30", "-subj", "/CN=CA", "-addext", "keyUsage=keyCertSign", "-addext",
		"nameConstraints=critical,permitted;email:example.org")
	s := signers(t, map[string]string{X509SignersPath: p.read("ca.pem")})
	for name, c := range map[string]struct{ subject, also, who, want string }{
		"its own":                 {"/CN=A", "subjectAltName=email:a@example.org", "a@example.org", ""},
		"another domain":          {"/CN=A", "subjectAltName=email:a@other.org", "", wire.CodeSignerUnknown},
		"another, in the subject": {"/CN=A/emailAddress=a@other.org", "", "a@other.org", wire.CodeSignerUnknown},
		"the subject beside its own": {"/CN=A/emailAddress=a@other.org", "subjectAltName=email:a@example.org",
			"a@other.org", wire.CodeSignerUnknown},
	} {
		p.write("leaf.ext", "keyUsage=digitalSignature\n"+c.also+"\n")
		p.run(nil, "openssl", "req", "-newkey", "rsa:2048", "-nodes", "-keyout", "leaf.key", "-out", "leaf.csr",
			"-subj", c.subject)
		p.run(nil, "openssl", "x509", "-req", "-in", "leaf.csr", "-CA", "ca.pem", "-CAkey", "ca.key",
			"-CAcreateserial", "-days", "10", "-extfile", "leaf.ext", "-out", "leaf.pem")
		e := &Envelope{
			Payload: payload,
			Format:  FormatX509,
			Signature: p.run(PAE(PayloadType, payload), "openssl", "cms", "-sign", "-binary", "-outform", "PEM",
				"-signer", "leaf.pem", "-inkey", "leaf.key"),
		}
		if got := code(s, e, now.Add(time.Minute), c.who); got != c.want {
			t.Errorf("%s: %q, not %q", name, got, c.want)
		}
	}
}

// certificate is an X.509 certificate, split into its parts.
type certificate struct {
	Signed, Algorithm asn1.RawValue
	Signature         asn1.BitString
	More              asn1.RawValue `asn1:"optional"`
}

func TestNested(t *testing.T) {
	deep := func(n int) []byte { return bytes.Repeat([]byte{0x30, 0x80}, n) }
	if nested(append(deep(maxNesting), bytes.Repeat([]byte{0}, 400)...)) || !nested(deep(maxNesting+1)) {
		t.Error("the bound is not where it should be")
	}
	if !nested(bytes.Repeat([]byte{0x30, 0x80, 0, 0}, 100)) {
		t.Error("marks are no way around it")
	}
}

func FuzzSigners(f *testing.F) {
	f.Add([]byte("a@x,!b@x namespaces=\"git\",valid-after=\"20200101Z\" ssh-ed25519 AAAA"), uint8(0))
	f.Add([]byte("SHA256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU\n"), uint8(1))
	f.Add([]byte("-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nAAAA\n-----END PGP PUBLIC KEY BLOCK-----\n"), uint8(2))
	f.Add([]byte("-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n"), uint8(3))
	f.Fuzz(func(t *testing.T, data []byte, which uint8) {
		path := SignerFiles()[int(which)%4]
		s, problems := ParseSigners(map[string][]byte{path: data})
		if s == nil || len(problems) > maxProblems {
			t.Fatal("no signers, or too many problems")
		}
		_, again := ParseSigners(map[string][]byte{path: data})
		if !slices.Equal(problems, again) {
			t.Fatal("other problems the second time")
		}
	})
}

func FuzzVerify(f *testing.F) {
	for _, a := range []string{"SSH SIGNATURE", "PGP SIGNATURE", "SIGNED MESSAGE", "CMS"} {
		f.Add(pem.EncodeToMemory(&pem.Block{Type: a, Bytes: []byte("SSHSIG\x00\x00\x00\x01")}))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		sig, err := (&Signers{}).Verify(&Envelope{
			Payload:   []byte("{}"),
			Format:    FormatOf(data),
			Signature: data,
		}, now)
		if sig != nil || err == nil {
			t.Fatal("a signature without signers counts")
		}
	})
}
