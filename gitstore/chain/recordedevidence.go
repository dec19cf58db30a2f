// What an operation was decided on, read back from its record.

package chain

import (
	"encoding/hex"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
)

// Evidence returns a piece of evidence of the operation by the SHA-256 its record
// names (64 hex digits), false when the operation has none of it.
func (x *RecordedRun) Evidence(sha256 string) ([]byte, bool, error) {
	if _, err := hex.DecodeString(sha256); err != nil || len(sha256) != 64 || strings.ToLower(sha256) != sha256 {
		return nil, false, nil
	}
	return x.Reader.File(x.Root, record.DirEvidence+"/"+sha256)
}
