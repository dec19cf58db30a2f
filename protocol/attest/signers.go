// Who may sign: the files of the repository that define it, and the verification of a signature against them.

package attest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// The files of signers (docs/spec/approvals.md#the-files-of-signers), project-relative.
const (
	AllowedSignersPath = ".agentxchain/allowed_signers"
	RevokedSignersPath = ".agentxchain/revoked_signers"
	OpenPGPSignersPath = ".agentxchain/signers/openpgp.asc"
	X509SignersPath    = ".agentxchain/signers/x509.pem"
)

// Namespace is the namespace of git's SSH signatures, and of ours.
const Namespace = "git"

const (
	maxSignersFile = 512 << 10 // bytes of each file
	maxSignersLine = 16 << 10
	maxSignersRows = 5000 // lines, keys, certificates
	maxProblems    = 50
	minRSA         = 2048 // bits
)

// Signers has the keys that may sign. The zero value knows no signer.
type Signers struct {
	allowed   []allowed
	revoked   map[string]bool // fingerprints, as in Signature.KeyID
	openpgp   pgpKeys
	x509      certificates
	uncertain string // why the revocations cannot be determined, "" when they can
}

// SignerFiles returns the paths that ParseSigners knows.
func SignerFiles() []string {
	return []string{AllowedSignersPath, RevokedSignersPath, OpenPGPSignersPath, X509SignersPath}
}

// SignersPath returns the file of signers that lists the keys of a format.
func SignersPath(format string) string {
	switch format {
	case FormatOpenPGP:
		return OpenPGPSignersPath
	case FormatX509:
		return X509SignersPath
	}
	return AllowedSignersPath
}

// ParseSigners reads the files of signers, by path; it ignores files that it does not know. What it cannot
// understand allows no signer and is among the problems, whose Field is path:line. It never fails.
func ParseSigners(files map[string][]byte) (*Signers, wire.Problems) {
	s := &Signers{revoked: make(map[string]bool)}
	p := &findings{}
	for _, path := range SignerFiles() {
		data, there := files[path]
		p.path = path
		before := p.count
		switch {
		case !there:
		case len(data) > maxSignersFile:
			p.add(0, "the file has %d bytes; at most %d are read", len(data), maxSignersFile)
		case path == AllowedSignersPath:
			s.allowed = parseAllowed(data, p)
		case path == RevokedSignersPath:
			parseRevoked(data, s.revoked, p)
		case path == OpenPGPSignersPath:
			s.openpgp = parseOpenPGP(data, p)
		case path == X509SignersPath:
			s.x509 = parseX509(data, p)
		}
		if path == RevokedSignersPath && p.count > before {
			s.uncertain = p.first
		}
	}
	return s, p.list
}

// findings collects the problems of several files.
type findings struct {
	path  string
	list  wire.Problems
	count int
	first string // from the file of revoked signers: where the list becomes uncertain
}

// add reports a problem in a line, 0 for the whole file.
func (f *findings) add(line int, format string, args ...any) {
	field := f.path
	if line > 0 {
		field = fmt.Sprintf("%s:%d", f.path, line)
	}
	message := field + ": " + fmt.Sprintf(format, args...)
	if f.path == RevokedSignersPath && f.first == "" {
		f.first = message
	}
	if f.count++; f.count <= maxProblems {
		f.list = append(f.list, wire.Problem{
			Code:    wire.CodeSignersInvalid,
			Field:   field,
			Message: message,
		})
	}
}

// Signature is a valid signature of its envelope by an allowed key.
type Signature struct {
	Principals []string // names that the key speaks for, without those that only a pattern allows
	Format     string
	KeyID      string // SHA256:BASE64, openpgp:HEX or x509:HEX, as in revoked_signers
	Key        string // what counts once where several signatures are needed; all names of a key share it

	rules []rule
}

// rule allows a key to speak for names, or says why it does not.
type rule struct {
	names    []string // literal; nil where only the pattern applies
	patterns string   // a pattern list of ssh_config(5), "" for none
	refusal  *wire.Error
}

func (r *rule) covers(name string) bool {
	return (r.names == nil || slices.Contains(r.names, name)) && (r.patterns == "" || matchList(name, r.patterns))
}

// SpeaksFor returns nil when the key may sign as the principal, else why not:
// signer_unknown, signer_expired or signer_namespace.
func (s *Signature) SpeaksFor(principal string) *wire.Error {
	var refusal *wire.Error
	for _, r := range s.rules {
		switch {
		case !r.covers(principal):
		case r.refusal == nil:
			return nil
		default:
			refusal = milder(refusal, r.refusal)
		}
	}
	if refusal == nil {
		refusal = listedIn(s.Format, failure(wire.CodeSignerUnknown, "the key %s is not listed for %q; it speaks for %s", s.KeyID,
			principal, nameList(s.Principals)))
	}
	return refusal
}

// milder returns the milder refusal: an expired signer could once sign.
func milder(a, b *wire.Error) *wire.Error {
	if a == nil || b.Code == wire.CodeSignerExpired {
		return b
	}
	return a
}

