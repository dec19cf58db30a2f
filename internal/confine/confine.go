// Running an agent so that it cannot write files that are not its own.

package confine

import (
	"fmt"
	"slices"
)

// Kinds of isolation, as agentxchain.json names them.
const (
	None       = "none"
	User       = "user"       // another user of this machine, who may not write to the files
	Bubblewrap = "bubblewrap" // a mount namespace in which they are read-only
	Landlock   = "landlock"   // the kernel refuses writes to them
)

// Kinds returns the kinds of isolation other than none.
func Kinds() []string { return []string{User, Bubblewrap, Landlock} }

// Plan says how to protect which files from a program. Paths are absolute.
type Plan struct {
	Kind      string
	User      string   // kind user: the user to run the program as
	Protected []string // files and directories it must not change; missing ones are skipped
	Writable  []string // directories below protected ones that it may write nevertheless
}

// Command is a program with the way to start it.
type Command struct {
	Argv []string
	Env  []string // "NAME=value"
	Dir  string
}

// Unavailable means that an isolation is not available on this machine or for these files.
type Unavailable struct {
	Kind, Why, Hint string
}

func (u *Unavailable) Error() string {
	return fmt.Sprintf("isolation %s cannot be had here: %s", u.Kind, u.Why)
}

// Wrap returns the command that starts c under the plan. The error is an *Unavailable.
func (p *Plan) Wrap(c Command) (Command, error) {
	if p == nil || p.Kind == "" || p.Kind == None {
		return c, nil
	}
	if !slices.Contains(Kinds(), p.Kind) {
		return c, &Unavailable{
			Kind: p.Kind,
			Why:  "it is none of user, bubblewrap, landlock",
			Hint: "git agentxchain validate",
		}
	}
	if len(c.Argv) == 0 {
		return c, &Unavailable{Kind: p.Kind, Why: "no program is named"}
	}
	return p.wrap(c)
}

func unavailable(kind, hint, format string, args ...any) *Unavailable {
	return &Unavailable{
		Kind: kind,
		Why:  fmt.Sprintf(format, args...),
		Hint: hint,
	}
}
