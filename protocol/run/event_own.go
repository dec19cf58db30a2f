// Our own event types, besides the closed vocabulary of the protocol.

package run

import "slices"

// EventLease is the type of rows about leases of turns and about recovery from ended leases (docs/leases.md). Its
// payload:
//
//	{"action":   issued, restored, renewed, expired, cancelled, released, rejected, refused,
//	             cancellation_requested, cancellation_acknowledged, started or reloaded,
//	 "lease":    the strict Lease after it; absent when the row is about no lease,
//	 "recovery": the strict RecoveryEvent; absent when nothing was recovered,
//	 "reason":   the reason that a person or a runner gave; absent without one}
const EventLease = "runner_lease"

// EventConfigAdopted is the type of rows about rules that a person put in force during a run. Its payload:
// rules_before and rules_after (digests), changes (pointer, before, after, weakens) and weakening, the number of
// changes that weaken.
const EventConfigAdopted = "config_adopted"

// EventGateLeft is the type of rows about a request that a person took back by assigning a role at the waiting
// gate. Its payload: gate_type, gate_id, requested_by_turn, role.
const EventGateLeft = "gate_left"

// EventGateVote is the type of rows about an approval after which the gate waits for more. Its payload: gate_type,
// gate_id, votes and votes_needed.
const EventGateVote = "gate_vote"

// EventTurnClaim is the type of rows about the clone that works on a turn. Its payload: action (claim, renew,
// release, steal), claim (after it), was (the claim of another clone that it ended; absent without one) and reason
// (absent without one).
const EventTurnClaim = "turn_claim"

// OwnEventTypes returns the types that we write besides EventTypes. Other implementations keep such rows and ignore
// them (docs/spec/state.md#events); an event from outside is still checked against the closed vocabulary.
func OwnEventTypes() []string {
	return []string{EventLease, EventMessageSent, EventMessageDelivered, EventMessageAcknowledged, EventConfigAdopted,
		EventAbandoned, EventApprovalWithdrawn, EventGateLeft, EventGateVote, EventTurnClaim}
}

// writable reports whether an event of the type may be written to events.jsonl.
func writable(eventType string) bool {
	return slices.Contains(EventTypes(), eventType) || slices.Contains(OwnEventTypes(), eventType)
}
