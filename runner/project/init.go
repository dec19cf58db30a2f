// Setting up a project: the scaffold's files and the idle state.

package project

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/gitstatus"
	"github.com/git-agentxchain/git-agentxchain/hooks"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/projectfile"
	"github.com/git-agentxchain/git-agentxchain/internal/scaffold"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Options describes a project to set up.
type Options struct {
	Template string // generic when ""
	ID       string // directory name when ""
	Name     string // ID when ""
	Goal     string
	// a known agent or a command that carries out every role's turns; the template's own, or people, when ""
	Agent string

	Config []byte // agentxchain.json to write unchanged, in place of a template's; nil for none
}

// Project is the outcome of Init.
type Project struct {
	Dir     string
	Config  *config.Config
	Created []string // files written, in order
	Kept    []string // files of the scaffold that already existed and were left alone
	Updated []string // files changed by adding lines: .gitignore

	Ignored gitstatus.IgnoredPaths // files of the project that a plain git add would not take
	Other   bool                   // the work tree has other uncommitted changes

	Agent  string // carries out every role's turns, "" for people
	SameID string // says that another project of the repository has the same id, "" when none has

	AgentProblem string // why the agent cannot be started here, "" when it can or people play the roles
}

// InstalledAgents returns the names of the agents for Options.Agent that are on PATH.
func InstalledAgents() []string {
	var here []string
	for _, a := range scaffold.Agents() {
		if hooks.ProgramProblem(a.Command[0], "") == "" {
			here = append(here, a.ID)
		}
	}
	return here
}

// ownID makes an id from the name of the project's directory, with those of the directories above it as far as another
// project of the repository has the id: runs are told apart by it.
func ownID(ctx context.Context, s *gitstore.Store) string {
	dir, others := s.Dir(), s.Beside(ctx)
	id := scaffold.ProjectID(filepath.Base(dir))
	taken := func() bool { return others.Named(id) != nil || len(s.SameID(ctx, id)) > 0 }
	for taken() && dir != s.Repository().TopLevel && dir != filepath.Dir(dir) {
		dir = filepath.Dir(dir)
		id = scaffold.ProjectID(filepath.Base(dir)) + "-" + id
	}
	return id
}

// Init makes dir a governed project. It leaves existing files as they are. It refuses where a run
// exists (code run_exists) or a configuration already exists (project_exists): a scaffold must
// never cost evidence.
func Init(ctx context.Context, dir string, opt Options) (*Project, error) {
	s, err := gitstore.OpenAt(ctx, dir, gitstore.Options{})
	if err != nil {
		return nil, err
	}
	defer func() { _ = s.Close() }()
	if opt.Template == "" {
		opt.Template = "generic"
	}
	if opt.ID == "" {
		opt.ID = ownID(ctx, s)
	}
	if opt.Name == "" {
		opt.Name = opt.ID
	}
	var agent *scaffold.Agent
	if opt.Agent = cmp.Or(opt.Agent, scaffold.DefaultAgent(opt.Template)); opt.Agent != "" {
		if agent, err = scaffold.FindAgent(opt.Agent); err != nil {
			return nil, err
		}
	}
	var files []scaffold.File
	if opt.Config != nil {
		files = scaffold.Bare(opt.Name, opt.Config)
	} else if files, err = scaffold.Files(opt.Template, scaffold.Params{
		ProjectID:     opt.ID,
		ProjectName:   opt.Name,
		Goal:          opt.Goal,
		DefaultBranch: s.DefaultBranch(ctx),
		Approver:      approver(ctx, s),
		Agent:         agent,
	}); err != nil {
		return nil, err
	}
	if err := refuseExisting(s); err != nil {
		return nil, err
	}
	p := &Project{Dir: s.Dir(), Agent: opt.Agent}
	if agent != nil {
		p.AgentProblem = hooks.ProgramProblem(agent.Command[0], s.Dir())
	}
	tree, err := gitstatus.Of(ctx, s.Repository(), "")
	if err != nil {
		return nil, err
	}
	p.Other = len(tree.Dirty) > 0
	fresh, err := p.plan(s, files)
	if err != nil {
		return nil, err
	}
	for _, d := range scaffold.Dirs() {
		if err := s.MakeDir(d); err != nil {
			return nil, err
		}
	}
	if err := s.WriteNew(fresh); err != nil {
		return nil, err
	}
	for _, f := range fresh {
		p.Created = append(p.Created, f.Path)
	}
	p.SameID = s.SameIDNotice(ctx)
	p.Ignored, err = gitstatus.Ignored(ctx, s.Repository(), p.committed(), false)
	return p, err
}

// committed returns the files of the project that belong in a commit; the others are a run's working files.
func (p *Project) committed() []string {
	return slices.DeleteFunc(slices.Concat(p.Created, p.Updated, p.Kept), func(path string) bool {
		return wire.Continuity(path) || wire.Operational(path) && !wire.Authored(path)
	})
}

