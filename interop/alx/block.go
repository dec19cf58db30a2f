// Knowledge Blocks of governed runs, and settlements (docs/alx.md#knowledge-blocks).

package alx

import "github.com/git-agentxchain/git-agentxchain/internal/ojson"

// BlockKindRun is the kind of a block that came from a governed run.
const BlockKindRun = "governed-run"

// KnowledgeBlock sums up the accepted turns of a run. Its identity is KBHash; KBID is a label and
// not part of it.
type KnowledgeBlock struct {
	Kind         string            `json:"kind" jsonschema:"what the block came from"`
	KBID         string            `json:"kbId,omitempty" jsonschema:"a label; not part of the identity"`
	KBHash       string            `json:"kbHash,omitempty" jsonschema:"the identity: lower-case hex SHA-256 of the canonical content"`
	Intent       string            `json:"intent" jsonschema:"the run's goal"`
	Summary      string            `json:"summary" jsonschema:"the last accepted summary"`
	Decisions    []BlockDecision   `json:"decisions" jsonschema:"in the order they were made"`
	Artifacts    []BlockArtifact   `json:"artifacts" jsonschema:"sorted by path"`
	Verification BlockVerification `json:"verification" jsonschema:"what was proved by machine"`
	Sources      []BlockSource     `json:"sources" jsonschema:"lineage; part of the identity"`
	Extra        ojson.Extra       `json:"-"`
}

// BlockDecision is one recorded decision.
type BlockDecision struct {
	ID        string      `json:"id" jsonschema:"DEC-<number>"`
	TurnID    string      `json:"turnId,omitempty" jsonschema:"the turn that made it"`
	Role      string      `json:"role,omitempty" jsonschema:"who made it"`
	Category  string      `json:"category,omitempty" jsonschema:"its kind"`
	Statement string      `json:"statement" jsonschema:"what was decided"`
	Rationale string      `json:"rationale,omitempty" jsonschema:"why"`
	Extra     ojson.Extra `json:"-"`
}

// BlockArtifact is one file that an accepted turn left.
type BlockArtifact struct {
	Path   string      `json:"path" jsonschema:"relative to the repository, with slashes"`
	SHA256 string      `json:"sha256" jsonschema:"lower-case hex digest of the content"`
	Extra  ojson.Extra `json:"-"`
}

// BlockVerification says how much of the run was proved.
type BlockVerification struct {
	Status   string      `json:"status" jsonschema:"pass when every accepted turn has machine evidence, else partial, or none"`
	Turns    int         `json:"turns" jsonschema:"accepted turns"`
	Verified int         `json:"verified" jsonschema:"those whose verification is a machine-evidenced pass"`
	Extra    ojson.Extra `json:"-"`
}

// BlockSource is a lineage reference: an accepted turn with the digest of its
// history entry, or another block.
type BlockSource struct {
	TurnID string      `json:"turnId,omitempty" jsonschema:"an accepted turn"`
	SHA256 string      `json:"sha256,omitempty" jsonschema:"the digest of its history entry"`
	KBHash string      `json:"kbHash,omitempty" jsonschema:"or: the identity of another block"`
	Extra  ojson.Extra `json:"-"`
}

// Settlement is the cost of a run in integer millionths of a US dollar. The parts of each list add
// up to the total.
type Settlement struct {
	TotalMicroUSD int64       `json:"totalMicroUsd" jsonschema:"the whole"`
	Roles         []Share     `json:"roles" jsonschema:"by role, sorted by id"`
	Runtimes      []Share     `json:"runtimes" jsonschema:"by runtime, sorted by id"`
	Turns         []Share     `json:"turns" jsonschema:"by accepted turn, in history order"`
	Extra         ojson.Extra `json:"-"`
}

// Share is one part of a whole.
type Share struct {
	ID       string `json:"id" jsonschema:"whose part"`
	MicroUSD int64  `json:"microUsd" jsonschema:"how much"`
}
