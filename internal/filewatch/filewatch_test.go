package filewatch

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"
)

func TestWatch(t *testing.T) {
	dir := t.TempDir()
	a, b, sub := filepath.Join(dir, "a"), filepath.Join(dir, "b"), filepath.Join(dir, "sub")
	// A file that is renamed into place changes once; one that is written in place also changes when it is
	// truncated.
	made := t.TempDir()
	write := func(name, data string) {
		t.Helper()
		pending := filepath.Join(made, "pending")
		if err := os.WriteFile(pending, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(pending, name); err != nil {
			t.Fatal(err)
		}
	}
	write(a, "one")
	if err := os.Mkdir(sub, 0o700); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var looks atomic.Int64
	changes := Watch(ctx, time.Millisecond, func() []string {
		looks.Add(1)
		return []string{a, b, sub}
	})
	// A poll is done when the next one begins.
	await := func(n int64) {
		t.Helper()
		for until := looks.Load() + n; looks.Load() < until; {
			time.Sleep(time.Millisecond)
		}
	}
	await(2)
	// told is what the previous expectation received. A directory that changes in the middle of a poll differs in
	// the next one, too, so it may be reported twice.
	var told []string
	expect := func(want ...string) {
		t.Helper()
		var got []string
		for len(got) < len(want) {
			c, ok := <-changes
			if !ok {
				t.Fatalf("the watch ended after %q, want changes of %q", got, want)
			}
			for _, p := range c {
				again := slices.Contains(told, p) && !slices.Contains(want, p)
				if !again && !slices.Contains(got, p) {
					got = append(got, p)
				}
			}
		}
		told = got
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Fatalf("got changes of %q, want %q", got, want)
		}
	}
	write(a, "longer")
	expect(a)
	write(b, "new")
	expect(b)
	if err := os.Remove(b); err != nil {
		t.Fatal(err)
	}
	expect(b)
	write(filepath.Join(sub, "x"), "1")
	expect(sub)
	write(filepath.Join(sub, "x"), "12")
	expect(sub)
	// Changes without a receiver are reported later.
	write(a, "again and longer")
	write(b, "new")
	await(20)
	expect(a, b)
	cancel()
	for range changes {
	}
}
