// The codec on the sample corpus of the schemas.

package monarchic_test

import (
	"bytes"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/interop/monarchic"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/wire"
)

func TestCorpus(t *testing.T) {
	t.Parallel()
	seen := make(map[monarchic.Type]bool)
	for _, pattern := range []string{"testdata/valid/*.json", "testdata/valid/*/*.json"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			base, _, _ := strings.Cut(filepath.Base(file), ".")
			name := monarchic.Type(base)
			if dir := path.Base(path.Dir(filepath.ToSlash(file))); dir != "valid" && dir != "legacy_v0" {
				name = monarchic.Type(dir + "/" + base)
			}
			if !slices.Contains(monarchic.Types(), name) || file == "testdata/valid/agent_role.object.json" {
				continue // beyond the types we have structs for, or a list, or an object around a role
			}
			seen[name] = true
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			v, err := wire.Parse(data)
			if err != nil {
				t.Errorf("%s: %v", file, err)
				continue
			}
			got, err := monarchic.Decode(name, v)
			if err != nil {
				t.Errorf("%s: %v", file, err)
				continue
			}
			once := wire.Canonical(got)
			if v, err = wire.Parse(once); err == nil {
				got, err = monarchic.Decode(name, v)
			}
			if err != nil || !bytes.Equal(wire.Canonical(got), once) {
				t.Errorf("%s: what is written is not read the same: %v\n%s", file, err, once)
			}
		}
	}
	if len(seen) < 45 {
		t.Errorf("samples of only %d types", len(seen))
	}
}
