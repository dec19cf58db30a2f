// CMS signatures: what gpgsm -bsa and openssl cms write.

package attest

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/asn1"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/smallstep/pkcs7"

	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// certificates are the certificates of signers/x509.pem: authorities, and people's own.
type certificates struct {
	trusted []*x509.Certificate
}

var emailAddress = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 1}

const (
	maxCertificates = 20 // in one signature
	maxNesting      = 64 // of CMS objects
)

func parseX509(data []byte, p *findings) certificates {
	var out certificates
	for _, b := range blocks(data, "-----BEGIN ", "-----END ", p) {
		n := b.line
		block, _ := pem.Decode(b.text)
		if block == nil || block.Type != "CERTIFICATE" {
			p.add(n, "only certificates belong here")
			continue
		}
		c, err := guard(func() (*x509.Certificate, error) { return x509.ParseCertificate(block.Bytes) })
		if err != nil {
			p.add(n, "the certificate cannot be read")
			continue
		}
		out.trusted = append(out.trusted, c)
	}
	return out
}

// nested reports whether BER data is nested deeper than any real signature: the library reads it recursively, and
// copies the contents once per level.
func nested(data []byte) bool {
	var ends []int // ends of the objects around pos, -1 for one with an end mark
	for pos := 0; pos < len(data); {
		tag := data[pos]
		if pos++; tag&0x1f == 0x1f {
			for pos < len(data) && data[pos] >= 0x80 {
				pos++
			}
			pos++
		}
		if pos >= len(data) {
			return false
		}
		first := data[pos]
		length := int(first)
		pos++
		if first > 0x80 {
			n := int(first & 0x7f)
			if n > 4 || pos+n > len(data) {
				return false
			}
			length = 0
			for _, b := range data[pos : pos+n] {
				length = length<<8 | int(b)
			}
			pos += n
		}
		switch {
		case length > len(data)-pos && first != 0x80:
			return false
		case tag&0x20 == 0:
			pos += length
		case first == 0x80:
			ends = append(ends, -1)
		default:
			ends = append(ends, pos+length)
		}
		if len(ends) > maxNesting {
			return true
		}
		if tag&0x20 != 0 && first == 0x80 {
			continue // it contains at least one object, as the library reads it
		}
		for len(ends) > 0 {
			end := ends[len(ends)-1]
			if marked := end < 0 && bytes.HasPrefix(data[pos:], []byte{0, 0}); marked {
				pos += 2
			} else if end < 0 || pos < end {
				break
			}
			ends = ends[:len(ends)-1]
		}
	}
	return false
}

// readCMS reads the one signature of an armoured block over message.
func (c *certificates) readCMS(armoured, message []byte) (*pkcs7.PKCS7, *x509.Certificate, error) {
	block, rest := pem.Decode(armoured)
	if block == nil || len(bytes.TrimSpace(rest)) > 0 || nested(block.Bytes) {
		return nil, nil, errors.New("the armour is broken")
	}
	p7, err := pkcs7.Parse(block.Bytes)
	switch {
	case err != nil:
		return nil, nil, errors.New("it is not a CMS that can be read")
	case len(p7.Signers) != 1:
		return nil, nil, errors.New("it is not one signature alone")
	case len(p7.Content) > 0:
		return nil, nil, errors.New("it brings its own content")
	case len(p7.Certificates) > maxCertificates:
		return nil, nil, errors.New("it brings too many certificates")
	}
	hash := p7.Signers[0].DigestAlgorithm.Algorithm
	if !slices.ContainsFunc([]asn1.ObjectIdentifier{
		pkcs7.OIDDigestAlgorithmSHA256, pkcs7.OIDDigestAlgorithmSHA384, pkcs7.OIDDigestAlgorithmSHA512,
	}, hash.Equal) {
		return nil, nil, errors.New("its hash does not count")
	}
	p7.Content = message
	p7.Certificates = append(p7.Certificates, c.trusted...)
	return p7, p7.GetOnlySigner(), nil
}

func (s *Signers) verifyX509(armoured, message []byte, at time.Time) (*Signature, *wire.Error) {
	var signer *x509.Certificate
	p7, err := guard(func() (p *pkcs7.PKCS7, err error) {
		p, signer, err = s.x509.readCMS(armoured, message)
		return p, err
	})
	if err != nil {
		return nil, failure(wire.CodeSignatureFormat, "the CMS signature cannot be taken: %s", err)
	}
	if signer == nil {
		return nil, failure(wire.CodeSignerUnknown, "the certificate of the signature is neither in it nor in %s",
			X509SignersPath)
	}
	key := sha256.Sum256(signer.RawSubjectPublicKeyInfo)
	out := &Signature{
		Format: FormatX509,
		KeyID:  "x509:" + wire.SHA256(signer.Raw),
		Key:    "x509:" + hex.EncodeToString(key[:]),
	}
	if k, ok := signer.PublicKey.(*rsa.PublicKey); ok && k.N.BitLen() < minRSA {
		return nil, failure(wire.CodeSignatureFormat, "the key of %s has fewer than %d bits", out.KeyID, minRSA)
	}
	_, err = guard(func() (bool, error) { return true, p7.Verify() })
	var outside *pkcs7.SigningTimeNotValidError
	switch {
	case errors.As(err, &outside):
		return nil, failure(wire.CodeSignerExpired, "the certificate %s was not valid when it signed", out.KeyID)
	case err != nil:
		return nil, failure(wire.CodeSignatureInvalid, "the CMS signature does not fit the statement")
	}
	chain, refusal := s.judgeChain(signer, p7.Certificates, out.KeyID, at)
	if refusal != nil {
		return nil, refusal
	}
	out.rules = []rule{{names: mailNames(chain)}}
	return settle(out)
}

