// What to do about a file that may not be used.

package failures

import (
	"errors"
	"io/fs"
)

// Permission says what to do about a file that may not be used by whoever runs this, "" where err is about something
// else. name is the file, "FILE" where a message names it.
func Permission(name string, err error) string {
	if !errors.Is(err, fs.ErrPermission) {
		return ""
	}
	return "look at the owner and mode of " + name + " and of its directory with ls -ld: chmod or chown it, or run this as its owner"
}
