// SSH signatures: what ssh-keygen -Y sign writes.

package attest

import (
	"bytes"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"golang.org/x/crypto/ssh"
)

const sshMagic = "SSHSIG"

// sshSignature is the content of the armour after the magic, OpenSSH's PROTOCOL.sshsig.
type sshSignature struct {
	Version   uint32
	PublicKey []byte
	Namespace string
	Reserved  string
	Hash      string
	Signature []byte
}

// signedSSH is the data that the key signed, after the magic.
type signedSSH struct {
	Namespace string
	Reserved  string
	Hash      string
	Digest    []byte
}

// usableKey refuses keys whose signatures do not count.
func usableKey(key ssh.PublicKey) error {
	switch key.Type() {
	case ssh.KeyAlgoED25519, ssh.KeyAlgoECDSA256, ssh.KeyAlgoECDSA384, ssh.KeyAlgoECDSA521,
		ssh.KeyAlgoSKED25519, ssh.KeyAlgoSKECDSA256:
		return nil
	case ssh.KeyAlgoRSA:
		if c, ok := key.(ssh.CryptoPublicKey); ok {
			if k, ok := c.CryptoPublicKey().(*rsa.PublicKey); ok && k.N.BitLen() >= minRSA {
				return nil
			}
		}
		return fmt.Errorf("an RSA key needs %d bits", minRSA)
	}
	return fmt.Errorf("keys of the type %.60q do not count", key.Type())
}

// strong reports whether a signature algorithm counts; SHA-1 does not.
func strong(algorithm string) bool {
	return slices.Contains([]string{
		ssh.KeyAlgoED25519, ssh.KeyAlgoECDSA256, ssh.KeyAlgoECDSA384, ssh.KeyAlgoECDSA521,
		ssh.KeyAlgoSKED25519, ssh.KeyAlgoSKECDSA256, ssh.KeyAlgoRSASHA256, ssh.KeyAlgoRSASHA512,
	}, algorithm)
}

func parseSSH(armoured []byte) (*sshSignature, ssh.PublicKey, *ssh.Signature, error) {
	block, rest := pem.Decode(armoured)
	if block == nil || block.Type != "SSH SIGNATURE" || len(bytes.TrimSpace(rest)) > 0 {
		return nil, nil, nil, errors.New("the armour is broken")
	}
	body, ok := bytes.CutPrefix(block.Bytes, []byte(sshMagic))
	if !ok {
		return nil, nil, nil, errors.New("it does not begin with SSHSIG")
	}
	s, sig := &sshSignature{}, &ssh.Signature{}
	if err := ssh.Unmarshal(body, s); err != nil || s.Version != 1 {
		return nil, nil, nil, errors.New("it is not a signature of version 1")
	}
	key, err := ssh.ParsePublicKey(s.PublicKey)
	if err != nil {
		return nil, nil, nil, errors.New("its key cannot be read")
	}
	if err := ssh.Unmarshal(s.Signature, sig); err != nil {
		return nil, nil, nil, errors.New("what the key signed cannot be read")
	}
	return s, key, sig, nil
}

func (s *Signers) verifySSH(armoured, message []byte, namespace string, at time.Time) (*Signature, *wire.Error) {
	var key ssh.PublicKey
	var sig *ssh.Signature
	parsed, err := guard(func() (p *sshSignature, err error) {
		p, key, sig, err = parseSSH(armoured)
		return p, err
	})
	if err != nil {
		return nil, failure(wire.CodeSignatureFormat, "the SSH signature cannot be read: %s", err)
	}
	cert, _ := key.(*ssh.Certificate)
	if cert != nil {
		key = cert.Key
	}
	if err := usableKey(key); err != nil {
		return nil, failure(wire.CodeSignatureFormat, "the SSH signature does not count: %s", err)
	}
	if !strong(sig.Format) {
		return nil, failure(wire.CodeSignatureFormat, "signatures of the kind %.60q do not count", sig.Format)
	}
	if parsed.Namespace != namespace {
		return nil, failure(wire.CodeSignerNamespace, "the signature is for the namespace %.60q, not for %q",
			parsed.Namespace, namespace)
	}
	signed := signedSSH{
		Namespace: parsed.Namespace,
		Reserved:  parsed.Reserved,
		Hash:      parsed.Hash,
	}
	switch parsed.Hash {
	case "sha256":
		d := sha256.Sum256(message)
		signed.Digest = d[:]
	case "sha512":
		d := sha512.Sum512(message)
		signed.Digest = d[:]
	default:
		return nil, failure(wire.CodeSignatureFormat, "the hash %.60q does not count", parsed.Hash)
	}
	if _, err := guard(func() (bool, error) {
		return true, key.Verify(append([]byte(sshMagic), ssh.Marshal(signed)...), sig)
	}); err != nil {
		return nil, failure(wire.CodeSignatureInvalid, "the SSH signature does not fit what it is said to sign")
	}
	return s.judgeSSH(key, cert, namespace, at)
}

