// Git trees: the entry list, its canonical encoding and a strict parser.

package object

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Mode is the file mode of a tree entry.
type Mode uint32

// The modes git writes. Trees of old gits may also hold 0100664.
const (
	ModeTree    Mode = 0o040000
	ModeFile    Mode = 0o100644
	ModeExec    Mode = 0o100755
	ModeSymlink Mode = 0o120000
	ModeGitlink Mode = 0o160000

	modeOldGroupWrite Mode = 0o100664
)

func (m Mode) valid() bool {
	switch m {
	case ModeTree, ModeFile, ModeExec, ModeSymlink, ModeGitlink, modeOldGroupWrite:
		return true
	}
	return false
}

// TreeEntry is one name in a tree. Name is raw bytes in any encoding.
type TreeEntry struct {
	Mode Mode
	Name string
	OID  OID
}

// IsTree reports whether the entry is a directory.
func (e TreeEntry) IsTree() bool { return e.Mode == ModeTree }

// EncodeTree returns the tree object of the entries in git's order, sorting a copy. It does not validate the
// entries: Write refuses a tree that ParseTree would refuse.
func EncodeTree(entries []TreeEntry) []byte {
	sorted := slices.Clone(entries)
	slices.SortStableFunc(sorted, CompareEntries)
	return EncodeSorted(sorted)
}

// EncodeSorted is EncodeTree for entries already in git's order.
func EncodeSorted(sorted []TreeEntry) []byte {
	size := 0
	for i := range sorted {
		size += len(sorted[i].Name) + len(sorted[i].OID)/2 + 8
	}
	b := make([]byte, 0, size)
	for i := range sorted {
		e := &sorted[i]
		b = strconv.AppendUint(b, uint64(e.Mode), 8)
		b = append(b, ' ')
		b = append(b, e.Name...)
		b = append(b, 0)
		b = e.OID.AppendRaw(b)
	}
	return b
}

func checkEntry(e TreeEntry) error {
	switch {
	case !e.Mode.valid():
		return fmt.Errorf("tree entry %q has the unknown mode %o", e.Name, uint32(e.Mode))
	case e.Name == "", e.Name == ".", e.Name == "..", strings.EqualFold(e.Name, ".git"):
		return fmt.Errorf("%q is not a name for a tree entry", e.Name)
	case strings.ContainsAny(e.Name, "/\x00"):
		return fmt.Errorf("tree entry name %q holds a separator", e.Name)
	}
	return nil
}

// ParseTree parses a tree object of the format. It is strict: names that could lead out of a directory, unknown
// modes, wrong order and repeated names are errors, so the result can be written to disk name by name.
func ParseTree(format string, data []byte) ([]TreeEntry, error) {
	n := HexLen(format) / 2
	if n == 0 {
		return nil, fmt.Errorf("unknown object format %q", format)
	}
	var out []TreeEntry
	all := string(data) // names are substrings of it
	ids := make([]byte, 0, len(data)/(n+8)*2*n)
	for len(data) > 0 {
		sp := bytes.IndexByte(data[:min(len(data), 8)], ' ')
		if sp < 1 {
			return nil, errors.New("tree entry without a mode")
		}
		mode, err := ParseMode(data[:sp])
		if err != nil {
			return nil, err
		}
		data = data[sp+1:]
		end := bytes.IndexByte(data, 0)
		if end < 0 || len(data) < end+1+n {
			return nil, errors.New("tree ends in the middle of an entry")
		}
		from := len(all) - len(data)
		e := TreeEntry{Mode: mode, Name: all[from : from+end]}
		ids = hex.AppendEncode(ids, data[end+1:end+1+n])
		data = data[end+1+n:]
		if err := checkEntry(e); err != nil {
			return nil, err
		}
		if len(out) > 0 && CompareEntries(out[len(out)-1], e) >= 0 {
			return nil, fmt.Errorf("tree entry %q is out of order", e.Name)
		}
		// Canonical order separates "a" and "a/" (file and directory): between them are names that begin with "a".
		for i := len(out) - 1; i >= 0 && strings.HasPrefix(out[i].Name, e.Name); i-- {
			if len(out[i].Name) == len(e.Name) {
				return nil, fmt.Errorf("tree entry %q occurs twice", e.Name)
			}
		}
		out = append(out, e)
	}
	hexes := OID(ids)
	for i := range out {
		out[i].OID = hexes[2*n*i : 2*n*(i+1)]
	}
	return out, nil
}

func ParseMode(b []byte) (Mode, error) {
	var m Mode
	for i, c := range b {
		if c < '0' || c > '7' || i == 0 && c == '0' {
			return 0, fmt.Errorf("tree entry mode %q", b)
		}
		m = m<<3 | Mode(c-'0')
	}
	return m, nil
}

// CompareEntries compares in git's order: by bytes, with a slash after the name of a directory.
func CompareEntries(a, b TreeEntry) int {
	n := min(len(a.Name), len(b.Name))
	if c := strings.Compare(a.Name[:n], b.Name[:n]); c != 0 {
		return c
	}
	return int(charAt(a, n)) - int(charAt(b, n))
}

func charAt(e TreeEntry, i int) byte {
	switch {
	case i < len(e.Name):
		return e.Name[i]
	case e.IsTree():
		return '/'
	}
	return 0
}
