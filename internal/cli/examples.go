// The examples at the end of each command's help. A test reads and runs them.

package cli

import (
	_ "embed"
	"strings"
)

// examples returns the example lines of a command, in the order of the help; the text after "#" is
// a comment.
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
