// Settings of this program in git's configuration, of which a misspelt value is taken for another.

package doctor

import (
	"context"
	"regexp"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/transport"
)

// settings are the values that each understands, and what any other one is taken for.
var settings = []struct {
	key, takes, taken string
	known             *regexp.Regexp
}{
	{
		"agentxchain.sync", "manual, auto or strict", transport.SyncManual,
		regexp.MustCompile(`^(?i:manual|auto|strict)$`),
	},
	{
		"agentxchain.pushRuns", "true, false or require", "true",
		regexp.MustCompile(`^(?i:true|yes|on|1|false|no|off|0|require)$`),
	},
	{
		git.FetchLimitSetting, "a size such as 20g", "4g",
		regexp.MustCompile(`^\d+[kKmMgG]?$`),
	},
}

func (d *doctor) settings(ctx context.Context) {
	for _, s := range settings {
		value := d.rec.Repository().Setting(ctx, s.key)
		if value != "" && !s.known.MatchString(value) {
			d.add("repository", LevelWarning, "git config "+s.key+" VALUE",
				"%s is %q, which is taken for %s: it takes %s", s.key, value, s.taken, s.takes)
		}
	}
}
