// AcceptTurn decides on a staged turn result (docs/spec/lifecycle.md#accepting-a-turn).

package protocol

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/change"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/gates"
	"github.com/git-agentxchain/git-agentxchain/protocol/result"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/verdict"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Resolution modes of a conflicted turn.
const (
	ResolutionStandard   = "standard"
	ResolutionHumanMerge = "human_merge"
)

// AcceptTurn has the staged result and what was observed of the work tree. It checks in the order of
// docs/spec/lifecycle.md#accepting-a-turn; a refusal changes no file of the user.
type AcceptTurn struct {
	TurnID            string         `json:"turn_id,omitempty"` // "" means the only active turn
	StagedPath        string         `json:"staged_path"`
	Staged            *evidence.Blob `json:"staged"`
	Resolution        string         `json:"resolution,omitempty"`              // "" means standard
	NormalizeArtifact string         `json:"normalize_artifact_type,omitempty"` // "" or review
	// history holds an accepted row of the turn
	AlreadyAccepted bool                `json:"already_accepted,omitempty"`
	Seen            result.Observation  `json:"seen"`
	Files           []evidence.FileBlob `json:"files"` // files the gates of the phase read
	// present contents of the paths the result proposes to change
	Proposed []evidence.FileBlob `json:"proposed"`
	// idle-expansion-result.json beside the staged result, or nil
	IdleSidecar *evidence.Blob `json:"idle_sidecar"`
	// verification replay, when a policy asks for one
	Replay *result.ReplayOutcome `json:"replay,omitempty"`
	// what changed in the work tree while the decision was being made, usually by a hook
	Drift []string `json:"drift,omitempty"`
	// declared or changed paths that git_hooks.protected keeps
	Protected []string `json:"protected,omitempty"`
	// all gate documents, where the configuration has authority
	Documents []gates.DocumentFact `json:"documents,omitempty"`
	Overruled []Overruling         `json:"overruled,omitempty"` // hooks whose refusal a person overruled
	// the file of the turn's intent, where another tool bound it
	Recorded *evidence.Blob `json:"intent,omitempty"`
	// recorded intents whose files differ from the record
	Touched []string `json:"touched,omitempty"`
	// the lease of the runner that hands the result in, as it is after the acceptance
	Lease *run.Lease `json:"lease,omitempty"`
	// files of the turn's bundle that differ from the sealed ones
	Bundle []BundleChange `json:"bundle,omitempty"`
	// number of the claim under which the result was made
	Claim int `json:"claim,omitempty"`

	// The judgement of the result, kept while this operation is judged: it is judged under two configurations.
	judged struct {
		blob    *evidence.Blob
		doc     *ojson.Object
		v       *result.Validation // never changed
		runtime string             // the turn's runtime
		again   bool               // v also holds under this configuration
	}
}

// OpAccept is the wire name of AcceptTurn.
const OpAccept = "accept_turn"

func (*AcceptTurn) Name() string { return OpAccept }

func (op *AcceptTurn) Blobs() []*evidence.Blob {
	out := []*evidence.Blob{op.Staged, op.IdleSidecar, op.Recorded}
	for i := range op.Files {
		out = append(out, op.Files[i].Blob)
	}
	for i := range op.Proposed {
		out = append(out, op.Proposed[i].Blob)
	}
	return out
}

// AcceptResult is the outcome of AcceptTurn.
type AcceptResult struct {
	Turn       *run.Turn
	Entry      *ojson.Object // the history row
	Validation *result.Validation
	Warnings   []string
	Gate       *gates.Result // the gate that was evaluated, or nil
	GateType   string        // phase_transition, run_completion
	Conflict   *ojson.Object
	Leftover   []string                    // files declared as ignorable outputs that are still in the work tree
	Repairs    []result.NormalizationEvent // what was rewritten in the result, in order
}

