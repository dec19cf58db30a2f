// The head of a bundle, read and judged before git sees it.

package bundle

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
)

func Bad(cause error, format string, args ...any) *fail.Error {
	return fail.Errorf(CodeHistoryInvalid, cause, format,
		args...).WithHint("make it again with git agentxchain export --bundle FILE")
}

// readBundleHead reads the head of a bundle for a repository and returns the refs it claims to hold.
func readBundleHead(file, format string) ([]string, error) {
	names, have, err := bundleHead(file)
	if err == nil && have != format {
		err = Bad(nil, "the bundle has %s objects, this repository %s", have, format)
	}
	return names, err
}

// bundleHead reads the head of a bundle and returns the refs it claims to hold and its object format.
func bundleHead(file string) (names []string, format string, err error) {
	f, err := os.OpenFile(file, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, "", fail.Errorf(fail.CodeUnreadable, err, "the bundle cannot be opened")
	}
	defer func() { _ = f.Close() }()
	if fi, err := f.Stat(); err != nil || !fi.Mode().IsRegular() {
		return nil, "", Bad(err, "the bundle is not a regular file")
	} else if fi.Size() > maxBundle {
		return nil, "", Bad(nil, "the bundle has %d bytes, which is more than is read", fi.Size())
	}
	refs, format, err := parseBundleHead(f)
	if err != nil {
		return nil, "", Bad(err, "this is not a bundle of a run")
	}
	for _, ref := range refs {
		names = append(names, ref.Name)
	}
	return names, format, nil
}

// parseBundleHead parses the head (gitformat-bundle): a signature, capabilities,
// prerequisites, refs, an empty line.
func parseBundleHead(r io.Reader) (refs []git.Ref, format string, err error) {
	b := bufio.NewReaderSize(io.LimitReader(r, 4<<20), 8<<10)
	line := func() (string, error) {
		data, err := b.ReadSlice('\n')
		if err != nil {
			return "", errors.New("its head has no end, or a line that is too long")
		}
		return string(data[:len(data)-1]), nil
	}
	first, err := line()
	if err != nil {
		return nil, "", err
	}
	if first != "# v2 git bundle" && first != "# v3 git bundle" {
		return nil, "", errors.New("it does not begin as one")
	}
	format = object.FormatSHA1
	seen := make(map[string]bool)
	for {
		l, err := line()
		switch {
		case err != nil:
			return nil, "", err
		case l == "" && len(refs) == 0:
			return nil, "", errors.New("it holds no refs")
		case l == "":
			return refs, format, nil
		case l[0] == '@' && first == "# v3 git bundle":
			f, ok := strings.CutPrefix(l, "@object-format=")
			if !ok || object.HexLen(f) == 0 {
				return nil, "", fmt.Errorf("it asks for %.60q", l)
			}
			format = f
			continue
		case l[0] == '-':
			return nil, "", errors.New("it leaves out history it builds on")
		}
		oid, name, ok := strings.Cut(l, " ")
		switch {
		case !ok || !object.OID(oid).Valid(format):
			return nil, "", fmt.Errorf("its head has the line %.60q", l)
		case !bundleRef(name):
			return nil, "", fmt.Errorf("it holds the ref %.60q, which is not that of a run", name)
		case seen[name]:
			return nil, "", fmt.Errorf("it holds the ref %.60q twice", name)
		case len(refs) == maxBundleRefs:
			return nil, "", fmt.Errorf("it holds more than %d refs", maxBundleRefs)
		}
		seen[name] = true
		refs = append(refs, git.Ref{Name: name, OID: object.OID(oid)})
	}
}

// bundleRef reports whether a bundle may hold the ref.
func bundleRef(name string) bool {
	if !git.SafeRefName(name) {
		return false
	}
	if run, ok := strings.CutPrefix(name, git.RunRefPrefix); ok {
		return git.BadRunID(run) == ""
	}
	kind, rest, ok := strings.Cut(strings.TrimPrefix(name, git.RefSpace), "/")
	return notesRef(name) ||
		strings.HasPrefix(name, git.RefSpace) && ok && kind != "runs" && kind != "initiatives" && rest != ""
}
