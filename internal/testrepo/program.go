// The program itself, for tests that use it like people.

package testrepo

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Program returns git-agentxchain: the file that AGENTXCHAIN_TEST_PROGRAM names, which .ci/run has built, or one
// built into dir. It is built like this test, which has compiled most of it, but without the race detector: the
// tests try the program that people have.
func Program(dir string) (string, error) {
	if have := os.Getenv("AGENTXCHAIN_TEST_PROGRAM"); have != "" {
		return have, nil
	}
	file := filepath.Join(dir, "git-agentxchain")
	build := exec.Command("go", "build", "-o", file, "github.com/git-agentxchain/git-agentxchain/cmd/git-agentxchain")
	build.Env = append(os.Environ(), "GOFLAGS="+strings.ReplaceAll(os.Getenv("GOFLAGS"), "-race", ""))
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return file, nil
}
