// An operation's view of the work tree, the files that gates read, and a person's proof. Nothing here changes a file.

package runner

import (
	"context"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/gitstatus"
	"github.com/git-agentxchain/git-agentxchain/internal/projectfile"
	"github.com/git-agentxchain/git-agentxchain/protocol/agreement"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/gates"
	"github.com/git-agentxchain/git-agentxchain/protocol/result"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner/consent"
	"github.com/git-agentxchain/git-agentxchain/runner/gate"
	"github.com/git-agentxchain/git-agentxchain/runner/observe"
)

// look asks git for the state of the work tree once per operation and notes the
// checkout in the operation's environment.
func (c *change) look(ctx context.Context) (*gitstatus.Status, error) {
	if c.tree != nil {
		return c.tree, nil
	}
	st, hidden, ok, err := c.pre.take()
	if !ok || err != nil { // the recovery may have repaired what was seen while it ran
		hidden = nil
		st, err = c.r.worktree(ctx)
	}
	if err != nil {
		return nil, err
	}
	c.saw(st, hidden)
	return st, nil
}

func (c *change) saw(st *gitstatus.Status, hidden *gitstatus.Hidden) {
	c.tree, c.hid = st, hidden
	c.env.Git = evidence.GitFacts{
		Head:   string(st.Head),
		Branch: st.Branch,
		Dirty:  slices.ContainsFunc(observe.DirtyPaths(st), wire.ProjectOwned),
	}
}

// lookAfter looks at the work tree again after a commit, unless after is its known state.
func (c *change) lookAfter(ctx context.Context, after *gitstatus.Status) error {
	if after != nil {
		c.saw(after, nil)
		return nil
	}
	c.tree = nil
	_, err := c.look(ctx)
	return err
}

// remark adds a notice for the person, once: an operation that is decided again looks again.
func (c *change) remark(notice string) {
	if !slices.Contains(c.view.Notices, notice) {
		c.view.Notices = append(c.view.Notices, notice)
	}
}

// work returns the work tree as look saw it.
func (c *change) work(ctx context.Context) (*observe.Work, error) {
	st, err := c.look(ctx)
	if err != nil {
		return nil, err
	}
	return &observe.Work{
		Store:  c.r.store,
		Config: c.view.Config,
		Status: st,
		Hidden: c.hidden,
		Note:   c.remark,
		Pulls:  &c.pulls,
	}, nil
}

// baseline captures the work tree for a new attempt.
func (c *change) baseline(ctx context.Context) (*run.Baseline, error) {
	w, err := c.work(ctx)
	if err != nil {
		return nil, err
	}
	return w.Baseline(ctx, c.env.Time())
}

// observe compares the work tree with a turn's baseline.
func (c *change) observe(ctx context.Context, turn *run.Turn) (result.Observation, error) {
	w, err := c.work(ctx)
	if err != nil {
		return result.Observation{}, err
	}
	o, err := w.Observe(ctx, turn)
	if err != nil || len(w.Hid) == 0 {
		return o, err
	}
	if err := gitstatus.LookAgain(ctx, c.r.store.Repository(), w.Hid); err != nil {
		return result.Observation{}, err
	}
	if err := c.lookAfter(ctx, nil); err != nil {
		return result.Observation{}, err
	}
	if w, err = c.work(ctx); err != nil {
		return result.Observation{}, err
	}
	return w.Observe(ctx, turn)
}

// hidden returns what the work tree hides from look.
func (c *change) hidden(ctx context.Context) (*gitstatus.Hidden, error) {
	if c.hid != nil {
		return c.hid, nil
	}
	h, err := c.r.hidden(ctx)
	if err != nil {
		return nil, err
	}
	c.hid = h
	return h, nil
}

// readFile reads a project file for the rules: a regular file of bounded size, never through a link
// out of the project. A missing one is nil without error.
func (c *change) readFile(path string) ([]byte, error) {
	return projectfile.Read(c.r.store.Dir(), path, projectfile.MaxGate)
}

// gateFiles reads the files of the current phase's gate and of its last failure.
func (c *change) gateFiles() ([]evidence.FileBlob, error) { return gate.Files(c.r.store.Dir(), c.view) }

// gateDocuments looks at the documents of all gates, where a rule asks for it. A document also counts as signed if a
// commit would hold it signed: with an encoding set by an attribute, a checkout of the commit could show a yes.
func (c *change) gateDocuments(ctx context.Context) ([]gates.DocumentFact, error) {
	var out []gates.DocumentFact
	for _, p := range gates.Documents(c.view.Config) {
		var data []byte
		if clean, problem := wire.CleanPath(p); problem == "" {
			var err error
			if data, err = c.readFile(clean); err != nil {
				return nil, err
			}
		}
		f := gates.LookDocument(c.view.Config, p, data)
		m, marked := c.view.State.GateDocuments.Get(p)
		if marked && data != nil && !f.Signed && f.Digest != m.Run && gates.SignoffDocument(c.view.Config, p) {
			if data, err := c.r.store.Repository().Committed(ctx, p, data); err != nil {
				return nil, err
			} else if gates.LookDocument(c.view.Config, p, data).Signed {
				f.Signed = true
			}
		}
		out = append(out, f)
	}
	return out, nil
}

// consent gathers the proof of a person who decides.
func (c *change) consent(ctx context.Context, q consent.Question, opt ConsentOptions) (*agreement.Consent, error) {
	at := consent.Scene{Store: c.r.store, View: c.view, Env: c.env, Nonce: randomSeed()}
	out, err := at.Gather(ctx, q, opt)
	if err == nil && opt.Only {
		c.signed = &consent.Signed{Gate: q.Gate, GateType: q.GateType,
			Statement: out.Statements[len(out.Statements)-1].Data}
	}
	return out, err
}
