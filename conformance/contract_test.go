// The page for authors of adapters names everything that adapters are asked for.

package conformance

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/fixtures"
)

func contractColumn(t *testing.T, heading string) (names []string) {
	t.Helper()
	_, section, found := strings.Cut(string(fixtures.Contract), "\n## "+heading+"\n")
	if !found {
		t.Fatalf("CONTRACT.md has no section %q", heading)
	}
	section, _, _ = strings.Cut(section, "\n## ")
	for row := range strings.SplitSeq(section, "\n") {
		if cells := strings.Split(row, "|"); len(cells) > 2 {
			for _, m := range regexp.MustCompile("`([a-z_]+)`").FindAllStringSubmatch(cells[1], -1) {
				names = append(names, m[1])
			}
		}
	}
	return names
}

// TestContractNamesEveryHelper: the page lists the adapter's own helpers, member by member.
func TestContractNamesEveryHelper(t *testing.T) {
	if got := contractColumn(t, "Setup helpers"); !slices.Equal(got, setupKeys()) {
		t.Errorf("CONTRACT.md lists %v, the adapter knows %v", got, setupKeys())
	}
}

// TestContractNamesEveryOperation: the adapter has each operation of the page, and the fixtures use no others and
// no other arguments.
func TestContractNamesEveryOperation(t *testing.T) {
	named := contractColumn(t, "Operations")
	for _, name := range named {
		if _, err := lookup(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	c, err := EmbeddedCorpus()
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(fixtures.Contract), "\n## Operations\n")
	table, _, _ = strings.Cut(table, "\n## ")
	used := make(map[string]bool)
	for _, f := range c.Fixtures {
		used[f.Operation] = true
		if !slices.Contains(named, f.Operation) {
			t.Errorf("%s: CONTRACT.md does not name the operation %s", f.Path, f.Operation)
			continue
		}
		row := regexp.MustCompile("(?m)^\\|.*`" + f.Operation + "`.*$").FindString(table)
		for _, arg := range f.Args.Keys() {
			if !strings.Contains(row, "`"+arg+"`") {
				t.Errorf("%s: CONTRACT.md does not name the argument %s of %s", f.Path, arg, f.Operation)
			}
		}
	}
	for _, name := range named {
		if !used[name] {
			t.Errorf("no fixture uses %s", name)
		}
	}
}