func (op *AcceptTurn) Apply(t *change.Draft) *wire.Error {
	turn, doc, err := op.subject(t)
	if err != nil {
		return err
	}
	t.About(turn)
	a := &acceptance{t: t, op: op, turn: turn, role: t.Config.Role(turn.AssignedRole), seen: resumed(turn, &op.Seen)}
	if err := a.decide(doc); err != nil {
		if a.unrecorded {
			return err
		}
		return a.refuse(err)
	}
	return nil
}

// subject returns the turn and the staged result to decide on; a refusal leaves no trace.
func (op *AcceptTurn) subject(t *change.Draft) (*run.Turn, *ojson.Object, *wire.Error) {
	// Checked before whether the turn is active: a turn that is in the history gets no second row, whatever became
	// of the state (docs/conformance.md#becoming-a-target).
	if op.AlreadyAccepted {
		return nil, nil, &wire.Error{Code: wire.CodeTurnAlreadyAccepted, Field: "turn_id",
			Message: fmt.Sprintf("Turn %s was already accepted.", op.TurnID), Hint: "git agentxchain history"}
	}
	turn, err := t.Target(op.TurnID, "accept")
	if t.Rule(verdict.RuleTurn, op.TurnID, "", err) != nil {
		return nil, nil, err
	}
	if err := t.Rule(verdict.RuleStatus, string(t.State.Status), "", acceptable(t, turn)); err != nil {
		return nil, nil, err
	}
	if err := op.checkModes(t, turn); err != nil {
		return nil, nil, err
	}
	doc, err := op.decode(t, turn)
	return turn, doc, err
}

// Admissible says why the engine would refuse to judge what is staged, or nil: hooks are not asked about a result
// that is refused whatever they answer. It passes a missing or unreadable result, which a hook may still prepare.
func (op *AcceptTurn) Admissible(snap *change.Snapshot, env change.Env) *wire.Error {
	t := begin(snap, env)
	if err := mayAct(t, op); err != nil {
		return err
	}
	if _, _, err := op.subject(t); err != nil && err.Stage == "" {
		return err
	}
	return nil
}

// acceptable says whether the run's status lets the turn be accepted. Only the turn whose own acceptance ran into a
// block passes it; while a sibling of the turn at fault is accepted, the block stays; every other block needs its
// owner (docs/compatibility.md#where-we-differ-on-purpose rows 3 and 4).
func acceptable(t *change.Draft, turn *run.Turn) *wire.Error {
	s := t.State
	switch s.Status {
	case wire.StatusActive:
		return nil
	case wire.StatusPaused:
		return run.PendingError(s, "accept turn "+turn.TurnID)
	case wire.StatusBlocked:
		if blockOf(t, turn) != blockForeign {
			return nil
		}
		return run.BlockedError(s, "accept turn "+turn.TurnID)
	}
	return &wire.Error{
		Code:    wire.CodeInvalidStateTransition,
		Field:   "status",
		Message: fmt.Sprintf("A turn can be accepted only in an active run; this one is %s.", s.Status),
		Hint:    "git agentxchain status",
	}
}

func (op *AcceptTurn) checkModes(t *change.Draft, turn *run.Turn) *wire.Error {
	switch op.Resolution {
	case "", ResolutionStandard:
	case ResolutionHumanMerge:
		if turn.ConflictState == nil {
			return &wire.Error{Code: wire.CodeProtocolError, Field: "resolution",
				Message: fmt.Sprintf("Turn %s is not in conflict; human_merge applies only to a conflicted turn.",
					turn.TurnID),
				Hint: "git agentxchain accept " + turn.TurnID}
		}
		// By merging, the operator states that the staged result wins.
		if err := t.OutsideTurn("overrule a conflict", "git agentxchain accept --resolution human_merge"); err != nil {
			return err
		}
	default:
		return &wire.Error{
			Code:    wire.CodeProtocolError,
			Field:   "resolution",
			Message: fmt.Sprintf("Unknown resolution %q; use standard or human_merge.", op.Resolution),
		}
	}
	if op.NormalizeArtifact != "" && op.NormalizeArtifact != "review" {
		return &wire.Error{
			Code:  wire.CodeProtocolError,
			Field: "normalize_artifact_type",
			Message: fmt.Sprintf("The artifact type can be normalised to review only, not to %q.",
				op.NormalizeArtifact),
		}
	}
	return nil
}

