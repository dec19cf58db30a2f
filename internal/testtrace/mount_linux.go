// A simulated disk: a file system in memory, which programs use through FUSE.

package testtrace

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
)

// fake is the file system. It is served by its own process: one that stops all its threads while a child of it
// waits for the disk would wait forever.
type fake struct {
	fuse.RawFileSystem
	draw   *rand.Rand
	server *fuse.Server
	skew   time.Duration // of the disk's clock from the system's

	mu     sync.Mutex
	disk   *Disk
	meta   []meta // of each file
	listed map[uint64][]fuse.DirEntry
	fh     uint64
	turns  turns
	frozen bool // the processes are being killed: nothing is carried out any more
}

// meta is the metadata of a file.
type meta struct {
	links           uint32
	changed, stated time.Time
}

func newFake(base string, draw *rand.Rand) (*fake, error) {
	d, err := NewDisk(base)
	if err != nil {
		return nil, err
	}
	m := &fake{RawFileSystem: fuse.NewDefaultRawFileSystem(), draw: draw}
	return m, m.mount(d)
}

func (m *fake) mount(d *Disk) error {
	m.disk, m.meta, m.listed = d, nil, map[uint64][]fuse.DirEntry{}
	for _, f := range d.now {
		at := f.mtime
		if at.IsZero() {
			at = m.clock().Add(-time.Minute) // a machine takes a while to restart
		}
		m.meta = append(m.meta, meta{changed: at, stated: at})
	}
	m.meta[0].links = 1
	for _, f := range d.now {
		for _, n := range f.names {
			m.meta[n].links++
		}
	}
	server, err := fuse.NewServer(m, d.base, &fuse.MountOptions{
		FsName:             "testtrace",
		Name:               "testtrace",
		DirectMountStrict:  true,
		DisableReadDirPlus: true,
		DisableXAttrs:      true,
		MaxWrite:           1 << 17,
	})
	if err != nil {
		return err
	}
	m.server = server
	go server.Serve()
	return server.WaitMount()
}

// clock is coarse, like those of kernels.
func (m *fake) clock() time.Time { return time.Now().Add(m.skew).Truncate(4 * time.Millisecond) }

// disk returns a Disk with the contents of the image, without unnamed files.
func (m Image) disk(base string) *Disk {
	d := &Disk{base: base, open: make(map[uint64]int)}
	number := make(map[int]int)
	var take func(n int) int
	take = func(n int) int {
		if to, ok := number[n]; ok {
			return to
		}
		to, f := len(d.before), m[n]
		number[n] = to
		names := f.names
		f.names = nil
		d.before = append(d.before, f)
		if names != nil {
			d.before[to].names = make(map[string]int)
			for _, name := range slices.Sorted(maps.Keys(names)) {
				at := take(names[name])
				d.before[to].names[name] = at
			}
		}
		return to
	}
	take(0)
	d.now = d.before.clone()
	return d
}

// FUSE numbers files from 1.
func index(node uint64) int { return int(node - 1) }

const forever = uint64(1 << 30) // seconds for which the kernel may cache its knowledge: nothing else changes the disk

func (m *fake) attr(n int, out *fuse.Attr) {
	f, t := m.disk.now[n], m.meta[n]
	*out = fuse.Attr{
		Ino:       uint64(n + 1),
		Size:      uint64(len(f.data)),
		Blocks:    uint64(len(f.data)+511) / 512,
		Mtime:     uint64(t.changed.Unix()),
		Mtimensec: uint32(t.changed.Nanosecond()),
		Ctime:     uint64(t.stated.Unix()),
		Ctimensec: uint32(t.stated.Nanosecond()),
		Nlink:     t.links,
		Mode:      modeOf(f.mode),
		Blksize:   4096,
		Owner:     fuse.Owner{Uid: uint32(os.Getuid()), Gid: uint32(os.Getgid())},
	}
	out.Atime, out.Atimensec = out.Mtime, out.Mtimensec
}

func modeOf(mode fs.FileMode) uint32 {
	bits := uint32(mode.Perm())
	switch {
	case mode.IsDir():
		return bits | syscall.S_IFDIR
	case mode&fs.ModeSymlink != 0:
		return bits | syscall.S_IFLNK
	}
	return bits | syscall.S_IFREG
}

