// Package localcli hands a turn to a program: the prompt as argument, on standard
// input or in the bundle only, the result in the staging file. Whether the turn
// went well is decided by the staged result alone, never by the exit status.
package localcli
