package release

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/protocol/attest"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Namespace is the namespace of the signature, as `ssh-keygen -Y sign -n file` sets it.
const Namespace = "file"

// MaxFile bounds each of the files that Check is given, in bytes.
const MaxFile = 1 << 20

// CodeUnlisted is the code for a binary that the list does not name.
const CodeUnlisted = "binary_unlisted"

// Files are what a binary is checked against.
type Files struct {
	Checksums      []byte // lines as sha256sum writes them
	Signature      []byte // signature of Checksums, as ssh-keygen -Y sign writes it
	AllowedSigners []byte // lines as in ssh-keygen(1), ALLOWED SIGNERS
}

// Verdict describes a binary that was released.
type Verdict struct {
	SHA256  string   // of the binary, 64 lower-case hex digits
	Name    string   // its file name in the list
	Signers []string // principals of the signing key
	KeyID   string   // SHA256:BASE64
}

// Check judges the signature first, then the binary. Errors are *wire.Error: those of
// attest.Signers.VerifyFile, and binary_unlisted.
func Check(binary io.Reader, f Files, now time.Time) (*Verdict, error) {
	signers, problems := attest.ParseSigners(map[string][]byte{attest.AllowedSignersPath: f.AllowedSigners})
	signature, refusal := signers.VerifyFile(f.Signature, f.Checksums, Namespace, now)
	if refusal != nil {
		// An unreadable line allows no signer; it may have been the relevant one.
		if refusal.Code == wire.CodeSignerUnknown && len(problems) > 0 {
			refusal.Message += fmt.Sprintf("; a line of the allowed signers cannot be read: %s", problems[0].Message)
		}
		return nil, refusal
	}
	h := sha256.New()
	if _, err := io.Copy(h, binary); err != nil {
		return nil, err
	}
	sum := hex.EncodeToString(h.Sum(nil))
	name, ok := find(f.Checksums, sum)
	if !ok {
		return nil, &wire.Error{
			Code:    CodeUnlisted,
			Message: fmt.Sprintf("the checksum file does not list this binary (SHA-256 %s)", sum),
			Hint:    "take the checksum file of the release this binary is said to come from; if it is, do not trust the binary",
		}
	}
	return &Verdict{
		SHA256:  sum,
		Name:    name,
		Signers: signature.Principals,
		KeyID:   signature.KeyID,
	}, nil
}

// find returns the file name of the line that begins with sum.
func find(checksums []byte, sum string) (string, bool) {
	for line := range strings.Lines(string(checksums)) {
		digest, rest, ok := strings.Cut(strings.TrimRight(line, "\r\n"), " ")
		if ok && strings.EqualFold(digest, sum) && len(rest) > 1 {
			return rest[1:], true // after the space: a space or an asterisk
		}
	}
	return "", false
}
