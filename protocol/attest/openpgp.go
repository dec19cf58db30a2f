// OpenPGP signatures: what gpg -bsa writes.

package attest

import (
	"bytes"
	"crypto"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/armor"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// pgpKeys are the keys of signers/openpgp.asc.
type pgpKeys = openpgp.EntityList

const (
	pgpBegin = "-----BEGIN PGP "
	pgpEnd   = "-----END PGP "
)

// parseOpenPGP reads the armoured blocks of public keys in a file; text between them is a comment.
func parseOpenPGP(data []byte, p *findings) pgpKeys {
	var out pgpKeys
	for _, b := range blocks(data, pgpBegin, pgpEnd, p) {
		n, block := b.line, b.text
		if !bytes.HasPrefix(block, []byte(pgpBegin+"PUBLIC KEY BLOCK-----")) {
			p.add(n, "only public keys belong here: gpg --armor --export KEY")
			continue
		}
		keys, err := guard(func() (pgpKeys, error) { return openpgp.ReadArmoredKeyRing(bytes.NewReader(block)) })
		if err != nil || len(keys) == 0 {
			p.add(n, "the block holds no OpenPGP key that can be read")
			continue
		}
		out = append(out, keys...)
	}
	if len(out) > maxSignersRows {
		p.add(0, "only the first %d keys are read", maxSignersRows)
		out = out[:maxSignersRows]
	}
	return joined(out)
}

// joined merges copies of a key into one, as gpg does on import: it is easy to add a new export beside the old one,
// and what the owner revoked in one copy is revoked.
func joined(keys pgpKeys) pgpKeys {
	var out pgpKeys
	first := make(map[string]*openpgp.Entity)
	for _, k := range keys {
		id := string(k.PrimaryKey.Fingerprint)
		if one := first[id]; one != nil {
			join(one, k)
			continue
		}
		first[id] = k
		out = append(out, k)
	}
	return out
}

// join adds to a key what another copy says of it; where the owner contradicts themselves, the later statement
// counts.
func join(key, copied *openpgp.Entity) {
	key.Revocations = append(key.Revocations, copied.Revocations...)
	key.SelfSignature = newer(key.SelfSignature, copied.SelfSignature)
	for name, id := range copied.Identities {
		if one := key.Identities[name]; one != nil {
			one.Revocations = append(one.Revocations, id.Revocations...)
			one.SelfSignature = newer(one.SelfSignature, id.SelfSignature)
		} else {
			key.Identities[name] = id
		}
	}
	for _, sub := range copied.Subkeys {
		i := slices.IndexFunc(key.Subkeys, func(s openpgp.Subkey) bool {
			return bytes.Equal(s.PublicKey.Fingerprint, sub.PublicKey.Fingerprint)
		})
		if i < 0 {
			key.Subkeys = append(key.Subkeys, sub)
			continue
		}
		one := &key.Subkeys[i]
		one.Revocations = append(one.Revocations, sub.Revocations...)
		one.Sig = newer(one.Sig, sub.Sig)
	}
}

func newer(a, b *packet.Signature) *packet.Signature {
	if a == nil || b != nil && b.CreationTime.After(a.CreationTime) {
		return b
	}
	return a
}

// block is an armoured part of a file.
type block struct {
	line int // line where it begins
	text []byte
}

// blocks returns the armoured parts of a file, in order.
func blocks(data []byte, begin, end string, p *findings) []block {
	var out []block
	n, first, start, at := 0, 0, 0, 0
	for line := range bytes.Lines(data) {
		n++
		switch {
		case first == 0 && bytes.HasPrefix(line, []byte(begin)):
			first, start = n, at
		case first > 0 && bytes.HasPrefix(line, []byte(end)):
			if len(out) < maxSignersRows {
				out = append(out, block{
					line: first,
					text: data[start : at+len(line)],
				})
			}
			first = 0
		}
		at += len(line)
	}
	if first > 0 {
		p.add(first, "the block has no end")
	}
	return out
}

// readPGPSignature reads the one signature of an armoured block.
func readPGPSignature(armoured []byte) (*packet.Signature, error) {
	block, err := armor.Decode(bytes.NewReader(armoured))
	if err != nil || block.Type != openpgp.SignatureType {
		return nil, errors.New("the armour is broken")
	}
	body, err := io.ReadAll(io.LimitReader(block.Body, MaxSignature))
	if err != nil {
		return nil, errors.New("the armour is broken")
	}
	packets := packet.NewReader(bytes.NewReader(body))
	first, err := packets.Next()
	if err != nil {
		return nil, errors.New("it is not a signature that can be read")
	}
	sig, ok := first.(*packet.Signature)
	if _, err := packets.Next(); !ok || err != io.EOF {
		return nil, errors.New("it is not one signature alone")
	}
	switch {
	case sig.SigType != packet.SigTypeBinary || sig.IssuerKeyId == nil:
		return nil, errors.New("it is not a signature over a document, or does not name its key")
	case !slices.Contains([]crypto.Hash{crypto.SHA256, crypto.SHA384, crypto.SHA512, crypto.SHA3_256,
		crypto.SHA3_512}, sig.Hash):
		return nil, fmt.Errorf("its hash %s does not count", sig.Hash)
	}
	for _, n := range sig.Notations {
		if n.IsCritical {
			return nil, errors.New("it has a critical notation")
		}
	}
	return sig, nil
}

func (s *Signers) verifyOpenPGP(armoured, message []byte, at time.Time) (*Signature, *wire.Error) {
	sig, err := guard(func() (*packet.Signature, error) { return readPGPSignature(armoured) })
	if err != nil {
		return nil, failure(wire.CodeSignatureFormat, "the OpenPGP signature cannot be taken: %s", err)
	}
	keys := s.openpgp.KeysById(*sig.IssuerKeyId)
	if len(keys) == 0 {
		return nil, failure(wire.CodeSignerUnknown, "the OpenPGP key %016x is not in %s", *sig.IssuerKeyId,
			OpenPGPSignersPath)
	}
	for _, key := range keys {
		if _, err := guard(func() (bool, error) {
			h, err := sig.PrepareVerify()
			if err != nil {
				return false, err
			}
			_, _ = h.Write(message)
			return true, key.PublicKey.VerifySignature(h, sig)
		}); err == nil {
			return s.judgePGP(&key, sig, at)
		}
	}
	return nil, failure(wire.CodeSignatureInvalid, "the OpenPGP signature does not fit the statement")
}

// judgePGP judges the key after the signature was verified with it.
func (s *Signers) judgePGP(key *openpgp.Key, sig *packet.Signature, at time.Time) (*Signature, *wire.Error) {
	primary := key.Entity.PrimaryKey
	out := &Signature{
		Format: FormatOpenPGP,
		KeyID:  "openpgp:" + hex.EncodeToString(key.PublicKey.Fingerprint),
		Key:    "openpgp:" + hex.EncodeToString(primary.Fingerprint),
	}
	self, _ := key.Entity.PrimarySelfSignature()
	switch {
	case self == nil || key.SelfSignature == nil || key.SelfSignature.FlagsValid && !key.SelfSignature.FlagSign:
		return nil, failure(wire.CodeSignerUnknown, "the key %s may not sign", out.KeyID)
	case weakPGP(key.PublicKey) || weakPGP(primary):
		return nil, failure(wire.CodeSignatureFormat, "the key %s is of a kind or length that does not count",
			out.KeyID)
	}
	if e := s.isRevoked(out.KeyID, out.Key); e != nil {
		return nil, e
	}
	sub := key.PublicKey != primary
	if revokedPGP(key.Entity.Revocations, at) || sub && revokedPGP(key.Revocations, at) {
		return nil, failure(wire.CodeSignerRevoked, "the key %s was revoked by its owner", out.KeyID)
	}
	if primary.KeyExpired(self, at) || sub && key.PublicKey.KeyExpired(key.SelfSignature, at) {
		return nil, failure(wire.CodeSignerExpired, "the key %s was not valid at %s", out.KeyID, wire.FormatTime(at))
	}
	if sig.SigLifetimeSecs != nil && sig.SigExpired(later(at, sig.CreationTime)) {
		return nil, failure(wire.CodeSignerExpired, "the signature of %s says itself that it has expired", out.KeyID)
	}
	names := []string{}
	for _, id := range key.Entity.Identities {
		if id.SelfSignature != nil && !revokedPGP(id.Revocations, at) && strings.Contains(id.UserId.Email, "@") {
			names = append(names, id.UserId.Email)
		}
	}
	out.rules = []rule{{names: names}}
	return settle(out)
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// revokedPGP judges revocations: a revocation because the key was replaced or retired counts from its date on, any
// other forever, since the thief of a stolen key chooses the date.
func revokedPGP(revocations []*packet.Signature, at time.Time) bool {
	return slices.ContainsFunc(revocations, func(r *packet.Signature) bool {
		soft := r.RevocationReason != nil &&
			(*r.RevocationReason == packet.KeySuperseded || *r.RevocationReason == packet.KeyRetired ||
				*r.RevocationReason == packet.UserIDNotValid)
		return !soft || !at.Before(r.CreationTime)
	})
}

func weakPGP(key *packet.PublicKey) bool {
	switch key.PubKeyAlgo {
	case packet.PubKeyAlgoRSA, packet.PubKeyAlgoRSASignOnly:
		bits, err := key.BitLength()
		return err != nil || bits < minRSA
	case packet.PubKeyAlgoECDSA, packet.PubKeyAlgoEdDSA, packet.PubKeyAlgoEd25519, packet.PubKeyAlgoEd448:
		return false
	}
	return true
}
