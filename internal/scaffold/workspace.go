// The workspace of an initiative: its agentxchain-multi.json and the files that git need not see.

package scaffold

import (
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// Workspace is an initiative to lay out (docs/coordinator.md#the-configuration).
type Workspace struct {
	ID, Name string
	Repos    []Repo   // at least one
	Phases   []string // phases of the repositories, at least one
	Approver string   // e-mail address of the approver of gates; "" is any person
}

// Repo is a repository of a Workspace.
type Repo struct {
	ID   string
	Path string // relative to the workspace, with slashes, or absolute
}

// Config returns the agentxchain-multi.json: a workstream for each phase, which ends once each repository has
// accepted a turn; the initiative ends once all of them have.
func (w Workspace) Config() []byte {
	obj := ojson.NewObject
	repos, streams, routing := obj(), obj(), obj()
	ids := make([]string, len(w.Repos))
	for i, r := range w.Repos {
		ids[i] = r.ID
		repos.Set(r.ID, obj("path", r.Path))
	}
	before := []string{}
	for _, phase := range w.Phases {
		streams.Set(phase, obj("phase", phase, "repos", ids, "entry_repo", ids[0], "depends_on", before,
			"completion_barrier", "all_repos_accepted"))
		routing.Set(phase, obj("entry_workstream", phase))
		before = []string{phase}
	}
	out := obj("schema_version", "0.1", "project", obj("id", w.ID, "name", w.Name), "repos", repos,
		"workstreams", streams, "routing", routing, "gates", obj("initiative_ship", obj("requires_repos", ids)))
	if approver := strings.TrimSpace(w.Approver); approver != "" {
		gates := obj()
		if len(w.Phases) > 1 {
			gates.Set("phase_transition", obj("by", "maintainers", "signed", false))
		}
		gates.Set("initiative_ship", obj("by", "maintainers", "signed", false))
		out.Set("authority", obj("approvers",
			obj("maintainers", obj("principals", []string{approver}, "threshold", 1)), "gates", gates))
	}
	return ojson.Pretty(out)
}

// MergeWorkspaceIgnore is MergeIgnore for the workspace of an initiative.
func MergeWorkspaceIgnore(existing []byte) []byte {
	return mergeBlock(existing, ignoreMarker, []blockGroup{{
		"# the initiative's state and ledgers, also kept under refs/agentxchain/", []string{".agentxchain/multirepo/"},
	}}, decided)
}
