// Laying out the workspace of an initiative: writing agentxchain-multi.json from its repositories
// (docs/coordinator.md#from-nothing-to-done).

package coordinator

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/internal/durable"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/scaffold"
	"github.com/git-agentxchain/git-agentxchain/protocol/initiative"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// CodeWorkspaceExists means that the directory is already the workspace of an initiative.
const CodeWorkspaceExists = "workspace_exists"

const ignoreFile = ".gitignore"

// NewOptions are the options of New.
type NewOptions struct {
	Name  string   // name of the initiative; the directory's when ""
	Repos []string // PATH or ID=PATH, relative to the workspace
}

// Laid is a workspace that was laid out.
type Laid struct {
	Config   *initiative.Config
	Written  []string // files, relative to the workspace
	Recorded bool     // the workspace is in a git repository
}

// New writes agentxchain-multi.json for the repositories: a workstream for each of their phases, and gates that the
// calling person passes. They must be governed projects with the same phases; New changes none of them.
//
// Errors: inside_dispatched_turn, workspace_exists, invalid_argument, repo_unresolved, repo_init_failed, io_failed.
func (c *Coordinator) New(ctx context.Context, opt NewOptions) (*Laid, error) {
	env := c.env(ctx)
	if e := personOnly(env.Actor, "lay out an initiative", Program+" multi new"); e != nil {
		return nil, e
	}
	if _, err := c.store.root.Lstat(initiative.ConfigFile); err == nil {
		return nil, &wire.Error{
			Code:    CodeWorkspaceExists,
			Field:   initiative.ConfigFile,
			Message: "This directory is the workspace of an initiative already: " + initiative.ConfigFile + " is there.",
			Hint:    "edit it, then: " + Program + " multi init",
		}
	}
	if _, err := c.store.root.Lstat(wire.ConfigPath); err == nil {
		return nil, &wire.Error{
			Code:    CodeWorkspaceExists,
			Field:   wire.ConfigPath,
			Message: "This directory is a governed project. The workspace of an initiative is a directory beside its repositories.",
			Hint:    "mkdir ../workspace && cd ../workspace, then the command again",
		}
	}
	w := scaffold.Workspace{ID: scaffold.ProjectID(filepath.Base(c.store.dir))}
	w.Name = cmp.Or(strings.TrimSpace(opt.Name), w.ID)
	home := c.repository(ctx)
	if home != nil && env.Actor.Email != wire.NoEmail {
		w.Approver = env.Actor.Email
	}
	var e *wire.Error
	if w.Repos, e = namedRepos(opt.Repos); e != nil {
		return nil, e
	}
	if w.Phases, e = c.phasesOf(ctx, w); e != nil {
		return nil, e
	}
	out := &Laid{Written: []string{initiative.ConfigFile}, Recorded: home != nil}
	data := w.Config()
	var problems wire.Problems
	if out.Config, problems, e = initiative.Decode(data); e == nil {
		e = initiative.ConfigError(problems)
	}
	if e != nil {
		return nil, e
	}
	if home != nil {
		was, err := readRegular(c.store.root, ignoreFile, initiative.MaxConfigBytes)
		if err != nil {
			return nil, failed(ignoreFile, err)
		}
		if now := scaffold.MergeWorkspaceIgnore(was); !bytes.Equal(was, now) {
			if err := durable.WriteFileRoot(c.store.root, ignoreFile, now, 0o666); err != nil {
				return nil, unwritten(err)
			}
			out.Written = append(out.Written, ignoreFile)
		}
	}
	if err := durable.WriteFileRoot(c.store.root, initiative.ConfigFile, data, 0o666); err != nil {
		return nil, unwritten(err)
	}
	return out, nil
}

