package codeflow

import (
	"slices"
	"testing"
)

const sample = "github.com/git-agentxchain/git-agentxchain/internal/codeflow/testdata/sample"

func TestCodes(t *testing.T) {
	p, err := Load("../..", "./internal/codeflow/testdata/sample")
	if err != nil {
		t.Fatal(err)
	}
	root, err := p.Method(sample, "T", "Root")
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	quiet := "(*" + sample + ".T).quiet"
	got := p.Codes(root, map[string]bool{quiet: true, "nobody": true}, used)
	if want := []string{"closure", "deep", "iface", "plain", "table"}; !slices.Equal(got, want) {
		t.Errorf("codes %v, want %v", got, want)
	}
	if !used[quiet] || used["nobody"] {
		t.Errorf("used %v", used)
	}
	if got := p.Codes(root, nil, nil); !slices.Contains(got, "quiet") {
		t.Errorf("nothing was skipped, and quiet is not there: %v", got)
	}
	other, err := p.Func(sample, "Other")
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Codes(other, nil, nil); !slices.Equal(got, []string{"unmade"}) {
		t.Errorf("codes %v", got)
	}
	for _, bad := range [][2]string{{"T", "Nothing"}, {"Nobody", "Root"}} {
		if _, err := p.Method(sample, bad[0], bad[1]); err == nil {
			t.Errorf("%v was found", bad)
		}
	}
	if _, err := p.Func("no/such", "F"); err == nil {
		t.Error("no/such.F was found")
	}
}

func TestLoadNamesWhatIsWrong(t *testing.T) {
	if _, err := Load("../..", "./no/such/directory"); err == nil {
		t.Error("a package that is not there was loaded")
	}
}
