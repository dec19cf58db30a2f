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
func scriptGitServer(args []string) error {
	if len(args) != 3 {
		return fmt.Errorf("usage: git-server http|daemon|mirror ROOT FILE")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt)
	time.AfterFunc(2*time.Minute, func() { stop <- os.Interrupt })
	out, err := exec.Command("git", "--exec-path").Output()
	if err != nil {
		return err
	}
	programs := strings.TrimSpace(string(out))
	if args[0] == "http" {
		h := &cgi.Handler{
			Path: filepath.Join(programs, "git-http-backend"),
			Env:  []string{"GIT_PROJECT_ROOT=" + args[1], "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER=ada", "GIT_CONFIG_NOSYSTEM=1", "HOME=" + args[1]},
		}
		if err := os.WriteFile(args[2], []byte("http://"+l.Addr().String()), 0o600); err != nil {
			return err
		}
		srv := &http.Server{Handler: h, ReadHeaderTimeout: time.Minute}
		go func() { _ = srv.Serve(l) }()
		<-stop
		return srv.Close()
	}
	port := l.Addr().(*net.TCPAddr).Port
	_ = l.Close()
	argv := []string{"--export-all", "--reuseaddr", "--listen=127.0.0.1", "--port=" + strconv.Itoa(port), "--base-path=" + args[1]}
	if args[0] == "daemon" {
		argv = append(argv, "--enable=receive-pack")
	}
	// Not through git, which would leave it running when it is ended itself.
	cmd := exec.Command(filepath.Join(programs, "git-daemon"), append(argv, args[1])...)
	if err := cmd.Start(); err != nil {
		return err
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	for range 100 {
		c, err := net.DialTimeout("tcp", "127.0.0.1:"+strconv.Itoa(port), time.Second)
		if err == nil {
			_ = c.Close()
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	if err := os.WriteFile(args[2], []byte("git://127.0.0.1:"+strconv.Itoa(port)), 0o600); err != nil {
		return err
	}
	<-stop
	return nil
}