func (m *fake) entry(n int, out *fuse.EntryOut) {
	out.NodeId, out.Generation = uint64(n+1), 1
	out.EntryValid, out.AttrValid = forever, forever
	m.attr(n, &out.Attr)
}

// do carries out a step, and sets the times of the files concerned.
func (m *fake) do(o op) {
	m.disk.do(o)
	now := m.clock()
	if o.kind == opMake {
		m.meta = append(m.meta, meta{changed: now, stated: now})
		return
	}
	if o.kind == opSync {
		return
	}
	m.meta[o.file].stated = now
	switch o.kind {
	case opWrite, opCut:
		m.meta[o.file].changed = now
	case opName:
		m.meta[o.file].links++
		m.meta[o.dir].changed, m.meta[o.dir].stated = now, now
	case opErase:
		m.meta[o.file].links--
		m.meta[o.dir].changed, m.meta[o.dir].stated = now, now
	case opMove:
		for _, dir := range []int{o.dir, o.to} {
			m.meta[dir].changed, m.meta[dir].stated = now, now
		}
	}
}

// path returns a name of a file, for people.
func (m *fake) path(n int) string {
	found := ""
	_ = m.disk.now.walk(0, m.disk.base, func(name string, f *file) error {
		if f == &m.disk.now[n] {
			found = name
			return fs.SkipAll
		}
		return nil
	})
	return cmp.Or(found, fmt.Sprintf("%s (file %d, without a name)", m.disk.base, n))
}

// at returns the file of a name in a directory.
func (m *fake) at(dir uint64, name string) (int, fuse.Status) {
	n, ok := m.disk.now[index(dir)].names[name]
	if !ok {
		return 0, fuse.ENOENT
	}
	return n, fuse.OK
}

// Requests that change nothing.

func (m *fake) Init(*fuse.Server)     {}
func (m *fake) OnUnmount()            {}
func (m *fake) String() string        { return "testtrace" }
func (m *fake) Forget(uint64, uint64) {}

func (m *fake) Lookup(_ <-chan struct{}, h *fuse.InHeader, name string, out *fuse.EntryOut) fuse.Status {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, status := m.at(h.NodeId, name)
	if !status.Ok() {
		out.NodeId, out.EntryValid = 0, forever // the kernel may cache that as well
		return fuse.OK
	}
	m.entry(n, out)
	return fuse.OK
}

func (m *fake) GetAttr(_ <-chan struct{}, in *fuse.GetAttrIn, out *fuse.AttrOut) fuse.Status {
	m.mu.Lock()
	defer m.mu.Unlock()
	out.AttrValid = forever
	m.attr(index(in.NodeId), &out.Attr)
	return fuse.OK
}

func (m *fake) Access(<-chan struct{}, *fuse.AccessIn) fuse.Status { return fuse.OK }

func (m *fake) Readlink(_ <-chan struct{}, h *fuse.InHeader) ([]byte, fuse.Status) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.disk.now[index(h.NodeId)].data, fuse.OK
}

func (m *fake) Read(_ <-chan struct{}, in *fuse.ReadIn, buf []byte) (fuse.ReadResult, fuse.Status) {
	m.mu.Lock()
	defer m.mu.Unlock()
	data := m.disk.now[index(in.NodeId)].data // is replaced when it changes, and never written to
	data = data[min(in.Offset, uint64(len(data))):]
	return fuse.ReadResultData(data[:min(len(data), len(buf))]), fuse.OK
}

func (m *fake) OpenDir(_ <-chan struct{}, in *fuse.OpenIn, out *fuse.OpenOut) fuse.Status {
	m.mu.Lock()
	defer m.mu.Unlock()
	names := m.disk.now[index(in.NodeId)].names
	var list []fuse.DirEntry
	for _, name := range slices.Sorted(maps.Keys(names)) {
		n := names[name]
		list = append(list, fuse.DirEntry{Name: name, Ino: uint64(n + 1), Mode: modeOf(m.disk.now[n].mode)})
	}
	m.fh++
	m.listed[m.fh], out.Fh = list, m.fh
	return fuse.OK
}

func (m *fake) ReadDir(_ <-chan struct{}, in *fuse.ReadIn, out *fuse.DirEntryList) fuse.Status {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := m.listed[in.Fh]
	for i := in.Offset; i < uint64(len(list)); i++ {
		e := list[i]
		e.Off = i + 1
		if !out.AddDirEntry(e) {
			break
		}
	}
	return fuse.OK
}

