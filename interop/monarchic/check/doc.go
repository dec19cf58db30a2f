// The parts of a verdict: findings with a place and a rule.

// Package check judges documents of the Monarchic agent protocol v1: against the published JSON
// Schemas, then against the rules that no schema can express (docs/monarchic.md#types). The
// verdicts on schemas come from github.com/google/jsonschema-go; this package finds the places
// behind them.
package check

import (
	"slices"

	"github.com/git-agentxchain/git-agentxchain/internal/text"
)

// Severity says whether a finding makes a document invalid.
type Severity string

// Severities.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
)

// Finding is one fault, with its place and its rule.
type Finding struct {
	Line     int    // 1-based line of a JSONL file; 0 in any other
	Pointer  string // RFC 6901, in the document's own spelling; "" is the document
	Rule     string // stable id, a row of Rules
	Severity Severity
	Message  string // one sentence
}

// Options says how to judge.
type Options struct {
	Type     Type // the type of every document; "" finds it out
	Lenient  bool // also read the short time names of early leases (docs/leases.md)
	Log      bool // judge the records together as one log (docs/monarchic.md#messages)
	Complete bool // the run of the log has ended, whatever the log says
}

// maxFindings bounds the findings kept for one input; the rest are counted.
const maxFindings = 200

// judge collects the findings of one document.
type judge struct {
	st       *store
	opts     Options
	spelled  map[string]string // place of a member in canonical spelling -> its name in the document
	findings []Finding
	more     int
}

func newJudge(o Options) *judge { return &judge{st: schemas(), opts: o} }

// full reports whether a further finding would only be counted.
func (j *judge) full() bool { return len(j.findings) >= maxFindings }

func (j *judge) add(sev Severity, pointer, rule, message string) {
	if j.full() {
		j.more++
		return
	}
	j.findings = append(j.findings, Finding{
		Pointer:  bounded(j.original(pointer)),
		Rule:     rule,
		Severity: sev,
		Message:  message,
	})
}

// bounded limits the length of a pointer into a document with endless names.
func bounded(pointer string) string { return text.Clip(pointer, 4096) }

func (j *judge) fail(pointer, rule, message string) { j.add(Error, pointer, rule, message) }
func (j *judge) warn(pointer, rule, message string) { j.add(Warning, pointer, rule, message) }

// errors counts the findings that make the document invalid.
func (j *judge) errors() int {
	n := 0
	for _, f := range j.findings {
		if f.Severity == Error {
			n++
		}
	}
	return n
}

// told reports whether something has been found at a place already, so that a general rule need not
// report it again.
func (j *judge) told(pointer string) bool {
	pointer = bounded(j.original(pointer))
	return slices.ContainsFunc(j.findings, func(f Finding) bool { return f.Pointer == pointer && f.Severity == Error })
}
