// The use cases of an initiative: a workspace, its repositories, and the person or agent who asks
// (docs/coordinator.md#a-turn).

package coordinator

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/sibling"
	"github.com/git-agentxchain/git-agentxchain/gitstore/transport"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/initiative"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

// Options configures a Coordinator. The command line uses the zero value.
type Options struct {
	Now  func() time.Time // clock; time.Now when nil
	Seed func() string    // 32 hex digits for each operation's ids; random when nil
	// waiting time for other commands on the workspace and its repositories; 10 s when 0, none when negative
	LockWait time.Duration
	Getenv   func(string) string // for identity, trust and dispatch markers; os.Getenv when nil
	Terminal bool                // a person at a terminal is asking
	Trust    bool                // use hooks without stored trust; not inside a dispatched turn

	// Background is called with a remote to which a change is to be pushed (agentxchain.sync=auto), and the
	// directory to do that in; it must not block. Nothing is pushed when it is nil.
	Background func(dir, remote string)

	Untouched bool // Status writes nothing at all, not even to the cache of proven operations
}

// Coordinator runs the initiative of one workspace. It is not safe for concurrent use; the workspace's lock keeps
// other processes out.
type Coordinator struct {
	store   *Store
	opt     Options
	home    *gitstore.Store // the workspace's own repository, nil if it has none
	sought  bool            // home has been looked up
	moved   bool            // the record has moved and is not pushed yet
	notices []string
}

// At opens the workspace in exactly this directory, not in a parent (docs/coordinator.md, conventions). Close the
// Coordinator after use. The error is unreadable_file.
func At(dir string, opt Options) (*Coordinator, error) {
	s, err := Open(dir)
	if err != nil {
		return nil, err
	}
	if opt.Now == nil {
		opt.Now = time.Now
	}
	if opt.Seed == nil {
		opt.Seed = func() string {
			var b [16]byte
			_, _ = rand.Read(b[:]) // never fails: it crashes the process instead
			return hex.EncodeToString(b[:])
		}
	}
	if opt.Getenv == nil {
		opt.Getenv = os.Getenv
	}
	if opt.LockWait == 0 {
		opt.LockWait = 10 * time.Second
	}
	return &Coordinator{store: s, opt: opt}, nil
}

// Close releases what the Coordinator has opened.
func (c *Coordinator) Close() error {
	if c.home != nil {
		_ = c.home.Close()
	}
	return c.store.Close()
}

// Notices returns sentences for the person at the terminal since the last call: what was repaired, adopted or could
// not be determined.
func (c *Coordinator) Notices() []string {
	out := c.notices
	c.notices = nil
	return out
}

func (c *Coordinator) note(text string) { c.notices = append(c.notices, text) }

// env returns the environment of one change. It asks git for the identity only when the workspace has a repository.
func (c *Coordinator) env(ctx context.Context) protocol.Env {
	e := protocol.Env{Now: c.opt.Now().UTC().Truncate(time.Millisecond), Seed: c.opt.Seed()}
	e.Actor = evidence.Actor{Terminal: c.opt.Terminal}
	e.Actor.InsideTurn, e.Actor.InsideWhy = runner.InsideTurnOf(c.opt.Getenv, c.projects()...)
	if home := c.repository(ctx); home != nil {
		e.Actor.Name, e.Actor.Email = home.Identity(ctx)
	}
	return e
}

// projects returns the directories in which turns of the initiative are carried out, as far as the configuration
// can be read.
func (c *Coordinator) projects() []string {
	cfg, e := newReader(c.store.root).config(c.store.dir)
	if e != nil {
		return nil
	}
	dirs := make([]string, 0, len(cfg.Repos.Keys()))
	for _, repo := range cfg.Repos.All() {
		dir := filepath.FromSlash(repo.Path)
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(c.store.dir, dir)
		}
		dirs = append(dirs, dir)
	}
	return dirs
}

// repository returns the repository that contains the workspace, nil if there is no usable one.
func (c *Coordinator) repository(ctx context.Context) *gitstore.Store {
	if c.sought {
		return c.home
	}
	c.sought = true
	home, err := gitstore.OpenAt(ctx, c.store.dir, gitstore.Options{Now: c.opt.Now})
	switch code := fail.CodeOf(err); {
	case err == nil:
		c.home = home
	case code != fail.CodeNotRepository:
		c.note("the initiative is not recorded in git: " + err.Error())
	}
	return c.home
}

// Seen is a workspace and its repositories at one moment.
type Seen struct {
	*Documents
	Children  initiative.Children
	Refused   wire.Problems                // what was refused in the repositories, and why
	Checkouts map[string]*sibling.Checkout // the state of their work trees; only Status reads them
}

// see reads the repositories of a workspace. With all it reads every accepted turn of them; otherwise those that
// were assigned and do not count yet.
func (c *Coordinator) see(ctx context.Context, d *Documents, all bool) *Seen {
	return c.look(ctx, d, all, ReadOptions{})
}

