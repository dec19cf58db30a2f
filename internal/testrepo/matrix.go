// The kinds of repository every store test runs on.

package testrepo

import (
	"flag"
	"os"
	"os/exec"
	"sync"
	"testing"
)

// Matrix runs f as a subtest on {sha1, sha256} x {files, reftable} x {main,
// linked work tree}. Reftable is left out when the installed git lacks it.
func Matrix(t *testing.T, f func(t *testing.T, r *Repo)) {
	t.Helper()
	for _, o := range Kinds() {
		t.Run(o.Name(), func(t *testing.T) {
			t.Helper()
			f(t, New(t, o))
		})
	}
}

// Kinds returns the options Matrix runs with; under -short the first and the last of them.
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
	if testing.Short() {
		return []Options{out[0], out[len(out)-1]}
	}
	return out
}

// Name is a short name of the kind, for subtests.
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

// Thorough leaves a test out of the everyday run: kills at every point, long histories, walks
// through everything a page of documentation says. AGENTXCHAIN_TESTS=all, as .ci/run sets it, and
// -run with the name of a test run it.
func Thorough(t *testing.T) {
	t.Helper()
	if !All() {
		t.Skip("thorough; AGENTXCHAIN_TESTS=all or -run runs it")
	}
}

// Serving leaves out a thorough test of something that does many things at a time. Where .ci/run has
// the race detector, AGENTXCHAIN_TESTS=serving, it runs too.
func Serving(t *testing.T) {
	t.Helper()
	if os.Getenv("AGENTXCHAIN_TESTS") != "serving" {
		Thorough(t)
	}
}

// All reports whether thorough tests run too.
func All() bool {
	named := flag.Lookup("test.run")
	return os.Getenv("AGENTXCHAIN_TESTS") == "all" || os.Getenv("AGENTXCHAIN_LONG_TESTS") != "" ||
		named != nil && named.Value.String() != ""
}
