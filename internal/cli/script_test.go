// Acceptance tests: testdata/script/*.txtar run the real program under real git.

package cli

import (
	"flag"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/internal/testtrace"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

// TestMain lets the test binary play git-agentxchain, so that scripts run this very code through
// "exec git agentxchain ..." without a build step.
func TestMain(m *testing.M) {
	testtrace.Helper()
	runner.AgentHelper(os.Args)
	// Scripts wait for programs half of their time.
	if err := flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0))); err != nil {
		panic(err)
	}
	testscript.Main(m, scriptPrograms())
}

func TestScripts(t *testing.T) {
	testrepo.InMemory()
	if signal.Ignored(syscall.SIGHUP) {
		// As below nohup. What a script starts would ignore it too, and wait for ever when the
		// script closes its terminal; a signal that is caught here is an ordinary one there.
		hangUp := make(chan os.Signal, 1)
		signal.Notify(hangUp, syscall.SIGHUP)
		defer signal.Stop(hangUp)
	}
	repository, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	schemas, answers := newAnswerSchemas(), t.TempDir()
	t.Cleanup(func() { schemas.write(t) })
	testscript.Run(t, testscript.Params{
		Files:     chosenScripts(t),
		Cmds:      scriptCommands(),
		Condition: scriptCondition,
		Setup: func(env *testscript.Env) error {
			// Nothing of the user who runs the tests may leak in: neither settings, nor identity,
			// nor a home directory.
			home := filepath.Join(env.WorkDir, ".home")
			if err := os.MkdirAll(home, 0o755); err != nil {
				return err
			}
			for _, kv := range [][2]string{
				{"HOME", home},
				{"XDG_CONFIG_HOME", home},
				{"XDG_DATA_HOME", ""},
				{"GIT_CONFIG_GLOBAL", filepath.Join(home, "gitconfig")},
				{"GIT_CONFIG_SYSTEM", os.DevNull},
				{"GIT_CONFIG_NOSYSTEM", "1"},
				{"GIT_AUTHOR_NAME", "Ada"}, {"GIT_AUTHOR_EMAIL", "ada@example.org"},
				{"GIT_COMMITTER_NAME", "Ada"}, {"GIT_COMMITTER_EMAIL", "ada@example.org"},
				{"GIT_CEILING_DIRECTORIES", filepath.Dir(env.WorkDir)},
				{"LC_ALL", "C"}, {"TZ", "UTC"},
				{"NO_COLOR", ""}, {"CLICOLOR", ""}, {"CLICOLOR_FORCE", ""}, {"TERM", "xterm"},
				{"GIT_PAGER", ""}, {"PAGER", ""},
				// A race-detecting binary waits a second at exit by default.
				{"GORACE", "atexit_sleep_ms=0"},
				{"AGENTXCHAIN_CORRELATION_ID", ""}, {"AGENTXCHAIN_DEBUG", ""},
				// The reference CLI, for the scripts that take turns with it.
				{"AGENTXCHAIN_REFERENCE", os.Getenv("AGENTXCHAIN_REFERENCE")},
				// What the program publishes for clients in other languages, and their libraries.
				{"REPOSITORY", repository},
				{answersFile, filepath.Join(answers, filepath.Base(env.WorkDir))},
				{"AGENTXCHAIN_TEST_NODE_MODULES", os.Getenv("AGENTXCHAIN_TEST_NODE_MODULES")},
			} {
				env.Setenv(kv[0], kv[1])
			}
			env.Defer(func() { judgedAgain(env); schemas.answersJudged(env) })
			return os.WriteFile(filepath.Join(home, "gitconfig"),
				[]byte("[init]\n\tdefaultBranch = main\n"+testrepo.UpkeepNow), 0o644)
		},
	})
}
