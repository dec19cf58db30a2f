// The two questions of doctor --signing at a real terminal.

package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestSigningInTwoQuestions(t *testing.T) {
	if _, err := exec.LookPath("ssh-keygen"); err != nil {
		t.Skip("no ssh-keygen")
	}
	dir := ptyProject(t)
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("SSH_AUTH_SOCK", "")
	keys := filepath.Join(home, ".ssh")
	if err := os.Mkdir(keys, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b"} {
		out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "key "+name,
			"-f", filepath.Join(keys, name)).CombinedOutput()
		if err != nil {
			t.Fatalf("%s", out)
		}
	}
	signers := filepath.Join(dir, ".agentxchain", "allowed_signers")
	setting := func() string {
		out, _ := exec.Command("git", "-C", dir, "config", "--local", "user.signingKey").Output()
		return strings.TrimSpace(string(out))
	}

	// The end of input sets nothing up.
	r := startPTY(t, dir, 200, "doctor", "--signing")
	r.await("[1]:")
	r.enter("\x04")
	if status, _ := r.end(); status.ExitStatus() != 2 || setting() != "" {
		t.Fatalf("status %d, %q", status.ExitStatus(), setting())
	}

	// A number that is not a key is asked for again; no leaves the file alone.
	r = startPTY(t, dir, 200, "doctor", "--signing")
	r.await("key a")
	r.await("key b")
	r.await("[1]:")
	r.enter("7\n2\n")
	r.await("Let this key speak for your address")
	r.enter("n\n")
	if status, lines := r.end(); status.ExitStatus() != 0 || having(lines, "no address") != 1 {
		t.Fatalf("status %d: %q", status.ExitStatus(), lines)
	}
	if got := setting(); got != filepath.Join(keys, "b.pub") {
		t.Errorf("signing key %q", got)
	}
	if _, err := os.Stat(signers); err == nil {
		t.Error("a no has written the file of signers")
	}

	// The key that is set now comes first, and enter means yes to both.
	r = startPTY(t, dir, 200, "doctor", "--signing")
	r.await("[1]:")
	r.enter("\n")
	r.await("Let this key speak for your address")
	r.enter("\n")
	if status, lines := r.end(); status.ExitStatus() != 0 || having(lines, "by a new line of") != 1 {
		t.Fatalf("status %d: %q", status.ExitStatus(), lines)
	}
	public, err := os.ReadFile(filepath.Join(keys, "b.pub"))
	if err != nil {
		t.Fatal(err)
	}
	f := strings.Fields(string(public))
	want := `ada@example.org namespaces="git" ` + f[0] + " " + f[1] + "\n"
	if got, err := os.ReadFile(signers); err != nil || string(got) != want {
		t.Errorf("signers %q, want %q (%v)", got, want, err)
	}
}
