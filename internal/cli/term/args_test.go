// Every command reads its line the same way in every order.

package term

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	ucli "github.com/urfave/cli/v2"
)

// rewrites maps two-word names to the commands that answer to them.
var rewrites = map[string][]string{"verify protocol": {"conformance", "check"}, "stop": {"dashboard", "stop"}}

// sampleApp returns an app with one of everything that the parser distinguishes.
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
		{
			Name:      "reject",
			ArgsUsage: "TURN",
			Action:    act,
			Flags:     []ucli.Flag{&ucli.StringFlag{Name: "reason", Required: true}},
		},
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
			inv, err := ParseLine(sampleApp(), rewrites, strings.Fields(tt.line))
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
		{"accept a b", `"accept" does not take the argument "b"; "git agentxchain help accept" shows what it takes`},
		{"gate list x",
			`"gate list" does not take the argument "x"; "git agentxchain help gate list" shows what it takes`},
		{"accept a quick", `"accept" does not take the argument "quick"; did you mean "git agentxchain accept --quick"?`},
		{"reason", `unknown command "reason"; did you mean "git agentxchain reject --reason"?`},
		{"gate reject", `unknown gate command "reject"; did you mean "git agentxchain reject"?`},
		{"gate show", `"gate show" needs an argument: GATE; "git agentxchain help gate show" explains it`},
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
			_, err := ParseLine(sampleApp(), rewrites, strings.Fields(tt.line))
			if err == nil {
				t.Fatal("no error")
			}
			if err.Error() != tt.want {
				t.Errorf("got  %s\nwant %s", err, tt.want)
			}
			if got := Describe(err).Exit; got != ExitUsage {
				t.Errorf("exit %d", got)
			}
			if strings.Contains(err.Error(), "\n") {
				t.Error("more than one line")
			}
		})
	}
}

// TestJSONIsHonouredAfterAnError: a line with an early fault still answers in the format that it
// requests later.
func TestJSONIsHonouredAfterAnError(t *testing.T) {
	for line, want := range map[string]bool{
		"acept --json": true, "accept --bad x -j": true, "--bad accept": false, "accept --bad -- --json": false,
	} {
		inv, err := ParseLine(sampleApp(), nil, strings.Fields(line))
		if err == nil || inv.Global.JSON != want {
			t.Errorf("%s: err %v, json %v", line, err, inv.Global.JSON)
		}
	}
}

func TestArity(t *testing.T) {
	for usage, want := range map[string][2]int{
		"": {0, 0}, "TURN": {1, 1}, "[TURN]": {0, 1}, "A B": {2, 2}, "A [B]": {1, 2},
		"[PATH...]": {0, -1}, "PATH...": {1, -1}, "LEFT RIGHT [-- PATH...]": {2, -1}, "list|show": {1,
			1}, "PATH[:LINE]": {1, 1}, "[A B]": {0, 2},
	} {
		low, high := Arity(usage)
		if [2]int{low, high} != want {
			t.Errorf("arity(%q) = %d, %d, want %v", usage, low, high, want)
		}
	}
}

func FuzzParseLine(f *testing.F) {
	for _, s := range []string{"accept t1 --json", "-", "--", "-\xff", "gate -- show", "verify protocol -qzn5", "--=",
		"-C", "accept -jz"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		app := sampleApp()
		words := strings.Split(line, " ")
		inv, err := ParseLine(app, rewrites, words)
		if err != nil {
			var coded CodedError
			if !errors.As(err, &coded) || coded.ErrorCode() != "usage" {
				t.Fatalf("%q: %v is not a usage error", line, err)
			}
			return
		}
		// A parsed line has the same meaning when parsed again.
		if len(inv.Path) > 0 && !inv.command().SkipFlagParsing {
			again, err := ParseLine(app, rewrites, inv.Argv[1:])
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
		if err := app.RunContext(context.Background(), inv.Argv); err != nil && Describe(err).Exit != ExitUsage {
			t.Fatalf("%q: %v", line, err)
		}
	})
}
