// The list of tools.

package mcpserver

import (
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/ledger"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

func tools() []tool {
	turn := turnArgument()
	phrase := func(name, about string, required bool) argument {
		return argument{name: name, kind: typeText, about: about, required: required}
	}
	return []tool{
		{
			name:  "agentxchain_status",
			about: "Where the run stands: phase, active turns, pending gates, what it is blocked on, the next step.",
			reads: true,
			call:  status,
		},
		{
			name:  "agentxchain_assign_turn",
			about: "Get the next turn, with its instructions and a template of its result. Starts a run when there is none.",
			call:  assign,
			args: []argument{{
				name:  "role",
				kind:  typeText,
				about: "Role that works; left out, the run decides.",
				most:  200,
			}},
		},
		{
			name:  "agentxchain_turn_instructions",
			about: "Prompt, context and result template of an active turn, as they were sealed.",
			reads: true,
			call:  turnInstructions,
			args:  []argument{turn},
		},
		{
			name:  "agentxchain_stage_result",
			about: "Hand in the result of an active turn, in place of an earlier one. Nothing is accepted yet.",
			call:  stage,
			args: []argument{{
				name:     "result",
				kind:     typeObject,
				about:    "The turn result: a JSON object as the turn's prompt describes it.",
				required: true,
			}, turn},
		},
		{
			name:  "agentxchain_verify_turn",
			about: "Check the staged result through the five stages of validation. Nothing is run and nothing recorded.",
			reads: true,
			call:  verify,
			args:  []argument{turn},
		},
		{
			name:  "agentxchain_accept_turn",
			about: "Have the staged result accepted, or refused with reasons that a corrected result can answer.",
			call:  accept,
			args: []argument{turn, {
				name:  "checkpoint",
				kind:  typeBoolean,
				about: "Also commit the files of the accepted turn.",
			}},
		},
		{
			name:  "agentxchain_checkpoint",
			about: "Commit the files of an accepted turn, so that the next one starts from a clean work tree.",
			call:  checkpoint,
			args: []argument{{
				name:  "turn_id",
				kind:  typeText,
				about: "The accepted turn; left out, the latest.",
				most:  200,
			}},
		},
		{
			name:  "agentxchain_reject_turn",
			about: "Send a turn back for another attempt. It costs one of its attempts.",
			call:  reject,
			args:  []argument{phrase("reason", "What the next attempt has to do better.", true), turn},
		},
		{
			name:  "agentxchain_escalate",
			about: "Stop the run until a person has decided something you cannot.",
			call:  escalate,
			args: []argument{phrase("reason", "What a person has to decide, in a few words.",
				true), phrase("detail", "More about it.", false), turn},
		},
		{
			name:  "agentxchain_gates",
			about: "The gates of all phases on the current files: what each lacks, and what waits for a person.",
			reads: true,
			call:  gates,
		},
		{
			name:  "agentxchain_approve_gate",
			about: "How a person approves a pending gate or lifts a block. It approves nothing itself.",
			reads: true,
			call:  approveGate,
			args: []argument{{
				name:     "gate_id",
				kind:     typeText,
				about:    "Id of the pending gate, or of the escalation that blocks the run.",
				required: true,
				most:     500,
			}, phrase("reason", "Why it should be approved; for the person.", false)},
		},
		{
			name:  "agentxchain_intake_record",
			about: "Propose work that is not part of the run. It records nothing itself.",
			reads: true,
			call:  intakeRecord,
			args: []argument{phrase("source", "Where the proposal comes from.", true), phrase("title",
				"The proposal in a few words.",
				true), phrase("description", "More about it.", false), phrase("priority", "How urgent it is.", false)},
		},
		listing("agentxchain_turns", "The accepted turns of the run, newest last.", "turns", wire.LedgerHistory, 20,
			true, nil),
		listing("agentxchain_decisions", "The decisions of the run, newest last.", "decisions", wire.LedgerDecisions,
			50, true, func(a, row *ojson.Object) bool {
				return a.Bool("governance") || ledger.ValidDecisionID(row.String("id"))
			}, argument{
				name:  "governance",
				kind:  typeBoolean,
				about: "Also approvals, gate failures, conflicts and escalations.",
			}),
		listing("agentxchain_events", "The event log, newest last.", "events", wire.LedgerEvents, 50, false, nil),
		listing("agentxchain_history", "The runs of this project that have ended, newest last.", "entries",
			wire.LedgerRunHistory, 20, false, nil),
	}
}
