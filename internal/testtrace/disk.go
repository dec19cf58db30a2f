// The possible results of a power cut: a directory's initial state, the recorded calls, and which of them had
// reached the disk.

package testtrace

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Disk is a directory at a moment and what was done to it since. A write is certainly on the disk when its file has
// been synced after it, and a name when its directory has; everything else may be there or not, in any combination.
type Disk struct {
	base   string
	spared []string // below base, on another machine's disk
	before Image
	now    Image
	ops    []op
	open   map[uint64]int // the kernel's number of a file -> ours
}

// Image is the contents of a directory: its files by number; 0 is the directory itself.
type Image []file

// file is a file, a directory or a symbolic link, independent of its names.
type file struct {
	mode  fs.FileMode
	mtime time.Time
	data  []byte         // the target of a link
	names map[string]int // entries of a directory
}

type opKind int

const (
	opMake  opKind = iota // a file without a name yet
	opName                // a name is created, or moved to another file
	opErase               // a name is removed
	opMove                // a name is removed and another created, atomically
	opWrite
	opCut
	opMode
	opSync
)

// op is one step. It identifies files by their numbers.
type op struct {
	kind     opKind
	file     int // file that is created, named, written or synced
	dir, to  int // directories of the names
	name, as string
	offset   int64 // of a write; the length of a truncated file
	data     []byte
	mode     fs.FileMode
	spared   bool // it is on another machine, and durable
}

// NewDisk reads the directory, which is assumed to be on disk as it is. Changes below the directories spared are
// durable without a sync: they belong to another machine, whose power is not cut.
func NewDisk(base string, spared ...string) (*Disk, error) {
	d := &Disk{base: base, spared: spared, open: make(map[uint64]int)}
	if _, err := d.read(base); err != nil {
		return nil, err
	}
	d.now = d.before.clone()
	return d, nil
}

func (d *Disk) read(path string) (int, error) {
	fi, err := os.Lstat(path)
	if err != nil {
		return 0, err
	}
	n := len(d.before)
	d.before = append(d.before, file{mode: fi.Mode(), mtime: fi.ModTime()})
	switch {
	case fi.IsDir():
		list, err := os.ReadDir(path)
		if err != nil {
			return 0, err
		}
		names := make(map[string]int)
		for _, e := range list {
			if names[e.Name()], err = d.read(filepath.Join(path, e.Name())); err != nil {
				return 0, err
			}
		}
		d.before[n].names = names
	case fi.Mode()&fs.ModeSymlink != 0:
		text, err := os.Readlink(path)
		d.before[n].data = []byte(text)
		return n, err
	default:
		d.before[n].data, err = os.ReadFile(path)
	}
	return n, err
}

// clone copies what an op changes; contents are never changed in place.
func (m Image) clone() Image {
	out := slices.Clone(m)
	for i := range out {
		out[i].names = maps.Clone(out[i].names)
	}
	return out
}

// find returns the file of a name, or its directory and the name in it when there is none.
func (d *Disk) find(path string) (n, dir int, name string, err error) {
	rel, err := filepath.Rel(d.base, path)
	if err != nil || !filepath.IsLocal(rel) {
		return -1, 0, "", fmt.Errorf("%s is not below %s", path, d.base)
	}
	if rel == "." {
		return 0, 0, "", nil
	}
	parts := strings.Split(rel, string(filepath.Separator))
	for i, part := range parts {
		at, ok := d.now[dir].names[part]
		switch {
		case i == len(parts)-1 && !ok:
			return -1, dir, part, nil
		case i == len(parts)-1:
			return at, dir, part, nil
		case !ok || d.now[at].names == nil:
			return -1, 0, "", fmt.Errorf("%s is not there", filepath.Join(parts[:i+1]...))
		}
		dir = at
	}
	return -1, dir, name, nil
}

// Record adds the calls of a Run in their order. It fails for a call whose effect it does not know.
func (d *Disk) Record(calls []*Call) error {
	for _, c := range calls {
		if !c.Done {
			continue
		}
		from := len(d.ops)
		if err := d.record(c); err != nil {
			return fmt.Errorf("call %d, %v: %w", c.N, c, err)
		}
		for i := range d.ops[from:] {
			d.ops[from+i].spared = slices.ContainsFunc(d.spared, func(dir string) bool { return within(dir, c.Path) })
		}
	}
	return nil
}

func (d *Disk) do(o op) {
	d.ops = append(d.ops, o)
	d.now = d.now.apply(o, whole)
}

// create creates a new file without a name.
func (d *Disk) create(mode fs.FileMode, data []byte) int {
	n := len(d.now)
	d.do(op{kind: opMake, file: n, mode: mode, data: data})
	return n
}

