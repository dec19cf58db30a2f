// Package ledger makes the rows of a run's ledgers (docs/spec/state.md): decisions and
// history as an acceptance writes them, decisions that outlive the run, and
// HUMAN_TASKS.md beside them.
package ledger
