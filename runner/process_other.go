//go:build !unix

// Without process groups only the process itself can be ended.

package runner

import "os/exec"

func ownGroup(*exec.Cmd)                {}
func killGroup(*exec.Cmd)               {}
func signalName(*exec.ExitError) string { return "" }
