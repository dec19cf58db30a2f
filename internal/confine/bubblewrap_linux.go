// bubblewrap: a mount namespace in which the files are read-only (bwrap(1)).

package confine

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/process"
)

// doors returns sockets through which a program could have others act for it outside its namespace: service
// managers, container daemons, terminal multiplexers.
func doors() (dirs, files []string) {
	uid := os.Getuid()
	dirs = []string{"/run/user", fmt.Sprintf("/tmp/tmux-%d",
		uid), fmt.Sprintf("/tmp/screens/S-%d", uid), "/run/screen"}
	files = []string{"/run/dbus/system_bus_socket", "/run/docker.sock", "/run/podman/podman.sock",
		"/run/containerd/containerd.sock", "/run/systemd/private"}
	return dirs, files
}

// sharedMemory is the only directory below /dev where people keep files.
const sharedMemory = "/dev/shm"

func (p *Plan) bubblewrap(c Command) (Command, error) {
	hint := "install bubblewrap (Debian: apt-get install bubblewrap) and see that this user may make namespaces"
	bwrap, err := process.Find("bwrap", "/", os.Environ())
	if err != nil {
		return c, unavailable(Bubblewrap, hint, "there is no bwrap on the search path")
	}
	deny, err := p.everywhere()
	if err != nil {
		return c, unavailable(Bubblewrap, hint, "%v", err)
	}
	// Later binds cover earlier ones.
	argv := []string{
		bwrap, "--die-with-parent", "--unshare-pid", "--unshare-ipc", "--cap-drop", "ALL",
		"--bind", "/", "/", "--dev", "/dev", "--proc", "/proc",
	}
	// A project in shared memory is visible inside as well.
	if dir, err := filepath.EvalSymlinks(c.Dir); err == nil && strings.HasPrefix(dir, sharedMemory+"/") {
		argv = append(argv, "--bind", sharedMemory, sharedMemory)
	}
	dirs, files := doors()
	for _, dir := range existing(dirs) {
		argv = append(argv, "--tmpfs", dir)
	}
	for _, file := range existing(files) {
		argv = append(argv, "--ro-bind", "/dev/null", file)
	}
	for _, path := range deny {
		argv = append(argv, "--ro-bind-try", path, path)
	}
	for _, path := range p.Writable {
		argv = append(argv, "--bind", path, path)
	}
	c.Argv = append(append(argv, "--chdir", c.Dir, "--"), c.Argv...)
	return c, nil
}
