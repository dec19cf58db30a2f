// Package localcli passes a turn to a program: the prompt as argument, on standard input or in the
// bundle only, the result in the staging file. The staged result alone decides whether the turn
// went well, never the exit status.
package localcli