// Bounds of a staged result. An agent's document is hostile until checked.
const (
	MaxStagedBytes = 8 << 20
	maxStagedDepth = 64
)

// DecodeStaged reads a staged result strictly and within bounds; it must be an object.
func DecodeStaged(path string, data []byte) (*ojson.Object, *wire.Error) {
	v, err := ojson.DecodeLimited(data, ojson.Limits{Bytes: MaxStagedBytes, Depth: maxStagedDepth})
	if err != nil {
		e := &wire.Error{Code: wire.CodeInvalidJSON, Stage: "schema", Class: "schema_error", Field: path,
			Message: fmt.Sprintf("%s is not a valid turn result: %v.", path, err),
			Hint:    "fix the file and run: git agentxchain accept"}
		if syn, ok := errors.AsType[*ojson.SyntaxError](err); ok {
			e.Details = ojson.NewObject("line", syn.Line, "offset", syn.Offset)
		}
		return nil, e
	}
	o, ok := v.(*ojson.Object)
	if !ok {
		return nil, &wire.Error{Code: wire.CodeInvalidJSON, Stage: "schema", Class: "schema_error", Field: path,
			Message: fmt.Sprintf("%s must hold a JSON object, not %s.", path, ojson.TypeName(v)),
			Hint:    "fix the file and run: git agentxchain accept"}
	}
	return o, nil
}

// StagedProof reports whether the bytes count as an actor's output: neither
// blank nor a bare {} (docs/spec/state.md#files).
func StagedProof(data []byte) bool {
	if t := bytes.TrimSpace(data); len(t) > 2 && t[0] == '{' && t[len(t)-1] == '}' {
		return true // most results, recognised without a copy
	}
	s := wire.TrimSpace(string(data))
	return s != "" && s != "{}"
}

func (op *AcceptTurn) decode(t *change.Draft, turn *run.Turn) (*ojson.Object, *wire.Error) {
	if t.Judging && op.judged.blob != nil && op.judged.blob == op.Staged {
		return op.judged.doc, nil
	}
	if op.Staged == nil || !StagedProof(op.Staged.Data) {
		return nil, &wire.Error{
			Code:    wire.CodeStagedMissing,
			Stage:   "schema",
			Class:   "schema_error",
			Field:   wire.StagingPath(turn.TurnID),
			Message: fmt.Sprintf("Turn %s has no staged result at %s.", turn.TurnID, wire.StagingPath(turn.TurnID)),
			Hint: "write it with git agentxchain turn edit " + turn.TurnID + ", or put it there; then: git agentxchain accept " +
				turn.TurnID,
		}
	}
	doc, err := DecodeStaged(op.StagedPath, op.Staged.Data)
	if err != nil {
		err.Hint = "fix the file and run: git agentxchain accept " + turn.TurnID
		return nil, err
	}
	if id := doc.String("turn_id"); op.StagedPath == wire.FlatStagingPath && id != "" && id != turn.TurnID {
		return nil, &wire.Error{Code: wire.CodeStaleStaging, Field: wire.FlatStagingPath,
			Message: fmt.Sprintf("%s belongs to turn %s, but the active turn is %s.", wire.FlatStagingPath, id,
				turn.TurnID),
			Hint: fmt.Sprintf("remove it or stage the result at %s", wire.StagingPath(turn.TurnID))}
	}
	if t.Judging {
		op.judged.blob, op.judged.doc = op.Staged, doc
	}
	return doc, nil
}
