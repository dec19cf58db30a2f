// Every command reads its line the same way in every order.

package cli

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	ucli "github.com/urfave/cli/v2"
)

// rewrites are names of two words that another command answers to.
var rewrites = map[string][]string{"verify protocol": {"conformance", "check"}, "stop": {"dashboard", "stop"}}

// sampleApp has one of everything the parser distinguishes.
func sampleApp() *ucli.App {
	app := &ucli.App{Name: "git-agentxchain", HideHelp: true, HideVersion: true, DisableSliceFlagSeparator: true,
		Writer: io.Discard, ErrWriter: io.Discard, OnUsageError: onUsageError,
		ExitErrHandler: func(*ucli.Context, error) {}}
	act := func(*ucli.Context) error { return nil }
	app.Commands = []*ucli.Command{
		{Name: "accept", Aliases: []string{"accept-turn"}, ArgsUsage: "[TURN]", Action: act, Flags: []ucli.Flag{
			&ucli.StringFlag{Name: "turn", Aliases: []string{"t"}},
			&ucli.BoolFlag{Name: "quick", Aliases: []string{"q"}},
			&ucli.BoolFlag{Name: "z"},
			&ucli.IntFlag{Name: "limit", Aliases: []string{"n"}},
			&ucli.StringSliceFlag{Name: "path"},
		}},
		{Name: "reject", ArgsUsage: "TURN", Action: act, Flags: []ucli.Flag{&ucli.StringFlag{Name: "reason", Required: true}}},
		{Name: "gate", Subcommands: []*ucli.Command{
			{Name: "list", Action: act},
			{Name: "show", ArgsUsage: "GATE", Action: act},
		}},
		{Name: "conformance", Subcommands: []*ucli.Command{{Name: "check", Action: act, ArgsUsage: "[DIR...]"}}},
		{Name: "verify", Subcommands: []*ucli.Command{{Name: "turn", Action: act}}},
		{Name: "forward", SkipFlagParsing: true, Action: act},
	}
	prepare(app.Commands)
	return app
}

func TestParseLine(t *testing.T) {
	tests := []struct {
		line string
		argv string
		json bool
		dir  string
	}{
		{"accept t1 --json", "accept -- t1", true, ""},
		{"--json accept t1", "accept -- t1", true, ""},
		{"accept --json t1", "accept -- t1", true, ""},
		{"accept -j t1 -q", "accept --quick -- t1", true, ""},
		{"accept t1 --turn x --quick", "accept --turn=x --quick -- t1", false, ""},
		{"accept t1 --turn=x=y", "accept --turn=x=y -- t1", false, ""},
		{"accept -t x t1", "accept --turn=x -- t1", false, ""},
		{"accept -tx t1", "accept --turn=x -- t1", false, ""},
		{"accept -t=x t1", "accept --turn=x -- t1", false, ""},
		{"accept -qz -n5 t1", "accept --quick -z --limit=5 -- t1", false, ""},
		{"accept -qzn 5 t1", "accept --quick -z --limit=5 -- t1", false, ""},
		{"accept -qj", "accept --quick --", true, ""},
		{"accept --quick=false", "accept --quick=false --", false, ""},
		{"accept --turn --json", "accept --turn=--json --", false, ""},
		{"accept --path a,b --path c", "accept --path=a,b --path=c --", false, ""},
		{"accept -- --json", "accept -- --json", false, ""},
		{"accept -- --", "accept -- --", false, ""},
		{"accept -", "accept -- -", false, ""},
		{"accept-turn t1", "accept -- t1", false, ""},
		{"-C sub accept", "accept --", false, "sub"},
		{"accept -Csub", "accept --", false, "sub"},
		{"accept --dir=sub", "accept --", false, "sub"},
		{"gate show g1 --json", "gate show -- g1", true, ""},
		{"gate --json show g1", "gate show -- g1", true, ""},
		{"gate show -- list", "gate show -- list", false, ""},
		{"verify protocol x y", "conformance check -- x y", false, ""},
		{"verify turn", "verify turn --", false, ""},
		{"forward --json -x -- y", "forward --json -x -- y", false, ""},
		{"--json forward a", "forward a", true, ""},
	}
	for _, tt := range tests {
		t.Run(tt.line, func(t *testing.T) {
			inv, err := parseLine(sampleApp(), rewrites, strings.Fields(tt.line))
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(inv.Argv[1:], " "); got != tt.argv {
				t.Errorf("argv = %q, want %q", got, tt.argv)
			}
			if inv.Global.JSON != tt.json || inv.Global.Dir != tt.dir {
				t.Errorf("global = %+v", inv.Global)
			}
		})
	}
}

func TestParseLineErrors(t *testing.T) {
	tests := []struct{ line, want string }{
		{"acept", `unknown command "acept"; did you mean "accept"?`},
		{"gate lst", `unknown gate command "lst"; did you mean "list"?`},
		{"gate", `"gate" needs a subcommand: list, show`},
		{"accept a b", `"accept" does not take the argument "b"`},
		{"gate list x", `"gate list" does not take the argument "x"`},
		{"gate show", `"gate show" needs an argument: GATE`},
		{"reject t1", `"reject" needs --reason`},
		{"reject --reason", `--reason needs a value`},
		{"accept --trun x", `unknown flag --trun for "accept"; did you mean --turn?`},
		{"accept -json", `unknown flag -json for "accept"; did you mean --json?`},
		{"accept --=x", `unknown flag -- for "accept"; "git agentxchain help accept" lists them`},
		{"accept --json=maybe", `--json: "maybe" is neither true nor false`},
		{"--turn x accept", `unknown flag --turn; "git agentxchain help" lists them`},
		{"--color=blue accept", `--color: --color takes auto, always or never, not "blue"`},
	}
	for _, tt := range tests {
		t.Run(tt.line, func(t *testing.T) {
			_, err := parseLine(sampleApp(), rewrites, strings.Fields(tt.line))
			if err == nil {
				t.Fatal("no error")
			}
			if err.Error() != tt.want {
				t.Errorf("got  %s\nwant %s", err, tt.want)
			}
			if got := describe(err).exit; got != exitUsage {
				t.Errorf("exit %d", got)
			}
			if strings.Contains(err.Error(), "\n") {
				t.Error("more than one line")
			}
		})
	}
}

