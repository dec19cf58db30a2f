// Package diff compares two runs by their rows in run-history.jsonl, or two export artifacts, and lists regressions
// (docs/reports.md#diff).
package diff
