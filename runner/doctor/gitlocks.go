// Git's lock files, and packs that a killed command held.

package doctor

import (
	"context"
	"path/filepath"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
)

// lockPatience is how old one of git's locks must be before it is worth a warning: git holds one
// for moments, or while a person writes a message.
const lockPatience = 10 * time.Second

// gitLocks reports lock files in the git directory. --fix removes those that provably belong to a
// killed git that git agentxchain had started; any other may be in use, and the person is told how
// to judge it.
func (d *doctor) gitLocks(ctx context.Context) {
	repo := d.rec.Repository()
	if d.fix {
		var done []string
		err := d.r.Alone(func(s *gitstore.Store) (err error) {
			done, err = s.SweepLocks(ctx, 0)
			return err
		})
		if err != nil && fail.CodeOf(err) != fail.CodeLocked { // its owner was already named
			d.failed("lock", err, "git agentxchain doctor --fix")
		}
		for _, n := range done {
			d.add("lock", LevelWarning, "done", "%s", n).Mended = true
		}
	}
	found := false
	for _, l := range repo.GitLocks() {
		found = true
		path, age := d.nameFile(l.Path), l.Age.Round(time.Second)
		switch {
		case l.Left:
			fix := "nothing to do, the next command removes it; at once: git agentxchain doctor --fix"
			if d.fix {
				fix = "end the git that is at work here, then: git agentxchain doctor --fix"
			}
			d.add("lock", LevelWarning, fix, "%s was left behind by a git of %s, which was killed; it is %s old", path,
				l.Owner, age)
		case l.Owner != "":
			d.add("lock", LevelNote, "", "a git of %s holds %s", l.Owner, path)
		case l.Age < lockPatience:
			d.add("lock", LevelNote, "", "another git holds %s, or was killed a moment ago and left it behind", path)
		default:
			d.add("lock", LevelWarning, "see with ps whether a git is at work here; if none is: rm "+shellWord(l.Path),
				"%s is %s old and not of git agentxchain: while it is there git refuses what needs it", path, age)
		}
	}
	for _, h := range repo.StaleHolds(false) {
		found = true
		d.add("lock", LevelNote,
			"nothing to do, the next command releases it; at once: git agentxchain doctor --fix",
			"%s was killed and still holds a pack (%s)", h.By, d.nameFile(h.Path))
	}
	if !found {
		d.ok("lock", "no git process has left a lock behind")
	}
}

// nameFile returns the name under which a person would look for a file of the repository.
func (d *doctor) nameFile(name string) string {
	rel, err := filepath.Rel(d.rec.Repository().TopLevel, name)
	if err != nil || strings.HasPrefix(rel, "..") {
		return name
	}
	return filepath.ToSlash(rel)
}