// SSHKey judges a key or certificate that has signed nothing yet: it returns what Verify would say of its
// signature. public is TYPE BASE64, as in a line of allowed_signers.
func (s *Signers) SSHKey(public string, at time.Time) (*Signature, *wire.Error) {
	key, err := guard(func() (ssh.PublicKey, error) {
		key, _, _, _, err := ssh.ParseAuthorizedKey([]byte(public))
		return key, err
	})
	if err != nil {
		return nil, failure(wire.CodeSignatureFormat, "the SSH key cannot be read: %s", err)
	}
	cert, _ := key.(*ssh.Certificate)
	if cert != nil {
		key = cert.Key
	}
	if err := usableKey(key); err != nil {
		return nil, failure(wire.CodeSignatureFormat, "signatures of the SSH key do not count: %s", err)
	}
	return s.judgeSSH(key, cert, Namespace, at)
}

// judgeSSH determines whom a key speaks for, from the lines that list it or its certificate's authority.
func (s *Signers) judgeSSH(key ssh.PublicKey, cert *ssh.Certificate, namespace string,
	at time.Time) (*Signature, *wire.Error) {
	id := ssh.FingerprintSHA256(key)
	ids := []string{id}
	if cert != nil {
		ids = append(ids, ssh.FingerprintSHA256(cert.SignatureKey))
	}
	if e := s.isRevoked(ids...); e != nil {
		return nil, e
	}
	out := &Signature{
		Format: FormatSSH,
		KeyID:  id,
		Key:    id,
	}
	blob := key.Marshal()
	for _, a := range s.allowed {
		switch {
		case cert == nil && !a.authority && bytes.Equal(a.key, blob):
			out.rules = append(out.rules, rule{
				patterns: a.principals,
				refusal:  a.judge(id, namespace, at),
			})
		case cert != nil && a.authority && bytes.Equal(a.key, cert.SignatureKey.Marshal()):
			r := rule{
				names:    slices.Clone(cert.ValidPrincipals),
				patterns: a.principals,
				refusal:  a.judge(id, namespace, at),
			}
			if r.refusal == nil {
				r.refusal = judgeCertificate(cert, at)
			}
			out.rules = append(out.rules, r)
		}
	}
	return settle(out)
}

// judge says why a line does not let its key sign, nil when it does.
func (a *allowed) judge(id, namespace string, at time.Time) *wire.Error {
	if a.namespaces != nil && !matchList(namespace, *a.namespaces) {
		return failure(wire.CodeSignerNamespace, "the key %s is listed for the namespaces %.100q, not for %q", id,
			*a.namespaces, namespace)
	}
	// ssh-keygen compares whole seconds.
	if why := window(at.Truncate(time.Second), a.after, a.before); why != "" {
		return failure(wire.CodeSignerExpired, "the key %s is listed as %s", id, why)
	}
	return nil
}

// judgeCertificate says why a certificate does not let its key sign, nil when it does. The line that names its
// authority was judged earlier.
func judgeCertificate(c *ssh.Certificate, at time.Time) *wire.Error {
	id := ssh.FingerprintSHA256(c.Key)
	if c.CertType != ssh.UserCert || len(c.ValidPrincipals) == 0 {
		return failure(wire.CodeSignerUnknown, "the certificate of %s is for no person, or names no principal", id)
	}
	if usableKey(c.SignatureKey) != nil || c.Signature == nil || !strong(c.Signature.Format) {
		return failure(wire.CodeSignatureFormat,
			"the certificate of %s is signed with a key or a hash that does not count", id)
	}
	// A certificate restricted to a command or an address is for logging in.
	for name := range c.CriticalOptions {
		return failure(wire.CodeSignerUnknown, "the certificate of %s has the critical option %.60q", id, name)
	}
	check := &ssh.CertChecker{Clock: func() time.Time { return at }}
	now := at.Unix()
	if now < 0 || uint64(now) < c.ValidAfter || c.ValidBefore != ssh.CertTimeInfinity && uint64(now) >= c.ValidBefore {
		return failure(wire.CodeSignerExpired, "the certificate of %s was not valid at %s", id, wire.FormatTime(at))
	}
	if _, err := guard(func() (bool, error) { return true, check.CheckCert(c.ValidPrincipals[0], c) }); err != nil {
		return failure(wire.CodeSignatureInvalid, "the certificate of %s is not signed by its authority", id)
	}
	return nil
}
