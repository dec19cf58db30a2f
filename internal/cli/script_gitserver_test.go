// Git servers for the acceptance scripts.

package cli

import (
	"fmt"
	"net"
	"net/http"
	"net/http/cgi"
	"os"
	"os/exec"
	"os/signal"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// scriptGitServer is the program
//
//	git-server http|daemon|mirror ROOT FILE   serves the repositories below ROOT on loopback until it is interrupted and
//	                                          writes the address to FILE: git http-backend behind a web server, git daemon
//	                                          with receive-pack, git daemon that only lets fetch
//	git-server ssh ROOT FILE                  the same with sshd; ssh -F FILE.d/client can log in there
func scriptGitServer(args []string) error {
	if len(args) != 3 {
		return fmt.Errorf("usage: git-server http|daemon|mirror|ssh ROOT FILE")
	}
	if args[0] == "ssh" {
		return serveSSH(args[1], args[2])
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	out, err := exec.Command("git", "--exec-path").Output()
	if err != nil {
		return err
	}
	programs := strings.TrimSpace(string(out))
	if args[0] == "http" {
		h := &cgi.Handler{
			Path: filepath.Join(programs, "git-http-backend"),
			Env: []string{"GIT_PROJECT_ROOT=" + args[1], "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER=ada",
				"GIT_CONFIG_NOSYSTEM=1", "HOME=" + args[1]},
		}
		if err := os.WriteFile(args[2], []byte("http://"+l.Addr().String()), 0o600); err != nil {
			return err
		}
		srv := &http.Server{Handler: h, ReadHeaderTimeout: time.Minute}
		go func() { _ = srv.Serve(l) }()
		<-untilEnded()
		return srv.Close()
	}
	port := l.Addr().(*net.TCPAddr).Port
	_ = l.Close()
	argv := []string{"--export-all", "--reuseaddr", "--listen=127.0.0.1", "--port=" + strconv.Itoa(port),
		"--base-path=" + args[1]}
	if args[0] == "daemon" {
		argv = append(argv, "--enable=receive-pack")
	}
	// Not through git, which would leave it running when git itself is ended.
	cmd := exec.Command(filepath.Join(programs, "git-daemon"), append(argv, args[1])...)
	return serveBy(cmd, strconv.Itoa(port), args[2], "git://127.0.0.1:"+strconv.Itoa(port))
}

// untilEnded reports the script's end; a forgotten server ends by itself.
func untilEnded() chan os.Signal {
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt)
	time.AfterFunc(2*time.Minute, func() { stop <- os.Interrupt })
	return stop
}

// serveBy starts a server, writes its address to a file once it answers, and ends it when the script does.
func serveBy(cmd *exec.Cmd, port, file, address string) error {
	stop := untilEnded()
	if err := cmd.Start(); err != nil {
		return err
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	for range 100 {
		c, err := net.DialTimeout("tcp", "127.0.0.1:"+port, time.Second)
		if err == nil {
			_ = c.Close()
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	if err := os.WriteFile(file, []byte(address), 0o600); err != nil {
		return err
	}
	<-stop
	return nil
}

// sshd returns the ssh server's program, which is outside a person's PATH; "" for none.
func sshd() string {
	for _, dir := range append(filepath.SplitList(os.Getenv("PATH")), "/usr/sbin", "/usr/local/sbin") {
		if path, err := exec.LookPath(filepath.Join(dir, "sshd")); err == nil && filepath.IsAbs(path) {
			return path
		}
	}
	return ""
}

// serveSSH runs sshd with keys and settings of its own, for the user who runs the test.
func serveSSH(root, file string) error {
	who, err := user.Current()
	if err != nil {
		return err
	}
	dir := file + ".d"
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if os.Geteuid() == 0 { // started by hand it needs the directory that the service makes
		if err := os.MkdirAll("/run/sshd", 0o755); err != nil {
			return err
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	port := strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
	_ = l.Close()
	for _, key := range []string{"host", "mine"} {
		out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "",
			"-f", filepath.Join(dir, key)).CombinedOutput()
		if err != nil {
			return fmt.Errorf("ssh-keygen: %w: %s", err, out)
		}
	}
	host, err := os.ReadFile(filepath.Join(dir, "host.pub"))
	if err != nil {
		return err
	}
	for name, text := range map[string]string{
		"server": "ListenAddress 127.0.0.1\nPort " + port + "\nHostKey " + dir + "/host\nAuthorizedKeysFile " + dir +
			"/mine.pub\n" +
			"PidFile none\nUsePAM no\nStrictModes no\nPasswordAuthentication no\nKbdInteractiveAuthentication no\n" +
			"SetEnv GIT_CONFIG_NOSYSTEM=1 HOME=" + dir + " PATH=" + os.Getenv("PATH") + "\n",
		"client": "UserKnownHostsFile " + dir + "/known\nIdentityFile " + dir +
			"/mine\nIdentitiesOnly yes\nBatchMode yes\n",
		"known": "[127.0.0.1]:" + port + " " + string(host),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	url := "ssh://" + who.Username + "@127.0.0.1:" + port + root
	return serveBy(exec.Command(sshd(), "-D", "-e", "-f", filepath.Join(dir, "server")), port, file, url)
}
