// Repositories of an initiative that exist only on their server: a sync fetches their runs, which count, and
// nothing is done in them (docs/coordinator.md#only-on-a-server).

package coordinator

import (
	"context"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/gitstore/travel"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/initiative"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// fetched sets up reading of the runs in the initiative, and of what was fetched from repositories that exist only
// on their server. It does not use git if there are none.
func (c *Coordinator) fetched(ctx context.Context, d *Documents, opt *ReadOptions) {
	opt.Runs = make(map[string]string)
	for id := range d.Config.Repos.All() {
		if d.State != nil && !d.State.Over() { // the next initiative continues with the newest run
			opt.Runs[id] = d.State.RunOf(id)
		}
		if d.Roots.remote(id) == "" || opt.Home != nil {
			continue
		}
		if home := c.repository(ctx); home != nil {
			opt.Home = home.Repository()
		}
	}
}

// fetchRemotes fetches the runs of such repositories. A failure to fetch or verify one is reported, and stops
// nothing.
func (c *Coordinator) fetchRemotes(ctx context.Context, d *Documents, home *gitstore.Store) {
	for id := range d.Config.Repos.All() {
		address := d.Roots.remote(id)
		if address == "" {
			continue
		}
		came, refused, err := travel.FetchSibling(ctx, home.Repository(), id, address)
		if err != nil {
			c.note("repository " + id + ": " + err.Error())
		}
		for _, run := range came {
			c.note("repository " + id + ": run " + run + " was fetched from its server")
		}
		for _, why := range refused {
			c.note("repository " + id + ": " + why)
		}
	}
}

// remote reads a repository from what was fetched from its server.
func (r *childReader) remote(id, address string) (out childRead) {
	child := initiative.NewChild(id, address, nil, nil, nil, nil)
	child.Remote, out.child = true, child
	if r.opt.Home == nil {
		out.problem(initiative.CodeRunElsewhere,
			"it is only on its server, and the workspace is in no git repository that could keep its runs")
		return out
	}
	rec, err := travel.FetchedRun(r.ctx, r.opt.Home, id, r.opt.Runs[id])
	if err != nil {
		out.refuse(err)
		return out
	}
	if rec == nil {
		out.problem(initiative.CodeRunElsewhere, "it is only on its server, of which no run was fetched; fetch: %s sync", Program)
		return out
	}
	data, _, err := rec.Config()
	if err != nil {
		out.refuse(err)
		return out
	}
	cfg, err := r.config(data)
	if err != nil {
		out.problem("repo_not_governed", "%s", firstLine(err.Error()))
		return out
	}
	state, err := remoteState(rec, cfg)
	if err != nil {
		out.refuse(err)
		return out
	}
	history, err := recordedRows(rec, wire.LedgerHistory)
	if err == nil {
		var events []*ojson.Object
		if events, err = recordedRows(rec, wire.LedgerEvents); err == nil {
			child = initiative.NewChild(id, address, cfg, state, history, events)
			err = r.given(child, state, r.opt.Home, rec.Op)
		}
	}
	if err != nil {
		out.refuse(err)
		return out
	}
	child.Remote, child.Op, out.child = true, string(rec.Op), child
	if state.Run() != rec.Run {
		child.State = nil
		out.problem(record.CodeForeignRun, "what was fetched as run %s is another one", ojson.Shown(rec.Run))
	}
	return out
}

func remoteState(rec *chain.RunRecord, cfg *config.Config) (*run.State, error) {
	state, err := rec.State(cfg)
	if err != nil {
		return nil, err
	}
	if p := run.CheckState(state); len(p) > 0 {
		return nil, run.StateError(p)
	}
	return state, nil
}

// recordedRows returns the rows of a recorded ledger, skipping what is not a row.
func recordedRows(rec *chain.RunRecord, l wire.Ledger) ([]*ojson.Object, error) {
	data, err := rec.Ledger(l)
	return readableRows(data), err
}
