// Where to install manual pages so that man finds them.

package term

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// manDir returns the directory for this person's manual pages, and whether man searches it by
// default. Man searches beside the directories of PATH: it finds pages in ~/.local/share/man only
// when ~/.local/bin is on PATH. When it is not, the pages go beside the program, if that is in the
// person's home.
func manDir(f *Factory) (dir string, searched bool, err error) {
	home := f.Env.Getenv("HOME")
	data := f.Env.Getenv("XDG_DATA_HOME")
	switch {
	case filepath.IsAbs(data):
	case filepath.IsAbs(home):
		data = filepath.Join(home, ".local", "share")
	default:
		return "", false,
			UsageErrorf("there is no home directory to install manual pages in; name a directory with --to")
	}
	own := filepath.Join(data, "man")
	places := manPath(f)
	if slices.Contains(places, own) {
		return filepath.Join(own, "man1"), true, nil
	}
	if bin := programDir(f); filepath.IsAbs(home) &&
		strings.HasPrefix(bin, filepath.Clean(home)+string(filepath.Separator)) {
		if beside := filepath.Join(filepath.Dir(bin), "share", "man"); slices.Contains(places, beside) {
			return filepath.Join(beside, "man1"), true, nil
		}
	}
	return filepath.Join(own, "man1"), false, nil
}

// manPath lists the directories of this person that man searches for pages: those of MANPATH, and
// those beside PATH unless MANPATH replaces them.
func manPath(f *Factory) []string {
	set := f.Env.Getenv("MANPATH")
	var places []string
	rest := set == ""
	for d := range strings.SplitSeq(set, string(filepath.ListSeparator)) {
		if d == "" {
			rest = true // an empty element means what man would search without MANPATH
		} else {
			places = append(places, filepath.Clean(d))
		}
	}
	if rest {
		for _, d := range filepath.SplitList(f.Env.Getenv("PATH")) {
			if filepath.IsAbs(d) {
				places = append(places, filepath.Join(d, "..", "share", "man"))
			}
		}
	}
	return places
}

// programDir returns the directory of PATH that git starts this program from, "" when it is not on
// PATH.
func programDir(f *Factory) string {
	for _, d := range filepath.SplitList(f.Env.Getenv("PATH")) {
		if st, err := os.Stat(filepath.Join(d, "git-agentxchain")); filepath.IsAbs(d) && err == nil &&
			st.Mode().IsRegular() {
			return filepath.Clean(d)
		}
	}
	return ""
}
