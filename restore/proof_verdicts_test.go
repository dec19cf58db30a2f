// Our verdict on every mutant beside the reference's, which is recorded in testdata/reference-verdicts.txt. If
// AGENTXCHAIN_REFERENCE names the reference CLI's program it is asked again; -update-verdicts records its answers.

package restore

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
)

var updateVerdicts = flag.Bool("update-verdicts", false, "record the reference's verdicts")

const (
	verdictsFile = "testdata/reference-verdicts.txt"
	crashes      = "CRASH" // the reference ends with a stack trace
	unreadable   = "INPUT" // there is no artifact to judge
)

// ourVerdict returns the failing paths in order, "" when everything is valid.
func ourVerdict(t *testing.T, data []byte) string {
	t.Helper()
	r, err := Verify(t.Context(), bytes.NewReader(data), VerifyOptions{})
	if _, ok := errors.AsType[*InputError](err); ok {
		return unreadable
	}
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, f := range r.Findings {
		path, _, _ := strings.Cut(f.String(), ": ")
		if inner, ok := strings.CutSuffix(path, ".export"); ok && strings.HasPrefix(inner, "repos.") {
			path = nested(f.String())
		}
		paths = append(paths, path)
	}
	return strings.Join(paths, " ")
}

// nested returns the path in an error of an embedded artifact: the repository's, then the inner one.
func nested(finding string) string {
	outer, rest, _ := strings.Cut(finding, ": ")
	if inner, more, ok := strings.Cut(rest, ": "); ok && !strings.Contains(inner, " ") {
		if strings.HasPrefix(inner, "repos.") && strings.HasSuffix(inner, ".export") {
			inner = nested(inner + ": " + more)
		}
		return outer + ">" + inner
	}
	return outer
}

// askReference returns the reference's verdicts. Running it takes long, so the mutants are embedded in one
// coordinator artifact, which it verifies recursively; if it crashes, it is given half of them at a time.
func askReference(t *testing.T, program string, list []mutant) map[string]string {
	t.Helper()
	out := make(map[string]string)
	if len(list) == 0 {
		return out
	}
	doc := []byte(`{"schema_version":"0.3","export_kind":"agentxchain_coordinator_export","repos":{`)
	for i, m := range list {
		if i > 0 {
			doc = append(doc, ',')
		}
		doc = fmt.Appendf(doc, `"m%d":{"ok":true,"path":"x","export":%s}`, i, m.data)
	}
	errs, ok := referenceErrors(t, program, append(doc, "}}"...))
	if !ok && len(list) == 1 {
		out[list[0].name] = crashes
		return out
	}
	if !ok {
		for _, half := range [][]mutant{list[:len(list)/2], list[len(list)/2:]} {
			maps.Copy(out, askReference(t, program, half))
		}
		return out
	}
	found := make([][]string, len(list))
	for _, e := range errs {
		outer, inner, _ := strings.Cut(e, ": ")
		var i int
		if n, err := fmt.Sscanf(outer, "repos.m%d.export", &i); n != 1 || err != nil {
			continue // of the enclosing artifact
		}
		path := nested(outer + ": " + inner)
		path = strings.TrimPrefix(strings.TrimPrefix(path, outer), ">")
		if path == "" { // the embedded artifact is not an object
			path = "artifact"
		}
		found[i] = append(found[i], path)
	}
	for i, m := range list {
		out[m.name] = strings.Join(found[i], " ")
	}
	return out
}

// referenceErrors runs the reference's verify export; ok is false when it crashes.
func referenceErrors(t *testing.T, program string, doc []byte) (errs []string, ok bool) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "artifact.json")
	if err := os.WriteFile(file, doc, 0o666); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("node", program, "verify", "export", "--input", file, "--format", "json")
	cmd.Dir = t.TempDir()
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	o, err := ojson.DecodeObject(out)
	if err != nil {
		return nil, false
	}
	if o.String("overall") == "error" {
		t.Fatalf("the reference cannot read the mutants: %s", o.String("message"))
	}
	return o.Strings("errors"), true
}

func readVerdicts(t *testing.T) map[string]string {
	t.Helper()
	data, err := os.ReadFile(verdictsFile)
	if err != nil {
		t.Fatal(err)
	}
	out := make(map[string]string)
	for line := range strings.Lines(string(data)) {
		name, paths, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if !ok {
			t.Fatalf("%s: %q", verdictsFile, line)
		}
		out[name] = paths
	}
	return out
}

func TestMutantsAsTheReferenceJudgesThem(t *testing.T) {
	testrepo.Thorough(t)
	list := allMutants(t)
	if program := os.Getenv("AGENTXCHAIN_REFERENCE"); program != "" && *updateVerdicts {
		answers := askReference(t, program, list)
		var b strings.Builder
		for _, m := range list {
			fmt.Fprintf(&b, "%s\t%s\n", m.name, answers[m.name])
		}
		if err := os.WriteFile(verdictsFile, []byte(b.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	} else if program != "" {
		want := readVerdicts(t)
		// Mutants known to crash it are tried one by one.
		var alone, together []mutant
		for _, m := range list {
			if want[m.name] == crashes {
				alone = append(alone, m)
			} else {
				together = append(together, m)
			}
		}
		answers := askReference(t, program, together)
		for i := range alone {
			maps.Copy(answers, askReference(t, program, alone[i:i+1]))
		}
		for name, have := range answers {
			if have != want[name] {
				t.Errorf("the reference on %q: %q, recorded %q", name, have, want[name])
			}
		}
	}
	theirs := readVerdicts(t)
	seen := make(map[string]bool)
	differ, passing := 0, 0
	for _, m := range list {
		if seen[m.name] {
			t.Errorf("two mutants are called %q", m.name)
		}
		seen[m.name] = true
		want, known := theirs[m.name]
		if !known {
			t.Errorf("no verdict of the reference on %q is recorded", m.name)
			continue
		}
		have := ourVerdict(t, m.data)
		if have == "" {
			passing++
		}
		if x := exceptionFor(m.name); have != want && (x == nil || !x.fits(have)) {
			t.Errorf("%q\n  ours %q\n  reference %q", m.name, have, want)
		} else if have != want {
			differ++
			x.used = true
		}
	}
	for i := range exceptions {
		if !exceptions[i].used {
			t.Errorf("nothing differs as the exception %q has it", exceptions[i].name)
		}
	}
	for name := range theirs {
		if !seen[name] {
			t.Errorf("a verdict on %q is recorded, which is no mutant", name)
		}
	}
	if len(list) < 200 || passing == len(list) {
		t.Errorf("%d mutants, %d pass", len(list), passing)
	}
	t.Logf("%d mutants, %d pass, %d judged otherwise for a reason", len(list), passing, differ)
}
