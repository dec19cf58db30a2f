// The program between us and the agent: this program, started again, gives up the rights that the agent must not
// have and becomes the agent.

package confine

import (
	"encoding/json"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/git-agentxchain/git-agentxchain/internal/process"
	"github.com/git-agentxchain/git-agentxchain/internal/turnmark"
)

// helperName is the first argument, which tells the process that it is the helper.
const helperName = "confined-agent"

// failed is the exit status of a helper that could not apply the plan; the agent was not started.
const failed = 125

// hosted says that this program calls Helper at its start, and so can be a helper.
var hosted bool

// order is the instruction for a helper.
type order struct {
	Plan    *Plan
	Program string // the file to run
	UID     int
	GID     int
	Groups  []int
}

// Helper must be called by main before anything else. A process that was started as a helper becomes the agent and
// does not return from here.
func Helper(args []string) {
	hosted = true
	if len(args) < 4 || args[1] != helperName {
		return
	}
	runtime.LockOSThread()
	err := obey(args[2], args[3:])
	fmt.Fprintln(os.Stderr, "git-agentxchain: the agent was not started:", err)
	os.Exit(failed)
}

func obey(text string, argv []string) error {
	var o order
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		return err
	}
	_ = turnmark.BrandSelf() // without it the other marks must suffice
	var err error
	switch o.Plan.Kind {
	case User:
		err = become(&o)
	case Landlock:
		err = restrict(o.Plan)
	default:
		err = fmt.Errorf("%q is not an isolation", o.Plan.Kind)
	}
	if err != nil {
		return err
	}
	return fmt.Errorf("%s: %w", o.Program, syscall.Exec(o.Program, argv, os.Environ()))
}

func (p *Plan) wrap(c Command) (Command, error) {
	plan := *p
	plan.Protected = existing(p.Protected)
	plan.Writable = existing(p.Writable)
	if plan.Kind == Bubblewrap {
		return plan.bubblewrap(c)
	}
	if !hosted {
		return c, unavailable(p.Kind, "use isolation bubblewrap, or call runner.AgentHelper first in main",
			"this program cannot start itself again to confine an agent")
	}
	o := order{Plan: &plan}
	switch plan.Kind {
	case Landlock:
		if err := landlocked(); err != nil {
			return c, err
		}
	case User:
		var err error
		if c, err = plan.asUser(&o, c); err != nil {
			return c, err
		}
	}
	program, err := process.Find(c.Argv[0], c.Dir, c.Env)
	if err != nil {
		return c, unavailable(p.Kind, "install the program, or change the command of the runtime", "%v", err)
	}
	o.Program = program
	text, err := json.Marshal(o)
	if err != nil {
		return c, unavailable(p.Kind, "", "%v", err)
	}
	c.Argv = append([]string{ourselves(), helperName, string(text)}, c.Argv...)
	return c, nil
}

// ourselves returns the file of this program, under the name it was called by if that is still the same file: one
// file may be several programs, distinguished by name.
func ourselves() string {
	const exe = "/proc/self/exe"
	path, err := process.Find(os.Args[0], "", os.Environ())
	if err != nil || !filepath.IsAbs(path) {
		return exe
	}
	a, err1 := os.Stat(path)
	b, err2 := os.Stat(exe)
	if err1 != nil || err2 != nil || !os.SameFile(a, b) {
		return exe
	}
	return path
}

// asUser looks the user up, gives it the writable directories, and sets the user's environment variables.
func (p *Plan) asUser(o *order, c Command) (Command, error) {
	hint := "make a user of its own for agents, name it in isolation_user, and start the run as root"
	if os.Geteuid() != 0 {
		return c, unavailable(User, hint, "only root may run a program as another user")
	}
	u, err := user.Lookup(p.User)
	if err != nil {
		return c, unavailable(User, hint, "%v", err)
	}
	o.UID, _ = strconv.Atoi(u.Uid)
	o.GID, _ = strconv.Atoi(u.Gid)
	if o.UID == 0 {
		return c, unavailable(User, hint, "%s is root, who may write everything", p.User)
	}
	ids, _ := u.GroupIds()
	for _, id := range ids {
		if n, err := strconv.Atoi(id); err == nil {
			o.Groups = append(o.Groups, n)
		}
	}
	for _, dir := range p.Writable {
		if err := own(dir, o.UID, o.GID); err != nil {
			return c, unavailable(User, hint, "%v", err)
		}
	}
	env := make([]string, 0, len(c.Env)+3)
	for _, kv := range c.Env {
		switch name, _, _ := strings.Cut(kv, "="); name {
		case "HOME", "USER", "LOGNAME", "XDG_RUNTIME_DIR":
		default:
			env = append(env, kv)
		}
	}
	c.Env = append(env, "HOME="+u.HomeDir, "USER="+u.Username, "LOGNAME="+u.Username)
	return c, nil
}

// become switches to the user and checks that the protection works.
func become(o *order) error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return os.NewSyscallError("prctl", err)
	}
	if err := syscall.Setgroups(o.Groups); err != nil {
		return os.NewSyscallError("setgroups", err)
	}
	if err := syscall.Setgid(o.GID); err != nil {
		return os.NewSyscallError("setgid", err)
	}
	if err := syscall.Setuid(o.UID); err != nil {
		return os.NewSyscallError("setuid", err)
	}
	for _, path := range o.Plan.Protected {
		if err := outOfReach(path, o); err != nil {
			return err
		}
	}
	return nil
}

// maxLooked bounds how many files of a protected directory are examined.
const maxLooked = 200_000

// outOfReach refuses a path that this user could change: itself, its contents, or by replacing it.
func outOfReach(path string, o *order) error {
	for dir, child := filepath.Dir(path), path; ; dir, child = filepath.Dir(dir), dir {
		if may(dir) && !kept(dir, child, o.UID) {
			return fmt.Errorf("user %s could put something else in the place of %s: make %s unwritable to it, or set its sticky bit (chmod +t)",
				o.Plan.User, child, dir)
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	left := maxLooked
	return filepath.WalkDir(path, func(name string, e os.DirEntry, err error) error {
		if err != nil {
			return nil // a directory it cannot read it cannot change
		}
		if left--; left < 0 {
			return fmt.Errorf("%s has more than %d files; they were not all looked at", path, maxLooked)
		}
		if slices.Contains(o.Plan.Writable, name) {
			return filepath.SkipDir
		}
		if e.Type()&os.ModeSymlink == 0 && may(name) {
			return fmt.Errorf("user %s may write %s", o.Plan.User, name)
		}
		return nil
	})
}

func may(path string) bool { return unix.Faccessat(unix.AT_FDCWD, path, unix.W_OK, 0) == nil }

// kept reports whether the sticky bit keeps a user from renaming or removing other users' files.
func kept(dir, child string, uid int) bool {
	var d, c unix.Stat_t
	if unix.Stat(dir, &d) != nil || unix.Lstat(child, &c) != nil {
		return false
	}
	return d.Mode&unix.S_ISVTX != 0 && int(d.Uid) != uid && int(c.Uid) != uid
}

// existing leaves out missing paths, and resolves links.
func existing(paths []string) []string {
	var out []string
	for _, path := range paths {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			out = append(out, real)
		}
	}
	return out
}
