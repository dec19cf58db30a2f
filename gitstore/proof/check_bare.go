// Fsck of a repository without a work tree, such as one on a server.

package proof

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/archive"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
)

// bare reports a check without a work tree.
func (f *checker) bare() bool { return f.tree == nil }

// inClone adds to a command that needs a work tree where to run it.
func (f *checker) inClone(command string) string {
	if f.bare() {
		return "in a clone: " + command
	}
	return command
}

// withKept adds the archived runs that a server keeps to those that have refs of their own here.
func (f *checker) withKept(past map[string]object.OID) error {
	list, err := archive.ReadAll(f.ctx, f.repo, archive.KeepPrefix)
	if err != nil {
		return f.fault("", "", err)
	}
	live, err := f.repo.Tips(f.ctx, git.RunRefPrefix)
	if err != nil {
		return err
	}
	for run, e := range list {
		if live[run] == "" && past[run] == "" {
			past[run] = object.OID(e.Op)
		}
	}
	return nil
}

// unkept finds archived runs that the server lists but does not keep.
func (f *checker) unkept(list archive.List, have []git.Ref) {
	here := make(map[string]bool, len(have))
	for _, ref := range have {
		here[strings.TrimPrefix(ref.Name, git.RunRefPrefix)] = true
	}
	for _, run := range slices.Sorted(maps.Keys(list)) {
		if e := list.Archived(run); e != nil && !here[run] {
			f.absent(run, fmt.Sprintf("run %s is archived at operation %s, and this repository does not keep it", run,
				object.OID(e.Op).Short()))
		}
	}
}

// goBack returns the command that moves a run on a server back to the last valid operation, and keeps what it
// drops.
func goBack(run string, good, tip object.OID) string {
	ref := git.RunRefPrefix + run
	return "git update-ref " + record.LostRefPrefix + run + "/" + string(tip) + " " + ref + " && git update-ref " +
		ref + " " + string(good)
}
