// The outer part of the report: verified, not verified, not readable (docs/export.md).

package account

import (
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/restore"
)

// Version is the version of the report's format.
const Version = "0.1"

// Kinds of subjects.
const (
	KindRun         = "governed_run"
	KindCoordinator = "coordinator_workspace"
)

// Build returns the report of an artifact: {report_version, overall, generated_at, input, export_kind,
// verification, subject}, or without a subject and with a message when the artifact does not verify. input names
// its source.
func Build(a *Artifact, input string, opt Options) *ojson.Object {
	verification := a.Verification.Object(input)
	verification.Delete("input")
	report := ojson.NewObject("report_version", Version, "overall", "pass", "generated_at", wire.FormatTime(opt.Now),
		"input", input)
	if !a.Verification.Passed() {
		report.Set("overall", "fail")
		report.Set("message", "The artifact contradicts itself, so nothing is reported of it.")
		report.Set("verification", verification)
		return report
	}
	report.Set("export_kind", a.Kind)
	report.Set("verification", verification)
	if a.Kind == restore.KindCoordinator {
		report.Set("subject", newCoordinatorModel(a, opt).subject())
	} else {
		report.Set("subject", newRunModel(a, opt).subject())
	}
	report.Set("exported_at", orNull(a.Head.Value("exported_at")))
	return report
}

// Failure returns the report for a missing artifact.
func Failure(input, message string) *ojson.Object {
	return ojson.NewObject("overall", "error", "input", input, "message", message)
}

// Contradiction returns the report for files that differ from what was recorded.
func Contradiction(input, message string) *ojson.Object {
	return ojson.NewObject("overall", "fail", "input", input, "message", message,
		"verification", ojson.NewObject("overall", "fail", "errors", []string{message}))
}