// Commit returns the command that commits the project as Init has set it up, with the additional files, and nothing
// that was uncommitted before.
func (p *Project) Commit(besides ...string) string {
	const message = " && git commit -m 'governed project'"
	if len(p.Ignored) == 0 && !p.Other {
		return "git add -A" + message
	}
	add, names := "git add --", ""
	if len(p.Ignored) > 0 {
		add = "git add -f --"
	}
	var given []string
	for _, path := range slices.Concat(p.committed(), besides) {
		if dir := filepath.ToSlash(filepath.Dir(path)); dir != "." && len(p.Ignored) == 0 {
			path = dir
		}
		if !slices.Contains(given, path) {
			given = append(given, path)
			names += " " + wire.ShellWord(path)
		}
	}
	return add + names + message + " --" + names
}

// approver returns the address of the person who sets up the project, "" where git knows none.
func approver(ctx context.Context, s *gitstore.Store) string {
	_, email := s.Identity(ctx)
	if email == wire.NoEmail {
		return ""
	}
	return email
}

// plan decides which files to create; the state comes before the configuration,
// which makes the directory a project and is last.
func (p *Project) plan(s *gitstore.Store, files []scaffold.File) ([]gitstore.NewFile, error) {
	var fresh []gitstore.NewFile
	add := func(f gitstore.NewFile) error {
		have, err := projectfile.Read(s.Dir(), f.Path, projectfile.MaxGate)
		if err != nil {
			return err
		}
		if have != nil {
			p.Kept = append(p.Kept, f.Path)
			return nil
		}
		fresh = append(fresh, f)
		return nil
	}
	for _, f := range files {
		if f.Path == wire.ConfigPath {
			cfg, problems, err := config.Decode(f.Content)
			if err != nil {
				return nil, err
			}
			if len(problems) > 0 {
				return nil, config.Refusal(problems)
			}
			p.Config = cfg
			state := run.FreshState(cfg, "").Encode()
			if err := add(gitstore.NewFile{Path: string(wire.DocState), Data: state}); err != nil {
				return nil, err
			}
		}
		if f.Merge != nil {
			done, err := p.merge(s, f)
			if err != nil {
				return nil, err
			}
			if done {
				continue
			}
		}
		if err := add(gitstore.NewFile{Path: f.Path, Data: f.Content}); err != nil {
			return nil, err
		}
	}
	return fresh, nil
}

// merge combines a scaffold file with the user's own; false when the user has none.
func (p *Project) merge(s *gitstore.Store, f scaffold.File) (bool, error) {
	have, err := projectfile.Read(s.Dir(), f.Path, projectfile.MaxGate)
	if err != nil || have == nil {
		return false, err
	}
	merged := f.Merge(have)
	if bytes.Equal(have, merged) {
		p.Kept = append(p.Kept, f.Path)
		return true, nil
	}
	p.Updated = append(p.Updated, f.Path)
	return true, s.Replace(f.Path, merged)
}

// CodeExists means that the directory is a project already.
const CodeExists = "project_exists"

func refuseExisting(s *gitstore.Store) error {
	data, err := projectfile.Read(s.Dir(), string(wire.DocState), protocol.MaxStagedBytes)
	if err != nil {
		return err
	}
	if data != nil {
		st, derr := run.DecodeState(data)
		run := ""
		if derr == nil {
			run = st.Run()
		}
		if derr != nil || run != "" || st.Status != wire.StatusIdle {
			return &wire.Error{
				Code:    wire.CodeRunExists,
				Field:   string(wire.DocState),
				Details: ojson.NewObject("run_id", run),
				Message: fmt.Sprintf("This directory already holds a governed run (%s in %s); init would lose it.",
					cmp.Or(run, "unreadable"), wire.DocState),
				Hint: "git agentxchain status",
			}
		}
	}
	for _, l := range []wire.Ledger{wire.LedgerHistory, wire.LedgerDecisions} {
		if data, err := projectfile.Read(s.Dir(), l.Path(), 1<<40); err != nil || len(data) > 0 {
			return &wire.Error{
				Code:    wire.CodeRunExists,
				Field:   l.Path(),
				Message: fmt.Sprintf("%s already holds records; init would lose them.", l.Path()),
				Hint:    "git agentxchain status",
			}
		}
	}
	if data, err := projectfile.Read(s.Dir(), wire.ConfigPath, projectfile.MaxGate); err != nil || data != nil {
		there := &wire.Error{
			Code:    CodeExists,
			Field:   wire.ConfigPath,
			Message: "This directory is already a governed project: agentxchain.json is there.",
			Hint:    "git agentxchain status",
		}
		if _, problems, _ := config.Decode(data); len(problems) > 0 && problems[0].Code == config.ProblemLegacyConfig {
			there.Message = "agentxchain.json is of version 3, which has no governed runs; init does not overwrite it."
			there.Hint = "mv agentxchain.json agentxchain.v3.json, then: git agentxchain init"
		}
		return errors.Join(there, err)
	}
	return nil
}
