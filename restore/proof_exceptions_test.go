// Where our verdict on an artifact differs from the reference's, and why.

package restore

import "strings"

type exception struct {
	name   string // of the mutant; a trailing * stands for anything
	ours   string // our paths, "*" for any
	reason string
	used   bool
}

// fits reports whether a verdict matches the exception: one that does not pass.
func (x *exception) fits(have string) bool { return x.ours == have || x.ours == "*" && have != "" }

const (
	itCrashes  = "The reference ends with a stack trace. We report what follows from what is there."
	strict     = "The reference's decoder passes over characters that are not base64 and unused bits, so that one content has many spellings and text can hide in it. We take the standard one only, and report one finding for it."
	twice      = "The reference's parser lets the last of two members with one name count. Another reader may take the first, so that it is no artifact to rely on."
	noISO      = "The reference takes what JavaScript's Date guesses at, days no calendar has included, where its own message demands an ISO time."
	formOnly   = "The reference checks the form of the order of phases. The order is that of the configuration's routing, which the artifact has."
	notMembers = "The reference counts the characters of a text as if they were members. The text is reported where it does not belong."
)

// exceptions is the complete list; docs/export.md says the same in words. Add to it only with the reason why the
// reference is wrong.
var exceptions = []exception{
	{name: "run summary/repo_decisions removed", ours: "summary.repo_decisions", reason: itCrashes},
	{name: "run files removed", ours: withoutFiles, reason: itCrashes},
	{name: "run files null", ours: withoutFiles, reason: itCrashes},
	{name: "run files text", ours: withoutFiles, reason: itCrashes},
	{name: "initiative repos/api/export/files removed", ours: "*", reason: itCrashes},
	{name: "initiative repos/api/export/files null", ours: "*", reason: itCrashes},
	{name: "initiative repos/api/export/files text", ours: "*", reason: itCrashes},
	{
		name:   "initiative summary/aggregated_events/repos_with_events object",
		ours:   "summary.aggregated_events.repos_with_events",
		reason: itCrashes,
	},
	{name: "history: an entry that is null", ours: otherChains, reason: itCrashes},
	{name: `history: {"turn_id":"t","role":"pm","delegations_issued":[null]}`, ours: otherChains, reason: itCrashes},
	{
		name:   "decisions: null",
		ours:   "summary.repo_decisions.total summary.repo_decisions.active_count summary.repo_decisions.overridden_count summary.repo_decisions.active summary.repo_decisions.overridden summary.repo_decisions.operator_summary",
		reason: itCrashes,
	},
	{
		name:   `document {"export_kind":"agentxchain_run_export","files":null,"summary":{},"state":{}}`,
		ours:   "*",
		reason: itCrashes,
	},

	{
		name:   "run files/.agentxchain/state.json/content_base64 longer",
		ours:   "files..agentxchain/state.json",
		reason: strict,
	},
	{
		name:   "run files/.agentxchain/history.jsonl/content_base64 longer",
		ours:   "files..agentxchain/history.jsonl",
		reason: strict,
	},
	{name: "run files/TALK.md/content_base64 longer", ours: "files.TALK.md", reason: strict},
	{
		name:   "initiative files/.agentxchain/multirepo/state.json/content_base64 longer",
		ours:   "files..agentxchain/multirepo/state.json",
		reason: strict,
	},
	{name: "TALK.md in base64 *", ours: "files.TALK.md", reason: strict},

	{name: "run in a repository of an initiative twice", ours: unreadable, reason: twice},
	{name: "path twice, the last counts", ours: unreadable, reason: twice},
	{name: "member twice, the last counts", ours: unreadable, reason: twice},
	{name: "member twice, the last is wrong", ours: unreadable, reason: twice},

	{name: "exported at *", ours: "exported_at", reason: noISO},

	{name: "run config/routing*", ours: "config summary.workflow_phase_order", reason: formOnly},
	{name: "initiative config/routing*", ours: "summary.workflow_phase_order config", reason: formOnly},
	{name: "run summary/workflow_phase_order *", ours: "summary.workflow_phase_order", reason: formOnly},
	{name: "initiative summary/workflow_phase_order *", ours: "summary.workflow_phase_order", reason: formOnly},

	{name: "run state/retained_turns text", ours: "state", reason: notMembers},
	{name: "initiative config/workstreams text", ours: "coordinator.workstream_count config", reason: notMembers},
}

const (
	withoutFiles = "files config state summary.history_entries summary.dispatch_artifact_files summary.intake_present summary.delegation_summary summary.repo_decisions"
	otherChains  = "summary.delegation_summary.total_delegations_issued summary.delegation_summary.delegation_chains"
)

func exceptionFor(name string) *exception {
	for i := range exceptions {
		x := &exceptions[i]
		if prefix, ok := strings.CutSuffix(x.name, "*"); x.name == name || ok && strings.HasPrefix(name, prefix) {
			return x
		}
	}
	return nil
}
