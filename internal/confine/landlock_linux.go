// Landlock: the kernel refuses every write that no rule allows (landlock(7)).

package confine

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

const (
	// truncates is the first version of Landlock that prevents truncation of files (Linux 6.2); scopes the first
	// that confines signals (Linux 6.12).
	truncates = 3
	scopes    = 6
)

// All forms of writing. Creating devices is never allowed.
const (
	onFiles = ll.AccessFSWriteFile | ll.AccessFSTruncate
	onDirs  = onFiles | ll.AccessFSRemoveDir | ll.AccessFSRemoveFile | ll.AccessFSMakeDir | ll.AccessFSMakeReg |
		ll.AccessFSMakeSock | ll.AccessFSMakeFifo | ll.AccessFSMakeSym | ll.AccessFSRefer
	handled = onDirs | ll.AccessFSMakeChar | ll.AccessFSMakeBlock
)

// landlocked returns an error if the kernel lacks Landlock.
func landlocked() error {
	version, err := ll.LandlockGetABIVersion()
	const hint = "use isolation bubblewrap, or a kernel from 6.2 on with landlock among its security modules (lsm=)"
	switch {
	case err != nil:
		return unavailable(Landlock, hint, "the kernel has it not, or not switched on (%v)", err)
	case version < truncates:
		return unavailable(Landlock, hint,
			"the kernel has version %d of it; %d is needed to keep files from being cut off", version, truncates)
	}
	return nil
}

// restrict keeps this process, its later programs and its children from writing.
func restrict(p *Plan) error {
	version, err := ll.LandlockGetABIVersion()
	if err != nil {
		return err
	}
	deny, err := p.everywhere()
	if err != nil {
		return err
	}
	r := rules{deny: deny}
	if err := r.allow("/"); err != nil {
		return err
	}
	r.dirs = append(r.dirs, p.Writable...)
	sets := []any{landlock.AccessFSSet(handled)}
	if version >= scopes {
		sets = append(sets, landlock.ScopedSet(ll.ScopeSignal))
	}
	cfg, err := landlock.NewConfig(sets...)
	if err != nil {
		return err
	}
	if err := dropCapabilities(); err != nil {
		return err
	}
	return cfg.Restrict(landlock.PathAccess(onDirs, r.dirs...).IgnoreIfMissing(),
		landlock.PathAccess(onFiles, r.files...).IgnoreIfMissing())
}

// everywhere returns the protected paths, under every path by which they can be reached: the same file system may
// be mounted in several places.
func (p *Plan) everywhere() ([]string, error) {
	f, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	type mount struct{ dev, root, at string }
	var mounts []mount
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		// "36 35 98:0 /mnt1 /mnt2 rw,noatime ...", with spaces and such as \040.
		if words := strings.Fields(lines.Text()); len(words) > 4 {
			mounts = append(mounts, mount{
				dev:  words[2],
				root: unescape(words[3]),
				at:   unescape(words[4]),
			})
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	out := append([]string(nil), p.Protected...)
	for _, path := range p.Protected {
		var in *mount
		for i := range mounts {
			if within(path, mounts[i].at) && (in == nil || len(mounts[i].at) >= len(in.at)) {
				in = &mounts[i]
			}
		}
		if in == nil {
			return nil, fmt.Errorf("the file system of %s cannot be found", path)
		}
		inside := filepath.Join(in.root, strings.TrimPrefix(path, in.at))
		for _, m := range mounts {
			if m.dev == in.dev && within(inside, m.root) {
				out = append(out, filepath.Join(m.at, strings.TrimPrefix(inside, m.root)))
			}
		}
	}
	return out, nil
}

func unescape(s string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(s)
}

// within reports whether path is dir or below it.
func within(path, dir string) bool {
	return path == dir || dir == "/" || strings.HasPrefix(path, dir+"/")
}

// rules lists everything that may be written: Landlock only knows what is allowed, so that is everything beside the
// paths to what is denied.
type rules struct {
	deny        []string
	dirs, files []string
}

// maxRules bounds the number of rules.
const maxRules = 100_000

func (r *rules) allow(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		if errors.Is(err, os.ErrPermission) {
			return nil // not writable either
		}
		return err
	}
next:
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if len(r.dirs)+len(r.files) > maxRules {
			return fmt.Errorf("more than %d files lie beside those to be protected", maxRules)
		}
		onTheWay := path == "/dev"
		for _, denied := range r.deny {
			if path == denied {
				continue next
			}
			onTheWay = onTheWay || within(denied, path)
		}
		switch kind := e.Type(); {
		case kind.IsDir() && onTheWay:
			if err := r.allow(path); err != nil {
				return err
			}
		case kind.IsDir():
			r.dirs = append(r.dirs, path)
		case kind&os.ModeSymlink != 0: // a rule would apply to its target
		case kind&os.ModeDevice != 0 && kind&os.ModeCharDevice == 0: // a disk
		default:
			r.files = append(r.files, path)
		}
	}
	return nil
}

// dropCapabilities permanently drops root's capabilities, which let a program bypass the restrictions.
func dropCapabilities() error {
	if os.Geteuid() != 0 {
		return nil
	}
	for c := range 64 {
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, uintptr(c), 0, 0, 0); err != nil {
			if errors.Is(err, unix.EINVAL) {
				break
			}
			return os.NewSyscallError("prctl", err)
		}
	}
	_ = unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
	// no_new_privs and the empty bounding set leave an exec'd program without any.
	return nil
}
