// Identifiers, times and digests that an export makes (docs/monarchic-export.md#kinds).

package bridge

import (
	"fmt"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

func planID(run string) string { return "plan-" + run }

// artifactID returns the id of a turn's file: <turn>:<16 hex of the SHA-256 of its path>.
func artifactID(turn, path string) string { return turn + ":" + wire.SHA256([]byte(path))[:16] }

func receiptID(turn string) string { return "receipt-" + turn }

func leaseID(turn string, attempt int) string { return fmt.Sprintf("lease-%s-%d", turn, attempt) }

func fencingToken(run, turn string, attempt int) string {
	return fmt.Sprintf("fence-%s-%s-%04d", run, turn, attempt)
}

// delegationID returns the id of a delegation in the whole run: its own is unique only within the
// turn that issued it.
func delegationID(parent, id string) string { return parent + "." + id }

// marker reports whether a file marker names contents; "deleted" and "unreadable"
// do not.
func marker(m string) bool { return strings.HasPrefix(m, "sha256:") }

// ms returns a stamp of the run as Unix milliseconds; an unreadable one is 0, with a warning. An
// empty stamp is 0 without one.
func (x *Export) ms(stamp string) uint64 {
	if stamp == "" {
		return 0
	}
	t, err := wire.ParseTime(stamp)
	if err != nil || t.UnixMilli() < 0 {
		x.warn("%q is not a time; it counts as 0", text.ClipRunes(stamp, 40))
		return 0
	}
	return uint64(t.UnixMilli())
}

// digest returns sha256: and the hex digest of the canonical JSON of v. A value without canonical
// JSON, such as text that is not Unicode, is digested as it is written.
func (x *Export) digest(v any) string {
	d, err := monarchic.Digest(v)
	if err != nil {
		x.warn("an object has no canonical JSON: %v", err)
		return monarchic.DigestBytes(compact(v))
	}
	return d
}

func (x *Export) warn(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if !x.warned[text] {
		x.warned[text] = true
		x.Warnings = append(x.Warnings, text)
	}
}
