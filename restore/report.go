// The result of a verification, in the format of the published report.

package restore

import (
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// Finding is one problem found. Path is its location in the artifact, by member names.
type Finding struct{ Path, Message string }

func (f Finding) String() string { return f.Path + ": " + f.Message }

// maxFindings bounds how many findings are listed for one artifact.
const maxFindings = 10000

// Report is the outcome of Verify (docs/export.md#what-verification-proves).
type Report struct {
	SchemaVersion any // string or nil, as in the artifact
	ExportKind    any
	FileCount     int
	RepoCount     int
	Findings      []Finding
	// Unproven lists the files whose bytes are not in the artifact: their data is only its claim.
	Unproven []string
	// LeftOut says in words what the exporter was asked to leave out.
	LeftOut []string
	More    int // number of unlisted findings
}

// Passed reports whether there are no findings.
func (r *Report) Passed() bool { return len(r.Findings) == 0 }

// Object returns the report as JSON. input names the source of the artifact.
func (r *Report) Object(input string) *ojson.Object {
	overall := "pass"
	if !r.Passed() {
		overall = "fail"
	}
	lines := make([]string, len(r.Findings))
	for i, f := range r.Findings {
		lines[i] = f.String()
	}
	return ojson.NewObject("overall", overall, "schema_version", orNull(r.SchemaVersion),
		"export_kind", orNull(r.ExportKind), "file_count", r.FileCount, "repo_count", r.RepoCount, "errors", lines,
		"input", input, "unproven", append([]string{}, r.Unproven...), "left_out", append([]string{}, r.LeftOut...))
}

// InputError says that there is no artifact to judge: it cannot be read, or it is not JSON. Its code is
// artifact_unreadable.
type InputError struct {
	Message string
	Err     error
}

func (e *InputError) Error() string { return e.Message }

// Unwrap returns the cause.
func (e *InputError) Unwrap() error { return e.Err }

// ErrorCode returns the code artifact_unreadable, for the command line.
func (e *InputError) ErrorCode() string { return CodeInput }

// ErrorHint returns what to do about it.
func (e *InputError) ErrorHint() string { return "" }
