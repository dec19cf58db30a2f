// The test binary as an adapter, for tests that need an adapter process.

package conformance

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
)

// adapterVariable makes the test binary act as an adapter: "1" a real one, other values faulty ones.
const adapterVariable = "AGENTXCHAIN_TEST_ADAPTER"

func TestMain(m *testing.M) {
	switch os.Getenv(adapterVariable) {
	case "":
		testrepo.InMemory()
		os.Exit(m.Run())
	case "1":
		r := testAdapter().Read(os.Stdin)
		_, _ = os.Stdout.Write(r.Line())
		os.Exit(r.Status.ExitCode())
	case "environ":
		actual := ojson.NewObject()
		for _, kv := range os.Environ() {
			actual.Set(kv, true)
		}
		dir, _ := os.Getwd()
		r := Result{Status: StatusPass, Actual: ojson.NewObject("env", actual, "dir", dir, "tmp", os.TempDir())}
		_, _ = os.Stdout.Write(r.Line())
	case "locked":
		// Leaves behind a tree that cannot be removed as it is.
		dir := filepath.Join(os.TempDir(), "a", "b")
		_ = os.MkdirAll(dir, 0o777)
		_ = os.WriteFile(filepath.Join(dir, "c"), nil, 0o666)
		_ = os.Chmod(dir, 0)
		_, _ = os.Stdout.Write(Result{Status: StatusPass}.Line())
	case "hang":
		_ = os.WriteFile(filepath.Join(os.TempDir(), "left"), nil, 0o666)
		time.Sleep(time.Hour)
	case "crash":
		_ = os.WriteFile(filepath.Join(os.TempDir(), "left"), nil, 0o666)
		panic("as asked")
	case "garbage":
		_, _ = os.Stdout.WriteString("pass\n")
	case "contradiction":
		_, _ = os.Stdout.Write(Result{Status: StatusPass}.Line())
		os.Exit(1)
	}
}
