// Normalisation rules N1-N10, N18, N19, N23: members that are missing, renamed or nearly of the right shape.

package result

import (
	"fmt"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// N1: the turn id proves which assignment is meant; a wrong run id beside it is a slip. It is not repaired when the
// turn itself belongs to another run.
func (n *normalizer) runID() {
	if n.in.State == nil || n.in.Turn == nil {
		return
	}
	run, turn := n.in.State.Run(), n.in.Turn
	if run == "" || turn.TurnID == "" || n.doc.String("turn_id") != turn.TurnID {
		return
	}
	if turn.RunID != "" && turn.RunID != run {
		return
	}
	if wire.Trim(n.doc.String("run_id")) != run {
		n.set("run_id", run, "run_id_rewritten_from_active_turn_context")
	}
}

// N2. The value in the event represents a list that may be long.
func (n *normalizer) filesModified() {
	if n.doc.Has("files_changed") {
		return
	}
	if files, ok := n.get("files_modified").([]any); ok {
		n.doc.Delete("files_modified")
		n.doc.Set("files_changed", files)
		n.changed("files_changed", nil, "(renamed from files_modified)", "files_modified_renamed_to_files_changed")
	}
}

// N3, N4.
func (n *normalizer) missingArrays() {
	for _, m := range []string{"decisions", "objections"} {
		if !n.doc.Has(m) {
			n.set(m, []any{}, "missing_"+m+"_array_defaulted")
		}
	}
}

// N5.
func (n *normalizer) runtimeID() {
	if t := n.in.Turn; t != nil && t.RuntimeID != "" && falsy(n.get("runtime_id")) {
		n.set("runtime_id", t.RuntimeID, "missing_runtime_id_defaulted_from_context")
	}
}

// N6.
func (n *normalizer) summary() {
	v := n.get("summary")
	if s, ok := v.(string); !falsy(v) && (!ok || !wire.Blank(s)) {
		return
	}
	who := n.doc.String("role")
	if who == "" {
		who = "agent"
	}
	text, source := who+" turn completed", "fallback"
	if nonBlank(n.get("milestone_title")) {
		text, source = n.doc.String("milestone_title"), "milestone_title"
	} else if nonBlank(n.get("milestone")) {
		text, source = who+" turn for "+n.doc.String("milestone"), "milestone"
	}
	n.set("summary", text, "missing_summary_synthesized_from_"+source)
}

// inferredArtifact returns the artifact type that the declared files suggest.
func (n *normalizer) inferredArtifact() string {
	if len(n.doc.Array("files_changed")) > 0 {
		return "workspace"
	}
	return "review"
}

// N7.
func (n *normalizer) missingArtifact() {
	if n.doc.Object("artifact") == nil {
		n.set("artifact", ojson.NewObject("type", n.inferredArtifact()),
			"missing_artifact_inferred_from_files_changed")
	}
}

// N8.
func (n *normalizer) missingNextRole() {
	if !falsy(n.get("proposed_next_role")) {
		return
	}
	next := n.preferredNext()
	if next == "" {
		next = "pm"
	}
	n.set("proposed_next_role", next, "missing_proposed_next_role_defaulted")
}

// N9.
func (n *normalizer) statusSynonym() {
	s, ok := n.get("status").(string)
	if !ok || isResultStatus(s) {
		return
	}
	switch strings.ToLower(s) {
	case "complete", "success", "done":
		n.set("status", wire.ResultCompleted, "status_synonym_rewritten")
	case "error", "failure":
		n.set("status", wire.ResultFailed, "status_synonym_rewritten")
	}
}

// N10.
func (n *normalizer) fileObjects() {
	files := n.array("files_changed")
	coerced := false
	for i := range files {
		if o, ok := files[i].(*ojson.Object); ok {
			if p, ok := o.Get("path"); ok {
				if s, ok := p.(string); ok {
					files[i], coerced = s, true
				}
			}
		}
	}
	if coerced {
		n.changed("files_changed", "(object entries)", "(path strings)", "files_changed_object_to_string")
	}
}

// N18.
func (n *normalizer) missingArtifactType() {
	a := n.doc.Object("artifact")
	if a == nil || a.Has("type") {
		return
	}
	t := n.inferredArtifact()
	a.Set("type", t)
	n.changed("artifact.type", nil, t, "artifact_type_inferred_from_files_changed")
}

// N19: a workspace artifact without any file is read as a review when the rest
// of the result shows that nothing was meant to change.
func (n *normalizer) emptyWorkspace() {
	a := n.doc.Object("artifact")
	files, isArray := n.get("files_changed").([]any)
	if a == nil || a.String("type") != "workspace" || !isArray || len(files) > 0 ||
		hasCheckpointable(n.doc.Object("verification")) {
		return
	}
	status := n.doc.String("status")
	meant := n.in.NormalizeReview ||
		n.doc.Bool("run_completion_request") || nonBlank(n.get("phase_transition_request")) ||
		n.authority == wire.ReviewOnly && status == wire.ResultCompleted ||
		status == wire.ResultNeedsHuman && n.doc.String("proposed_next_role") == "human"
	if !meant {
		return
	}
	const why = "empty_files_changed_no_repo_mutation_declared"
	ref, _ := a.Get("ref")
	turnRef := "turn:" + n.doc.String("turn_id")
	a.Set("type", "review")
	n.changed("artifact.type", "workspace", "review", why)
	a.Set("ref", turnRef)
	n.changed("artifact.ref", ref, turnRef, why)
}

// hasCheckpointable reports whether a produced file counts as the turn's work.
func hasCheckpointable(verification *ojson.Object) bool {
	for _, f := range verification.Objects("produced_files") {
		if !nonBlank(f.Value("path")) {
			continue
		}
		if d, _ := f.Get("disposition"); d == nil || d == "artifact" {
			return true
		}
	}
	return false
}

// N23.
func (n *normalizer) artifactObjects() {
	items := n.array("artifacts_created")
	for i := range items {
		o, ok := items[i].(*ojson.Object)
		if !ok {
			continue
		}
		s := o.String("path")
		if s == "" {
			s = o.String("name")
		}
		if s == "" {
			s = string(ojson.Compact(o))
		}
		items[i] = s
		n.changed(fmt.Sprintf("artifacts_created[%d]", i), o, s, "artifacts_created_object_to_string")
	}
}
