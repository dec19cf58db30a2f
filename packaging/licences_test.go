// The licences of what a release links: those that require only their text, which NOTICE contains, and the source of
// a module that we have not changed.

package packaging_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/licensecheck"

	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
)

// allowedLicences lists SPDX identifiers, as licensecheck names them.
var allowedLicences = []string{
	"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT", "MIT-0",
	"MPL-2.0", // for files, and nothing of the module is changed here
}

func allowed(id string) bool { return slices.Contains(allowedLicences, id) }

// eitherOf matches a file's statement that it is under one of several licences, at the choice of the module's
// user.
var eitherOf = regexp.MustCompile(`SPDX-License-Identifier: ([\w.-]+(?: OR [\w.-]+)+)`)

// licencesOf lists the licences in a module's directory and the files that have no known licence.
func licencesOf(t *testing.T, dir string) (known, unknown []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		name := strings.ToUpper(e.Name())
		if e.IsDir() || !strings.HasPrefix(name, "LICEN") && !strings.HasPrefix(name, "COPYING") {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if either := eitherOf.FindSubmatch(data); either != nil {
			known = append(known, string(either[1]))
			continue
		}
		found := licensecheck.Scan(data)
		if len(found.Match) == 0 {
			unknown = append(unknown, e.Name())
		}
		for _, m := range found.Match {
			if !m.IsURL && !slices.Contains(known, m.ID) {
				known = append(known, m.ID)
			}
		}
	}
	return known, unknown
}

// TestLicences judges every module that any of the released systems links; the thorough form looks at all of them.
func TestLicences(t *testing.T) {
	systems := []string{runtime.GOOS}
	if testrepo.All(t.Name()) {
		systems = []string{"linux", "darwin", "windows"}
	}
	modules := make(map[string]string)
	for _, system := range systems {
		cmd := exec.Command("go", "list", "-deps", "-tags", "urfave_cli_no_docs",
			"-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Dir}}{{end}}{{end}}", "../cmd/git-agentxchain")
		cmd.Env = append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0")
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(out)) {
			if name, dir, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
				modules[name] = dir
			}
		}
	}
	if len(modules) < 10 {
		t.Fatalf("only %d modules are linked: %v", len(modules), modules)
	}
	for name, dir := range modules {
		known, unknown := licencesOf(t, dir)
		t.Log(name, known)
		if len(known) == 0 || len(unknown) > 0 {
			t.Errorf("%s: licences %v, and %v is under none that is known", name, known, unknown)
		}
		for _, id := range known {
			if !slices.ContainsFunc(strings.Split(id, " OR "), allowed) {
				t.Errorf("%s is under %s, which no module of a release may be", name, id)
			}
		}
	}
}

// A licence that requires more is found, and so is a file that is not a licence.
func TestLicencesAreTold(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"LICENSE": "This program is free software: you can redistribute it and/or modify it under the terms of the GNU " +
			"General Public License as published by the Free Software Foundation, either version 3 of the License, or " +
			"(at your option) any later version.\n",
		"LICENSE.2": "SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only\n",
		"COPYING":   "Ask before you use this.\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	known, unknown := licencesOf(t, dir)
	if !slices.Equal(known, []string{"GPL-3.0-or-later", "BSD-3-Clause OR GPL-2.0-only"}) ||
		!slices.Equal(unknown, []string{"COPYING"}) {
		t.Errorf("known %v, unknown %v", known, unknown)
	}
}
