// Digests as written in documents and names.

package wire

import (
	"crypto/sha256"
	"encoding/hex"
)

// Digest returns "sha256:" and the 64 hexadecimal digits of the SHA-256 of data.
func Digest(data []byte) string { return "sha256:" + SHA256(data) }

// SHA256 returns the 64 hexadecimal digits alone.
func SHA256(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
