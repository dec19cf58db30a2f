// Every command accepts its line in any order, and describes itself.

package cli

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/shared"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
)

// leaf is a command that can be called, with its path.
type leaf struct {
	path []*ucli.Command
}

func leaves(list []*ucli.Command, above []*ucli.Command) []leaf {
	var out []leaf
	for _, c := range list {
		path := append(slices.Clip(above), c)
		if c.Action != nil {
			out = append(out, leaf{path})
		}
		out = append(out, leaves(c.Subcommands, path)...)
	}
	return out
}

// valueFor returns a value that a flag's type accepts.
func valueFor(fl ucli.Flag) string {
	switch fl := fl.(type) {
	case *ucli.BoolFlag:
		return ""
	case *ucli.IntFlag, *ucli.Int64Flag, *ucli.UintFlag, *ucli.Uint64Flag:
		return "7"
	case *ucli.Float64Flag:
		return "1.5"
	case *ucli.DurationFlag:
		return "5s"
	case *term.ChoiceFlag:
		return fl.Choices[0]
	}
	return "value"
}

// TestEveryCommandTakesFlagsAnywhere permutes, for every registered command, a line with every flag
// and as many operands as it takes, and requires that the command receives the same each time.
func TestEveryCommandTakesFlagsAnywhere(t *testing.T) {
	for _, l := range leaves(newCommands(&term.Factory{}), nil) {
		name := term.PathName(l.path)
		cmd := l.path[len(l.path)-1]
		if cmd.SkipFlagParsing {
			continue
		}
		t.Run(name, func(t *testing.T) {
			low, high := term.Arity(cmd.ArgsUsage)
			if high < 0 {
				high = low + 2
			}
			var operands [][]string
			for i := range high {
				operands = append(operands, []string{"operand" + string(rune('a'+i))})
			}
			var flags [][]string
			for _, fl := range cmd.Flags {
				names := fl.Names()
				if slices.Contains([]string{"json", "help", "dir"}, names[0]) {
					t.Errorf("--%s hides the global flag", names[0])
				}
				switch v := valueFor(fl); {
				case !term.FlagTakesValue(fl):
					flags = append(flags, []string{"--" + names[0]})
				default:
					flags = append(flags, []string{"--" + names[0], v}, []string{"--" + names[0] + "=" + v})
				}
			}
			global := [][]string{{"--json"}, {"-C", "."}}
			options := slices.Concat(flags, global)
			want := callWith(t, name, slices.Concat(options, operands))
			// Every order that keeps flags among flags and operands among operands must read the
			// same; a few samples suffice.
			rng := rand.New(rand.NewPCG(1, 2))
			orders := [][][]string{slices.Concat(operands, options)}
			for range 6 {
				orders = append(orders, interleave(rng, options, operands))
			}
			for _, words := range orders {
				if diff := cmp.Diff(want, callWith(t, name, words)); diff != "" {
					t.Errorf("%s %v\n%s", name, words, diff)
				}
			}
		})
	}
}

type call struct {
	Args   []string
	Flags  []string
	Global term.GlobalOptions
	Err    string
}

// callWith runs a real command line with the command's action replaced.
func callWith(t *testing.T, name string, groups [][]string) call {
	t.Helper()
	app := term.NewApp(&term.Factory{Program: program()})
	path := term.FindPath(app.Commands, strings.Fields(name))
	cmd := path[len(path)-1]
	var got call
	for _, c := range path {
		c.Before = nil
	}
	cmd.Action = func(c *ucli.Context) error {
		got.Args = c.Args().Slice()
		for _, fl := range cmd.Flags {
			n := fl.Names()[0]
			if c.IsSet(n) {
				got.Flags = append(got.Flags, n)
			}
		}
		return nil
	}
	inv, err := term.ParseLine(app, commandRewrites(), append(strings.Fields(name), slices.Concat(groups...)...))
	if err != nil {
		t.Fatalf("%s %v: %v", name, groups, err)
	}
	got.Global = inv.Global
	if err := app.RunContext(context.Background(), inv.Argv); err != nil {
		got.Err = err.Error()
	}
	return got
}

func interleave(rng *rand.Rand, a, b [][]string) [][]string {
	out := make([][]string, 0, len(a)+len(b))
	for len(a) > 0 || len(b) > 0 {
		if len(b) == 0 || len(a) > 0 && rng.IntN(2) == 0 {
			out, a = append(out, a[0]), a[1:]
		} else {
			out, b = append(out, b[0]), b[1:]
		}
	}
	return out
}

// TestCommandsAreWellFormed keeps the tree consistent: names and aliases are
// unique, everything has a usage line and a group.
func TestCommandsAreWellFormed(t *testing.T) {
	var walk func(list []*ucli.Command, above string)
	walk = func(list []*ucli.Command, above string) {
		seen := map[string]bool{}
		for _, c := range list {
			for _, n := range c.Names() {
				if seen[n] {
					t.Errorf("%s%s is there twice", above, n)
				}
				seen[n] = true
			}
			if c.Usage == "" {
				t.Errorf("%s%s has no usage", above, c.Name)
			}
			if above == "" && !c.Hidden && !slices.Contains(shared.Categories(), c.Category) {
				t.Errorf("%s has the unknown group %q", c.Name, c.Category)
			}
			if c.Action == nil && len(c.Subcommands) == 0 {
				t.Errorf("%s%s does nothing", above, c.Name)
			}
			walk(c.Subcommands, above+c.Name+" ")
		}
	}
	walk(newCommands(&term.Factory{}), "")
}
