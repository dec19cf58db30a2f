// The kinds of repository every store test runs on.

package testrepo

import (
	"flag"
	"fmt"
	"hash/crc32"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// Matrix runs f as a subtest on {sha1, sha256} x {files, reftable} x {main, linked work tree}. Reftable is left out
// when the installed git lacks it. By default two of them run, which together cover each value; see Thorough.
func Matrix(t *testing.T, f func(t *testing.T, r *Repo)) {
	t.Helper()
	for _, o := range KindsFor(t) {
		t.Run(o.Name(), func(t *testing.T) {
			t.Helper()
			f(t, New(t, o))
		})
	}
}

// KindsFor returns the kinds with which Matrix runs the test.
func KindsFor(t *testing.T) []Options {
	t.Helper()
	all := Kinds()
	if !All(t.Name()) {
		return []Options{all[0], all[len(all)-1]}
	}
	return all
}

// Kinds returns all kinds of repository that the installed git can make.
func Kinds() []Options {
	refFormats := []string{"files"}
	if HasReftable() {
		refFormats = append(refFormats, "reftable")
	}
	var out []Options
	for _, object := range []string{"sha1", "sha256"} {
		for _, ref := range refFormats {
			for _, linked := range []bool{false, true} {
				out = append(out, Options{ObjectFormat: object, RefFormat: ref, LinkedWorktree: linked})
			}
		}
	}
	return out
}

// Name returns a short name of the kind, for subtests.
func (o Options) Name() string {
	name := o.ObjectFormat + "-" + o.RefFormat
	if o.LinkedWorktree {
		return name + "-linked"
	}
	return name + "-main"
}

// HasReftable reports whether the installed git can make reftable repositories.
func HasReftable() bool { return hasReftable() }

var hasReftable = sync.OnceValue(func() bool {
	isolate()
	dir, err := os.MkdirTemp("", "reftable")
	if err != nil {
		return false
	}
	defer func() { _ = os.RemoveAll(dir) }()
	return exec.Command("git", "init", "-q", "--ref-format=reftable", dir).Run() == nil
})

// HasGit reports whether the installed git is the release major.minor or a later one.
func HasGit(major, minor int) bool {
	v := gitRelease()
	return v[0] > major || v[0] == major && v[1] >= minor
}

var gitRelease = sync.OnceValue(func() (v [2]int) {
	if out, err := exec.Command("git", "version").Output(); err == nil {
		_, _ = fmt.Sscanf(string(out), "git version %d.%d", &v[0], &v[1])
	}
	return v
})

// SyncedRefs skips a test of power cuts where git does not sync refs: before 2.36.
func SyncedRefs(t *testing.T) {
	t.Helper()
	if !HasGit(2, 36) {
		t.Skip("git syncs refs since 2.36")
	}
}

// Thorough skips a test by default: kills at every point, long histories, deadlines that are waited for, walks
// through everything a page of documentation says. AGENTXCHAIN_TESTS=all and -run with the name of a test run it;
// AGENTXCHAIN_TESTS=2/3, as .ci/run sets it, runs the second third of them.
func Thorough(t *testing.T) {
	t.Helper()
	if !All(t.Name()) {
		t.Skip("thorough; AGENTXCHAIN_TESTS=all or -run runs it")
	}
}

// Serving skips a thorough test of concurrent code. Where .ci/run uses the race detector,
// AGENTXCHAIN_TESTS=serving, it runs too.
func Serving(t *testing.T) {
	t.Helper()
	if os.Getenv("AGENTXCHAIN_TESTS") != "serving" {
		Thorough(t)
	}
}

// Times returns how often the test or script of that name should repeat its work: few times by default, many times
// where it runs thoroughly.
func Times(name string, few, many int) int {
	if All(name) {
		return many
	}
	return few
}

// All reports whether the test or script of that name runs as thoroughly as it can.
func All(name string) bool {
	named := flag.Lookup("test.run")
	if os.Getenv("AGENTXCHAIN_LONG_TESTS") != "" || named != nil && named.Value.String() != "" {
		return true
	}
	switch tests := os.Getenv("AGENTXCHAIN_TESTS"); tests {
	case "", "serving":
		return false
	case "all":
		return true
	default:
		nth, parts, ok := strings.Cut(tests, "/")
		k, errK := strconv.Atoi(nth)
		n, errN := strconv.Atoi(parts)
		if !ok || errK != nil || errN != nil || k < 1 || k > n {
			panic(fmt.Sprintf("AGENTXCHAIN_TESTS is all, serving, empty or a part such as 2/3, not %q", tests))
		}
		return int(crc32.ChecksumIEEE([]byte(name))%uint32(n)) == k-1 //nolint:gosec // n is small
	}
}
