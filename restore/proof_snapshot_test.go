// Tests that an export is of one moment, while another process accepts turns and while an initiative is at work,
// and that its memory does not grow with the artifact.

package restore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/lockfile"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Every artifact of a run that changes meanwhile must verify: state, ledgers and summary are of one moment.
func TestExportsWhileTurnsAreAccepted(t *testing.T) {
	testrepo.Serving(t)
	rounds := 1
	if long() {
		rounds = 20
	}
	for range rounds {
		exportWhileTurnsAreAccepted(t)
	}
}

func exportWhileTurnsAreAccepted(t *testing.T) {
	repo := testrepo.New(t, testrepo.Options{})
	project(t, repo.Dir)
	repo.CommitAll("governed")
	assign(t, repo.Dir)
	var ended atomic.Bool
	exports := make(chan error, 1)
	go func() {
		exports <- func() error {
			for last := false; !last; {
				last = ended.Load() // once more after the last turn
				e, err := Prepare(context.Background(), repo.Dir,
					ExportOptions{LockWait: time.Minute, TempDir: os.TempDir()})
				if err != nil {
					return err
				}
				var b bytes.Buffer
				_, err = e.WriteTo(&b)
				e.Close()
				if err != nil {
					return err
				}
				r, err := Verify(context.Background(), &b, VerifyOptions{})
				if err != nil {
					return err
				}
				if !r.Passed() {
					return fmt.Errorf("an artifact does not verify: %v", r.Findings)
				}
			}
			return nil
		}()
	}()
	for range 2 { // a third one makes no progress, and blocks the run
		goOn(t, repo.Dir)
	}
	ended.Store(true)
	if err := <-exports; err != nil {
		t.Fatal(err)
	}
	sound(t, repo.Dir)
}

func TestInitiativeIsReadUnderItsLock(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, coordinatorFile,
		`{"schema_version":"0.1","project":{"id":"co","name":"Co"},"repos":{},"workstreams":{}}`)
	write(t, dir, multiDir+"/state.json", `{}`)
	lock, err := lockfile.Acquire(t.Context(), filepath.Join(dir, coordinatorLock), "test", 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Prepare(t.Context(), dir, ExportOptions{LockWait: time.Millisecond}); wire.ErrorCode(err) != fail.CodeLocked {
		t.Errorf("while another command is at work: %v", err)
	}
	_ = lock.Release()
	passes(t, func() []byte { _, data := exported(t, dir, ExportOptions{}); return data }())
}

// Read-ahead memory is returned when an export ends early, and files are complete whatever their sizes and order.
func TestFilesAreReadInOrder(t *testing.T) {
	testrepo.Thorough(t)
	dir := t.TempDir()
	var names []string
	for i, size := range []int{10, besideOthers + 5, 3, 0, besideOthers * 2, besideOthers + 1, 7, 100, 1} {
		name := fmt.Sprintf("f%d.txt", i)
		write(t, dir, name, strings.Repeat(string(rune('a'+i)), size))
		names = append(names, name)
	}
	names = append(names[:4:4], append([]string{"missing"}, names[4:]...)...)
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	stop := errors.New("enough")
	for limit := range len(names) + 1 {
		var have []string
		err := readFiles(root, names, func(f *fileRead) error {
			if len(have) == limit {
				return stop
			}
			have = append(have, f.path)
			want, _ := os.ReadFile(filepath.Join(dir, f.path))
			if f.path == "missing" && f.err == nil ||
				f.path != "missing" && (f.err != nil || !bytes.Equal(f.content, want) || f.digest != sha(want)) {
				t.Errorf("%s: %v, %d bytes", f.path, f.err, len(f.content))
			}
			return nil
		})
		if len(have) != limit || limit < len(names) && err != stop || limit == len(names) && err != nil {
			t.Errorf("after %d files: %v, %v", limit, have, err)
		}
	}
}

// The artifact is much larger than the memory that writing and verifying it needs.
func TestMemoryDoesNotGrowWithTheArtifact(t *testing.T) {
	testrepo.Thorough(t)
	count, size := 20, 2<<20 // 100 MB with base64 and data
	if long() {
		count = 420 // 2 GB
	}
	repo := testrepo.New(t, testrepo.Options{})
	project(t, repo.Dir)
	repo.CommitAll("governed")
	line := strings.Repeat("0123456789abcdef", 8)[:127] + "\n"
	for i := range count {
		write(t, repo.Dir, fmt.Sprintf(".planning/large/%03d.md", i), strings.Repeat(line, size/len(line)))
	}
	write(t, repo.Dir, ".planning/large/rows.jsonl", strings.Repeat(`{"n":1,"text":"`+line[:100]+"\"}\n", size/116))
	const most = 64 << 20
	var peak atomic.Uint64
	ctx, cancel := context.WithCancel(t.Context())
	watched := make(chan struct{})
	defer debug.SetGCPercent(debug.SetGCPercent(20))
	runtime.GC()
	go func() {
		defer close(watched)
		for ctx.Err() == nil {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			peak.Store(max(peak.Load(), m.HeapInuse+m.StackInuse))
			time.Sleep(5 * time.Millisecond)
		}
	}()
	file, err := os.Create(filepath.Join(t.TempDir(), "artifact.json"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	e, err := Prepare(t.Context(), repo.Dir, ExportOptions{TempDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	n, err := e.WriteTo(file)
	e.Close()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	r, err := Verify(t.Context(), file, VerifyOptions{})
	cancel()
	<-watched
	if err != nil || !r.Passed() || r.FileCount <= count {
		t.Fatalf("%v %+v", err, r)
	}
	if want := int64(count) * int64(size) * 2; n < want {
		t.Errorf("the artifact has %d bytes, fewer than %d", n, want)
	}
	if have := peak.Load(); have > most+uint64(size) {
		t.Errorf("%d MiB were in use for an artifact of %d MiB", have>>20, n>>20)
	} else {
		t.Logf("%d MiB in use at most, the artifact has %d MiB", have>>20, n>>20)
	}
}

// A full disk, or a reader that goes away, is an error and nothing else.
func TestWritingFails(t *testing.T) {
	repo := testrepo.New(t, testrepo.Options{})
	project(t, repo.Dir)
	e, data := exported(t, repo.Dir, ExportOptions{})
	for _, room := range []int{0, 1, 100, len(data) / 2, len(data) - 1} {
		if _, err := e.WriteTo(&tight{room: room}); err != errFull {
			t.Errorf("with room for %d of %d bytes: %v", room, len(data), err)
		}
	}
	var again bytes.Buffer
	if n, err := e.WriteTo(&again); err != nil || int(n) != len(data) || !bytes.Equal(again.Bytes(), data) {
		t.Errorf("afterwards %d bytes, %v", n, err)
	}
	if _, err := Prepare(t.Context(), repo.Dir,
		ExportOptions{TempDir: filepath.Join(repo.Dir, wire.ConfigPath)}); wire.ErrorCode(err) != "io_failed" {
		t.Errorf("without a place for temporary files: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Prepare(ctx, repo.Dir, ExportOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

var errFull = errors.New("no space left")

type tight struct{ room int }

func (w *tight) Write(p []byte) (int, error) {
	if len(p) > w.room {
		n := w.room
		w.room = 0
		return n, errFull
	}
	w.room -= len(p)
	return len(p), nil
}
