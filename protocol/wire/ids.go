// Ids of other protocols that become names here.

package wire

import "strings"

// SafeID reports whether an id of another protocol can be used as a name here (docs/monarchic.md): not empty, no
// path separator, no control byte.
func SafeID(id string) bool {
	if id == "" || id == "." || id == ".." || len(id) > MaxCharterID {
		return false
	}
	for _, r := range id {
		if r == '/' || r == '\\' || r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == 0xFFFD {
			return false
		}
	}
	return true
}

const MaxCharterID = 200

// IsCommit reports whether s is a full object name, SHA-1 or SHA-256.
func IsCommit(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}

// NoEmail is the address of a person for whom git has none.
const NoEmail = "agentxchain@localhost"
