// Agents that hide their ancestors: deep chains, other namespaces, another /proc.

package driver_test

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
	"github.com/git-agentxchain/git-agentxchain/runner/driver"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes"
)

// bare is shell code that removes every mark a process can remove from itself: the limit, as far as
// it may, the open files and the environment.
const bare = `prlimit --pid $$ --locks=unlimited:unlimited 2>/dev/null; exec 3>&- 4>&-; E="env -i PATH=$PATH"; `

// namespaces returns an unshare command with the options that make it work for this user.
func namespaces(t *testing.T, flags string) string {
	t.Helper()
	words := append(strings.Fields(flags), "true")
	if exec.Command("unshare", words...).Run() == nil {
		return "unshare " + flags
	}
	if err := exec.Command("unshare", append([]string{"-Ur"}, words...)...).Run(); err != nil {
		t.Skipf("no namespaces for this user here: %v", err)
	}
	return "unshare -Ur " + flags
}

// nested calls the program below many shells, each with an empty environment.
const nested = `cat > nest <<'X'
n=$1; shift
if [ $n -eq 0 ]; then "$@"; else env -i PATH=$PATH sh ./nest $((n-1)) "$@"; fi
exit $?
X
`

func TestHiddenAgentsCannotApprove(t *testing.T) {
	testrepo.Serving(t)
	pid := namespaces(t, "--fork --pid --mount-proc")
	stale := namespaces(t, "--fork --pid")
	mnt := namespaces(t, "--mount")
	both := namespaces(t, "--mount --fork --pid --mount-proc")
	for name, form := range map[string]string{
		"many shells":                  nested + `$E sh ./nest 150 $A > answer`,
		"many shells, detached":        nested + `($E setsid sh ./nest 80 $A > answer &)`,
		"a pid namespace":              pid + ` $E $A > answer`,
		"a pid namespace, unlocked":    `flock -u 3 2>/dev/null; exec 3>&-; ` + pid + ` $E $A > answer`,
		"a pid namespace, detached":    `(` + pid + ` $E setsid sh -c "sleep 0.2; $A > answer" >/dev/null 2>&1 &)`,
		"two pid namespaces":           pid + ` ` + pid + ` $E $A > answer`,
		"a pid namespace, stale /proc": stale + ` $E $A > answer`,
		"a user namespace":             `unshare -Ur $E $A > answer`,
		"nothing in /proc":             mnt + ` $E sh -c "mount -t tmpfs none /proc; $A > answer"`,
		"an empty directory on /proc": `mkdir -p empty; ` + mnt +
			` $E sh -c "mount --bind empty /proc; $A > answer"`,
		"one process on /proc":        mnt + ` $E sh -c "mount --bind /proc/1 /proc; $A > answer"`,
		"no /proc":                    mnt + ` $E sh -c "umount -l /proc; $A > answer"`,
		"init in an ancestor's place": mnt + ` $E sh -c 'mount --bind /proc/1 /proc/'$PPID"; $A > answer"`,
		"a file on an ancestor's environ": `echo > fake; ` + mnt +
			` $E sh -c 'mount --bind fake /proc/'$$"/environ; $A > answer"`,
		"hidepid":             both + ` $E sh -c "mount -o remount,hidepid=2 /proc; $A > answer"`,
		"the marks covered":   both + ` $E sh -c "mount -t tmpfs none .agentxchain/locks; $A > answer"`,
		"a reaper of its own": `$E $B act reap $PWD "$A > answer.tmp; mv answer.tmp answer"`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			script := strings.Replace(approveAs(form), "$B act approve $PWD\"; ",
				"$B act approve $PWD\"; "+hideUnless(name), 1)
			p := newProject(t, shell(script), runner.Options{Trust: true})
			turn := p.assign()
			out := newDriver(p.r).Dispatch(context.Background(), driver.Job{
				TurnID:   turn.TurnID,
				Deadline: time.Now().Add(60 * time.Second),
			})
			if out.Kind != runtimes.Staged {
				t.Fatalf("%+v\n%s", out, p.read(wire.BundleDir(turn.TurnID)+"/stdout.log"))
			}
			if got := p.read("answer"); got != "approve: "+wire.CodeInsideTurn+"\n" {
				t.Errorf("the agent got %q", got)
			}
		})
	}
}

// hideUnless returns bare, without closing the descriptors when the form uses them first.
func hideUnless(name string) string {
	if strings.HasSuffix(name, "unlocked") {
		return strings.Replace(bare, "exec 3>&- 4>&-; ", "", 1)
	}
	return bare
}

