// Package archive keeps the list of archived runs (docs/teams.md): which runs are no longer among the refs that
// servers advertise one by one, at which operation, and why. The list travels; the operations stay where they are
// until a command names an archived run.
package archive
