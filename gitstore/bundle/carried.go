// The record of a run in an export artifact: a bundle of the refs that a sync transfers.

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
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// carriedRef reports whether an artifact carries a ref: the run's tip, the conflicts from joining two sides, and
// what witnesses signed. Other refs belong to a single clone.
func carriedRef(name, run string) bool {
	return name == git.RunRefPrefix+run || strings.HasPrefix(name, record.ConflictRefPrefix+run+"/") ||
		strings.HasPrefix(name, record.WitnessRefPrefix+run+"/")
}

// CarriedRefs lists the refs of a run that an artifact carries, nothing when the run has no ref.
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

// densest is the highest factor by which the objects of a run shrink when they are packed together (measured: two
// to three).
const densest = 4

// PackRefs returns refs with their whole history as a git bundle. fits is false when the bundle would exceed most
// bytes: git is stopped at that point, or not started if the objects are already too large to fit.
func PackRefs(ctx context.Context, r *git.Repository, refs []git.Ref, most int64) (data []byte, fits bool, err error) {
	disk := []string{"rev-list", "--objects", "--disk-usage"}
	for _, ref := range refs {
		disk = append(disk, ref.Name)
	}
	if out, err := r.Git.Run(ctx, nil, append(disk, "--")...); err == nil { // git before 2.31 does not know the option
		n, err := strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
		if err == nil && n/densest > most {
			return nil, false, nil
		}
	}
	// git before 2.41 accepts "-" as a file only at the top level.
	g := r.Git.In(cmp.Or(r.TopLevel, r.GitDir))
	g.MaxOutput = most
	// The deltas that several threads find depend on their timing.
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

// Head returns the refs that a bundle claims to hold, with their object ids. It reads the head only.
func Head(r io.Reader) ([]git.Ref, error) {
	refs, _, err := parseBundleHead(r)
	return refs, err
}

// CarriedTip returns the newest operation of run among the refs of a bundle in an artifact; all of them must belong
// to that run.
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
		return "", errors.New("it does not have the run")
	}
	return tip, nil
}

// Document returns a document as the newest operation of a run in the bundle recorded it, nil for none.
func (b *Bundle) Document(ctx context.Context, run string, d wire.Document) ([]byte, error) {
	ref := b.ofRun(run)
	if ref == nil {
		return nil, chain.NoRun(run)
	}
	data, _, err := chain.FileAt(ctx, b.Repo, ref.OID, record.DocumentFile(d))
	return data, err
}
