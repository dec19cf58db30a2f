// Seal seals or verifies a bundle directory as the library does, with nothing around it, so that
// its speed and memory can be compared with those of another program over the same files.
//
//	go run ./bench/seal seal DIR
//	go run ./bench/seal verify DIR
package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/git-agentxchain/git-agentxchain/dispatch"
)

func main() {
	if len(os.Args) != 3 || os.Args[1] != "seal" && os.Args[1] != "verify" {
		fmt.Fprintln(os.Stderr, "usage: seal seal|verify DIR")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(what, dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	id := dispatch.Identity{RunID: "run_bench", TurnID: "turn_bench", Role: "dev"}
	if what == "seal" {
		_, err = dispatch.Finalize(root, ".", id, "2026-01-02T03:04:05.678Z")
		return err
	}
	report, err := dispatch.Verify(root, ".", id)
	if err == nil && !report.OK() {
		err = errors.New(dispatch.JoinManifestErrors(report.Problems))
	}
	return err
}
