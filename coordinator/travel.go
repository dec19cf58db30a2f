// An initiative on another machine: its record comes with a sync, and the files of the workspace follow it
// (docs/coordinator.md#on-another-machine).

package coordinator

import (
	"context"
	"fmt"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/gitstore/travel"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/initiative"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// SyncOptions are the options of Sync.
type SyncOptions struct {
	Remote string
	Forget []string
	NoPush bool
}

// Sync syncs the initiatives of this workspace with a remote of its repository. The files of the workspace follow;
// if it has no initiative, it enters the newest unfinished one.
//
// Errors: those of travel.SyncInitiatives; not_a_git_repository if nothing is recorded in git;
// inside_dispatched_turn.
func (c *Coordinator) Sync(ctx context.Context, opt SyncOptions) (*travel.Synced, error) {
	tx, home, err := c.travelling(ctx)
	if err != nil {
		return nil, err
	}
	tx.close() // a server may take its time, and other commands need not wait for it
	c.fetchRemotes(ctx, tx.Docs, home)
	y, err := travel.SyncInitiatives(ctx, home.Repository(), travel.InitiativeSync{
		Remote:  opt.Remote,
		Project: tx.Docs.Config.ProjectID,
		Forget:  opt.Forget,
		NoPush:  opt.NoPush,
		Exclusive: func(ctx context.Context, land func(context.Context) error) (err error) {
			if tx, _, err = c.travelling(ctx); err != nil {
				return err
			}
			defer tx.close()
			return land(ctx)
		},
		Judge: func(ctx context.Context, name string, from, to object.OID) error {
			return c.vouched(ctx, tx, from, to)
		},
		Join: func(ctx context.Context, base, here, there object.OID) (object.OID, error) {
			return c.joined(ctx, tx, base, here, there)
		},
		Follow: func(ctx context.Context, name string, to object.OID) error {
			if tx.Docs.State == nil || tx.Docs.State.SuperRunID != name {
				return nil
			}
			_, err := c.place(ctx, tx, to)
			return err
		},
	})
	if err != nil {
		return y, err
	}
	return y, c.takeUp(ctx, y)
}

// takeUp enters the newest initiative in a workspace that has none, or one that has ended.
func (c *Coordinator) takeUp(ctx context.Context, y *travel.Synced) error {
	tx, home, err := c.travelling(ctx)
	if err != nil {
		return err
	}
	defer tx.close()
	if st := tx.Docs.State; st != nil && !st.Over() {
		return nil
	}
	name, op, err := c.goesOn(ctx, home)
	if err != nil || name == "" || tx.Docs.State != nil && name == tx.Docs.State.SuperRunID {
		return err
	}
	// Its ref may have come here in another way than by this sync.
	if err := record.VerifyInitiative(ctx, home.Repository(), name, op, "", tx.Docs.Config.ProjectID); err != nil {
		return err
	}
	if err := c.vouched(ctx, tx, "", op); err != nil {
		return err
	}
	if err := c.enterRepos(ctx, tx, op); err != nil {
		return err
	}
	if _, err := c.place(ctx, tx, op); err != nil {
		return err
	}
	y.Entered, y.Over = name, tx.Docs.State.Over()
	return nil
}

// travelling takes the lock for a sync, and brings files and record together.
func (c *Coordinator) travelling(ctx context.Context) (*Tx, *gitstore.Store, error) {
	tx, home, err := c.arriving(ctx, "sync")
	if err != nil {
		return nil, nil, err
	}
	if err := c.catchUpRecord(ctx, tx); err != nil {
		tx.close()
		return nil, nil, err
	}
	return tx, home, nil
}

// arriving is travelling without changing files and record.
func (c *Coordinator) arriving(ctx context.Context, purpose string) (*Tx, *gitstore.Store, error) {
	tx, err := c.lock(ctx, purpose, true)
	if err != nil {
		return nil, nil, err
	}
	closed := func(err error) (*Tx, *gitstore.Store, error) {
		tx.close()
		return nil, nil, err
	}
	if e := personOnly(c.env(ctx).Actor, "bring an initiative from elsewhere", Program+" "+purpose); e != nil {
		return closed(e)
	}
	home := c.repository(ctx)
	if home == nil {
		return closed(&wire.Error{
			Code:    fail.CodeNotRepository,
			Field:   "workspace",
			Message: "The workspace is in no git repository, so its initiatives are recorded nowhere and cannot travel.",
			Hint:    "git init " + wire.ShellWord(c.store.dir),
		})
	}
	if e := unresolved(tx.Docs); e != nil {
		return closed(e)
	}
	return tx, home, nil
}

// catchUpRecord brings files and record together: late files of an earlier change, or of one given up for a
// remote's, are updated; anything else that the record lacks, from another implementation or a killed command, is
// recorded.
func (c *Coordinator) catchUpRecord(ctx context.Context, tx *Tx) error {
	home := c.repository(ctx)
	if home == nil || tx.Docs.State == nil {
		return nil
	}
	c.keepBeginning(ctx, tx.Docs.State)
	in, err := c.initiative(ctx, tx.Docs, "external", "Took in what was not recorded yet")
	if err == nil {
		var tip, at object.OID
		tip, at, err = record.InitiativeAt(ctx, home.Repository(), in)
		known := in.Files[initiative.HistoryPath]
		if err == nil && tip != "" && at == "" {
			if at, err = record.InitiativeGivenUp(ctx, home.Repository(), in); at != "" {
				known = nil // if it was continued elsewhere
				c.note("a command that was killed had gone over to the changes of a remote, and the files follow; those that were " +
					"here are kept under " + record.LostRefPrefix + record.InitiativeNames + in.Run)
			}
		}
		switch {
		case err != nil:
		case at == "" || at == tip:
			if err := c.recordable(ctx, tx.Docs, &in, tip, at); err != nil {
				return err
			}
		default:
			if err := c.recordable(ctx, tx.Docs, &in, tip, at); err != nil {
				return err // later files are judged below, these are not
			}
			if err := record.VerifyInitiative(ctx, home.Repository(), in.Run, tip, "",
				tx.Docs.Config.ProjectID); err != nil {
				return err
			}
			files, err := record.InitiativeFiles(ctx, home.Repository(), tip)
			if err != nil {
				return err
			}
			st, err := stateOf(files)
			if err != nil {
				return err
			}
			if err := c.approved(ctx, st, files[initiative.HistoryPath], known, tip, tx.Docs.Config,
				false); err != nil {
				return err
			}
			_, err = c.place(ctx, tx, tip)
			return err
		}
	}
	if err != nil {
		c.note("the initiative could not be recorded in git: " + err.Error())
		return nil
	}
	c.record(ctx, tx.Docs, in.Op, in.Subject)
	return nil
}

// goesOn returns the newest unfinished initiative recorded here, else the newest.
func (c *Coordinator) goesOn(ctx context.Context, home *gitstore.Store) (string, object.OID, error) {
	tips, err := travel.InitiativeTips(ctx, home.Repository())
	if err != nil {
		return "", "", err
	}
	name, op := "", object.OID("")
	for _, t := range tips {
		if t.Remote != "" {
			continue
		}
		files, err := record.InitiativeFiles(ctx, home.Repository(), t.Op)
		if err != nil {
			return "", "", err
		}
		st, err := stateOf(files)
		if err != nil {
			continue
		}
		if name == "" || !st.Over() {
			if name, op = t.Name, t.Op; !st.Over() {
				break
			}
		}
	}
	return name, op, nil
}

func stateOf(files map[string][]byte) (*initiative.State, error) {
	doc, err := ojson.DecodeObject(files[initiative.StatePath])
	if err != nil {
		return nil, err
	}
	st, e := initiative.DecodeState(doc)
	if e != nil {
		return nil, e
	}
	return st, nil
}

// enterRepos creates the working files of repositories that have an initiative's run only in their record.
func (c *Coordinator) enterRepos(ctx context.Context, tx *Tx, op object.OID) error {
	files, err := record.InitiativeFiles(ctx, c.repository(ctx).Repository(), op)
	if err != nil {
		return err
	}
	st, err := stateOf(files)
	if err != nil {
		return err
	}
	s := c.see(ctx, tx.Docs, false)
	for id := range s.Config.Repos.All() {
		dir, ok := s.Roots.Path(id)
		if child := s.Children[id]; !ok || child == nil || !child.Fresh || st.RunOf(id) == "" {
			continue
		}
		name, _, p := c.arrived(ctx, id, dir)
		switch {
		case p != nil:
			c.note(p.Message)
		case name == st.RunOf(id):
			if err := c.enter(ctx, s, id, name); err != nil {
				return err
			}
		default:
			c.note(fmt.Sprintf("repository %s: its run %s is not here; bring it: %s -C %s sync", id, st.RunOf(id),
				Program, wire.ShellWord(dir)))
		}
	}
	return nil
}
