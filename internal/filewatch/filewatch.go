// Package filewatch reports changed files, by polling stat(2). It works on every file system and for changes by any
// process, needs no descriptor per file, and cannot overflow; each poll costs one stat per file.
package filewatch

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Watch polls files at an interval until ctx ends and sends the paths that have changed, in the given order. A path
// is compared by existence, size, modification time and, for a directory, its entries' names; it need not exist.
// paths is called before every poll, so the set of files may change; a path that is new to it is not a change.
// While no receiver is ready, changes accumulate: none is lost, and no poll is delayed. The channel is closed when
// ctx ends.
func Watch(ctx context.Context, every time.Duration, paths func() []string) <-chan []string {
	out := make(chan []string)
	go func() {
		defer close(out)
		tick := time.NewTicker(every)
		defer tick.Stop()
		seen := look(nil, paths(), nil)
		var changed []string
		for {
			var send chan []string
			if len(changed) > 0 {
				send = out
			}
			select {
			case <-ctx.Done():
				return
			case send <- changed:
				changed = nil
			case <-tick.C:
				seen = look(seen, paths(), func(p string) {
					if slices.Contains(changed, p) {
						return
					}
					changed = append(changed, p)
				})
			}
		}
	}()
	return out
}

// mark is a snapshot of a file's metadata.
type mark struct {
	exists bool
	dir    bool
	size   int64
	time   time.Time
	names  uint64 // of a directory
}

func look(seen map[string]mark, paths []string, changed func(string)) map[string]mark {
	now := make(map[string]mark, len(paths))
	for _, p := range paths {
		m := markOf(p)
		now[p] = m
		if before, ok := seen[p]; ok && changed != nil && before != m {
			changed(p)
		}
	}
	return now
}

func markOf(p string) mark {
	fi, err := os.Stat(p)
	if err != nil {
		return mark{}
	}
	m := mark{exists: true, dir: fi.IsDir(), size: fi.Size(), time: fi.ModTime()}
	if m.dir {
		// A directory's own time has the file system's granularity: two files made within it would look like one.
		m.names = hashNames(p)
	}
	return m
}

// hashNames is FNV-1a over the names, sizes and times of a directory's entries, in any order: each is hashed alone
// and the sums are added up.
func hashNames(dir string) uint64 {
	var sum uint64
	entries, err := os.ReadDir(filepath.Clean(dir))
	if err != nil {
		return 0
	}
	for _, e := range entries {
		h := uint64(14695981039346656037)
		add := func(b byte) { h = (h ^ uint64(b)) * 1099511628211 }
		for i := range len(e.Name()) {
			add(e.Name()[i])
		}
		if fi, err := e.Info(); err == nil && fi.Mode()&fs.ModeSymlink == 0 {
			for n, i := uint64(fi.Size())^uint64(fi.ModTime().UnixNano()), 0; i < 8; i++ {
				add(byte(n >> (8 * i)))
			}
		}
		sum += h
	}
	return sum
}