// opened returns the file of a call's descriptor.
func (d *Disk) opened(c *Call) (int, error) {
	if n, ok := d.open[c.Inode]; ok {
		return n, nil
	}
	n, _, _, err := d.find(c.Path)
	if err == nil && n < 0 {
		err = fs.ErrNotExist
	}
	return n, err
}

func (d *Disk) record(c *Call) error {
	const tmpfile = 0o20000000 // O_TMPFILE without O_DIRECTORY
	flags := int(c.Size)
	mode := fs.FileMode(c.Mode) & 0o777
	if c.Name == "open" || c.Name == "openat" || c.Name == "creat" {
		if c.Name != "creat" && flags&tmpfile != 0 {
			d.open[c.Inode] = d.create(mode, nil)
			return nil
		}
		n, dir, name, err := d.find(c.Path)
		if err != nil {
			return err
		}
		if n < 0 {
			n = d.create(mode, nil)
			d.do(op{kind: opName, file: n, dir: dir, name: name})
		} else if (c.Name == "creat" || flags&os.O_TRUNC != 0) && len(d.now[n].data) > 0 {
			d.do(op{kind: opCut, file: n})
		}
		d.open[c.Inode] = n
		return nil
	}
	switch c.Name {
	case "close":
		return nil
	case "write", "pwrite64", "writev", "pwritev", "copy_file_range", "sendfile", "ftruncate", "fsync", "fdatasync":
		n, err := d.opened(c)
		if err != nil {
			return err
		}
		switch c.Name {
		case "fsync", "fdatasync":
			d.do(op{kind: opSync, file: n})
		case "ftruncate":
			d.do(op{kind: opCut, file: n, offset: c.Size})
		default:
			d.do(op{kind: opWrite, file: n, offset: c.Offset, data: c.Data})
		}
		return nil
	case "truncate", "fallocate":
		return errors.ErrUnsupported
	}
	n, dir, name, err := d.find(c.Path)
	if c.Inode != 0 && (err != nil || n < 0) {
		n, err = d.opened(c) // an unnamed file, by its descriptor
	}
	if err != nil {
		return err
	}
	switch {
	case c.To != "":
		_, to, as, err := d.find(c.To)
		if err != nil {
			return err
		}
		if n < 0 {
			return fs.ErrNotExist
		}
		kind := opMove
		if strings.HasPrefix(c.Name, "link") {
			kind = opName
			dir, name = to, as
		}
		d.do(op{kind: kind, file: n, dir: dir, name: name, to: to, as: as})
	case strings.HasPrefix(c.Name, "mkdir"):
		d.do(op{kind: opName, file: d.create(mode|fs.ModeDir, nil), dir: dir, name: name})
	case strings.HasPrefix(c.Name, "symlink"):
		d.do(op{kind: opName, file: d.create(0o777|fs.ModeSymlink, c.Data), dir: dir, name: name})
	case strings.HasPrefix(c.Name, "unlink"), c.Name == "rmdir":
		d.do(op{kind: opErase, file: n, dir: dir, name: name})
	default:
		return errors.ErrUnsupported
	}
	return nil
}

// part is how much of a step has reached the disk.
type part int

const (
	whole part = iota
	half       // of the written data
	zeros      // the file has its length, but contains zeros
	none
)

// apply returns the image after a step.
func (m Image) apply(o op, p part) Image {
	if o.kind == opMake {
		f := file{mode: o.mode, data: o.data}
		if o.mode.IsDir() {
			f.names = make(map[string]int)
		}
		return append(m, f)
	}
	if p == none {
		return m
	}
	switch o.kind {
	case opName:
		m[o.dir].names[o.name] = o.file
	case opErase:
		delete(m[o.dir].names, o.name)
	case opMove:
		delete(m[o.dir].names, o.name)
		m[o.to].names[o.as] = o.file
	case opMode:
		m[o.file].mode = o.mode
	case opCut:
		data := make([]byte, o.offset)
		copy(data, m[o.file].data)
		m[o.file].data, m[o.file].mtime = data, time.Time{}
	case opWrite:
		data := o.data
		switch p {
		case half:
			data = data[:len(data)/2]
		case zeros:
			data = make([]byte, len(data))
		}
		have := m[o.file].data
		next := make([]byte, max(int64(len(have)), o.offset+int64(len(data))))
		copy(next, have)
		copy(next[o.offset:], data)
		m[o.file].data, m[o.file].mtime = next, time.Time{}
	}
	return m
}

// Now returns the directory after every step.
func (d *Disk) Now() Image { return d.now }

// Len returns the number of steps. A power cut may come before each, and after the last.
func (d *Disk) Len() int { return len(d.ops) }

