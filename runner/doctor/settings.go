// Settings of this program in git's configuration for which a misspelt value is silently replaced.

package doctor

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/transport"
)

func (d *doctor) settings(ctx context.Context) {
	for _, s := range []struct {
		key, takes, taken string // what it accepts, and what any other value is taken for
		known             func(string) bool
	}{
		{"agentxchain.sync", "manual, auto or strict", transport.SyncManual, word("manual", "auto", "strict")},
		{"agentxchain.pushRuns", "true, false or require", "true", word("true", "yes", "on", "1", "false", "no", "off", "0",
			"require")},
		{git.FetchLimitSetting, "a size such as 20g", "4g", size},
	} {
		value := d.rec.Repository().Setting(ctx, s.key)
		if value != "" && !s.known(value) {
			d.add("repository", LevelWarning, "git config "+s.key+" VALUE",
				"%s is %q, which counts as %s; write %s", s.key, value, s.taken, s.takes)
		}
	}
}

// word returns a function that reports one of the words, ignoring case.
func word(of ...string) func(string) bool {
	return func(value string) bool { return slices.Contains(of, strings.ToLower(value)) }
}

// size reports a number, with or without a unit.
func size(value string) bool {
	_, err := strconv.ParseUint(strings.TrimRight(value, "kKmMgG"), 10, 64)
	return err == nil && len(value)-len(strings.TrimRight(value, "kKmMgG")) <= 1
}
