// Package cli is the command line: flags, rendering, exit codes. It holds no
// rules; every decision is asked of the rooms below it.
//
// A command is three things in one file: a struct xOptions with what was asked
// for, newXCommand(f) that only parses flags into it, and runX(ctx, f, opts)
// that does the work and hands its result to f.Out.Emit. Tests call runX.
// Commands are listed in commands.go. What they share of lines and terminals is
// package term.
package cli
