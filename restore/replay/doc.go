// Package replay lays the files of an export artifact out in a temporary directory that is protected against
// accidental writes: it verifies the artifact first, checks every path, and puts the repositories of an initiative
// inside, wherever they were originally (docs/reports.md#replay-export).
package replay
