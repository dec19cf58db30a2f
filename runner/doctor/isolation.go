// Which isolations this machine can give agents, and whether it can give the configured ones.

package doctor

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/confine"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes"
)

// isolation tries each isolation on the git directory of this project: a program inside it tries to
// write there. A configured isolation that does not hold is a problem.
func (d *doctor) isolation(ctx context.Context, c *config.Config) {
	repo := d.rec.Repository()
	protected := runtimes.Protected(d.rec.Dir(), repo.TopLevel, repo.CommonDir, repo.GitDir, repo.ObjectsDir)
	free, err := os.MkdirTemp("", "agentxchain-trial-")
	if err != nil {
		d.add("isolation", LevelWarning, "", "no isolation was tried: %s", err)
		return
	}
	defer func() { _ = os.RemoveAll(free) }()
	results := map[string]error{}
	try := func(kind, user string) error {
		key := kind + " " + user
		if err, ok := results[key]; ok {
			return err
		}
		plan := &confine.Plan{
			Kind:      kind,
			User:      user,
			Protected: protected,
		}
		results[key] = plan.Try(ctx, free)
		return results[key]
	}
	var holds, not []string
	for _, kind := range confine.Kinds() {
		if kind == confine.User {
			continue // a runtime has to name the user
		}
		if err := try(kind, ""); err != nil {
			not = append(not, kind+" ("+why(err)+")")
		} else {
			holds = append(holds, kind)
		}
	}
	asked := 0
	for id, rt := range c.Runtimes.All() {
		if rt == nil {
			continue
		}
		kind := runtimes.Isolation(rt)
		if kind == confine.None || kind != confine.User && !slices.Contains(confine.Kinds(), kind) {
			continue // the configuration's own check reports an unknown isolation
		}
		asked++
		user := ""
		if kind == confine.User {
			user = rt.Raw.String("isolation_user")
		}
		if err := try(kind, user); err != nil {
			refusal := runtimes.Unconfined(id, err)
			level := LevelWarning
			if bound(c, id) {
				level = LevelError
			}
			d.add("isolation", level, refusal.Hint, "runtime %s asks for isolation %s, which does not work here: %s", id,
				kind, why(err))
		} else if kind == confine.User {
			holds = append(holds, "user "+user)
		}
	}
	text := "tested on " + repo.CommonDir + ": "
	if len(holds) > 0 {
		text += strings.Join(slices.Compact(holds), ", ") + " keep an agent from writing there"
	} else {
		text += "no isolation works"
	}
	if len(not) > 0 {
		text += "; not here: " + strings.Join(not, ", ")
	}
	if asked == 0 {
		text += "; no runtime uses one"
	}
	d.ok("isolation", "%s", text)
}

func why(err error) string {
	if u, ok := errors.AsType[*confine.Unavailable](err); ok {
		return u.Why
	}
	return err.Error()
}
