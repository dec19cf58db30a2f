// The examples that the help of each command ends with. A test reads and runs them.

package cli

import (
	_ "embed"
	"strings"
)

// examples are lines to type for a command, in the order of the help; what follows "#"
// says what for.
func examples(command string) []string {
	for entry := range strings.SplitSeq(exampleText, "\n\n") {
		name, lines, _ := strings.Cut(strings.TrimSpace(entry), "\n")
		if name == command {
			return strings.Split(lines, "\n")
		}
	}
	return nil
}

// exampleText has one paragraph a command: its name, then its examples.
//
//go:embed examples.txt
var exampleText string
