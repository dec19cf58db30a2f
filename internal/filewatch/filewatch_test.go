package filewatch

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

func TestWatch(t *testing.T) {
	dir := t.TempDir()
	a, b, sub := filepath.Join(dir, "a"), filepath.Join(dir, "b"), filepath.Join(dir, "sub")
	write := func(name, data string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(a, "one")
	if err := os.Mkdir(sub, 0o700); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	looked := make(chan struct{}, 1000)
	changes := Watch(ctx, time.Millisecond, func() []string {
		select {
		case looked <- struct{}{}:
		default:
		}
		return []string{a, b, sub}
	})
	<-looked
	<-looked // the first look is done when the second begins
	expect := func(want ...string) {
		t.Helper()
		var got []string
		for len(got) < len(want) {
			select {
			case c, ok := <-changes:
				if !ok {
					t.Fatal("it has ended")
				}
				for _, p := range c {
					if !slices.Contains(got, p) {
						got = append(got, p)
					}
				}
			case <-time.After(10 * time.Second):
				t.Fatalf("%q were told of, %q were changed", got, want)
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Fatalf("%q were told of, %q were changed", got, want)
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
	// What happens without a receiver is told afterwards.
	write(a, "again and longer")
	write(b, "new")
	for range 20 {
		<-looked
	}
	expect(a, b)
	cancel()
	for range changes {
	}
}
