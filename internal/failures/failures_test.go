package failures

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"
)

type coded struct{ code string }

func (c *coded) Error() string { return c.code }

func TestAll(t *testing.T) {
	if err := All(); err != nil {
		t.Errorf("no errors: %v, want nil", err)
	}
	if err := All(nil, nil); err != nil {
		t.Errorf("no failures: %v, want nil", err)
	}
	one := &coded{"one"}
	if err := All(nil, one, nil); err != error(one) {
		t.Errorf("one failure: %#v, want itself", err)
	}
	err := All(fs.ErrNotExist, nil, All(one, errors.New("two")))
	if got, want := err.Error(), "file does not exist; one; two"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	var c *coded
	if !errors.Is(err, fs.ErrNotExist) || !errors.As(err, &c) || c != one || errors.Is(err, fs.ErrExist) {
		t.Error("the failures cannot be told apart in what collects them")
	}
	wrapped := fmt.Errorf("while writing: %w", err)
	if !errors.As(wrapped, &c) || !errors.Is(wrapped, fs.ErrNotExist) {
		t.Error("the failures cannot be found behind a wrapper")
	}
}

func TestManyAreCut(t *testing.T) {
	errs := make([]error, 1000)
	for i := range errs {
		errs[i] = fmt.Errorf("e%d", i)
	}
	if got, want := All(errs...).Error(), "e0; e1; e2; e3; e4; e5; e6; e7; e8; e9; and 990 more"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestRemedy(t *testing.T) {
	for err, want := range map[error]string{
		&fs.PathError{Op: "open", Path: "x", Err: fs.ErrPermission}: "look at the owner and mode of x ",
		&fs.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}:  "the file system of x is full",
		&fs.PathError{Op: "open", Path: "x", Err: syscall.EROFS}:    "x is on a file system that is mounted read-only",
	} {
		if got := Remedy("x", err); !strings.HasPrefix(got, want) {
			t.Errorf("%v: %q, want %q first", err, got, want)
		}
	}
	if got := Remedy("x", fs.ErrNotExist); got != "" {
		t.Errorf("a missing file: %q", got)
	}
	if got := Remedy("", fs.ErrPermission); !strings.Contains(got, "of the file and of its directory") {
		t.Errorf("a file that is not named: %q", got)
	}
}
