// digest, for acceptance scripts: a digest of every file of a tree, so that "nothing changed" can be checked.

package cli

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

func scriptDigest(args []string) error {
	if len(args) < 3 {
		return fmt.Errorf("usage: digest save|same FILE PATH...")
	}
	var b strings.Builder
	for _, root := range args[2:] {
		if err := describeTree(&b, root); err != nil {
			return err
		}
	}
	if args[0] == "save" {
		return os.WriteFile(args[1], []byte(b.String()), 0o666)
	}
	before, err := os.ReadFile(args[1])
	if err != nil {
		return err
	}
	if was, is := string(before), b.String(); was != is {
		had := strings.Split(was, "\n")
		has := strings.Split(is, "\n")
		for _, l := range had {
			if !slices.Contains(has, l) {
				fmt.Println("-", l)
			}
		}
		for _, l := range has {
			if !slices.Contains(had, l) {
				fmt.Println("+", l)
			}
		}
		return fmt.Errorf("the files are not what they were")
	}
	return nil
}

func describeTree(out *strings.Builder, root string) error {
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			_, _ = fmt.Fprintf(out, "? %s\n", path)
			return nil
		}
		if _, inGit, ok := strings.Cut("/"+filepath.ToSlash(path)+"/", "/.git/"); ok && inGit != "" {
			refs := strings.HasPrefix(inGit, "refs/")
			if d.IsDir() && !refs {
				return fs.SkipDir
			}
			if !refs && !slices.Contains([]string{"HEAD/", "index/", "packed-refs/"}, inGit) {
				return nil
			}
		}
		if d.IsDir() && strings.HasSuffix(filepath.ToSlash(path), ".agentxchain/locks") {
			return fs.SkipDir // where the lock is taken; not part of the run
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		sum := ""
		switch {
		case info.Mode().IsRegular():
			data, err := os.ReadFile(path)
			if sum = "unreadable"; err == nil {
				sum = fmt.Sprintf("%x", sha256.Sum256(data))[:16]
			}
		case info.Mode()&fs.ModeSymlink != 0:
			sum, _ = os.Readlink(path)
		}
		_, _ = fmt.Fprintf(out, "%s %s %q\n", info.Mode(), sum, path)
		return nil
	})
}
