// The corpus: its fixtures, read completely and checked before any of them runs
// (docs/conformance.md#our-own-corpus).

package conformance

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/fixtures"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// Bounds of a corpus. The public one has 108 fixtures in 250 KB.
const (
	maxCorpusFiles = 20_000
	maxCorpusBytes = 256 << 20
	maxCorpusDepth = 32 // directories below its root

	maxLinkWarnings = 5
)

// FixturesPath is where a target keeps fixtures, relative to its root.
const FixturesPath = ".agentxchain-conformance/fixtures"

// EmbeddedRoot is the name that reports use for the corpus built into this program.
const EmbeddedRoot = "embedded:fixtures"

// CorpusFixture is a fixture with its place in the corpus.
type CorpusFixture struct {
	Path string // relative to the corpus root, with slashes
	*Fixture
}

// Corpus is a set of fixtures sorted by path. All of them have a valid shape.
type Corpus struct {
	Root     string // absolute directory, or EmbeddedRoot
	Fixtures []CorpusFixture
	Warnings []string
	digest   string
}

// Digest identifies the corpus: "sha256:" and the hex digest over all files in path order, each as its path, a NUL,
// its length in decimal, a NUL, and its bytes.
func (c *Corpus) Digest() string { return c.digest }

// EmbeddedCorpus returns the corpus built into this program.
func EmbeddedCorpus() (*Corpus, error) {
	return readCorpus(EmbeddedRoot, "", fixtures.FS)
}

// OpenCorpus reads the fixtures below dir: every *.json file in it and its directories. dir is the fixture root
// itself or a directory that contains .agentxchain-conformance/fixtures. It skips symbolic links below it with a
// warning.
func OpenCorpus(dir string) (*Corpus, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("the fixture root cannot be made absolute: %w", err)
	}
	if hasFixtures(dir) {
		dir = filepath.Join(dir, filepath.FromSlash(FixturesPath))
	}
	if !isDir(dir) {
		return nil, wireError("Fixture root not found at %s", dir)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("the fixture root cannot be opened: %w", err)
	}
	defer func() { _ = root.Close() }()
	return readCorpus(dir, dir, root.FS())
}

// hasFixtures reports whether dir has fixtures at FixturesPath.
func hasFixtures(dir string) bool { return isDir(filepath.Join(dir, filepath.FromSlash(FixturesPath))) }

// OpenTargetCorpus opens the fixtures of a target, or this program's when it keeps none. Fixtures decide what
// passes, so the warnings name fixtures that differ from this program's.
func OpenTargetCorpus(root string) (*Corpus, error) {
	own, err := EmbeddedCorpus()
	if err != nil || !hasFixtures(root) {
		return own, err
	}
	c, err := OpenCorpus(root)
	if err == nil && c.digest != own.digest {
		c.Warnings = append(c.Warnings,
			fmt.Sprintf("the target's own fixtures were run, which are not those of this program; "+
				"--fixtures %s runs these", EmbeddedRoot))
	}
	return c, err
}

func isDir(p string) bool {
	st, err := os.Stat(p)
	return err == nil && st.IsDir()
}

// readCorpus reads all fixtures of tree; shown is the directory that findings name.
func readCorpus(root, shown string, tree fs.FS) (*Corpus, error) {
	names, links, err := corpusFiles(tree)
	if err != nil {
		return nil, fmt.Errorf("the fixtures below %s cannot be listed: %w", root, err)
	}
	c := &Corpus{Root: root}
	for i, name := range links {
		if i == maxLinkWarnings {
			c.Warnings = append(c.Warnings, fmt.Sprintf("%d more symbolic links were passed over", len(links)-i))
			break
		}
		c.Warnings = append(c.Warnings, fmt.Sprintf("%s is a symbolic link and was passed over", show(name)))
	}
	sum, total, ids := sha256.New(), 0, make(map[string]string)
	for _, name := range names {
		data, err := readBounded(tree, name)
		if err != nil {
			return nil, err
		}
		if total += len(data); total > maxCorpusBytes {
			return nil, fmt.Errorf("the corpus is larger than %d MiB", maxCorpusBytes>>20)
		}
		_, _ = fmt.Fprintf(sum, "%s\x00%d\x00", name, len(data))
		_, _ = sum.Write(data)
		where := name
		if shown != "" {
			where = filepath.Join(shown, filepath.FromSlash(name))
		}
		f, bad := decodeFixture(data)
		if len(bad) > 0 {
			for i := range bad {
				bad[i] = where + ": " + bad[i]
			}
			return nil, errors.New(strings.Join(bad, "; "))
		}
		// Reports and challenges identify fixtures by their id.
		if first, twice := ids[f.ID]; twice {
			c.Warnings = append(c.Warnings,
				fmt.Sprintf("%s and %s have the same fixture_id %s", first, name, show(f.ID)))
		}
		ids[f.ID] = name
		c.Fixtures = append(c.Fixtures, CorpusFixture{name, f})
	}
	c.digest = "sha256:" + hex.EncodeToString(sum.Sum(nil))
	return c, nil
}

func decodeFixture(data []byte) (*Fixture, []string) {
	v, err := ojson.DecodeLimited(data, ojson.Limits{Bytes: MaxFixtureBytes, Depth: maxFixtureDepth})
	if err != nil {
		return nil, []string{"the fixture is not valid JSON: " + err.Error()}
	}
	return shape(v)
}

// corpusFiles lists the fixture files of tree, sorted by path. Like the reference it skips symbolic links; those
// that may lead to fixtures, named *.json or leading to a directory, are returned separately.
func corpusFiles(tree fs.FS) (names, links []string, err error) {
	err = fs.WalkDir(tree, ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && strings.Count(p, "/") >= maxCorpusDepth:
			return fmt.Errorf("directories are nested deeper than %d", maxCorpusDepth)
		case d.Type()&fs.ModeSymlink != 0:
			if path.Ext(p) == ".json" || leadsToDir(tree, p) {
				links = append(links, p)
			}
			return nil
		case !d.Type().IsRegular() || path.Ext(p) != ".json":
			return nil
		}
		if names = append(names, p); len(names) > maxCorpusFiles {
			return fmt.Errorf("there are more than %d files", maxCorpusFiles)
		}
		return nil
	})
	slices.Sort(names)
	slices.Sort(links)
	return names, links, err
}

// leadsToDir reports whether a link leads to a directory of tree, or to where tree does not allow a look.
func leadsToDir(tree fs.FS, link string) bool {
	st, err := fs.Stat(tree, link)
	return err != nil && !errors.Is(err, fs.ErrNotExist) || err == nil && st.IsDir()
}

// readBounded reads a fixture file no larger than the limit for fixtures.
func readBounded(tree fs.FS, name string) ([]byte, error) {
	st, err := fs.Stat(tree, name)
	if err == nil && st.Size() > MaxFixtureBytes {
		err = fmt.Errorf("the file is larger than %d MiB", MaxFixtureBytes>>20)
	}
	var data []byte
	if err == nil {
		data, err = fs.ReadFile(tree, name)
	}
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w", name, err)
	}
	return data, nil
}

// Select returns the fixtures up to tier, of one surface unless that is empty; those of ProfileStrict only when it
// is requested.
func (c *Corpus) Select(tier int, surface, profile string) []CorpusFixture {
	var out []CorpusFixture
	for _, f := range c.Fixtures {
		if f.Tier <= tier && (surface == "" || f.Surface == surface) &&
			(f.Profile == ProfileCore || profile == ProfileStrict) {
			out = append(out, f)
		}
	}
	return out
}
