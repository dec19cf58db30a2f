// Event types of ours beside the closed vocabulary of the protocol.

package run

import "slices"

// EventLease is the type of rows about leases of turns and about the recovery from
// what became of them (docs/leases.md). Its payload:
//
//	{"action":   issued, restored, renewed, expired, cancelled, released, rejected, refused,
//	             cancellation_requested, cancellation_acknowledged, started or reloaded,
//	 "lease":    the strict Lease after it; absent when the row is about no lease,
//	 "recovery": the strict RecoveryEvent; absent when nothing was recovered,
//	 "reason":   what a person or a runner gave as the reason; absent without one}
const EventLease = "runner_lease"

// EventConfigAdopted is the type of rows about rules that a person put in force for a
// run under way. Its payload: rules_before and rules_after (digests), changes (pointer,
// before, after, weakens) and weakening, their number that weaken.
const EventConfigAdopted = "config_adopted"

// EventGateLeft is the type of rows about a request that a person took back by assigning
// a role at the waiting gate. Its payload: gate_type, gate_id, requested_by_turn, role.
const EventGateLeft = "gate_left"

// EventGateVote is the type of rows about an approval that leaves a gate waiting for
// more. Its payload: gate_type, gate_id, votes and votes_needed.
const EventGateVote = "gate_vote"

// EventTurnClaim is the type of rows about the clone that works on a turn. Its payload:
// action (claim, renew, release, steal), claim (after it), was (the claim of another clone
// that it ended; absent without one) and reason (absent without one).
const EventTurnClaim = "turn_claim"

// OwnEventTypes are the types we write beside EventTypes. Other implementations
// keep such rows and pass them over (docs/spec/state.md#events); an event that comes from
// outside is still held against the closed vocabulary.
func OwnEventTypes() []string {
	return []string{EventLease, EventMessageSent, EventMessageDelivered, EventMessageAcknowledged, EventConfigAdopted,
		EventAbandoned, EventApprovalWithdrawn, EventGateLeft, EventGateVote, EventTurnClaim}
}

// writable reports whether an event of the type may go to events.jsonl.
func writable(eventType string) bool {
	return slices.Contains(EventTypes(), eventType) || slices.Contains(OwnEventTypes(), eventType)
}