// look is see with additional reading options.
func (c *Coordinator) look(ctx context.Context, d *Documents, all bool, opt ReadOptions) *Seen {
	opt.Untouched = c.opt.Untouched
	if d.State != nil {
		turns := make(map[string][]string)
		opt.Open = make(map[string][]string)
		for _, row := range d.History.Open() {
			repo := row.String("repo_id")
			turn := row.String("repo_turn_id")
			turns[repo] = append(turns[repo], turn)
			if !d.History.Gone(repo, turn) {
				opt.Open[repo] = append(opt.Open[repo], turn)
			}
		}
		opt.Acceptances = all || len(turns) > 0
		if !all {
			opt.Turns = turns
		}
		opt.Unknown = func(repo, turn string) bool {
			return !d.History.Knows(repo, turn) && d.History.Projection(repo, turn) == nil
		}
		opt.Since, _ = wire.ParseTime(d.State.CreatedAt)
	}
	c.fetched(ctx, d, &opt)
	s := &Seen{Documents: d, Checkouts: opt.Checkouts}
	s.Children, s.Refused = readChildren(ctx, d.Config, d.Roots, opt)
	if opt.Turns != nil && initiative.Ending(&s.Workspace, s.Children) {
		// Statements about such a run depend on everything it accepted, even unassigned turns.
		return c.look(ctx, d, true, ReadOptions{Checkouts: opt.Checkouts})
	}
	return s
}

// lock takes the workspace's lock, removes git's locks that killed commands have left in the workspace's
// repository, and releases the packs that they held. fresh reads everything again.
func (c *Coordinator) lock(ctx context.Context, purpose string, fresh bool) (*Tx, error) {
	tx, err := c.store.lock(ctx, purpose, c.opt.LockWait, fresh)
	if err != nil {
		return nil, c.notStarted(ctx, err)
	}
	if home := c.repository(ctx); home != nil {
		for _, n := range home.SweepWorkspace(ctx) {
			c.note(n)
		}
	}
	return tx, nil
}

// begin takes the workspace's lock for a command. It fails if required repositories have no usable place.
func (c *Coordinator) begin(ctx context.Context, purpose string) (*Tx, error) {
	tx, err := c.lock(ctx, purpose, false)
	if err != nil {
		return nil, err
	}
	for _, p := range tx.Docs.Findings {
		c.note(p.Message)
	}
	if e := unresolved(tx.Docs); e != nil {
		tx.close()
		return nil, e
	}
	if err := c.catchUpRecord(ctx, tx); err != nil {
		tx.close()
		return nil, err
	}
	return tx, nil
}

// end releases the workspace's lock, then pushes what was recorded in the background. It neither waits nor fails.
func (c *Coordinator) end(ctx context.Context, tx *Tx) {
	tx.close()
	if c.moved {
		c.moved = false
		c.pushLater(ctx, c.repository(ctx).Repository(), c.store.dir)
	}
}

// pushLater pushes what a repository recorded in the background, if configured.
func (c *Coordinator) pushLater(ctx context.Context, in *git.Repository, dir string) {
	if c.opt.Background == nil {
		return
	}
	if remote := transport.BackgroundRemote(context.WithoutCancel(ctx), in); remote != "" {
		c.opt.Background(dir, remote)
	}
}

// unresolved returns an error for a workspace whose required repositories cannot be found.
func unresolved(d *Documents) error {
	if len(d.RepoProblems) == 0 {
		return nil
	}
	p := d.RepoProblems
	e := &wire.Error{
		Code:     initiative.CodeRepoUnresolved,
		Field:    p[0].Field,
		Problems: p,
		Message:  initiative.ConfigFile + ": " + p[0].Message,
		Hint:     "correct the paths in " + initiative.ConfigFile + ", or bring the repositories where it says",
	}
	if p[0].Code == problemMissing {
		e.Hint = "git clone URL " + wire.ShellWord(p[0].Value) + " in the workspace brings it back, or correct its path in " +
			initiative.ConfigFile
	}
	if n := len(p) - 1; n > 0 {
		e.Message += fmt.Sprintf(" (and %d more)", n)
	}
	return e
}

// commit applies a change and records it in the workspace's repository. op is one word, subject describes it to
// people. A failure to write the record does not fail the command: the next change is recorded together with all
// before it.
func (c *Coordinator) commit(ctx context.Context, tx *Tx, op, subject string, ch *initiative.Change) error {
	if ch.Empty() {
		return nil
	}
	if err := tx.commit(ch); err != nil {
		return err
	}
	c.record(ctx, tx.Docs, op, subject)
	return nil
}

// nextObjects returns the next actions for --json.
func nextObjects(list []initiative.Action) []*ojson.Object {
	out := []*ojson.Object{}
	for _, a := range list {
		out = append(out, a.Object(Program))
	}
	return out
}

// Program is the name of the program in commands shown to a person.
const Program = "git agentxchain"
