#!/bin/sh
# What the scripted model lets an agent do: the work of one turn of the generic template.
# worker.sh RUN TURN ROLE RUNTIME PHASE
set -eu
run=$1 turn=$2 role=$3 runtime=$4 phase=$5
request=null complete=false objections='[]' verification='{"status":"skipped"}'
case $phase in
planning)
	printf '# Roadmap\n\n1. `count.sh` prints the number of words of a file.\n' >.planning/ROADMAP.md
	printf '# Spec\n\n## Purpose\n\nCounts words.\n\n## Interface\n\n`sh count.sh FILE`\n\n## Acceptance Tests\n\n- `sh count_test.sh` ends with 0.\n' >.planning/SYSTEM_SPEC.md
	files='[".planning/ROADMAP.md", ".planning/SYSTEM_SPEC.md"]' next=pm request='"implementation"'
	;;
implementation)
	printf '#!/bin/sh\nexec wc -w "$1"\n' >count.sh
	printf '#!/bin/sh\nprintf "a b\\n" | sh count.sh /dev/stdin | grep -q "2 "\n' >count_test.sh
	sh count_test.sh
	printf '# Notes\n\n## Changes\n\ncount.sh, count_test.sh.\n\n## Verification\n\n`sh count_test.sh` ended with 0.\n' >.planning/IMPLEMENTATION_NOTES.md
	files='[".planning/IMPLEMENTATION_NOTES.md", "count.sh", "count_test.sh"]' next=dev request='"qa"'
	verification='{"status":"pass","commands":["sh count_test.sh"],"evidence_summary":"It ended with 0.","machine_evidence":[{"command":"sh count_test.sh","exit_code":0}]}'
	;;
qa)
	printf '# Matrix\n\n| Req # | Requirement | Acceptance criteria | Test status | Last tested | Status |\n|---|---|---|---|---|---|\n| 1 | count | counts words | pass | today | PASS |\n' >.planning/acceptance-matrix.md
	sed 's/^(.*)$/None; count_test.sh was run again./' .planning/ship-verdict.md >.planning/ship.tmp
	mv .planning/ship.tmp .planning/ship-verdict.md
	printf '# Release notes\n\n## User Impact\n\nWords can be counted.\n\n## Verification Summary\n\ncount_test.sh ended with 0.\n' >.planning/RELEASE_NOTES.md
	files='[".planning/RELEASE_NOTES.md", ".planning/acceptance-matrix.md", ".planning/ship-verdict.md"]' next=qa complete=true
	objections='[{"id":"OBJ-001","severity":"low","statement":"Files without a last line feed were not tried.","status":"raised"}]'
	verification='{"status":"pass","commands":["sh count_test.sh"],"evidence_summary":"It ended with 0.","machine_evidence":[{"command":"sh count_test.sh","exit_code":0}]}'
	;;
esac
[ $complete = true ] || complete=null
mkdir -p ".agentxchain/staging/$turn"
cat >".agentxchain/staging/$turn/turn-result.json" <<EOF
{"schema_version": "1.0", "run_id": "$run", "turn_id": "$turn", "role": "$role", "runtime_id": "$runtime", "status": "completed",
 "summary": "The work of phase $phase is done.", "decisions": [], "objections": $objections, "files_changed": $files,
 "artifacts_created": [], "verification": $verification, "artifact": {"type": "workspace", "ref": "git:dirty"},
 "proposed_next_role": "$next", "phase_transition_request": $request, "run_completion_request": $complete,
 "needs_human_reason": null, "cost": {"input_tokens": 0, "output_tokens": 0, "usd": 0}}
EOF
