// What a declared verification counts as, and what running it again showed
// (docs/spec/results.md#what-a-verification-counts-as).

package result

import "github.com/git-agentxchain/git-agentxchain/internal/ojson"

// Statuses of a normalised verification.
const (
	VerifyPass            = "pass"
	VerifyAttested        = "attested_pass"
	VerifyFail            = "fail"
	VerifySkipped         = "skipped"
	VerifyNotReproducible = "not_reproducible"
)

// NormalizedVerification is the orchestrator's own reading of a declared
// verification, stored as normalized_verification. Gates read the declared
// status, not this one (docs/compatibility.md#where-we-differ-on-purpose).
type NormalizedVerification struct {
	Status       string
	Reason       string
	Reproducible bool
}

// Object returns the record.
func (v NormalizedVerification) Object() *ojson.Object {
	return ojson.NewObject("status", v.Status, "reason", v.Reason, "reproducible", v.Reproducible)
}

// NormalizeVerification applies docs/spec/results.md#what-a-verification-counts-as to the verification of a turn
// result. An unknown runtime type is executable; "" is manual.
func NormalizeVerification(r *Result, runtimeType string) NormalizedVerification {
	var declared *ojson.Object
	if r != nil {
		declared = r.Raw.Object("verification")
	}
	return normalizeVerification(declared, runtimeType)
}

func normalizeVerification(declared *ojson.Object, runtimeType string) NormalizedVerification {
	switch declared.String("status") {
	case VerifyFail:
		return NormalizedVerification{Status: VerifyFail, Reason: "the actor reported that verification failed"}
	case "", VerifySkipped:
		return NormalizedVerification{Status: VerifySkipped, Reason: "no verification was carried out"}
	}
	switch runtimeType {
	case "", "manual":
		return NormalizedVerification{
			Status: VerifyAttested,
			Reason: "a person attests the pass; manual runtimes leave no machine evidence",
		}
	case "api_proxy":
		return NormalizedVerification{
			Status: VerifyAttested,
			Reason: "the model attests the pass; an api_proxy runtime executes nothing",
		}
	}
	evidence := declared.Array("machine_evidence")
	if len(evidence) == 0 {
		return NormalizedVerification{
			Status: VerifyNotReproducible,
			Reason: runtimeType + " claims a pass without machine evidence",
		}
	}
	for _, e := range evidence {
		item, ok := e.(*ojson.Object)
		if !ok {
			return NormalizedVerification{
				Status: VerifyNotReproducible,
				Reason: runtimeType + " claims a pass with unreadable machine evidence",
			}
		}
		// A missing exit code is not zero.
		if code, ok := item.Int("exit_code"); !ok || code != 0 {
			return NormalizedVerification{
				Status: VerifyNotReproducible,
				Reason: runtimeType + " claims a pass although its machine evidence has exit codes other than 0",
			}
		}
	}
	return NormalizedVerification{
		Status:       VerifyPass,
		Reason:       runtimeType + " gave machine evidence with exit code 0 throughout",
		Reproducible: true,
	}
}

// Overall outcomes of a replay.
const (
	ReplayMatch           = "match"
	ReplayMismatch        = "mismatch"
	ReplayNotReproducible = "not_reproducible"
	ReplayNotExecuted     = "not_executed"
)

// ReplayOutcome is what running a turn's machine evidence again showed
// (docs/spec/results.md#verification-replay).
type ReplayOutcome struct {
	VerifiedAt       string          `json:"verified_at"`
	Overall          string          `json:"overall"` // Replay* constants
	ReplayedCommands int             `json:"replayed_commands"`
	MatchedCommands  int             `json:"matched_commands"`
	TimeoutMS        int             `json:"timeout_ms"`
	Reason           string          `json:"reason,omitempty"`
	Commands         []*ojson.Object `json:"commands,omitempty"`
	Drift            string          `json:"drift,omitempty"` // changes the replay left in the work tree, "" for none
	Extra            ojson.Extra
}

// Summary returns what history keeps of the replay; nil when there was none.
func (r *ReplayOutcome) Summary() *ojson.Object {
	if r == nil {
		return nil
	}
	o := ojson.NewObject("verified_at", r.VerifiedAt, "overall", r.Overall, "replayed_commands", r.ReplayedCommands,
		"matched_commands", r.MatchedCommands, "timeout_ms", r.TimeoutMS)
	if r.Reason != "" {
		o.Set("reason", r.Reason)
	}
	return o
}
