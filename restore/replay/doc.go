// Package replay lays the files of an export artifact out in a temporary directory
// that nothing can write to by accident: verified first, every path checked, the
// repositories of an initiative inside of it wherever they were at home (docs/reports.md#replay-export).
package replay
