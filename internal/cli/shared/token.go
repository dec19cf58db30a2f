// Tokens, which are read from a file, never from an argument.

package shared

import (
	"io"
	"os"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
)

const maxTokenBytes = 4 << 10 // of the file

// TokenFromFile reads the first line of a file, or of standard input for "-".
func TokenFromFile(f *term.Factory, name string) (string, error) {
	return term.Interruptible(f, func() (string, error) { return readToken(f, name) })
}

func readToken(f *term.Factory, name string) (string, error) {
	in := f.Env.Stdin
	if name != "-" {
		path, err := f.Path(name)
		if err != nil {
			return "", err
		}
		file, err := os.Open(path)
		if err != nil {
			return "", term.Errorf("unreadable_input", "cannot read the token: %w", err)
		}
		defer func() { _ = file.Close() }()
		in = file
	}
	data, err := io.ReadAll(io.LimitReader(in, maxTokenBytes+1))
	if err != nil {
		return "", term.Errorf("unreadable_input", "cannot read the token: %w", err)
	}
	line, _, _ := strings.Cut(string(data), "\n")
	line = strings.TrimSpace(line)
	switch {
	case line == "":
		return "", term.Errorf("unreadable_input", "%s holds no token in its first line", term.OneLine(name))
	case len(line) > maxTokenBytes:
		return "", term.Errorf("unreadable_input", "%s holds no token: its first line is longer than %d bytes",
			term.OneLine(name), maxTokenBytes)
	}
	return line, nil
}
