// Every command that a message or hint of this program names must exist, with the flags it names.

package cli

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
)

func TestNamedCommandsExist(t *testing.T) {
	testrepo.Thorough(t)
	root := filepath.Join("..", "..")
	app := term.NewApp(&term.Factory{Program: program()})
	seen := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == ".git" || d.Name() == "testdata") {
			return fs.SkipDir
		}
		if filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, src, parser.SkipObjectResolution)
		if err != nil {
			return nil // the compiler reports it better
		}
		ast.Inspect(file, func(n ast.Node) bool {
			lit, ok := n.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return true
			}
			text, err := strconv.Unquote(lit.Value)
			if err != nil {
				return true
			}
			for rest := text; ; {
				_, after, ok := strings.Cut(rest, "git agentxchain ")
				if !ok {
					return true
				}
				seen++
				if why := namedCommand(app, after); why != "" {
					t.Errorf("%s: %q names %s", set.Position(lit.Pos()), text, why)
				}
				rest = after
			}
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen < 50 {
		t.Fatalf("only %d commands were found in the sources; the search is broken", seen)
	}
}

// namedCommand checks the words of a command line up to the end of a possible command, and returns
// what is wrong with it.
func namedCommand(app *ucli.App, line string) string {
	if i := strings.IndexAny(line, ",;:()\n\"`"); i >= 0 {
		line = line[:i]
	}
	words := strings.Fields(line)
	// "any git agentxchain command", and the groups of the design that are not part of this program
	// yet.
	if len(words) == 0 || !commandWord(words[0]) || slices.Contains([]string{"command", "run"}, words[0]) {
		return ""
	}
	cmd := app.Command(words[0])
	if cmd == nil {
		return "the command " + words[0] + ", which does not exist"
	}
	words = words[1:]
	for len(words) > 0 && len(cmd.Subcommands) > 0 && commandWord(words[0]) {
		name := words[0]
		for _, sub := range cmd.Subcommands {
			if sub.HasName(name) {
				cmd, words = sub, words[1:]
				break
			}
		}
		if len(words) > 0 && words[0] == name {
			return "the subcommand " + name + ", which does not exist"
		}
	}
	for _, w := range words {
		name, ok := strings.CutPrefix(strings.TrimRight(w, "."), "--")
		if !ok || name == "" {
			continue
		}
		name, _, _ = strings.Cut(name, "=")
		if !slices.Contains([]string{"json", "jq", "template", "dir"}, name) && !hasFlag(cmd, name) {
			return "the flag --" + name + ", which " + cmd.Name + " does not take"
		}
	}
	return ""
}

func commandWord(s string) bool {
	for _, r := range s {
		if r != '-' && (r < 'a' || r > 'z') {
			return false
		}
	}
	return s != "" && s[0] != '-'
}

func hasFlag(cmd *ucli.Command, name string) bool {
	for _, f := range cmd.Flags {
		if slices.Contains(f.Names(), name) {
			return true
		}
	}
	return false
}
