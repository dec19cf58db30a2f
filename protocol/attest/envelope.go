// The envelope: a statement's bytes with the signature over them, as DSSE v1.

package attest

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strconv"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"golang.org/x/crypto/ssh"
)

// Signature formats, by git's names (gpg.format).
const (
	FormatSSH     = "ssh"
	FormatOpenPGP = "openpgp"
	FormatX509    = "x509"
)

// Bounds of an envelope.
const (
	MaxSignature = 64 << 10 // bytes, in the tool's own format
	maxEnvelope  = 256 << 10
)

// Envelope is a signed statement.
type Envelope struct {
	Payload   []byte // the statement's bytes
	Format    string // FormatSSH, FormatOpenPGP or FormatX509
	Signature []byte // armoured, as ssh-keygen, gpg, gpgsm or openssl wrote it
	KeyID     string // the claimed signer, for finding the key; proves nothing
}

// PAE returns the bytes to sign: DSSE's pre-authentication encoding of a payload and its type
// (docs/spec/approvals.md#the-envelope). No git commit or tag begins like it, so a signature of one never counts
// for the other.
func PAE(payloadType string, payload []byte) []byte {
	out := make([]byte, 0, len(payloadType)+len(payload)+48)
	out = append(out, "DSSEv1 "...)
	out = strconv.AppendInt(out, int64(len(payloadType)), 10)
	out = append(append(out, ' '), payloadType...)
	out = strconv.AppendInt(append(out, ' '), int64(len(payload)), 10)
	return append(append(out, ' '), payload...)
}

// EncodeDSSE returns the envelope as the JSON of DSSE v1.
func (e *Envelope) EncodeDSSE() []byte {
	return ojson.Compact(ojson.NewObject(
		"payloadType", PayloadType,
		"payload", base64.StdEncoding.EncodeToString(e.Payload),
		"signatures", []*ojson.Object{ojson.NewObject(
			"keyid", e.KeyID,
			"sig", base64.StdEncoding.EncodeToString(e.Signature),
		)},
	))
}

// DecodeDSSE reads an envelope with one signature. The signature's own first line determines its format. Fails with
// envelope_invalid, or with signature_format where git makes no signatures of that format.
func DecodeDSSE(data []byte) (*Envelope, *wire.Error) {
	v, err := ojson.DecodeLimited(data, ojson.Limits{
		Bytes: maxEnvelope,
		Depth: maxDepth,
	})
	if err != nil {
		return nil, badEnvelope("", "the envelope cannot be read: %s", err)
	}
	doc, ok := v.(*ojson.Object)
	if !ok {
		return nil, badEnvelope("", "the envelope must be an object, not %s", ojson.TypeName(v))
	}
	if t, _ := doc.Get("payloadType"); t != PayloadType {
		return nil, badEnvelope("payloadType", "payloadType must be %s, not %s", PayloadType, ojson.Shown(t))
	}
	list := doc.Array("signatures")
	if len(list) != 1 {
		return nil, badEnvelope("signatures", "the envelope has %d signatures; a statement has one", len(list))
	}
	sig, _ := list[0].(*ojson.Object)
	e := &Envelope{KeyID: sig.String("keyid")}
	if !plain(e.KeyID, maxName, false) {
		return nil, badEnvelope("signatures[0].keyid", "keyid must be one line of at most %d bytes", maxName)
	}
	if e.Payload, ok = unbase64(doc, "payload"); !ok || len(e.Payload) == 0 || len(e.Payload) > MaxStatement {
		return nil, badEnvelope("payload", "payload must be the base64 of 1 to %d bytes", MaxStatement)
	}
	if e.Signature, ok = unbase64(sig, "sig"); !ok || len(e.Signature) == 0 || len(e.Signature) > MaxSignature {
		return nil, badEnvelope("signatures[0].sig", "sig must be the base64 of 1 to %d bytes", MaxSignature)
	}
	if e.Format = FormatOf(e.Signature); e.Format == "" {
		return nil, &wire.Error{
			Code:    wire.CodeSignatureFormat,
			Field:   "signatures[0].sig",
			Message: "the signature is neither an SSH, an OpenPGP nor a CMS signature in its armour",
		}
	}
	return e, nil
}

// FormatOf returns the format of an armoured signature; "" for a format that git does not make.
func FormatOf(signature []byte) string {
	for _, a := range []struct{ begin, format string }{
		{"-----BEGIN SSH SIGNATURE-----", FormatSSH},
		{"-----BEGIN PGP SIGNATURE-----", FormatOpenPGP},
		{"-----BEGIN SIGNED MESSAGE-----", FormatX509}, // gpgsm
		{"-----BEGIN CMS-----", FormatX509},            // openssl cms
		{"-----BEGIN PKCS7-----", FormatX509},          // openssl smime
	} {
		if bytes.HasPrefix(signature, []byte(a.begin)) {
			return a.format
		}
	}
	return ""
}

// unbase64 reads a member in either alphabet, as DSSE allows.
func unbase64(o *ojson.Object, key string) ([]byte, bool) {
	text := o.String(key)
	data, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil {
		data, err = base64.URLEncoding.Strict().DecodeString(text)
	}
	return data, err == nil
}

func badEnvelope(field, format string, args ...any) *wire.Error {
	return &wire.Error{
		Code:    wire.CodeEnvelopeInvalid,
		Field:   field,
		Message: fmt.Sprintf(format, args...),
	}
}

// Signer returns the key that the signature names as its own, as Signature.KeyID spells it; "" where it names none.
// Nothing is verified.
func (e *Envelope) Signer() string {
	id, err := guard(func() (string, error) {
		switch e.Format {
		case FormatSSH:
			_, key, _, err := parseSSH(e.Signature)
			if err != nil {
				return "", err
			}
			if c, ok := key.(*ssh.Certificate); ok {
				key = c.Key
			}
			return ssh.FingerprintSHA256(key), nil
		case FormatOpenPGP:
			sig, err := readPGPSignature(e.Signature)
			if err != nil || len(sig.IssuerFingerprint) == 0 {
				return "", err
			}
			return "openpgp:" + hex.EncodeToString(sig.IssuerFingerprint), nil
		case FormatX509:
			_, signer, err := (&certificates{}).readCMS(e.Signature, nil)
			if err != nil || signer == nil {
				return "", err
			}
			return "x509:" + wire.SHA256(signer.Raw), nil
		}
		return "", nil
	})
	if err != nil {
		return ""
	}
	return id
}
