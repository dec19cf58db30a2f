// How a rehearsal's attempts are made.

package githooks

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

func (c *Canary) removed(path string) staging {
	return func(ctx context.Context) error {
		_, err := c.plain.Run(ctx, nil, "update-index", "--force-remove", "--", c.prefix+path)
		return err
	}
}

func (c *Canary) both(first, second staging) staging {
	return func(ctx context.Context) error {
		if err := first(ctx); err != nil {
			return err
		}
		return second(ctx)
	}
}

func (c *Canary) moved(from, to string) staging {
	return func(ctx context.Context) error {
		data, err := c.planted(ctx, from)
		if err != nil {
			return err
		}
		if err := c.removed(from)(ctx); err != nil {
			return err
		}
		return c.stage(ctx, to, data)
	}
}

// placed puts a link or a submodule into the index.
func (c *Canary) placed(mode, path string) staging {
	return func(ctx context.Context) error {
		oid := c.base
		if mode != "160000" {
			out, err := c.plain.Run(ctx, []byte("/"), "hash-object", "-w", "--stdin")
			if err != nil {
				return err
			}
			oid = strings.TrimSpace(string(out))
		}
		_, err := c.plain.Run(ctx, nil, "update-index", "--add", "--cacheinfo", mode+","+oid+","+c.prefix+path)
		return err
	}
}

// weaker returns the configuration without what it protects.
func (c *Canary) weaker(ctx context.Context) error {
	data, err := c.planted(ctx, wire.ConfigPath)
	if err != nil {
		return err
	}
	doc, err := ojson.DecodeObject(data)
	if err != nil {
		return err
	}
	doc.Delete("git_hooks")
	return c.stage(ctx, wire.ConfigPath, ojson.Pretty(doc))
}

// commitTree makes a commit of a tree with the given parents, bypassing all hooks.
func (c *Canary) commitTree(ctx context.Context, message, tree string, parents ...string) (string, error) {
	args := []string{"commit-tree"}
	for _, p := range parents {
		args = append(args, "-p", p)
	}
	out, err := c.plain.Run(ctx, []byte(message+"\n"), append(args, tree)...)
	return strings.TrimSpace(string(out)), err
}

func (c *Canary) update(oid string) []string { return []string{"update-ref", "refs/heads/main", oid} }
func (c *Canary) push(oid string) []string {
	return []string{"push", "--quiet", "--force", c.server, oid + ":refs/heads/main"}
}

// replaced points the branch at a history that never had a configuration.
func (c *Canary) replaced(ctx context.Context) (said, error) {
	tree, err := c.plain.Run(ctx, nil, "mktree")
	if err != nil {
		return said{}, err
	}
	oid, err := c.commitTree(ctx, "rehearsal", strings.TrimSpace(string(tree)))
	if err != nil {
		return said{}, err
	}
	return c.git(ctx, nil, c.update(oid)...)
}

// merged points the branch at a merge that takes an edit from its second parent.
func (c *Canary) merged(edit staging) func(context.Context) (said, error) {
	return func(ctx context.Context) (said, error) {
		side, err := c.plumbed(ctx, edit)
		if err != nil {
			return said{}, err
		}
		oid, err := c.commitTree(ctx, "rehearsal", side+"^{tree}", c.base, side)
		if err != nil {
			return said{}, err
		}
		return c.git(ctx, nil, c.update(oid)...)
	}
}

// by makes another ref lead to an edit first, and then points the branch there.
func (c *Canary) by(ref string, edit staging) func(context.Context) (said, error) {
	return func(ctx context.Context) (said, error) {
		oid, err := c.plumbed(ctx, edit)
		if err != nil {
			return said{}, err
		}
		if _, err := c.plain.Run(ctx, nil, "update-ref", ref, oid); err != nil {
			return said{}, err
		}
		return c.git(ctx, nil, "branch", "--force", "taken", ref)
	}
}

// deep hides an edit below a thousand commits, the last of which reverts it.
func (c *Canary) deep(edit staging, line func(oid string) []string) func(context.Context) (said, error) {
	return func(ctx context.Context) (said, error) {
		first, err := c.plumbed(ctx, edit)
		if err != nil {
			return said{}, err
		}
		var in bytes.Buffer
		for i := range 1000 {
			fmt.Fprintf(&in,
				"commit refs/canary/deep\ncommitter Canary <canary@localhost> %d +0000\ndata 9\nrehearsal\n",
				1700000000+i)
			if i == 0 {
				fmt.Fprintf(&in, "from %s\n", first)
			}
			in.WriteByte('\n')
		}
		if _, err := c.plain.Run(ctx, in.Bytes(), "fast-import", "--quiet", "--force"); err != nil {
			return said{}, err
		}
		oid, err := c.commitTree(ctx, "rehearsal", c.base+"^{tree}", "refs/canary/deep")
		if err != nil {
			return said{}, err
		}
		return c.git(ctx, nil, line(oid)...)
	}
}

// operation makes a commit after the run's tip with the tip's contents, but another phase.
func (c *Canary) operation(line func(op string) []string) func(context.Context) (said, error) {
	return func(ctx context.Context) (said, error) {
		data, err := c.plain.Run(ctx, nil, "cat-file", "blob", c.run+":state.json")
		if err != nil {
			return said{}, err
		}
		state, err := ojson.DecodeObject(data)
		if err != nil {
			return said{}, err
		}
		state.Set("phase", "never-entered")
		blob, err := c.plain.Run(ctx, ojson.Pretty(state), "hash-object", "-w", "--stdin")
		if err != nil {
			return said{}, err
		}
		list, err := c.plain.Run(ctx, nil, "ls-tree", c.run)
		if err != nil {
			return said{}, err
		}
		var tree strings.Builder
		for row := range strings.Lines(string(list)) {
			if strings.HasSuffix(row, "\tstate.json\n") {
				row = "100644 blob " + strings.TrimSpace(string(blob)) + "\tstate.json\n"
			}
			tree.WriteString(row)
		}
		root, err := c.plain.Run(ctx, []byte(tree.String()), "mktree")
		if err != nil {
			return said{}, err
		}
		message, err := c.plain.Run(ctx, nil, "log", "-1", "--format=%B", c.run)
		if err != nil {
			return said{}, err
		}
		op, err := c.commitTree(ctx, strings.TrimSpace(string(message)), strings.TrimSpace(string(root)), c.runTip)
		if err != nil {
			return said{}, err
		}
		return c.git(ctx, nil, line(op)...)
	}
}

// claimed pushes a commit that claims to be the work of a turn that does not exist.
func (c *Canary) claimed(ctx context.Context) (said, error) {
	oid, err := c.commitTree(ctx, forgedMessage, c.base+"^{tree}", c.base)
	if err != nil {
		return said{}, err
	}
	return c.git(ctx, nil, c.push(oid)...)
}
