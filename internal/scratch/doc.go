// Package scratch makes temporary directories that are locked as long as their process is alive. A directory whose
// lock is free was left by a killed process; creating the next one with the same prefix removes it.
package scratch
