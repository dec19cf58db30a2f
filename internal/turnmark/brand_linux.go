// A mark that the kernel passes from parent to child and that only root can remove.

package turnmark

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// rlimitLocks is the limit on file locks. No kernel since Linux 2.4.25 uses it; every child still inherits it,
// through every program, session and namespace, and only root may raise it again.
const rlimitLocks = 10

// brand is the limit for an agent. Any limit at all counts, because it can be lowered.
const brand = 0x4158_4300_0000

// branded reports whether this process has the mark.
func branded() bool {
	var r unix.Rlimit
	err := unix.Getrlimit(rlimitLocks, &r)
	return err == nil && r.Max != unix.RLIM_INFINITY
}

// Brand marks a process that was just started, and the children it may already have.
func Brand(pid int) error {
	if err := brandOne(pid); err != nil {
		return err
	}
	seen := map[int]bool{pid: true}
	for todo := []int{pid}; len(todo) > 0 && len(seen) < 1<<16; todo = todo[1:] {
		for _, child := range children(todo[0]) {
			if !seen[child] {
				seen[child] = true
				_ = brandOne(child) // gone, or reused by another
				todo = append(todo, child)
			}
		}
	}
	return nil
}

// BrandSelf marks this process and its future children.
func BrandSelf() error { return brandOne(0) }

func brandOne(pid int) error {
	if err := unix.Prlimit(pid, rlimitLocks, &unix.Rlimit{Cur: brand, Max: brand}, nil); err != nil {
		return os.NewSyscallError("prlimit", err)
	}
	return nil
}

// children lists the children of a process, as far as the kernel tells.
func children(pid int) []int {
	base := "/proc/" + strconv.Itoa(pid) + "/task"
	tasks, err := os.ReadDir(base)
	if err != nil {
		return nil
	}
	var out []int
	for _, task := range tasks {
		data, _ := os.ReadFile(base + "/" + task.Name() + "/children")
		for word := range strings.FieldsSeq(string(data)) {
			if n, err := strconv.Atoi(word); err == nil {
				out = append(out, n)
			}
		}
	}
	return out
}
