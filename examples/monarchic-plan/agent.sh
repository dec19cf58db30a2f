#!/bin/sh
# A stand-in for an agent: it does the task it was given by writing its goal into
# work/TASK.md, and says so in its turn result. Real agents read PROMPT.md instead.
set -eu
turn=$AGENTXCHAIN_TURN_ID
bundle=.agentxchain/dispatch/turns/$turn
field() { sed -n "s/^ *\"$1\": \"\(.*\)\",*\$/\1/p" "$bundle/ASSIGNMENT.json" | head -n 1; }

task=$(field charter_id)
mkdir -p work
printf '# %s\n\n%s\n' "$task" "$(field charter)" >"work/$task.md"

objections='[]'
if [ "$(field write_authority)" = review_only ]; then
	objections='[{"id": "OBJ-001", "severity": "low", "statement": "Only a stand-in has looked.", "status": "raised"}]'
fi
cat >".agentxchain/staging/$turn/turn-result.json" <<JSON
{"schema_version": "1.0", "run_id": "$(field run_id)", "turn_id": "$turn", "role": "$(field role)", "runtime_id": "$(field runtime_id)",
 "status": "completed", "summary": "Did task $task.", "decisions": [], "objections": $objections,
 "files_changed": ["work/$task.md"], "artifacts_created": [],
 "verification": {"status": "pass", "commands": ["test -s work/$task.md"], "evidence_summary": "The file is there.",
  "machine_evidence": [{"command": "test -s work/$task.md", "exit_code": 0}]},
 "artifact": {"type": "workspace", "ref": null}, "proposed_next_role": "human",
 "phase_transition_request": null, "run_completion_request": false, "needs_human_reason": null, "cost": {"usd": 0}}
JSON
echo "task $task is done"
