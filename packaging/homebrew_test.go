// The Homebrew formula of a release: a stand-in for brew reads it, takes the archive of each system, compares its sum,
// installs it and runs the formula's own test.

package packaging_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
)

func TestHomebrew(t *testing.T) {
	testrepo.Thorough(t)
	needs(t, "bash", "ruby", "tar", "sha256sum")
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skip("there is no Homebrew here")
	}
	root := t.TempDir()
	j, source, program := prepare(t, root)
	version := strings.Fields(j.must(root, "'"+program+"' version"))[1]
	// Every system's archive has this system's program, so that it can be started, and a different name inside, so
	// that the sums differ.
	j.must(root, fmt.Sprintf("mkdir dist && cp '%s' git-agentxchain && mv dist-extra/* .", program))
	for _, os := range []string{"linux", "darwin"} {
		for _, arch := range []string{"amd64", "arm64"} {
			j.must(root,
				fmt.Sprintf("echo %[1]s-%[2]s >system && tar -cf - git-agentxchain man completion NOTICE system | gzip -1 >dist/git-agentxchain_%[3]s_%[1]s_%[2]s.tar.gz",
					os, arch, version))
		}
	}
	j.must(root,
		fmt.Sprintf("cd dist && sha256sum *.tar.gz >checksums.txt && '%s/packaging/homebrew.sh' %s . >formula.rb",
			source, version))

	brew := fmt.Sprintf("ruby '%s/packaging/testdata/brew.rb' dist/formula.rb dist ", source)
	for _, system := range []string{"linux amd64", "linux arm64", "darwin amd64", "darwin arm64"} {
		prefix := filepath.Join(root, strings.ReplaceAll(system, " ", "-"))
		j.must(root, brew+"'"+prefix+"' "+system)
		for name, mode := range map[string]os.FileMode{
			"bin/git-agentxchain":                                  0o111,
			"share/man/man1/git-agentxchain.1.gz":                  0,
			"etc/bash_completion.d/git-agentxchain":                0,
			"share/zsh/site-functions/_git-agentxchain":            0,
			"share/fish/vendor_completions.d/git-agentxchain.fish": 0,
		} {
			st, err := os.Stat(filepath.Join(prefix, name))
			if err != nil {
				t.Error(err)
			} else if st.Mode()&mode != mode || st.Size() == 0 {
				t.Errorf("%s: %s is %v, %d bytes", system, name, st.Mode(), st.Size())
			}
		}
	}

	// A file that differs from the formula's is not installed.
	j.must(root, fmt.Sprintf("echo more >>dist/git-agentxchain_%s_linux_amd64.tar.gz", version))
	if out, status := j.run(root, brew+"elsewhere linux amd64", nil); status == 0 ||
		!strings.Contains(out, "has another sum") {
		t.Errorf("a changed archive: expected a refusal, got %d\n%s", status, out)
	}
	// There is no formula of an incomplete release.
	j.must(root, "sed -i.bak /darwin_arm64/d dist/checksums.txt")
	if out, status := j.run(root, fmt.Sprintf("'%s/packaging/homebrew.sh' %s dist", source, version),
		nil); status != 1 || strings.Contains(out, "class") {
		t.Errorf("without an archive: expected 1 and no formula, got %d\n%s", status, out)
	}
}
