// The tracking refs for a remote's refs, and the refspecs that fetch them.

package transport

import (
	"context"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/archive"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
)

// TrackingRefs is the prefix of git's tracking refs; <remote>/ follows.
const TrackingRefs = "refs/remotes/"

// TrackingPrefix returns the prefix of a remote's runs, ending in a slash.
func TrackingPrefix(remote string) string { return TrackingRefs + remote + "/agentxchain/runs/" }

// IsTracking reports whether a ref is below the TrackingSpace of a remote.
func IsTracking(ref string) bool {
	return strings.HasPrefix(ref, TrackingRefs) && strings.Contains(ref, "/agentxchain/")
}

// TrackingSpace returns the prefix of all tracking refs of ours for a remote, ending in a slash.
func TrackingSpace(remote string) string { return TrackingRefs + remote + "/agentxchain/" }

// TrackingConflicts returns the prefix of a remote's conflicts.
func TrackingConflicts(remote string) string {
	return TrackingRefs + remote + "/agentxchain/conflicts/"
}

// TrackingWitnesses returns the prefix of a remote's witness statements.
func TrackingWitnesses(remote string) string {
	return TrackingRefs + remote + "/agentxchain/witnesses/"
}

// TrackingArchive returns the prefix of a remote's lists of archived runs.
func TrackingArchive(remote string) string {
	return TrackingRefs + remote + "/agentxchain/archive-list/"
}

// runRefspecs returns the lines of remote.<name>.fetch that fetch records into tracking refs. They are forced: a
// tracking ref says where the remote is, even when it went back.
func runRefspecs(remote string) []string {
	return []string{
		"+" + git.RunRefPrefix + "*:" + TrackingPrefix(remote) + "*",
		"+" + record.ConflictRefPrefix + "*:" + TrackingConflicts(remote) + "*",
		"+" + archive.ListPrefix + "*:" + TrackingArchive(remote) + "*",
		"+" + record.WitnessRefPrefix + "*:" + TrackingWitnesses(remote) + "*",
		"+" + record.InitiativeRefPrefix + "*:" + TrackingInitiatives(remote) + "*",
	}
}

// TrackRuns adds the refspecs of runs to a remote, so that a plain git fetch fetches records, and reports whether
// it had to. others are the remote's other refspecs.
func TrackRuns(ctx context.Context, r *git.Repository, remote string) (added bool, others []string, err error) {
	key := "remote." + remote + ".fetch"
	out, err := r.Git.Run(ctx, nil, "config", "--get-all", key)
	if err != nil && git.ExitCode(err) != 1 {
		return false, nil, err
	}
	others = slices.DeleteFunc(strings.Split(string(out), "\n"), func(spec string) bool { return spec == "" })
	for _, spec := range runRefspecs(remote) {
		if i := slices.Index(others, spec); i >= 0 {
			others = slices.Delete(others, i, i+1)
			continue
		}
		if err := r.Configure(ctx, "--add", key, spec); err != nil {
			return added, nil, err
		}
		added = true
	}
	return added, others, nil
}

// TrackingInitiatives returns the prefix of a remote's initiatives, ending in a slash.
func TrackingInitiatives(remote string) string {
	return TrackingRefs + remote + "/agentxchain/" + record.InitiativeNames
}
