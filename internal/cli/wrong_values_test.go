// A value of the wrong type is refused in our own words, for every flag.

package cli

import (
	"strings"
	"testing"

	ucli "github.com/urfave/cli/v2"

	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
)

func TestWrongValuesAreRefusedInOurWords(t *testing.T) {
	typed := 0
	for _, l := range leaves(newCommands(&term.Factory{}), nil) {
		name := term.PathName(l.path)
		for _, fl := range l.path[len(l.path)-1].Flags {
			switch fl.(type) {
			case *ucli.StringFlag, *ucli.StringSliceFlag:
				continue
			}
			if c, ok := fl.(*term.ChoiceFlag); ok {
				if len(c.Choices) == 0 {
					t.Errorf("%s --%s has no choices", name, c.Name)
				}
				continue
			}
			typed++
			flag := "--" + fl.Names()[0]
			app := term.NewApp(&term.Factory{Program: program()})
			_, err := term.ParseLine(app, commandRewrites(), append(strings.Fields(name), flag+"=x"))
			if err == nil || !strings.HasPrefix(err.Error(), flag+" takes ") ||
				!strings.Contains(err.Error(), "git agentxchain help "+name) {
				t.Errorf("%s %s=x: %v", name, flag, err)
			}
		}
	}
	if typed == 0 {
		t.Fatal("no flag of a type was tried")
	}
}
