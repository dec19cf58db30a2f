// Names of run refs: which run ids can become ref names.

package git

import (
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
)

// RunRefPrefix is where run refs live; it ends in a slash.
const RunRefPrefix = "refs/agentxchain/runs/"

// maxRunID keeps <id>.lock below the 255 bytes that file systems allow for a name.
const maxRunID = 200

// RunRef returns the ref of a run. Run ids come from state files that anyone
// may have written, so only ids that are harmless on every file system and in
// every git version pass: ASCII letters, digits and "._+=@-", not starting
// with "." or "-", not ending in "." or ".lock" in any case, without ".." or
// "@{", not a reserved Windows device name, at most 200 bytes. The error has
// the code bad_ref_name.
func RunRef(runID string) (string, error) {
	if why := BadRunID(runID); why != "" {
		shown := runID
		if len(shown) > 60 {
			shown = shown[:60] + "..."
		}
		return "", fail.Errorf(fail.CodeBadRefName, nil, "the run id %q cannot be stored: it %s", shown, why)
	}
	return RunRefPrefix + runID, nil
}

// BadRunID says why id cannot name a run, "" when it can.
func BadRunID(id string) string {
	if id == "" {
		return "is empty"
	}
	if len(id) > maxRunID {
		return "is longer than 200 bytes"
	}
	for i := range len(id) {
		c := id[i]
		ok := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' ||
			strings.IndexByte("._+=@-", c) >= 0
		if !ok {
			return "holds a character outside of A-Z a-z 0-9 . _ + = @ -"
		}
	}
	switch {
	case id[0] == '.' || id[0] == '-':
		return "starts with a dot or a dash"
	case id[len(id)-1] == '.':
		return "ends with a dot"
	case strings.Contains(id, ".."):
		return "holds two dots in a row"
	case id == "@":
		return "is a name git reserves"
	case len(id) >= 5 && strings.EqualFold(id[len(id)-5:], ".lock"):
		return "ends with .lock"
	case DeviceName(id):
		return "is a reserved device name"
	}
	return ""
}

// DeviceName matches CON, NUL.txt, com1 and the like: on Windows such a file
// cannot exist, and writing to one goes elsewhere.
func DeviceName(id string) bool {
	stem, _, _ := strings.Cut(strings.ToUpper(id), ".")
	stem = strings.TrimRight(stem, " ")
	switch stem {
	case "CON", "PRN", "AUX", "NUL":
		return true
	}
	return len(stem) == 4 && (strings.HasPrefix(stem, "COM") || strings.HasPrefix(stem, "LPT")) && stem[3] >= '0' &&
		stem[3] <= '9'
}

// SafeRefName accepts full ref names for the functions below: those that git's check-ref-format accepts, under
// refs/, without a path that could leave the ref directory.
func SafeRefName(name string) bool {
	if !strings.HasPrefix(name, "refs/") || len(name) > 1024 {
		return false
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part[0] == '.' || strings.HasSuffix(part, ".lock") {
			return false
		}
	}
	for i := range len(name) {
		if c := name[i]; c <= ' ' || c == 0x7f || strings.IndexByte("~^:?*[\\", c) >= 0 {
			return false
		}
	}
	return !strings.Contains(name, "..") && !strings.Contains(name, "@{") && !strings.HasSuffix(name, ".")
}

const RefSpace = "refs/agentxchain/"