// TestTheLimitAloneTells leaves an agent only the limit that its process was given: the process
// that drove the turn is gone, and so is every other mark.
func TestTheLimitAloneTells(t *testing.T) {
	// A process gets the limit after it has started, together with its descendants at that time; on a busy machine
	// that is after the first commands of a shell.
	p := newProject(t,
		shell(`while grep -q "^Max file locks *unlimited" /proc/$$/limits; do sleep 0.02; done; exec 3>&-; env -i PATH=$PATH setsid sh -c "echo ready > started; while [ ! -e go ]; do sleep 0.02; done; `+os.Args[0]+` act within $PWD > answer.tmp; mv answer.tmp answer" &
		while kill -0 $PPID 2>/dev/null; do sleep 0.02; done; echo > gone`), runner.Options{Trust: true})
	turn := p.assign()
	loop := exec.Command(os.Args[0], "act", "drive", p.dir, turn.TurnID)
	p.must(loop.Start())
	p.await("started")
	p.must(loop.Process.Kill())
	_ = loop.Wait()
	p.await("gone")
	time.Sleep(200 * time.Millisecond) // wait for its shell to end, as that is another mark
	p.write("go", "")
	if got := p.await("answer"); got == "within: \n" {
		t.Errorf("%q", got)
	}
}

// TestPeopleInNamespacesCanApprove asks from separate namespaces: with nothing driven, and with a
// turn driven beside them.
func TestPeopleInNamespacesCanApprove(t *testing.T) {
	pid := strings.Fields(namespaces(t, "--fork --pid --mount-proc"))
	p := newProject(t, shell(`echo x > started; while [ ! -e go ]; do sleep 0.02; done; `+stage),
		runner.Options{Trust: true})
	ask := func(prefix ...string) string {
		t.Helper()
		words := append(prefix, os.Args[0], "act", "within", p.dir)
		out, err := exec.Command(words[0], words[1:]...).Output()
		if err != nil {
			t.Errorf("%v: %v", prefix, err)
		}
		return string(out)
	}
	if got := ask(pid...); got != "within: \n" {
		t.Errorf("nothing is driven: %q", got)
	}
	if got := ask("unshare", "-Ur"); got != "within: \n" {
		t.Errorf("nothing is driven: %q", got)
	}
	turn := p.assign()
	// The driver and the person are in one namespace, as in one container.
	script := os.Args[0] + " act drive " + p.dir + " " + turn.TurnID +
		" & while [ ! -s started ]; do sleep 0.02; done; " +
		os.Args[0] + " act within " + p.dir + "; echo > go; wait"
	together := exec.Command(pid[0], append(pid[1:], "sh", "-c", script)...)
	together.Dir = p.dir
	out, err := together.Output()
	if err != nil || !strings.HasPrefix(string(out), "within: \n") {
		t.Errorf("beside the driver: %q %v", out, err)
	}
}

// TestOutsideTheContainerOfTheDriver asks from the namespace around the driver's, which can see it.
func TestOutsideTheContainerOfTheDriver(t *testing.T) {
	pid := strings.Fields(namespaces(t, "--fork --pid --mount-proc"))
	p := newProject(t, shell(`echo x > started; while [ ! -e go ]; do sleep 0.02; done; `+stage),
		runner.Options{Trust: true})
	turn := p.assign()
	loop := exec.Command(pid[0], append(pid[1:], os.Args[0], "act", "drive", p.dir, turn.TurnID)...)
	p.must(loop.Start())
	p.await("started")
	if id := p.r.InsideTurn(); id != "" {
		t.Errorf("inside %q", id)
	}
	// And from a container beside it, from which it cannot be seen.
	out, err := exec.Command(pid[0], append(pid[1:], os.Args[0], "act", "within", p.dir)...).Output()
	if err != nil || string(out) != "within: "+turn.TurnID+"\n" {
		t.Errorf("beside the container: %q %v", out, err)
	}
	p.write("go", "")
	_ = loop.Wait()
}

// reap makes this process the parent of orphaned descendants and runs a command that detaches
// itself twice.
func reap(command string) int {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return 2
	}
	cmd := exec.Command("setsid", "sh", "-c", "(setsid sh -c '"+command+"' >/dev/null 2>&1 &)")
	if err := cmd.Run(); err != nil {
		return 2
	}
	time.Sleep(2 * time.Second)
	return 0
}