// TestJSONIsHonouredAfterAnError: a line that is wrong early still answers in
// the format it asks for later.
func TestJSONIsHonouredAfterAnError(t *testing.T) {
	for line, want := range map[string]bool{
		"acept --json": true, "accept --bad x -j": true, "--bad accept": false, "accept --bad -- --json": false,
	} {
		inv, err := parseLine(sampleApp(), nil, strings.Fields(line))
		if err == nil || inv.Global.JSON != want {
			t.Errorf("%s: err %v, json %v", line, err, inv.Global.JSON)
		}
	}
}

func TestArity(t *testing.T) {
	for usage, want := range map[string][2]int{
		"": {0, 0}, "TURN": {1, 1}, "[TURN]": {0, 1}, "A B": {2, 2}, "A [B]": {1, 2},
		"[PATH...]": {0, -1}, "PATH...": {1, -1}, "LEFT RIGHT [-- PATH...]": {2, -1}, "list|show": {1, 1}, "PATH[:LINE]": {1, 1}, "[A B]": {0, 2},
	} {
		low, high := arity(usage)
		if [2]int{low, high} != want {
			t.Errorf("arity(%q) = %d, %d, want %v", usage, low, high, want)
		}
	}
}

// leaf is a command that can be called, with its path.
type leaf struct {
	path []*ucli.Command
}

func leaves(list []*ucli.Command, above []*ucli.Command) []leaf {
	var out []leaf
	for _, c := range list {
		path := append(above[:len(above):len(above)], c)
		if c.Action != nil {
			out = append(out, leaf{path})
		}
		out = append(out, leaves(c.Subcommands, path)...)
	}
	return out
}

// valueFor is a value a flag's type accepts.
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
	case *choiceFlag:
		return fl.Choices[0]
	}
	return "value"
}

// TestEveryCommandTakesFlagsAnywhere permutes, for every registered command,
// a line with every flag and as many operands as it takes, and requires that
// the command is given the same each time.
func TestEveryCommandTakesFlagsAnywhere(t *testing.T) {
	for _, l := range leaves(newCommands(&Factory{}), nil) {
		name := pathName(l.path)
		cmd := l.path[len(l.path)-1]
		if cmd.SkipFlagParsing {
			continue
		}
		t.Run(name, func(t *testing.T) {
			low, high := arity(cmd.ArgsUsage)
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
				case !flagTakesValue(fl):
					flags = append(flags, []string{"--" + names[0]})
				default:
					flags = append(flags, []string{"--" + names[0], v}, []string{"--" + names[0] + "=" + v})
				}
			}
			global := [][]string{{"--json"}, {"-C", "."}}
			options := slices.Concat(flags, global)
			want := callWith(t, name, slices.Concat(options, operands))
			// Every order that keeps flags among flags and operands among
			// operands must read the same; a few stand for all.
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
	Global globalOptions
	Err    string
}

// callWith runs a real command line with the command's action replaced.
func callWith(t *testing.T, name string, groups [][]string) call {
	t.Helper()
	app := newApp(&Factory{Program: program()})
	path := findPath(app.Commands, strings.Fields(name))
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
	inv, err := parseLine(app, commandRewrites(), append(strings.Fields(name), slices.Concat(groups...)...))
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
			if above == "" && !c.Hidden && !slices.Contains(categories(), c.Category) {
				t.Errorf("%s has the unknown group %q", c.Name, c.Category)
			}
			if c.Action == nil && len(c.Subcommands) == 0 {
				t.Errorf("%s%s does nothing", above, c.Name)
			}
			walk(c.Subcommands, above+c.Name+" ")
		}
	}
	walk(newCommands(&Factory{}), "")
}

func FuzzParseLine(f *testing.F) {
	for _, s := range []string{"accept t1 --json", "-", "--", "-\xff", "gate -- show", "verify protocol -qzn5", "--=", "-C", "accept -jz"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		app := sampleApp()
		words := strings.Split(line, " ")
		inv, err := parseLine(app, rewrites, words)
		if err != nil {
			var coded CodedError
			if !errors.As(err, &coded) || coded.ErrorCode() != "usage" {
				t.Fatalf("%q: %v is not a usage error", line, err)
			}
			return
		}
		// What was understood is understood the same when read again.
		if len(inv.Path) > 0 && !inv.command().SkipFlagParsing {
			again, err := parseLine(app, rewrites, inv.Argv[1:])
			if inv.Global.Help || inv.Global.Version {
				return // the line may be incomplete, which help does not mind
			}
			if err != nil {
				t.Fatalf("%q -> %q: %v", line, inv.Argv, err)
			}
			if !slices.Equal(again.Argv, inv.Argv) {
				t.Fatalf("%q -> %q -> %q", line, inv.Argv, again.Argv)
			}
		}
		if err := app.RunContext(context.Background(), inv.Argv); err != nil && describe(err).exit != exitUsage {
			t.Fatalf("%q: %v", line, err)
		}
	})
}
