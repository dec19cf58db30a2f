// Package diff compares two runs by their rows in run-history.jsonl, or two export
// artifacts, and names what became worse (docs/reports.md#diff).
package diff
