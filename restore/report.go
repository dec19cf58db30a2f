// What a verification found, in the shape of the published report.

package restore

import (
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// Finding is one thing that is not as it should be. Path is where in the artifact,
// as the members lead there.
type Finding struct{ Path, Message string }

func (f Finding) String() string { return f.Path + ": " + f.Message }

// maxFindings bounds what is listed of one artifact.
const maxFindings = 10000

// Report is the outcome of Verify (docs/export.md#what-verification-proves).
type Report struct {
	SchemaVersion any // string or nil, as the artifact has them
	ExportKind    any
	FileCount     int
	RepoCount     int
	Findings      []Finding
	// Unproven are the files whose bytes the artifact does not carry: their data
	// is its word alone.
	Unproven []string
	// LeftOut says in words what the exporter was asked to leave out.
	LeftOut []string
	More    int // findings that are not listed
}

// Passed reports an artifact without findings.
func (r *Report) Passed() bool { return len(r.Findings) == 0 }

// Object is the report as JSON. input names where the artifact came from.
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

// InputError says that there is no artifact to judge: it cannot be read, or it is
// not JSON. Its code is artifact_unreadable.
type InputError struct {
	Message string
	Err     error
}

func (e *InputError) Error() string { return e.Message }

// Unwrap returns the cause.
func (e *InputError) Unwrap() error { return e.Err }

// ErrorCode and ErrorHint make it presentable by the command line.
func (e *InputError) ErrorCode() string { return CodeInput }

// ErrorHint returns what to do about it.
func (e *InputError) ErrorHint() string { return "" }
