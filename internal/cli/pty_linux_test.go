// A real terminal for tests: a pseudo terminal, and a screen that shows what was written to it.

package cli

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

// ptyRun is a command of this program at a terminal of its own.
type ptyRun struct {
	t      *testing.T
	cmd    *exec.Cmd
	master *os.File
	cols   int

	mu     sync.Mutex
	out    bytes.Buffer
	closed chan struct{}
}

// startPTY runs git-agentxchain in dir at a terminal of cols columns.
func startPTY(t *testing.T, dir string, cols int, args ...string) *ptyRun {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return startAtPTY(t, cols, &exec.Cmd{
		Path: exe,
		Args: append([]string{"git-agentxchain"}, args...),
		Dir:  dir,
		Env:  os.Environ(),
	})
}

// startAtPTY starts a program at a terminal of its own.
func startAtPTY(t *testing.T, cols int, cmd *exec.Cmd) *ptyRun {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK, 0)
	if err != nil {
		t.Skip("no pseudo terminal: ", err)
	}
	raw, err := master.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var n int
	var ioErr error
	if err := raw.Control(func(fd uintptr) {
		if ioErr = unix.IoctlSetPointerInt(int(fd), unix.TIOCSPTLCK, 0); ioErr != nil {
			return
		}
		if n, ioErr = unix.IoctlGetInt(int(fd), unix.TIOCGPTN); ioErr != nil {
			return
		}
		ioErr = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Row: 40, Col: uint16(cols)})
	}); err != nil || ioErr != nil {
		t.Fatal(err, ioErr)
	}
	slave, err := os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	r := &ptyRun{t: t, cmd: cmd, master: master, cols: cols, closed: make(chan struct{})}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.Env = append(cmd.Env, "TERM=xterm")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = slave.Close()
	go func() {
		defer close(r.closed)
		buf := make([]byte, 32<<10)
		for {
			n, err := master.Read(buf)
			r.mu.Lock()
			r.out.Write(buf[:n])
			r.mu.Unlock()
			if err != nil {
				return // EIO: no process has the terminal open any more
			}
		}
	}()
	t.Cleanup(func() {
		_ = r.cmd.Process.Kill()
		_ = master.Close()
	})
	return r
}

// written returns everything that was written so far.
func (r *ptyRun) written() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.out.String()
}

// await waits until text was written.
func (r *ptyRun) await(text string) {
	r.t.Helper()
	for range 3000 {
		if strings.Contains(r.written(), text) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	r.t.Fatalf("%q was never written:\n%q", text, r.written())
}

// enter types keys.
func (r *ptyRun) enter(keys string) {
	r.t.Helper()
	if _, err := r.master.WriteString(keys); err != nil {
		r.t.Fatal(err)
	}
}

// end waits for the command and returns its status and the final screen, including the lines that
// scrolled away.
func (r *ptyRun) end() (syscall.WaitStatus, []string) {
	r.t.Helper()
	timer := time.AfterFunc(time.Minute, func() { _ = r.cmd.Process.Signal(syscall.SIGQUIT) })
	defer timer.Stop()
	_ = r.cmd.Wait()
	<-r.closed
	lines, err := screen(r.written(), r.cols)
	if err != nil {
		r.t.Fatalf("%v:\n%q", err, r.written())
	}
	return r.cmd.ProcessState.Sys().(syscall.WaitStatus), lines
}

// screen returns what a terminal of that width shows after text. It knows what this program may
// send and fails on everything else: colours, the start of the line, up, the rest of the line and
// of the screen deleted.
func screen(text string, cols int) ([]string, error) {
	if !utf8.ValidString(text) {
		return nil, errors.New("invalid UTF-8 on the terminal")
	}
	rows := [][]rune{nil}
	x, y := 0, 0
	in := []rune(text)
	for i := 0; i < len(in); i++ {
		switch c := in[i]; {
		case c == '\r':
			x = 0
		case c == '\n':
			if y++; y == len(rows) {
				rows = append(rows, nil)
			}
		case c == 0x1b:
			end := i + 1
			for end < len(in) && (in[end] == '[' || in[end] >= '0' && in[end] <= '9' || in[end] == ';') {
				end++
			}
			if end >= len(in) || in[i+1] != '[' {
				return nil, fmt.Errorf("an escape sequence that is none of ours at %d", i)
			}
			arg := string(in[i+2 : end])
			switch in[end] {
			case 'm':
			case 'A':
				n, err := strconv.Atoi(arg)
				if err != nil || n > y {
					return nil, fmt.Errorf("up by %q from row %d", arg, y)
				}
				y -= n
			case 'K':
				rows[y] = rows[y][:min(x, len(rows[y]))]
			case 'J':
				rows[y] = rows[y][:min(x, len(rows[y]))]
				rows = rows[:y+1]
			default:
				return nil, fmt.Errorf("escape sequence %q", string(in[i:end+1]))
			}
			i = end
		case c < 0x20 || c >= 0x7f && c < 0xa0 || c >= 0x202a && c <= 0x202e || c >= 0x2066 && c <= 0x2069:
			return nil, fmt.Errorf("%U on the terminal", c)
		default:
			if x == cols {
				x, y = 0, y+1
				if y == len(rows) {
					rows = append(rows, nil)
				}
			}
			for len(rows[y]) <= x {
				rows[y] = append(rows[y], ' ')
			}
			rows[y][x] = c
			x++
		}
	}
	lines := make([]string, len(rows))
	for i, row := range rows {
		lines[i] = strings.TrimRight(string(row), " ")
	}
	return lines, nil
}
