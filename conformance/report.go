// The report of a verification: counts, what did not pass, and the JSON for other tools
// (docs/conformance.md#checking).

package conformance

import (
	"fmt"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// Report is the outcome of a verification.
type Report struct {
	Implementation  string
	ProtocolVersion ojson.Value // as claimed, nil when absent
	Tier            int         // the highest requested tier
	Profile         string      // ProfileCore or ProfileStrict
	Known           int         // failures and errors that the corpus knows of this implementation and version
	Time            time.Time   // start
	TargetRoot      string      // absolute; "" for a remote target
	Remote          string      // base URL; "" for a local target
	FixtureRoot     string
	Digest          string // of the corpus
	Tiers           []*TierSummary
	Warnings        []string
	Challenges      *Challenges // nil when none were requested
	Overall         Status      // pass, fail or error
}

// TierSummary is one tier of a report. Status is pass, fail, error or skipped.
type TierSummary struct {
	Tier           int
	Status         string
	Note           string // why it was skipped
	Count          Count
	Surfaces       *ojson.Map[*Count] // in the order in which their first fixtures ran
	Failures       []Finding
	Errors         []Finding
	NotImplemented []Finding
}

// Count counts fixtures by outcome.
type Count struct{ Passed, Failed, Errored, NotImplemented int }

// run returns the number of fixtures that ran.
func (c *Count) run() int { return c.Passed + c.Failed + c.Errored + c.NotImplemented }

func (c *Count) add(s Status) {
	switch s {
	case StatusPass:
		c.Passed++
	case StatusFail:
		c.Failed++
	case StatusNotImplemented:
		c.NotImplemented++
	default:
		c.Errored++
	}
}

// Finding is a fixture that did not pass.
type Finding struct {
	ID      ojson.Value // the fixture_id as written in the fixture
	Surface ojson.Value
	Message string
	Actual  ojson.Value
	Known   *Deviation // nil when the corpus does not know it
}

// add counts an outcome. A known deviation of the target is noted beside the failure and changes no verdict.
func (r *Report) add(f CorpusFixture, o Outcome, known *Deviation) {
	if o.Status != StatusFail && o.Status != StatusError {
		known = nil
	}
	if known != nil {
		r.Known++
	}
	r.Tiers[f.Tier-1].add(f, o, known)
}

// add counts an outcome and keeps it unless it is a pass.
func (t *TierSummary) add(f CorpusFixture, o Outcome, known *Deviation) {
	t.Count.add(o.Status)
	c, ok := t.Surfaces.Get(f.Surface)
	if !ok {
		c = &Count{}
		t.Surfaces.Set(f.Surface, c)
	}
	c.add(o.Status)
	row := Finding{f.Raw.Value("fixture_id"), f.Raw.Value("surface"), o.Message, o.Actual, known}
	switch o.Status {
	case StatusPass:
	case StatusFail:
		t.Failures = append(t.Failures, row)
		if t.Status == "pass" {
			t.Status = "fail"
		}
	case StatusNotImplemented:
		t.NotImplemented = append(t.NotImplemented, row)
	default:
		t.Errors = append(t.Errors, row)
		t.Status = "error"
	}
}

// judge sets Overall: an error outweighs a failure and a failure outweighs a pass, in any order. A run without
// fixtures proves nothing and is an error.
func (r *Report) judge() {
	r.Overall = StatusPass
	run := 0
	for _, t := range r.Tiers {
		run += t.Count.run()
		switch {
		case t.Status == "error":
			r.Overall = StatusError
		case t.Status == "fail" && r.Overall == StatusPass:
			r.Overall = StatusFail
		}
	}
	if c := r.Challenges; c != nil && len(c.Failed) > 0 && r.Overall == StatusPass {
		r.Overall = StatusFail
	}
	if run == 0 {
		r.Overall = StatusError
		r.Warnings = append(r.Warnings, "no fixture was run: the target claims none of the tiers they belong to")
	}
}

// ExitCode returns the verifier's exit status: 0 pass, 1 fail, 2 error. Never 3.
func (r *Report) ExitCode() int {
	switch r.Overall {
	case StatusPass:
		return 0
	case StatusFail:
		return 1
	}
	return 2
}

// Object returns the report as JSON. Our own members follow those of docs/conformance.md#the-report: corpus_digest,
// warnings, profile and known_deviations always; challenge_seed, challenges_run, challenges_failed and challenges
// when fixtures were challenged.
func (r *Report) Object() *ojson.Object {
	results := ojson.NewObject()
	for _, t := range r.Tiers {
		results.Set(fmt.Sprintf("tier_%d", t.Tier), t.object())
	}
	o := ojson.NewObject(
		"implementation", r.Implementation,
		"protocol_version", r.ProtocolVersion,
		"tier_requested", r.Tier,
		"timestamp", r.Time.UTC().Format("2006-01-02T15:04:05.000Z"),
		"target_root", ojson.OrNull(r.TargetRoot),
		"remote", ojson.OrNull(r.Remote),
		"fixture_root", r.FixtureRoot,
		"results", results,
		"overall", string(r.Overall),
		"corpus_digest", r.Digest,
		"warnings", append([]string{}, r.Warnings...),
		"profile", r.Profile,
		"known_deviations", r.Known,
	)
	if r.Challenges != nil {
		r.Challenges.addTo(o)
	}
	return o
}

func (t *TierSummary) object() *ojson.Object {
	surfaces := ojson.NewObject()
	for name, c := range t.Surfaces.All() {
		surfaces.Set(name, ojson.NewObject("passed", c.Passed, "failed", c.Failed, "errored", c.Errored,
			"not_implemented", c.NotImplemented))
	}
	o := ojson.NewObject(
		"status", t.Status,
		"fixtures_run", t.Count.run(),
		"fixtures_passed", t.Count.Passed,
		"fixtures_failed", t.Count.Failed,
		"fixtures_errored", t.Count.Errored,
		"fixtures_not_implemented", t.Count.NotImplemented,
		"surfaces", surfaces,
		"failures", findingRows(t.Failures, true),
		"errors", findingRows(t.Errors, true),
		"not_implemented", findingRows(t.NotImplemented, false),
	)
	if t.Note != "" {
		o.Set("note", t.Note)
	}
	return o
}

func findingRows(list []Finding, withActual bool) []any {
	rows := []any{}
	for _, f := range list {
		row := ojson.NewObject("fixture_id", f.ID, "surface", f.Surface, "message", f.Message)
		if withActual {
			row.Set("actual", f.Actual)
		}
		if d := f.Known; d != nil {
			row.Set("known_deviation",
				ojson.NewObject("implementation", d.Implementation, "version", d.Version, "reason", d.Reason))
		}
		rows = append(rows, row)
	}
	return rows
}

// ErrorReport returns the document of a verification that was not possible.
func ErrorReport(err error) *ojson.Object {
	return ojson.NewObject("overall", "error", "message", err.Error())
}
