// Command site makes a static site of the documentation: the pages of docs, and the manual pages as the program
// prints them, with a search that needs no server, versions beside each other, and dark mode.
//
//	go run ./docs/site [-version 0.1.0] [-program FILE] DIR
//
// run from the root of the repository, writes DIR/VERSION and adds the version to DIR/versions.json. DIR/index.html
// leads to the newest release, or to main where there is none.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

func main() {
	version := flag.String("version", "main",
		"version of the documentation, as it is tagged without v; main before one")
	program := flag.String("program", "", "a git-agentxchain of this source that is built already")
	flag.Usage = func() {
		_, _ = fmt.Fprintln(flag.CommandLine.Output(),
			"usage: go run ./docs/site [-version VERSION] [-program FILE] DIR")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	if err := build(".", flag.Arg(0), *version, *program); err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(1)
	}
}

// build writes the documentation of the repository root to out/version.
func build(root, out, version, program string) error {
	s, err := newSite(root, version)
	if err != nil {
		return err
	}
	man, err := os.MkdirTemp("", "man")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(man) }()
	if err := manualPages(root, program, man); err != nil {
		return err
	}
	if err := s.addManual(man); err != nil {
		return err
	}
	if err := s.write(filepath.Join(out, version)); err != nil {
		return err
	}
	return addVersion(out, version)
}

// manualPages makes the program write its manual pages to a directory.
func manualPages(root, program, dir string) error {
	if program == "" {
		program = filepath.Join(dir, "git-agentxchain")
		cmd := exec.Command("go", "build", "-tags", "urfave_cli_no_docs", "-o", program, "./cmd/git-agentxchain")
		cmd.Dir = root
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("go build: %w\n%s", err, out)
		}
	}
	if out, err := exec.Command(program, "man", "--install", "--to", dir).CombinedOutput(); err != nil {
		return fmt.Errorf("%s man --install: %w\n%s", program, err, out)
	}
	return nil
}
