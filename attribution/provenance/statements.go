// In-toto statements of turns, runs and ranges.

package provenance

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/attribution"
	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/attest"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Types of predicates and builds.
const (
	TurnPredicate  = "https://slsa.dev/provenance/v1"
	RangePredicate = "https://slsa.dev/verification_summary/v1"
	RunPredicate   = home + "/docs/attestations/run/v1"
	buildType      = home + "/docs/attestations/turn/v1"

	home = "https://github.com/git-agentxchain/git-agentxchain"
)

// LevelAccounted is the level for which a passing range is verified.
const LevelAccounted = "AGENTXCHAIN_ACCOUNTED"

// Program is the program that makes the statements.
type Program struct {
	Version string // of this program
	RuleSet int    // protocol.RuleSet
}

// Turn returns the SLSA provenance of an accepted turn: the accepted files, and the commit with them, came from the
// baseline by that role's turn.
func (p Program) Turn(t *attribution.Turn) (*ojson.Object, error) {
	data, _, err := t.Record.Config()
	if err != nil {
		return nil, err
	}
	var subject []*ojson.Object
	gone := []string{}
	for path, mark := range t.Contents() {
		if sum, ok := strings.CutPrefix(mark, "sha256:"); ok {
			subject = append(subject, resource(path, "sha256", sum))
		} else if mark == gitstore.FingerprintDeleted {
			gone = append(gone, path)
		}
	}
	if id := t.Checkpoint(); id != "" {
		subject = append(subject, resource("commit", "gitCommit", string(id)))
	}
	record := resource(git.RunRefPrefix+t.Run, "gitCommit", string(t.Record.Op))
	if len(subject) == 0 {
		subject = append(subject, record) // a statement needs a subject
	}
	came := []*ojson.Object{}
	if id := t.Baseline(); id != "" {
		came = append(came, resource("baseline", "gitCommit", string(id)))
	}
	if data != nil {
		came = append(came, resource(wire.ConfigPath, "sha256", wire.SHA256(data)))
	}
	row := t.Row
	inside := ojson.NewObject(
		"runtime_id", t.Runtime,
		"status", row.String("status"),
		"verification", row.Object("normalized_verification").String("status"),
		"files_deleted", gone,
	)
	metadata := ojson.NewObject("invocationId", t.Run+"/"+t.ID)
	for _, m := range [][2]string{{"startedOn", "started_at"}, {"finishedOn", "accepted_at"}} {
		if at, err := wire.ParseTime(row.String(m[1])); err == nil {
			metadata.Set(m[0], wire.FormatTime(at))
		}
	}
	return statement(TurnPredicate, subject, ojson.NewObject(
		"buildDefinition", ojson.NewObject(
			"buildType", buildType,
			"externalParameters", ojson.NewObject("run_id", t.Run, "turn_id", t.ID, "role", t.Role, "phase", t.Phase),
			"internalParameters", inside,
			"resolvedDependencies", came,
		),
		"runDetails", ojson.NewObject(
			"builder", p.builder(),
			"metadata", metadata,
			"byproducts", []*ojson.Object{record},
		),
	)), nil
}

// Run returns the state of a run: its gates, who approved them, its turns.
func (p Program) Run(facts *attribution.RunFacts, turns []*attribution.Turn) *ojson.Object {
	gates := &ojson.Object{}
	for _, k := range slices.Sorted(maps.Keys(facts.Gates)) {
		gates.Set(k, facts.Gates[k])
	}
	approvals, list := []*ojson.Object{}, []*ojson.Object{}
	for _, a := range facts.Approvals {
		approvals = append(approvals, ojson.NewObject("gate", a.Gate, "name", a.Name, "email", a.Email,
			"signed", a.Signed, "counts", a.Counts))
	}
	var op string
	for _, t := range turns {
		op = string(t.Record.Op)
		list = append(list, ojson.NewObject("turn_id", t.ID, "role", t.Role, "phase", t.Phase,
			"status", t.Row.String("status"), "commit", ojson.OrNull(string(t.Checkpoint()))))
	}
	return statement(RunPredicate, []*ojson.Object{resource(git.RunRefPrefix+facts.Run, "gitCommit", op)},
		ojson.NewObject(
			"run_id", facts.Run,
			"builder", p.builder(),
			"gates", gates,
			"approvals", approvals,
			"problems", append([]string{}, facts.Problems...),
			"turns", list,
		))
}

// Verdict is the result of judging a range.
type Verdict struct {
	*attribution.Range
	Stands   bool
	At       time.Time
	Resource string // URI of the repository
	Policy   []byte // nil for none
	Inputs   [][]byte
}

// Range returns the SLSA verification summary of a range, which says whether its head passes the policy. Inputs are
// the statements it depends on.
func (p Program) Range(v *Verdict) *ojson.Object {
	result, levels := "FAILED", []string{}
	if v.Stands {
		result, levels = "PASSED", []string{LevelAccounted}
	}
	policy := ojson.NewObject("uri", home+"/docs/ci.md#the-policy")
	if v.Policy != nil {
		policy.Set("digest", ojson.NewObject("sha256", wire.SHA256(v.Policy)))
	}
	inputs := ojson.List(v.Inputs, func(data []byte) *ojson.Object {
		return ojson.NewObject("digest", ojson.NewObject("sha256", wire.SHA256(data)))
	})
	return statement(RangePredicate, []*ojson.Object{resource("commit", "gitCommit", string(v.Head))}, ojson.NewObject(
		"verifier", ojson.NewObject("id", home, "version", ojson.NewObject("git-agentxchain", p.Version)),
		"timeVerified", wire.FormatTime(v.At),
		"resourceUri", v.Resource,
		"policy", policy,
		"inputAttestations", inputs,
		"verificationResult", result,
		"verifiedLevels", levels,
		"slsaVersion", "1.0",
		home+"/docs/attestations/range/v1", ojson.NewObject("base", string(v.Base), "commits", len(v.Commits)),
	))
}

func (p Program) builder() *ojson.Object {
	return ojson.NewObject("id", home,
		"version", ojson.NewObject("git-agentxchain", p.Version, "rule_set", strconv.Itoa(p.RuleSet)))
}

func statement(predicate string, subject []*ojson.Object, body *ojson.Object) *ojson.Object {
	return ojson.NewObject("_type", attest.StatementType, "subject", subject, "predicateType", predicate,
		"predicate", body)
}

func resource(name, algorithm, sum string) *ojson.Object {
	return ojson.NewObject("name", name, "digest", ojson.NewObject(algorithm, sum))
}
