// How commits stand to each other.

package gitstore

import (
	"context"
	"strconv"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// HasCommit reports whether the repository holds the commit.
func (r *Repository) HasCommit(ctx context.Context, oid OID) bool {
	if !oid.Valid(r.ObjectFormat) {
		return false
	}
	_, err := r.Git.Run(ctx, nil, "cat-file", "-e", string(oid)+"^{commit}")
	return err == nil
}

// Ancestor reports whether commit old is tip or one that tip goes back to.
func (r *Repository) Ancestor(ctx context.Context, old, tip OID) (bool, error) {
	if old == tip {
		return true, nil
	}
	if !old.Valid(r.ObjectFormat) || !tip.Valid(r.ObjectFormat) || !r.HasCommit(ctx, old) || !r.HasCommit(ctx, tip) {
		return false, nil
	}
	_, err := r.Git.Run(ctx, nil, "merge-base", "--is-ancestor", string(old), string(tip))
	if exitCode(err) == 1 {
		return false, nil
	}
	return err == nil, err
}

// CommitsBetween counts the commits that tip has and old has not.
func (r *Repository) CommitsBetween(ctx context.Context, old, tip OID) (int, error) {
	out, err := r.Git.Run(ctx, nil, "rev-list", "--count", string(old)+".."+string(tip))
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(string(out)))
}

// ChangedBetween names the files of the project that differ between two commits,
// project-relative.
func (r *Repository) ChangedBetween(ctx context.Context, old, tip OID) ([]string, error) {
	out, err := r.Git.Run(ctx, nil, append(append([]string{}, diffArgs...), "--name-only", "-z", string(old), string(tip), "--")...)
	if err != nil {
		return nil, err
	}
	var names []string
	for name := range strings.SplitSeq(string(out), "\x00") {
		if name != "" {
			names = append(names, name)
		}
	}
	return names, nil
}

// ReadConfig returns the bytes of the project's configuration.
func (s *Store) ReadConfig() ([]byte, error) {
	data, err := s.work.root.ReadFile(wire.ConfigPath)
	if err != nil {
		return nil, errorf(CodeUnreadable, err, "%s cannot be read", wire.ConfigPath)
	}
	return data, nil
}
