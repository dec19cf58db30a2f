// Distinguishing a process from a later one with the same number, on Linux.

package process

import (
	"bytes"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Started identifies when a process started: boot id and clock ticks since boot, so that neither a reused number
// nor a reboot is mistaken for the same process. "" when unknown or when the process is dead.
func Started(pid int) string {
	p, ok := readStat(pid)
	if !ok || p.Dead() {
		return ""
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(boot)) + ":" + strconv.FormatUint(p.Start, 10)
}

// Dead reports whether a process that still answers signals is a zombie.
func Dead(pid int) bool {
	p, ok := readStat(pid)
	return ok && p.Dead()
}

// Space names the pid namespace of this process: two containers on one machine have different ones.
func Space() string {
	ns, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return ""
	}
	return ns
}

// Stat is the part of /proc/PID/stat that identifies a process (proc_pid_stat(5)).
type Stat struct {
	State                  byte // 'Z' and 'X' are dead
	Parent, Group, Session int
	Kernel                 bool   // a kernel thread
	Start                  uint64 // clock ticks since boot: with the number it identifies the process
	Env                    uint64 // size of the initial environment in bytes; 0 when we may not see it
}

// Dead reports whether a process has ended and its parent has not collected it yet.
func (p Stat) Dead() bool { return p.State == 'Z' || p.State == 'X' }

// kernelThread is the flag of a kernel thread (PF_KTHREAD).
const kernelThread = 0x00200000

func readStat(pid int) (Stat, bool) {
	// Plain system calls, because every process of the machine is read.
	fd, err := unix.Open("/proc/"+strconv.Itoa(pid)+"/stat", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return Stat{}, false
	}
	var buf [1024]byte // some 300 are used
	n, err := unix.Read(fd, buf[:])
	_ = unix.Close(fd)
	if err != nil {
		return Stat{}, false
	}
	return ParseStat(buf[:n])
}

// ParseStat reads the text of /proc/PID/stat. The program's name may itself hold
// spaces and parentheses; the fields follow the last one.
func ParseStat(data []byte) (Stat, bool) {
	end := bytes.LastIndexByte(data, ')')
	if end < 0 {
		return Stat{}, false
	}
	fields := strings.Fields(string(data[end+1:]))
	if len(fields) < 20 || len(fields[0]) != 1 {
		return Stat{}, false
	}
	p := Stat{State: fields[0][0]}
	for i, n := range []*int{&p.Parent, &p.Group, &p.Session} {
		var err error
		if *n, err = strconv.Atoi(fields[1+i]); err != nil {
			return Stat{}, false
		}
	}
	flags, err := strconv.ParseUint(fields[6], 10, 64)
	if err != nil {
		return Stat{}, false
	}
	p.Kernel = flags&kernelThread != 0
	if p.Start, err = strconv.ParseUint(fields[19], 10, 64); err != nil {
		return Stat{}, false
	}
	if len(fields) > 48 {
		from, err1 := strconv.ParseUint(fields[47], 10, 64)
		to, err2 := strconv.ParseUint(fields[48], 10, 64)
		if err1 == nil && err2 == nil && to > from {
			p.Env = to - from
		}
	}
	return p, true
}
