// The process that serves a simulated disk, and requests to it.

package testtrace

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/rpc"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Mount is a Disk that programs use like any other. Its calls go wrong, its power is cut, its clock jumps, and it
// makes two programs alternate. A seed determines all of that.
type Mount struct {
	process *exec.Cmd
	client  *rpc.Client
	errors  strings.Builder
}

// mountStage is set in the environment of the serving process: the seed and the directory.
const mountStage = "TESTTRACE_MOUNT"

// NewMount mounts a simulated disk with the same contents over a directory, until Close.
func NewMount(base string, seed uint64) (*Mount, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	m := &Mount{process: exec.Command(self)}
	m.process.Env = append(os.Environ(), fmt.Sprintf("%s=%d %s", mountStage, seed, base))
	m.process.Stderr = &m.errors
	in, err := m.process.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := m.process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := m.process.Start(); err != nil {
		return nil, err
	}
	m.client = rpc.NewClient(duplex{out, in})
	return m, m.ask("Ready", 0, new(int))
}

// MountAvailable reports whether a disk can be simulated here, which needs FUSE and the right to mount.
func MountAvailable() bool { return mountAvailable() }

var mountAvailable = sync.OnceValue(func() bool {
	dir, err := os.MkdirTemp("", "mount-")
	if err != nil {
		return false
	}
	defer func() { _ = os.Remove(dir) }()
	m, err := NewMount(dir, 1)
	return err == nil && m.Close() == nil
})

// duplex is a pipe to read from and one to write to.
type duplex struct {
	io.ReadCloser
	to io.WriteCloser
}

func (d duplex) Write(p []byte) (int, error) { return d.to.Write(p) }
func (d duplex) Close() error                { return errors.Join(d.to.Close(), d.ReadCloser.Close()) }

func (m *Mount) ask(what string, question, answer any) error {
	if err := m.client.Call("Mount."+what, question, answer); err != nil {
		return fmt.Errorf("simulated disk: %w %s", err, m.errors.String())
	}
	return nil
}

// Do runs programs to their end, two of them alternating, and waits for everything they started.
func (m *Mount) Do(runs ...*Run) (results []*Result, err error) {
	return results, m.ask("Do", runs, &results)
}

// Len returns how many steps are not settled.
func (m *Mount) Len() (n int, err error) { return n, m.ask("Len", 0, &n) }

// Cut cuts the power after the first k unsettled steps, and restarts the machine.
func (m *Mount) Cut(k int) error { return m.ask("Cut", k, new(int)) }

// Settle writes everything to the disk, as time does.
func (m *Mount) Settle() error { return m.ask("Settle", 0, new(int)) }

// Jump moves the clock of file times.
func (m *Mount) Jump(by time.Duration) error { return m.ask("Jump", by, new(int)) }

// Close removes the disk with its contents.
func (m *Mount) Close() error {
	return errors.Join(m.ask("Close", 0, new(int)), m.client.Close(), m.process.Wait())
}

// serve is the main function of the serving process.
func serve(what string) error {
	number, base, _ := strings.Cut(what, " ")
	seed, err := strconv.ParseUint(number, 10, 64)
	if err != nil {
		return err
	}
	m, err := newFake(base, rand.New(rand.NewPCG(seed, 3)))
	if err != nil {
		return err
	}
	// Without waiting: a surviving program must not keep the directory.
	defer func() { _ = unix.Unmount(base, unix.MNT_DETACH) }()
	s := rpc.NewServer()
	if err := s.RegisterName("Mount", &answers{m}); err != nil {
		return err
	}
	s.ServeConn(duplex{orphaned{os.Stdin}, os.Stdout})
	return nil
}

// orphaned ends all programs when the test is gone: none must wait for a disk that is no longer served.
type orphaned struct{ io.ReadCloser }

func (o orphaned) Read(p []byte) (int, error) {
	n, err := o.ReadCloser.Read(p)
	if err != nil {
		killBelow(os.Getpid())
	}
	return n, err
}

// answers has the methods that Mount calls.
type answers struct{ m *fake }

func (a *answers) Ready(int, *int) error { return nil }
func (a *answers) Close(int, *int) error { return a.m.server.Unmount() }

func (a *answers) Do(runs []*Run, results *[]*Result) (err error) {
	*results, err = a.m.run(runs)
	return err
}

func (a *answers) Len(_ int, n *int) error {
	a.m.mu.Lock()
	defer a.m.mu.Unlock()
	*n = a.m.disk.Len()
	return nil
}

func (a *answers) Cut(k int, _ *int) error {
	m := a.m
	if err := m.server.Unmount(); err != nil {
		return err
	}
	images := m.disk.Cut(k, 3, m.draw)
	return m.mount(images[m.draw.IntN(len(images))].disk(m.disk.base))
}

func (a *answers) Settle(int, *int) error {
	a.m.mu.Lock()
	defer a.m.mu.Unlock()
	d := a.m.disk
	for n := range d.now {
		d.now[n].mtime = a.m.meta[n].changed
	}
	d.before, d.ops = d.now.clone(), nil
	return nil
}

func (a *answers) Jump(by time.Duration, _ *int) error {
	a.m.mu.Lock()
	defer a.m.mu.Unlock()
	a.m.skew += by
	return nil
}
