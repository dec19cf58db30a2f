// The names under which the refs of a remote are seen here, and the refspecs that bring them.

package transport

import (
	"context"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/archive"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
)

// TrackingRefs is where git sees the refs of remotes: below it <remote>/.
const TrackingRefs = "refs/remotes/"

// TrackingPrefix is where the runs of a remote are seen, ending in a slash.
func TrackingPrefix(remote string) string { return TrackingRefs + remote + "/agentxchain/runs/" }

// IsTracking reports a name below the TrackingSpace of a remote.
func IsTracking(ref string) bool {
	return strings.HasPrefix(ref, TrackingRefs) && strings.Contains(ref, "/agentxchain/")
}

// TrackingSpace is where all is seen that a remote has of ours, ending in a slash.
func TrackingSpace(remote string) string { return TrackingRefs + remote + "/agentxchain/" }

// TrackingConflicts is the same for conflicts.
func TrackingConflicts(remote string) string {
	return TrackingRefs + remote + "/agentxchain/conflicts/"
}

// TrackingWitnesses is the same for what witnesses said.
func TrackingWitnesses(remote string) string {
	return TrackingRefs + remote + "/agentxchain/witnesses/"
}

// TrackingArchive is the same for the lists of archived runs.
func TrackingArchive(remote string) string {
	return TrackingRefs + remote + "/agentxchain/archive-list/"
}

// RunRefspecs are the lines of remote.<name>.fetch that bring records into tracking names.
// They are forced: a tracking name says where the remote is, also when it went back.
func RunRefspecs(remote string) []string {
	return []string{
		"+" + git.RunRefPrefix + "*:" + TrackingPrefix(remote) + "*",
		"+" + record.ConflictRefPrefix + "*:" + TrackingConflicts(remote) + "*",
		"+" + archive.ListPrefix + "*:" + TrackingArchive(remote) + "*",
		"+" + record.WitnessRefPrefix + "*:" + TrackingWitnesses(remote) + "*",
		"+" + record.InitiativeRefPrefix + "*:" + TrackingInitiatives(remote) + "*",
	}
}

// TrackRuns adds the refspecs of runs to a remote, so that a plain git fetch brings
// records, and reports whether it had to. others are the remote's refspecs that are not
// of runs.
func TrackRuns(ctx context.Context, r *git.Repository, remote string) (added bool, others []string, err error) {
	key := "remote." + remote + ".fetch"
	out, err := r.Git.Run(ctx, nil, "config", "--get-all", key)
	if err != nil && git.ExitCode(err) != 1 {
		return false, nil, err
	}
	others = slices.DeleteFunc(strings.Split(string(out), "\n"), func(spec string) bool { return spec == "" })
	for _, spec := range RunRefspecs(remote) {
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

// TrackingInitiatives is where the initiatives of a remote are seen, ending in a slash.
func TrackingInitiatives(remote string) string {
	return TrackingRefs + remote + "/agentxchain/" + record.InitiativeNames
}