func (m *fake) ReleaseDir(in *fuse.ReleaseIn) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.listed, in.Fh)
}

func (m *fake) StatFs(_ <-chan struct{}, _ *fuse.InHeader, out *fuse.StatfsOut) fuse.Status {
	*out = fuse.StatfsOut{Blocks: 1 << 30, Bfree: 1 << 29, Bavail: 1 << 29, Files: 1 << 20, Ffree: 1 << 19, Bsize: 4096,
		NameLen: 255, Frsize: 4096}
	return fuse.OK
}

func (m *fake) Release(<-chan struct{}, *fuse.ReleaseIn) {}

// Requests that change something. Each first asks call whether it goes wrong.

func (m *fake) SetAttr(_ <-chan struct{}, in *fuse.SetAttrIn, out *fuse.AttrOut) fuse.Status {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := index(in.NodeId)
	if size, ok := in.GetSize(); ok {
		c := m.call(&in.InHeader, "ftruncate", n, "", "")
		if c.fail != 0 {
			return c.fail
		}
		m.do(op{kind: opCut, file: n, offset: int64(size)})
		defer c.done()
	}
	if mode, ok := in.GetMode(); ok {
		m.do(op{kind: opMode, file: n, mode: m.disk.now[n].mode.Type() | fs.FileMode(mode&0o777)})
	}
	if at, ok := in.GetMTime(); ok {
		m.meta[n].changed, m.meta[n].stated = at, m.clock()
	}
	out.AttrValid = forever
	m.attr(n, &out.Attr)
	return fuse.OK
}

// create makes a file in a directory.
func (m *fake) create(h *fuse.InHeader, call, name string, mode fs.FileMode, data []byte, out *fuse.EntryOut) fuse.Status {
	m.mu.Lock()
	defer m.mu.Unlock()
	dir := index(h.NodeId)
	c := m.call(h, call, dir, name, "")
	if c.fail != 0 {
		return c.fail
	}
	if _, ok := m.disk.now[dir].names[name]; ok {
		return fuse.Status(syscall.EEXIST)
	}
	n := len(m.disk.now)
	m.do(op{kind: opMake, file: n, mode: mode, data: data})
	m.do(op{kind: opName, file: n, dir: dir, name: name})
	m.entry(n, out)
	c.done()
	return fuse.OK
}

func (m *fake) Mkdir(_ <-chan struct{}, in *fuse.MkdirIn, name string, out *fuse.EntryOut) fuse.Status {
	return m.create(&in.InHeader, "mkdir", name, fs.FileMode(in.Mode&0o777)|fs.ModeDir, nil, out)
}

func (m *fake) Mknod(_ <-chan struct{}, in *fuse.MknodIn, name string, out *fuse.EntryOut) fuse.Status {
	if in.Mode&syscall.S_IFMT != syscall.S_IFREG {
		return fuse.EPERM
	}
	return m.create(&in.InHeader, "open", name, fs.FileMode(in.Mode&0o777), nil, out)
}

func (m *fake) Symlink(_ <-chan struct{}, h *fuse.InHeader, to, name string, out *fuse.EntryOut) fuse.Status {
	return m.create(h, "symlink", name, 0o777|fs.ModeSymlink, []byte(to), out)
}

func (m *fake) Create(_ <-chan struct{}, in *fuse.CreateIn, name string, out *fuse.CreateOut) fuse.Status {
	out.OpenFlags = fuse.FOPEN_KEEP_CACHE
	return m.create(&in.InHeader, "open", name, fs.FileMode(in.Mode&0o777), nil, &out.EntryOut)
}

func (m *fake) Tmpfile(_ <-chan struct{}, in *fuse.CreateIn, out *fuse.CreateOut) fuse.Status {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.call(&in.InHeader, "open", index(in.NodeId), "", "")
	if c.fail != 0 {
		return c.fail
	}
	n := len(m.disk.now)
	m.do(op{kind: opMake, file: n, mode: fs.FileMode(in.Mode & 0o777)})
	m.entry(n, &out.EntryOut)
	out.OpenFlags = fuse.FOPEN_KEEP_CACHE
	c.done()
	return fuse.OK
}

