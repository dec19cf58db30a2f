// The known violations of a rehearsal, and how each must be answered.

package githooks

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// CanaryProtected is the pattern that the planted project must protect (git_hooks.protected).
const CanaryProtected = "protected/"

// Trial is one act of the rehearsal and its outcome.
type Trial struct {
	Act   string // what was attempted
	Guard string // the hook that must answer
	Rule  string // the rule by which it must refuse, "" for honest work that must pass
	Held  bool   // the answer was as required
	Why   string // if not, what happened
}

// trial is one act to attempt.
type trial struct {
	act, guard, rule string
	do               func(ctx context.Context) (said, error)
	// after checks what honest work left; "" when it is correct.
	after func(ctx context.Context) (string, error)
}

// Try attempts every violation against the guards, and honest work between them. Before it, a run must be planted
// in Project and saved, with one accepted turn in its tracked history and the given turn, of a role that only
// reviews, active.
func (c *Canary) Try(ctx context.Context, turn string) ([]Trial, error) {
	if err := c.begin(ctx, turn); err != nil {
		return nil, err
	}
	var out []Trial
	for _, t := range c.trials() {
		if !slices.Contains(c.rec.Names, t.guard) {
			continue
		}
		if err := c.reset(ctx); err != nil {
			return nil, err
		}
		res, err := t.do(ctx)
		if err != nil {
			return nil, err
		}
		why := t.judge(res)
		if why == "" && t.after != nil {
			if why, err = t.after(ctx); err != nil {
				return nil, err
			}
		}
		out = append(out, Trial{Act: t.act, Guard: t.guard, Rule: t.rule, Held: why == "", Why: why})
	}
	return out, nil
}

// judge returns what is wrong with an answer, "" for nothing.
func (t trial) judge(res said) string {
	first := firstLine(res.text)
	switch {
	case t.rule == "" && res.ok:
		return ""
	case t.rule == "":
		return "it was refused: " + first
	case res.ok:
		return "it went through"
	}
	for line := range strings.Lines(res.text) {
		_, line, ours := strings.Cut(line, "agentxchain: ")
		if !ours || !strings.Contains(line, "["+t.rule+"]") {
			continue
		}
		// The hard stop names the commit, which means that pre-commit let it pass.
		if t.guard != PreCommit || !strings.Contains(line, "] in commit ") {
			return ""
		}
		return "only " + ReferenceTransaction + " refused it"
	}
	return "it was refused, but not for this: " + first
}

// firstLine returns the first line with content.
func firstLine(said string) string {
	for line := range strings.Lines(said) {
		if line = strings.TrimSpace(line); line != "" {
			return text.Clip(line, 300)
		}
	}
	return "git gave no reason"
}

// begin records what was planted, pushes it to the server, and arms the guards.
func (c *Canary) begin(ctx context.Context, turn string) error {
	c.turn = turn
	out, err := c.plain.Run(ctx, nil, "rev-parse", "--verify", "HEAD^{commit}")
	if err != nil {
		return err
	}
	c.base = strings.TrimSpace(string(out))
	if out, err = c.plain.Run(ctx, nil, "for-each-ref", "--count=1", "--format=%(refname) %(objectname)",
		git.RunRefPrefix); err != nil {
		return err
	}
	var found bool
	if c.run, c.runTip, found = strings.Cut(strings.TrimSpace(string(out)), " "); !found {
		return refuse(wire.CodeInvalidArgument, "no run was planted for the rehearsal")
	}
	if _, err := c.plain.Run(ctx, nil, "push", "--quiet", c.server, "main", c.run); err != nil {
		return err
	}
	return c.arm(ctx)
}

// reset restores index, branch and run as planted.
func (c *Canary) reset(ctx context.Context) error {
	if _, err := c.plain.Run(ctx, nil, "read-tree", c.base); err != nil {
		return err
	}
	out, err := c.plain.Run(ctx, nil, "for-each-ref", "--format=%(refname) %(objectname)", "refs/heads/main", c.run)
	if err != nil {
		return err
	}
	for _, ref := range [][2]string{{"refs/heads/main", c.base}, {c.run, c.runTip}} {
		if !strings.Contains(string(out), ref[0]+" "+ref[1]+"\n") {
			if _, err := c.plain.Run(ctx, nil, "update-ref", ref[0], ref[1]); err != nil {
				return err
			}
		}
	}
	return nil
}

