package confine

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func ownerOf(t *testing.T, name string) int {
	t.Helper()
	info, err := os.Lstat(name)
	if err != nil {
		t.Fatal(err)
	}
	return int(info.Sys().(*syscall.Stat_t).Uid)
}

// Only files that an agent may write are given to its user, whatever a still running agent does with names
// meanwhile.
func TestOwnStaysInside(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root gives files away")
	}
	const uid, gid = 54321, 54321
	top := t.TempDir()
	at := func(parts ...string) string { return filepath.Join(append([]string{top}, parts...)...) }
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{at("free", "sub"), at("other")} {
		must(os.MkdirAll(dir, 0o755))
	}
	for _, file := range []string{at("free", "sub", "note"), at("free", "plain"), at("other", "note"),
		at("other", "linked")} {
		must(os.WriteFile(file, []byte("x"), 0o600))
	}
	must(os.Link(at("other", "linked"), at("free", "linked")))
	must(os.Symlink(at("other", "note"), at("free", "away")))
	must(syscall.Mkfifo(at("free", "pipe"), 0o600))
	must(own(at("free"), uid, gid))
	for _, name := range []string{at("free"), at("free", "sub"), at("free", "sub", "note"), at("free", "plain")} {
		if got := ownerOf(t, name); got != uid {
			t.Errorf("%s is of user %d, expected %d", name, got, uid)
		}
	}
	others := []string{at("other"), at("other", "note"), at("other", "linked")}
	unchanged := func() {
		t.Helper()
		for _, name := range others {
			if got := ownerOf(t, name); got != 0 {
				t.Fatalf("%s was given to user %d", name, got)
			}
		}
	}
	unchanged()
	// A directory that becomes a link to another place the next moment.
	must(os.Symlink(at("other"), at("free", "swap")))
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
			}
			_ = os.Rename(at("free", "sub"), at("free", "kept"))
			_ = os.Rename(at("free", "swap"), at("free", "sub"))
			_ = os.Rename(at("free", "sub"), at("free", "swap"))
			_ = os.Rename(at("free", "kept"), at("free", "sub"))
		}
	}()
	done := 0
	for range 2000 {
		if own(at("free"), uid, gid) == nil { // it may refuse files that move during the walk
			done++
		}
	}
	close(stop)
	<-stopped
	unchanged()
	if done == 0 {
		t.Error("nothing was ever given")
	}
}
