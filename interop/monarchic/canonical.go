// Canonical JSON and digests (docs/monarchic-export.md#kinds).

package monarchic

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/gowebpki/jcs"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/wire"
)

// Canonical returns the canonical JSON (RFC 8785) of v, a JSON value or a struct of the protocol or
// a pointer to one: keys sorted by code unit, no white space, shortest numbers. It fails on text
// that is not Unicode and on numbers that a double cannot hold.
func Canonical(v any) ([]byte, error) {
	switch v.(type) {
	case nil, bool, string, ojson.Number, []any, *ojson.Object:
	default:
		v = wire.Encode(v)
	}
	// The canonicalizer needs an object or an array at the top.
	text, err := jcs.Transform(ojson.Compact([]any{v}))
	if err != nil {
		return nil, fmt.Errorf("no canonical JSON: %w", err)
	}
	return text[1 : len(text)-1], nil
}

// Digest returns "sha256:" and the 64 hex digits of the SHA-256 of the canonical
// JSON of v.
func Digest(v any) (string, error) {
	text, err := Canonical(v)
	if err != nil {
		return "", err
	}
	return DigestBytes(text), nil
}

// DigestBytes returns "sha256:" and the 64 hex digits of the SHA-256 of data.
func DigestBytes(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}
