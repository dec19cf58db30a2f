// Finding the process that carries out a turn, by its lock on the turn's file.

package turnmark

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Owner returns the process that carries out the turn and holds its mark, 0 when there is none or it cannot be
// seen.
func Owner(turnID string) int {
	proc, err := openProc()
	if err != nil {
		return 0
	}
	defer proc.close()
	owner := 0
	_ = proc.each(func(pid int) bool {
		files, _ := proc.files(pid)
		for _, f := range files {
			if f.turn == turnID && f.closing && f.locked {
				owner = pid
			}
		}
		return owner == 0
	})
	return owner
}

// drivers returns the living processes of our pid namespace that have locked the turn's file. The kernel's table of
// locks names them whatever their user; where the table does not know the file by stat's number, it examines the
// processes.
func (p *procfs) drivers(root *os.Root, turn string) []int {
	info, err := root.Stat(Path(turn))
	if err != nil {
		return nil
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	table, err := p.read("locks", maxTable)
	if err != nil {
		table = nil // a /proc without it
	}
	var out []int
	dev := uint64(st.Dev) //nolint:unconvert // its type differs between processors
	for line := range strings.Lines(string(table)) {
		// "1: FLOCK  ADVISORY  WRITE 1234 fd:01:131 0 EOF"; "->" waits for a lock.
		words := strings.Fields(line)
		if len(words) < 6 || words[1] != "FLOCK" {
			continue
		}
		pid, err := strconv.Atoi(words[4])
		if err != nil || pid <= 0 {
			continue
		}
		file := strings.Split(words[5], ":")
		if len(file) != 3 || file[2] != strconv.FormatUint(st.Ino, 10) {
			continue
		}
		major, err1 := strconv.ParseUint(file[0], 16, 32)
		minor, err2 := strconv.ParseUint(file[1], 16, 32)
		// On some file systems stat and the table give a file different devices: then the process itself must show
		// that it has this file.
		same := err1 == nil && err2 == nil && uint64(unix.Major(dev)) == major && uint64(unix.Minor(dev)) == minor
		if (same || p.holds(pid, turn, info)) && p.alive(pid) {
			out = append(out, pid)
		}
	}
	if len(out) == 0 {
		_ = p.each(func(pid int) bool {
			if p.holds(pid, turn, info) {
				out = append(out, pid)
			}
			return true
		})
	}
	return out
}

func (p *procfs) alive(pid int) bool {
	s, err := p.stat(pid)
	return err == nil && !s.Dead()
}

// holds reports whether a process has this very file open and locked.
func (p *procfs) holds(pid int, turn string, want os.FileInfo) bool {
	files, _ := p.files(pid)
	for _, f := range files {
		if f.turn != turn || !f.locked {
			continue
		}
		got, err := os.Stat(filepath.Join("/proc", procPath(pid, "fd"), strconv.Itoa(f.fd)))
		if err == nil && os.SameFile(got, want) {
			return true
		}
	}
	return false
}