// judgeChain checks the signer's certificate against the trusted ones, and returns it with its chain.
func (s *Signers) judgeChain(signer *x509.Certificate, brought []*x509.Certificate, id string,
	at time.Time) ([]*x509.Certificate, *wire.Error) {
	roots, between := x509.NewCertPool(), x509.NewCertPool()
	for _, c := range s.x509.trusted {
		roots.AddCert(c)
	}
	for _, c := range brought {
		between.AddCert(c)
	}
	chains, err := guard(func() ([][]*x509.Certificate, error) {
		return signer.Verify(x509.VerifyOptions{
			Roots:         roots,
			Intermediates: between,
			CurrentTime:   at,
			KeyUsages:     []x509.ExtKeyUsage{x509.ExtKeyUsageAny},
		})
	})
	var bad x509.CertificateInvalidError
	switch {
	case errors.As(err, &bad) && bad.Reason == x509.Expired:
		return nil, failure(wire.CodeSignerExpired, "the certificate %s, or one above it, was not valid at %s", id,
			wire.FormatTime(at))
	case err != nil || len(chains) == 0:
		return nil, failure(wire.CodeSignerUnknown, "the certificate %s leads to none in %s", id, X509SignersPath)
	case signer.KeyUsage != 0 && signer.KeyUsage&(x509.KeyUsageDigitalSignature|x509.KeyUsageContentCommitment) == 0:
		return nil, failure(wire.CodeSignerUnknown, "the certificate %s is not for signing", id)
	}
	chain := chains[0]
	for i, c := range chain {
		ids, err := identities(c, chain[i+1:])
		if err != nil {
			return nil, failure(wire.CodeSignatureFormat, "the certificate %s does not count: %s", id, err)
		}
		if e := s.isRevoked(ids...); e != nil {
			return nil, e
		}
	}
	return chain, nil
}

// identities returns all names under which a certificate may be listed as revoked; above is its chain. The
// certificate's own digest covers bytes that its authority did not sign, so its owner can make variants: with
// trailing bytes, which are refused, or with the second of the two values that an ECDSA signature may have. A
// certificate without a chain is listed under its own name, as it is.
func identities(c *x509.Certificate, above []*x509.Certificate) ([]string, error) {
	var parts struct {
		Signed, Algorithm asn1.RawValue
		Signature         asn1.BitString
	}
	if _, err := asn1.Unmarshal(c.Raw, &parts); err != nil {
		return nil, err
	}
	if plain, err := asn1.Marshal(parts); err != nil || !bytes.Equal(plain, c.Raw) {
		return nil, errors.New("it, or one above it, holds more than a certificate does")
	}
	out := []string{"x509:" + wire.SHA256(c.Raw)}
	if len(above) == 0 {
		return out, nil
	}
	key, ok := above[0].PublicKey.(*ecdsa.PublicKey)
	if !ok {
		return out, nil
	}
	var signature struct{ R, S *big.Int }
	if _, err := asn1.Unmarshal(parts.Signature.Bytes, &signature); err != nil {
		return nil, err
	}
	signature.S.Sub(key.Params().N, signature.S)
	twin, err := asn1.Marshal(signature)
	if err != nil {
		return nil, err
	}
	parts.Signature = asn1.BitString{Bytes: twin, BitLength: 8 * len(twin)}
	other, err := asn1.Marshal(parts)
	return append(out, "x509:"+wire.SHA256(other)), err
}

// mailNames returns the e-mail addresses of the first certificate of a chain. Where a certificate above it
// restricts addresses, those of the subject do not count: the library checks only the alternative names against the
// restrictions.
func mailNames(chain []*x509.Certificate) []string {
	c := chain[0]
	names := append([]string{}, c.EmailAddresses...)
	for _, above := range chain[1:] {
		if len(above.PermittedEmailAddresses)+len(above.ExcludedEmailAddresses) > 0 {
			return names
		}
	}
	for _, a := range c.Subject.Names {
		if text, ok := a.Value.(string); ok && a.Type.Equal(emailAddress) && strings.Contains(text, "@") {
			names = append(names, text)
		}
	}
	return names
}
