package cli

import (
	"errors"
	"fmt"
	"os/exec"
	"strings"
)

// scriptExamples runs the examples of the named commands as they stand. What they refer to need not
// exist; the command has to understand the line, and it must work where it can.
func scriptExamples(commands []string) error {
	var problems []error
	for _, name := range commands {
		must := strings.HasSuffix(name, "!") // it has to succeed
		name = strings.TrimSuffix(name, "!")
		lines := examples(name)
		if len(lines) == 0 {
			return fmt.Errorf("%s has no examples", name)
		}
		for _, line := range lines {
			if strings.Contains(line, "--follow") {
				continue // it waits for more
			}
			out, err := exec.Command("sh", "-c", line).CombinedOutput()
			if err == nil {
				continue
			}
			exit, ok := err.(*exec.ExitError)
			if !ok || must || exit.ExitCode() == 2 || exit.ExitCode() > 12 {
				problems = append(problems, fmt.Errorf("%s: %w\n%s", line, err, out))
			}
		}
	}
	return errors.Join(problems...)
}
