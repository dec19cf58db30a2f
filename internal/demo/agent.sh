#!/bin/sh
# A scripted agent, as git agentxchain serve --init writes it: it writes the intent it
# was given into notes.md, says so in its turn result, and asks to go on. Put a real
# agent in its place: agentxchain.json, runtimes.agent.command.
set -eu
turn=$AGENTXCHAIN_TURN_ID
bundle=.agentxchain/dispatch/turns/$turn
field() { sed -n "s/^ *\"$1\": \"\(.*\)\",*\$/\1/p" "$bundle/ASSIGNMENT.json" | head -n 1; }

next=null complete=null
case $(field phase) in
build) next='"ship"' ;;
ship) complete=true ;;
esac
{
	sed -n '/^## Project Goal/,/^## [^P]/p' "$bundle/CONTEXT.md" | sed -e '/^## /d'
	echo "Written by turn $turn in phase $(field phase)."
} >notes.md

cat >".agentxchain/staging/$turn/turn-result.json" <<JSON
{"schema_version": "1.0", "run_id": "$(field run_id)", "turn_id": "$turn", "role": "$(field role)", "runtime_id": "$(field runtime_id)",
 "status": "completed", "summary": "Wrote the intent into notes.md.", "decisions": [], "objections": [],
 "files_changed": ["notes.md"], "artifacts_created": [],
 "verification": {"status": "pass", "commands": ["test -s notes.md"], "evidence_summary": "The file is there.",
  "machine_evidence": [{"command": "test -s notes.md", "exit_code": 0}]},
 "artifact": {"type": "workspace", "ref": null}, "proposed_next_role": "dev",
 "phase_transition_request": $next, "run_completion_request": $complete, "needs_human_reason": null,
 "cost": {"input_tokens": 0, "output_tokens": 0, "usd": 0}}
JSON
echo "wrote notes.md"
