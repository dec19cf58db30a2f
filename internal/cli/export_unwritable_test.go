// A read-only project can still be exported and audited.

package cli

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

func TestExportOfWhatCannotBeWritten(t *testing.T) {
	dir := mcpProject(t)
	mustAt(t, dir, "git-agentxchain", "assign", "dev")
	start := namespaced(`mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" || exit 99; cd "$0" && exec "$@"`, dir)
	if start == nil {
		t.Skip("no namespaces here")
	}
	run := func(args ...string) (string, int) {
		cmd := exec.Command(start[0], append(start[1:], append([]string{"git-agentxchain"}, args...)...)...)
		out, _ := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() == 99 {
			t.Skip("nothing is mounted here")
		}
		return string(out), cmd.ProcessState.ExitCode()
	}
	file := filepath.Join(t.TempDir(), "run.json")
	if out, status := run("export", "-o", file); status != 0 {
		t.Errorf("export: exit status %d:\n%s", status, out)
	}
	mustAt(t, dir, "git-agentxchain", "verify", "export", file)
	if out, status := run("audit"); status != 0 || !strings.Contains(out, "Verification: PASS") {
		t.Errorf("audit: exit status %d:\n%s", status, out)
	}
	if out, status := run("accept"); status == 0 || !strings.Contains(out, "mounted read-only") {
		t.Errorf("accept: exit status %d:\n%s", status, out)
	}
	// Changes that would have to be recorded first are not ignored.
	talk := filepath.Join(dir, filepath.FromSlash(wire.LedgerTalk.Path()))
	if err := rewrite(talk, func(data []byte) []byte { return append(data, "a word of another tool\n"...) }); err != nil {
		t.Fatal(err)
	}
	if out, status := run("export"); status == 0 || !strings.Contains(out, "mounted read-only") {
		t.Errorf("export: exit status %d:\n%s", status, out)
	}
}