// durable reports for each of the first k steps whether it is certainly on the disk.
func (d *Disk) durable(k int) []bool {
	out := make([]bool, k)
	synced := make(map[int]bool)
	for i := k - 1; i >= 0; i-- {
		switch o := d.ops[i]; {
		case o.kind == opSync:
			synced[o.file], out[i] = true, true
		case o.kind == opMake, o.spared:
			out[i] = true
		case o.kind == opWrite, o.kind == opCut, o.kind == opMode:
			out[i] = synced[o.file]
		case o.kind == opMove:
			out[i] = synced[o.dir] || synced[o.to]
		default:
			out[i] = synced[o.dir]
		}
	}
	return out
}

// Cut returns images that a power cut after the first k steps may leave: everything there, nothing that was not
// synced, names without contents, contents without names, halves, zeros, and more random ones.
func (d *Disk) Cut(k, more int, draw *rand.Rand) []Image {
	sure := d.durable(k)
	names := func(o op) bool { return o.kind == opName || o.kind == opErase || o.kind == opMove }
	choose := func(named, written part) func(int, op) part {
		return func(_ int, o op) part {
			if names(o) {
				return named
			}
			return written
		}
	}
	ways := []func(int, op) part{choose(whole, whole), choose(none, none), choose(whole, none), choose(none, whole),
		choose(whole, half), choose(whole, zeros)}
	for range more {
		// A journal keeps names in order up to a moment; writes arrive in any order.
		upTo := draw.IntN(k + 1)
		ordered := draw.IntN(2) == 0
		ways = append(ways, func(i int, o op) part {
			switch {
			case !names(o):
				return part(draw.IntN(4))
			case ordered && i < upTo, !ordered && draw.IntN(2) == 0:
				return whole
			}
			return none
		})
	}
	var out []Image
	seen := make(map[[sha256.Size]byte]bool)
	for _, way := range ways {
		m := d.before.clone()
		for i, o := range d.ops[:k] {
			p := whole
			if !sure[i] {
				p = way(i, o)
			}
			m = m.apply(o, p)
		}
		if sum := m.Sum(); !seen[sum] {
			seen[sum] = true
			out = append(out, m)
		}
	}
	return out
}

// Sum returns a hash of all names and contents.
func (m Image) Sum() (sum [sha256.Size]byte) {
	h := sha256.New()
	_ = m.walk(0, "", func(name string, f *file) error {
		_, err := fmt.Fprintf(h, "%q %v %d\n%s", name, f.mode.Type(), len(f.data), f.data)
		return err
	})
	h.Sum(sum[:0])
	return sum
}

// Differences lists the files that differ.
func (m Image) Differences(other Image) []string {
	list := func(m Image) map[string]string {
		out := make(map[string]string)
		_ = m.walk(0, "", func(name string, f *file) error {
			out[name] = fmt.Sprintf("%v, %d bytes, %x", f.mode.Type(), len(f.data), sha256.Sum256(f.data))
			return nil
		})
		return out
	}
	a, b := list(m), list(other)
	var out []string
	for name, is := range a {
		if b[name] != is {
			out = append(out, fmt.Sprintf("%s: %s; %s", name, is, b[name]))
		}
	}
	for name, is := range b {
		if _, ok := a[name]; !ok {
			out = append(out, fmt.Sprintf("%s: not there; %s", name, is))
		}
	}
	return out
}

// Step describes the k-th step, counted from 0.
func (d *Disk) Step(k int) string {
	if k >= len(d.ops) {
		return "the end"
	}
	words := map[opKind]string{
		opMake:  "make",
		opName:  "name",
		opErase: "erase",
		opMove:  "move",
		opWrite: "write",
		opCut:   "cut",
		opMode:  "mode",
		opSync:  "sync",
	}
	o := d.ops[k]
	return strings.TrimSpace(fmt.Sprintf("%s %s %s", words[o.kind], o.name, o.as))
}

func (m Image) walk(n int, name string, f func(string, *file) error) error {
	if err := f(name, &m[n]); err != nil {
		return err
	}
	for _, e := range slices.Sorted(maps.Keys(m[n].names)) {
		if err := m.walk(m[n].names[e], name+"/"+e, f); err != nil {
			return err
		}
	}
	return nil
}

// Write creates a directory from the image.
func (m Image) Write(base string) error {
	return m.walk(0, base, func(name string, f *file) error {
		switch {
		case f.mode.IsDir():
			return os.MkdirAll(name, 0o777)
		case f.mode&fs.ModeSymlink != 0:
			return os.Symlink(string(f.data), name)
		case !f.mode.IsRegular():
			return nil
		}
		w, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, f.mode.Perm()|0o200)
		if err != nil {
			return err
		}
		_, err = io.Copy(w, bytes.NewReader(f.data))
		at := f.mtime
		if at.IsZero() {
			at = time.Now().Add(-time.Minute) // a machine takes a while to restart
		}
		if err = errors.Join(err, w.Close()); err == nil {
			err = os.Chtimes(name, at, at)
		}
		return err
	})
}