func (m *fake) Open(_ <-chan struct{}, in *fuse.OpenIn, out *fuse.OpenOut) fuse.Status {
	m.mu.Lock()
	defer m.mu.Unlock()
	if in.Flags&syscall.O_ACCMODE != syscall.O_RDONLY {
		c := m.call(&in.InHeader, "open", index(in.NodeId), "", "")
		if c.fail != 0 {
			return c.fail
		}
		defer c.done()
		out.OpenFlags = fuse.FOPEN_KEEP_CACHE
		return fuse.OK
	}
	out.OpenFlags = fuse.FOPEN_KEEP_CACHE | fuse.FOPEN_NOFLUSH // closing it changes nothing
	return fuse.OK
}

func (m *fake) Link(_ <-chan struct{}, in *fuse.LinkIn, name string, out *fuse.EntryOut) fuse.Status {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, dir := index(in.Oldnodeid), index(in.NodeId)
	c := m.call(&in.InHeader, "link", dir, name, "")
	if c.fail != 0 {
		return c.fail
	}
	if _, ok := m.disk.now[dir].names[name]; ok {
		return fuse.Status(syscall.EEXIST)
	}
	m.do(op{kind: opName, file: n, dir: dir, name: name})
	m.entry(n, out)
	c.done()
	return fuse.OK
}

func (m *fake) erase(h *fuse.InHeader, call, name string) fuse.Status {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.call(h, call, index(h.NodeId), name, "")
	if c.fail != 0 {
		return c.fail
	}
	n, status := m.at(h.NodeId, name)
	if !status.Ok() {
		return status
	}
	if len(m.disk.now[n].names) > 0 {
		return fuse.Status(syscall.ENOTEMPTY)
	}
	m.do(op{kind: opErase, file: n, dir: index(h.NodeId), name: name})
	c.done()
	return fuse.OK
}

func (m *fake) Unlink(_ <-chan struct{}, h *fuse.InHeader, name string) fuse.Status {
	return m.erase(h, "unlink", name)
}

func (m *fake) Rmdir(_ <-chan struct{}, h *fuse.InHeader, name string) fuse.Status {
	return m.erase(h, "rmdir", name)
}

func (m *fake) Rename(_ <-chan struct{}, in *fuse.RenameIn, name, as string) fuse.Status {
	const noReplace = 1
	m.mu.Lock()
	defer m.mu.Unlock()
	if in.Flags&^noReplace != 0 {
		return fuse.EINVAL
	}
	c := m.call(&in.InHeader, "rename", index(in.NodeId), name, as)
	if c.fail != 0 {
		return c.fail
	}
	n, status := m.at(in.NodeId, name)
	if !status.Ok() {
		return status
	}
	if old, ok := m.disk.now[index(in.Newdir)].names[as]; ok {
		switch {
		case in.Flags&noReplace != 0:
			return fuse.Status(syscall.EEXIST)
		case len(m.disk.now[old].names) > 0:
			return fuse.Status(syscall.ENOTEMPTY)
		}
		m.meta[old].links--
	}
	m.do(op{kind: opMove, file: n, dir: index(in.NodeId), name: name, to: index(in.Newdir), as: as})
	c.done()
	return fuse.OK
}

func (m *fake) Write(_ <-chan struct{}, in *fuse.WriteIn, data []byte) (uint32, fuse.Status) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.call(&in.InHeader, "write", index(in.NodeId), "", "")
	if c.fail != 0 {
		return 0, c.fail
	}
	if c.short && len(data) > 1 {
		data = data[:len(data)/2]
	}
	m.do(op{kind: opWrite, file: index(in.NodeId), offset: int64(in.Offset), data: slices.Clone(data)})
	c.done()
	return uint32(len(data)), fuse.OK
}

func (m *fake) sync(in *fuse.FsyncIn) fuse.Status {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.call(&in.InHeader, "fsync", index(in.NodeId), "", "")
	if c.fail != 0 {
		return c.fail
	}
	m.do(op{kind: opSync, file: index(in.NodeId)})
	c.done()
	return fuse.OK
}

func (m *fake) Fsync(_ <-chan struct{}, in *fuse.FsyncIn) fuse.Status    { return m.sync(in) }
func (m *fake) FsyncDir(_ <-chan struct{}, in *fuse.FsyncIn) fuse.Status { return m.sync(in) }

func (m *fake) Flush(_ <-chan struct{}, in *fuse.FlushIn) fuse.Status {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.call(&in.InHeader, "close", index(in.NodeId), "", "")
	if c.fail != 0 {
		return c.fail
	}
	c.done()
	return fuse.OK
}
