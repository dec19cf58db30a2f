//go:build unix

package projectfile

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestAPipeInTheFilesPlaceKeepsNoReader: a process that can write the file can replace it with a pipe between check
// and open.
func TestAPipeInTheFilesPlaceKeepsNoReader(t *testing.T) {
	root := t.TempDir()
	name, file, pipe := filepath.Join(root, "f"), filepath.Join(root, "file"), filepath.Join(root, "pipe")
	if err := os.WriteFile(name, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-end:
				return
			default:
			}
			_ = os.WriteFile(file, []byte("x"), 0o600)
			_ = os.Rename(file, name)
			_ = os.Link(pipe, file)
			_ = os.Rename(file, name)
		}
	}()
	for range 20_000 {
		if data, err := Read(root, "f", 10); err == nil && string(data) != "x" && len(data) > 0 {
			t.Fatalf("read %q", data)
		}
	}
	close(end)
	<-ended
}
