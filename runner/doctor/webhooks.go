// What the webhooks of a configuration need on this machine (docs/notifications.md#webhooks).

package doctor

import (
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/notify"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
)

// webhooks checks that the headers of every webhook can be filled in. It sends nothing: the
// notification audit shows whether a webhook answers.
func (d *doctor) webhooks(c *config.Config) {
	list := notify.Read(c.Notifications).Webhooks
	bad := 0
	for i := range list {
		if missing := list[i].Missing(d.lookup); len(missing) > 0 {
			bad++
			d.add("webhooks", LevelWarning, "export what it needs before the next command",
				"webhook %s cannot be told anything: not set: %s", list[i].Name, strings.Join(missing, ", "))
		}
	}
	if len(list) > 0 && bad == 0 {
		d.ok("webhooks", "%s, each with the variables it needs", text.Count(len(list), "webhook", "webhooks"))
	}
}
