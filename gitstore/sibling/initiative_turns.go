// Notes in a repository's git directory of the turns that an initiative assigned, so that another initiative over
// the same clone does not mistake them for turns that a person ran (docs/siblings.md).

package sibling

import (
	"errors"
	"os"
	"strings"
	"syscall"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
)

// initiativesDir holds a file for each initiative, named by its super run, with one turn id per line.
const initiativesDir = "agentxchain/initiatives"

// Limits on reading them.
const (
	maxInitiatives     = 256
	maxInitiativeTurns = 1 << 20 // bytes of one file
)

// NoteTurn notes that a super run assigned a turn.
func NoteTurn(r *git.Repository, superRun, turn string) error {
	if !record.FileSafe(superRun) || !record.FileSafe(turn) {
		return fail.Errorf(fail.CodeBadRefName, nil, "%q or %q is not an id", superRun, turn)
	}
	root, err := os.OpenRoot(r.CommonDir)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	if err := root.MkdirAll(initiativesDir, 0o777); err != nil {
		return err
	}
	f, err := root.OpenFile(initiativesDir+"/"+superRun, os.O_WRONLY|os.O_APPEND|os.O_CREATE|syscall.O_NONBLOCK, 0o666)
	if err != nil {
		return err
	}
	_, err = f.WriteString(turn + "\n")
	return errors.Join(err, f.Sync(), f.Close())
}

// InitiativeTurns returns the turns that initiatives have assigned here, each with its super run. It skips what it
// cannot read.
func (x *Clone) InitiativeTurns() map[string]string {
	out := make(map[string]string)
	if x.git == nil {
		return out
	}
	dir, err := x.git.Root.Open(initiativesDir)
	if err != nil {
		return out // the usual case
	}
	names, _ := dir.Readdirnames(maxInitiatives)
	_ = dir.Close()
	for _, superRun := range names {
		data, _, ok, err := x.git.Read(initiativesDir+"/"+superRun, maxInitiativeTurns)
		if err != nil || !ok {
			continue
		}
		for turn := range strings.Lines(string(data)) {
			out[strings.TrimSuffix(turn, "\n")] = superRun
		}
	}
	return out
}
