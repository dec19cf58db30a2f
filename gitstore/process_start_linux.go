// Telling a process from a later one that got its number, on Linux.
package gitstore

import (
	"bytes"
	"os"
	"strconv"
	"strings"
)

// processStart identifies when a process started: boot id and clock ticks
// since boot, so that neither a reused number nor a reboot is mistaken for the
// same process. "" when unknown or when the process is dead: a zombie, killed
// but not yet collected by its parent, still answers signals.
func processStart(pid int) string {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return ""
	}
	// The name in parentheses may hold spaces and parentheses itself.
	i := bytes.LastIndexByte(data, ')')
	f := strings.Fields(string(data[i+1:]))
	if i < 0 || len(f) < 20 || f[0] == "Z" || f[0] == "X" {
		return ""
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(boot)) + ":" + f[19]
}

// processDead reports that a process that still answers signals is a zombie.
func processDead(pid int) bool {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return false
	}
	i := bytes.LastIndexByte(data, ')')
	return i >= 0 && len(data) > i+2 && (data[i+2] == 'Z' || data[i+2] == 'X')
}

// processSpace names the set of process numbers this process sees: two
// containers on one machine have different ones.
func processSpace() string {
	ns, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return ""
	}
	return ns
}
