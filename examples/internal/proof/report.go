// The report of a proof: checks that can fail, JSON or lines, the exit status.

package proof

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
)

// Checks collects what did not hold.
type Checks struct{ Errors []string }

// That notes a failure unless ok.
func (c *Checks) That(ok bool, format string, args ...any) {
	if !ok {
		c.Errors = append(c.Errors, fmt.Sprintf(format, args...))
	}
}

// Fail notes an error unless it is nil. It reports whether there was one.
func (c *Checks) Fail(step string, err error) bool {
	if err != nil {
		c.Errors = append(c.Errors, step+": "+err.Error())
	}
	return err != nil
}

// Result returns the report's result: pass or fail.
func (c *Checks) Result() string {
	if len(c.Errors) > 0 {
		return "fail"
	}
	return "pass"
}

// Main prints what prove returns, as JSON with --json, else as one line with the errors below it,
// and ends the program: 0 when it passed, 1 when it did not, 2 for a wrong flag.
func Main(prove func() (report any, line string, errors []string)) {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr, prove))
}

func run(args []string, stdout, stderr io.Writer, prove func() (any, string, []string)) int {
	for _, a := range args {
		if a != "--json" {
			_, _ = fmt.Fprintf(stderr, "unknown argument %q; the only flag is --json\n", a)
			return 2
		}
	}
	report, line, errors := prove()
	if slices.Contains(args, "--json") {
		enc := json.NewEncoder(stdout)
		enc.SetIndent("", "  ")
		enc.SetEscapeHTML(false)
		if err := enc.Encode(report); err != nil {
			_, _ = fmt.Fprintln(stderr, err)
			return 1
		}
	} else {
		_, _ = fmt.Fprintln(stdout, line)
		for _, e := range errors {
			_, _ = fmt.Fprintln(stdout, "  - "+e)
		}
	}
	if len(errors) > 0 {
		return 1
	}
	return 0
}