// settle turns the rules of a key into a signature, or into a refusal where no rule holds.
func settle(sig *Signature) (*Signature, *wire.Error) {
	names := make(map[string]bool)
	var refusal *wire.Error
	good := false
	for _, r := range sig.rules {
		if r.refusal != nil {
			refusal = milder(refusal, r.refusal)
			continue
		}
		good = true
		listed := r.names
		if listed == nil {
			listed = strings.Split(r.patterns, ",")
		}
		for _, n := range listed {
			if n != "" && (r.names != nil || !strings.ContainsAny(n, "*?!")) && r.covers(n) {
				names[n] = true
			}
		}
	}
	if !good {
		if refusal == nil {
			refusal = failure(wire.CodeSignerUnknown, "the key %s belongs to no allowed signer", sig.KeyID)
		}
		return nil, refusal
	}
	sig.Principals = slices.Sorted(maps.Keys(names))
	return sig, nil
}

// Verify judges the signature of an envelope. at is when the statement was issued: keys, certificates and lines of
// allowed_signers must have been valid then. SpeaksFor decides whether the key may speak for the statement's
// principal. Fails with signature_format, signature_invalid, signer_unknown, signer_expired, signer_revoked,
// signer_namespace or signers_invalid (docs/spec/approvals.md#how-a-signature-is-judged).
func (s *Signers) Verify(env *Envelope, at time.Time) (sig *Signature, refusal *wire.Error) {
	switch {
	case s.uncertain != "":
		return nil, s.unknownRevocations()
	case len(env.Signature) == 0 || len(env.Signature) > MaxSignature || len(env.Payload) > MaxStatement:
		return nil, failure(wire.CodeSignatureFormat,
			"the signature has %d bytes and the statement %d; at most %d and %d are read",
			len(env.Signature), len(env.Payload), MaxSignature, MaxStatement)
	case env.Format != FormatOf(env.Signature):
		return nil, failure(wire.CodeSignatureFormat, "the signature is not in the armour of the format %q",
			env.Format)
	}
	message := PAE(PayloadType, env.Payload)
	switch env.Format {
	case FormatSSH:
		sig, refusal = s.verifySSH(env.Signature, message, Namespace, at)
	case FormatOpenPGP:
		sig, refusal = s.verifyOpenPGP(env.Signature, message, at)
	case FormatX509:
		sig, refusal = s.verifyX509(env.Signature, message, at)
	default:
		return nil, failure(wire.CodeSignatureFormat,
			"the signature is neither an SSH, an OpenPGP nor a CMS signature in its armour")
	}
	return sig, listedIn(env.Format, refusal)
}

// VerifyFile verifies the signature of a file, as ssh-keygen -Y sign -n NAMESPACE writes it; at is the time at
// which it must be valid. Only the lines of allowed_signers count. Fails as Verify does.
func (s *Signers) VerifyFile(signature, data []byte, namespace string, at time.Time) (*Signature, *wire.Error) {
	if len(signature) > MaxSignature || FormatOf(signature) != FormatSSH {
		return nil, failure(wire.CodeSignatureFormat, "the signature is not an SSH signature of at most %d bytes",
			MaxSignature)
	}
	return s.verifySSH(signature, data, namespace, at)
}

// Revoked refuses a key if the list of revoked signers has one of its identities, or cannot be read.
func (s *Signers) Revoked(ids ...string) *wire.Error {
	if s.uncertain != "" {
		return s.unknownRevocations()
	}
	return s.isRevoked(ids...)
}

func (s *Signers) unknownRevocations() *wire.Error {
	return &wire.Error{
		Code:    wire.CodeSignersInvalid,
		Field:   RevokedSignersPath,
		Message: "no signature counts while the revoked signers are not known: " + s.uncertain,
		Hint:    "correct " + RevokedSignersPath,
	}
}

func (s *Signers) isRevoked(ids ...string) *wire.Error {
	for _, id := range ids {
		if s.revoked[id] {
			return failure(wire.CodeSignerRevoked, "the key %s is listed in %s", id, RevokedSignersPath)
		}
	}
	return nil
}

func failure(code, format string, args ...any) *wire.Error {
	e := &wire.Error{
		Code:    code,
		Message: fmt.Sprintf(format, args...),
	}
	switch code {
	case wire.CodeSignerRevoked, wire.CodeSignerExpired:
		e.Hint = "sign with a key that counts; git agentxchain doctor --signing sets one up"
	}
	return e
}

// listedIn says of an unknown signer which file lists those of its format.
func listedIn(format string, refusal *wire.Error) *wire.Error {
	if refusal != nil && refusal.Code == wire.CodeSignerUnknown {
		refusal.Hint = "list the signer in " + SignersPath(format) + " and commit it to the protected branch"
	}
	return refusal
}

func nameList(names []string) string {
	if len(names) == 0 {
		return "no one by name"
	}
	return strings.Join(names, ", ")
}

// guard keeps a library's panic on hostile bytes from ending the program.
func guard[T any](f func() (T, error)) (v T, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("it cannot be read: %v", r)
		}
	}()
	return f()
}

// window says why at is outside a period of validity, "" when it is inside; a zero time means no limit.
func window(at, after, before time.Time) string {
	switch {
	case !after.IsZero() && at.Before(after):
		return "valid only from " + wire.FormatTime(after)
	case !before.IsZero() && at.After(before):
		return "valid only until " + wire.FormatTime(before)
	}
	return ""
}
