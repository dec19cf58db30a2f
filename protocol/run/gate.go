// What a gate ends: a phase or the run.

package run

const (
	GatePhase      = "phase_transition"
	GateCompletion = "run_completion"
)