// namedRepos parses PATH and ID=PATH; the default id is the last element of the path.
func namedRepos(args []string) ([]scaffold.Repo, *wire.Error) {
	var out []scaffold.Repo
	seen := make(map[string]string)
	for _, arg := range args {
		id, path, named := strings.Cut(arg, "=")
		if !named || strings.ContainsAny(id, `/\`) {
			id, path = "", arg
		}
		path = filepath.Clean(path)
		if id == "" {
			id = scaffold.ProjectID(filepath.Base(path))
		}
		if other, taken := seen[id]; taken && other == path {
			return nil, &wire.Error{
				Code:    wire.CodeInvalidArgument,
				Field:   "repos." + id,
				Message: fmt.Sprintf("%s is named twice.", ojson.Shown(path)),
				Hint:    "name each repository once",
			}
		} else if taken {
			return nil, &wire.Error{
				Code:    wire.CodeInvalidArgument,
				Field:   "repos." + id,
				Message: fmt.Sprintf("%s and %s would both be repository %s.", ojson.Shown(other), ojson.Shown(path), id),
				Hint:    "give one another name: NAME=" + wire.ShellWord(path),
			}
		}
		seen[id] = path
		out = append(out, scaffold.Repo{ID: id, Path: filepath.ToSlash(path)})
	}
	return out, nil
}

// phasesOf returns the phases of the repositories, which must all be the same.
func (c *Coordinator) phasesOf(ctx context.Context, w scaffold.Workspace) ([]string, *wire.Error) {
	w.Phases = []string{"planning"}
	cfg, problems, e := initiative.Decode(w.Config())
	if e == nil {
		e = initiative.ConfigError(problems)
	}
	if e != nil {
		e.Hint = "name the repositories as NAME=PATH"
		return nil, e
	}
	d := &Documents{}
	d.Config = cfg
	d.Roots, d.RepoProblems, _ = resolve(cfg, c.store.dir)
	if e := refusalOf(unresolved(d)); e != nil {
		e.Message = sentence("The " + d.RepoProblems[0].Message)
		e.Hint = placeHint(d.RepoProblems[0])
		return nil, e
	}
	children, _ := readChildren(ctx, cfg, d.Roots, ReadOptions{Untouched: true})
	var phases []string
	for id := range cfg.Repos.All() {
		dir, _ := d.Roots.Path(id)
		child := children[id]
		if child == nil || child.Config == nil {
			return nil, c.ungoverned(ctx, id, dir, child)
		}
		if phases == nil {
			phases = child.Config.Phases()
			w.Phases = phases
			if cfg, _, e = initiative.Decode(w.Config()); e != nil {
				return nil, e
			}
		}
		if p := initiative.CheckPhases(cfg, child); p != nil {
			return nil, &wire.Error{
				Code:    CodeStartFailed,
				Field:   p.Field,
				Message: "All repositories go through the same phases: " + sentence(p.Message),
				Hint:    "leave it out, or give it the same phases in its " + wire.ConfigPath,
			}
		}
	}
	return phases, twins(ctx, cfg, d.Roots, children)
}

// placeHint says what to give instead of a path that cannot be a repository's.
func placeHint(p wire.Problem) string {
	switch p.Code {
	case problemDuplicate:
		return "name each repository once"
	case problemNested:
		return "name one of the two"
	case problemWorkspace:
		return "name the repositories beside this directory or below it: " + Program + " multi new ../api ../web"
	case problemMissing:
		if strings.Contains(p.Value, ":/") || strings.Contains(p.Value, "@") { // a server address
			return "git clone URL, then name the directory of the clone; a repository that is to be on its server only gets " +
				"its \"remote\" in " + initiative.ConfigFile + " afterwards"
		}
	}
	return "name a clone of each repository; one that stays on its server only gets its \"remote\" in " +
		initiative.ConfigFile + " afterwards"
}

// ungoverned says why a directory is not a governed project, and how to make it one.
func (c *Coordinator) ungoverned(ctx context.Context, id, dir string, child *initiative.Child) *wire.Error {
	at := wire.ShellWord(dir)
	message, hint := "", Program+" -C "+at+" validate"
	s, err := gitstore.OpenForeign(ctx, dir, gitstore.Options{})
	var why *fail.Error
	switch {
	case err == nil:
		_ = s.Close()
		if child != nil {
			message = child.Unread
		}
	case errors.As(err, &why):
		message, hint = why.Message, hintIn(dir, why.Hint)
		switch {
		case why.Code == fail.CodeBareRepository:
			hint = "git clone " + at + " DIRECTORY, then name that"
		case why.Code == fail.CodeNotRepository && filepath.Base(dir) != ".git":
			hint = "git init " + at + ", then: " + Program + " -C " + at + " init"
		}
	default:
		message = err.Error()
	}
	e := &wire.Error{
		Code:    CodeStartFailed,
		Field:   "repos." + id,
		Message: "Repository " + id + " is not a governed project that can be loaded.",
		Hint:    hint,
	}
	if message != "" {
		e.Message = sentence(strings.TrimSuffix(e.Message, ".") + ": " + message)
	}
	return e
}
