// Ids of other protocols that become names of ours.

package wire

// SafeID reports whether an id of another protocol can be used as the name of
// something of ours (docs/monarchic.md): not empty, no path separator, no control byte.
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
