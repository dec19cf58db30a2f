package confine

import (
	"errors"
	"testing"
)

// A program that cannot start itself again, and an unknown isolation, get an error instead of a command.
func TestWhatCannotBeHadIsRefused(t *testing.T) {
	for kind, refused := range map[string]bool{
		"":          false,
		None:        false,
		"chroot":    true,
		"Landlock":  true,
		"none ":     true,
		Landlock:    true, // nothing here has called Helper
		User:        true,
		"[object]":  true,
		"bubblewra": true,
	} {
		p := &Plan{Kind: kind, User: "nobody", Protected: []string{t.TempDir()}}
		_, err := p.Wrap(Command{Argv: []string{"true"}, Dir: "/"})
		var u *Unavailable
		if errors.As(err, &u) != refused {
			t.Errorf("%q: %v", kind, err)
		}
	}
}