// stage puts a file into the index only, whatever the file system does with its name.
func (c *Canary) stage(ctx context.Context, path string, data []byte) error {
	oid, err := c.plain.Run(ctx, data, "hash-object", "-w", "--stdin")
	if err != nil {
		return err
	}
	_, err = c.plain.Run(ctx, nil, "update-index", "--add", "--cacheinfo",
		"100644,"+strings.TrimSpace(string(oid))+","+c.prefix+path)
	return err
}

// planted reads a project file of the planted commit.
func (c *Canary) planted(ctx context.Context, path string) ([]byte, error) {
	return c.plain.Run(ctx, nil, "cat-file", "blob", c.base+":"+c.prefix+path)
}

// staging is an edit to stage before a commit.
type staging func(ctx context.Context) error

func (c *Canary) file(path, text string) staging {
	return func(ctx context.Context) error { return c.stage(ctx, path, []byte(text)) }
}

// rewritten stages the history with another text in its first record.
func (c *Canary) rewritten(ctx context.Context) error {
	path := wire.LedgerHistory.Path()
	data, err := c.planted(ctx, path)
	if err != nil {
		return err
	}
	line, rest, _ := bytes.Cut(data, []byte{'\n'})
	row, err := ojson.DecodeObject(line)
	if err != nil {
		return err
	}
	row.Set("summary", "what the turn never said")
	return c.stage(ctx, path, slices.Concat(ojson.Compact(row), []byte{'\n'}, rest))
}

// truncated stages the history without its last record.
func (c *Canary) truncated(ctx context.Context) error {
	path := wire.LedgerHistory.Path()
	data, err := c.planted(ctx, path)
	if err != nil {
		return err
	}
	cut := bytes.LastIndexByte(bytes.TrimSuffix(data, []byte{'\n'}), '\n') + 1
	return c.stage(ctx, path, data[:cut])
}

// edited stages the state with another phase.
func (c *Canary) edited(ctx context.Context) error {
	data, err := c.planted(ctx, string(wire.DocState))
	if err != nil {
		return err
	}
	state, err := ojson.DecodeObject(data)
	if err != nil {
		return err
	}
	state.Set("phase", "never-entered")
	return c.stage(ctx, string(wire.DocState), ojson.Pretty(state))
}

// commit stages and commits, with further arguments of git commit.
func (c *Canary) commit(edit staging, args ...string) func(context.Context) (said, error) {
	return c.commitAs(nil, edit, args...)
}

func (c *Canary) commitAs(env []string, edit staging, args ...string) func(context.Context) (said, error) {
	return func(ctx context.Context) (said, error) {
		if err := edit(ctx); err != nil {
			return said{}, err
		}
		line := append([]string{"commit", "--quiet"}, args...)
		if !slices.Contains(args, "-m") {
			line = append(line, "-m", "rehearsal")
		}
		return c.git(ctx, env, line...)
	}
}

// plumbed makes a commit without git commit and returns its id.
func (c *Canary) plumbed(ctx context.Context, edit staging) (string, error) {
	if err := edit(ctx); err != nil {
		return "", err
	}
	tree, err := c.plain.Run(ctx, nil, "write-tree")
	if err != nil {
		return "", err
	}
	out, err := c.plain.Run(ctx, []byte("rehearsal\n"), "commit-tree", "-p", c.base, strings.TrimSpace(string(tree)))
	return strings.TrimSpace(string(out)), err
}

// updated points the branch at a commit made without git commit.
func (c *Canary) updated(edit staging) func(context.Context) (said, error) {
	return func(ctx context.Context) (said, error) {
		oid, err := c.plumbed(ctx, edit)
		if err != nil {
			return said{}, err
		}
		return c.git(ctx, nil, "update-ref", "refs/heads/main", oid)
	}
}

// pushed pushes a commit made without git commit.
func (c *Canary) pushed(edit staging, to string) func(context.Context) (said, error) {
	return func(ctx context.Context) (said, error) {
		oid, err := c.plumbed(ctx, edit)
		if err != nil {
			return said{}, err
		}
		return c.git(ctx, nil, "push", "--quiet", "--force", c.server, oid+":"+to)
	}
}

func (c *Canary) does(args ...string) func(context.Context) (said, error) {
	return func(ctx context.Context) (said, error) { return c.git(ctx, nil, args...) }
}
