// The record of a run as an export artifact carries it: a bundle of the refs that a sync
// brings.

package bundle

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
)

// carriedRef reports a ref that an artifact carries: where the run stands, what did not
// hold when two sides were joined, what witnesses signed. The others are of one clone.
func carriedRef(name, run string) bool {
	return name == git.RunRefPrefix+run || strings.HasPrefix(name, record.ConflictRefPrefix+run+"/") ||
		strings.HasPrefix(name, record.WitnessRefPrefix+run+"/")
}

// CarriedRefs lists what an artifact carries of a run, nothing when it has no ref.
func CarriedRefs(ctx context.Context, r *git.Repository, run string) ([]git.Ref, error) {
	refs, err := Refs(ctx, r, run)
	if err != nil {
		return nil, err
	}
	refs = slices.DeleteFunc(refs, func(ref git.Ref) bool { return !carriedRef(ref.Name, run) })
	if !slices.ContainsFunc(refs, func(ref git.Ref) bool { return ref.Name == git.RunRefPrefix+run }) {
		return nil, nil
	}
	return refs, nil
}

// densest is how many times smaller the objects of a run become at most when they are
// packed together (a half to a third was measured).
const densest = 4

// PackRefs returns refs with their whole history as a git bundle. fits is false when it
// would have more than most bytes: git is stopped there, or not begun when the objects take
// so much now that they cannot fit.
func PackRefs(ctx context.Context, r *git.Repository, refs []git.Ref, most int64) (data []byte, fits bool, err error) {
	disk := []string{"rev-list", "--objects", "--disk-usage"}
	for _, ref := range refs {
		disk = append(disk, ref.Name)
	}
	if out, err := r.Git.Run(ctx, nil, append(disk, "--")...); err == nil { // git before 2.31 cannot tell
		n, err := strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
		if err == nil && n/densest > most {
			return nil, false, nil
		}
	}
	// Below the top git before 2.41 takes - for a file.
	g := r.Git.In(cmp.Or(r.TopLevel, r.GitDir))
	g.MaxOutput = most
	// What several threads find to be alike depends on which is faster.
	args := []string{"-c", "pack.threads=1", "bundle", "create", "--quiet", "-"}
	for _, ref := range refs {
		args = append(args, ref.Name)
	}
	data, err = g.Run(ctx, nil, args...)
	if fail.CodeOf(err) == fail.CodeOutputTooLarge {
		return nil, false, nil
	}
	return data, err == nil, err
}

// Head reads which refs a bundle says to hold, and where they are. Only its head is
// looked at.
func Head(r io.Reader) ([]git.Ref, error) {
	refs, _, err := parseBundleHead(r)
	return refs, err
}

// CarriedTip is the newest operation of run among the refs of a bundle that an artifact
// carries; all of them must belong to that run.
func CarriedTip(refs []git.Ref, run string) (object.OID, error) {
	tip := object.OID("")
	for _, ref := range refs {
		if !carriedRef(ref.Name, run) {
			return "", fmt.Errorf("it holds the ref %.200q, which is none that an artifact of this run carries",
				ref.Name)
		}
		if ref.Name == git.RunRefPrefix+run {
			tip = ref.OID
		}
	}
	if tip == "" {
		return "", errors.New("it does not hold the run")
	}
	return tip, nil
}

// State is state.json as the newest operation of a run in the bundle recorded it.
func (b *Bundle) State(ctx context.Context, run string) ([]byte, error) {
	ref := b.ofRun(run)
	if ref == nil {
		return nil, chain.NoRun(run)
	}
	data, _, err := chain.FileAt(ctx, b.Repo, ref.OID, record.FileState)
	return data, err
}
