// Package cli is the command line: flags, rendering, exit codes. It holds no rules; the packages
// below it make every decision.
//
// A command is three things in one file: a struct xOptions with the options, newXCommand(f) that
// only parses flags into it, and runX(ctx, f, opts) that does the work and passes its result to
// f.Out.Emit. Tests call runX. Commands are listed in commands.go. Their common code for lines and
// terminals is package term.
package cli
