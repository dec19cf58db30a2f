// The stable error codes of the coordinator; docs/errors.md describes them.

package initiative

const (
	CodeConfigMissing     = "config_missing"
	CodeInvalidConfig     = "invalid_coordinator_config"
	CodeWorkstreamCycle   = "workstream_cycle"
	CodeRepoUnresolved    = "repo_unresolved"
	CodeUnknownRepo       = "unknown_repo"
	CodeUnknownWorkstream = "unknown_workstream"
	CodeNotInWorkstream   = "repo_not_in_workstream"
	CodeCrossRepoWrite    = "cross_repo_write_violation"
	CodeProjectionClash   = "projection_conflict"
	CodeRunElsewhere      = "repo_run_elsewhere" // a run is, or may be, on a remote and not in this clone
	CodeRunMismatch       = "repo_run_id_mismatch"
	CodeNoCoordinator     = "no_coordinator_run"
	CodeReportRequired    = "recovery_report_required"
)
