// Other governed projects of the same repository: their runs are under the same refs.

package gitstore

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/conflict"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/gitstore/transport"
	"github.com/git-agentxchain/git-agentxchain/gitstore/workdir"
	"github.com/git-agentxchain/git-agentxchain/internal/projectfile"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/protocol/join"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Beside are the other governed projects of a repository. The zero value is none.
type Beside struct {
	repo *git.Repository
	mine string            // id of the store's project, "" where it is unknown
	dirs map[string]string // of those in HEAD by project id: absolute directory, "" where it is not checked out
	had  map[hadKey]bool
}

// hadKey asks whether a commit has a project.
type hadKey struct {
	commit object.OID
	id     string
}

// Beside finds the projects that HEAD has besides that of the store. One with the same id counts as the same.
func (s *Store) Beside(ctx context.Context) Beside {
	mine := s.ProjectID(ctx)
	b := Beside{repo: s.repo, mine: mine, dirs: make(map[string]string), had: make(map[hadKey]bool)}
	dirs := slices.DeleteFunc(chain.ProjectsIn(ctx, s.repo, "HEAD"), func(dir string) bool { return dir == s.repo.Prefix })
	for _, dir := range dirs {
		if id := chain.ProjectIn(ctx, s.repo, "HEAD", dir); id != "" && id != mine {
			b.dirs[id] = filepath.Join(s.repo.TopLevel, filepath.FromSlash(dir))
			if fi, err := os.Stat(b.dirs[id]); s.repo.TopLevel == "" || err != nil || !fi.IsDir() {
				b.dirs[id] = ""
			}
		}
	}
	return b
}

// Project is a governed project beside that of a store.
type Project struct{ ID, Dir string }

// Named returns the one with an id, nil for none.
func (b Beside) Named(id string) *Project {
	if dir, ok := b.dirs[id]; ok {
		return &Project{ID: id, Dir: dir}
	}
	return nil
}

// In returns the command that does in the project what the rest says, "" where the project is not checked out.
func (p *Project) In(rest string) string {
	if p.Dir == "" {
		return ""
	}
	return "git agentxchain -C " + wire.ShellWord(p.Dir) + " " + rest
}

func (p *Project) String() string { return "project " + text.OneLine(p.ID) }

// Of returns the project beside to which a run belongs, by one of its operations; nil for none of them. One that HEAD
// does not have may be in another branch, or was removed: the commit at which the operation was made has it.
func (b Beside) Of(ctx context.Context, op object.OID) *Project {
	if b.repo == nil {
		return nil
	}
	id, err := chain.ProjectAt(ctx, b.repo, op)
	if err != nil || id == "" || id == b.mine {
		return nil // an error is told where the run is read
	}
	dir, ok := b.dirs[id]
	if !ok && (b.mine == "" || !b.hadIn(ctx, chain.CodeHead(ctx, b.repo, op), id)) {
		return nil
	}
	return &Project{ID: id, Dir: dir}
}

// hadIn reports whether a commit, if it is here, has the project beside this one, which may have had another id.
func (b Beside) hadIn(ctx context.Context, commit object.OID, id string) bool {
	key := hadKey{commit, id}
	had, known := b.had[key]
	if !known && commit != "" {
		dir, has := chain.NewProjectDirs(b.repo, string(commit)).Of(ctx, id)
		had = has && dir != b.repo.Prefix
		b.had[key] = had
	}
	return had
}

// OwnRuns returns the recorded runs of the repository without those of projects beside, and the name of the newest,
// "" when there is none.
func (s *Store) OwnRuns(ctx context.Context) (refs []git.Ref, newest string, err error) {
	refs, err = chain.Runs(ctx, s.repo)
	if err != nil || len(refs) == 0 {
		return nil, "", err
	}
	others, all := s.Beside(ctx), len(refs)
	refs = slices.DeleteFunc(refs, func(ref git.Ref) bool { return others.Of(ctx, ref.OID) != nil })
	limit := 1
	if len(refs) < all {
		limit = 0
	}
	if len(refs) > 0 {
		newest = strings.TrimPrefix(refs[0].Name, git.RunRefPrefix)
	}
	tips, err := chain.RunTips(ctx, s.repo, limit)
	if err != nil {
		return refs, newest, nil // fsck tells of it
	}
	for _, t := range tips {
		if slices.ContainsFunc(refs, func(ref git.Ref) bool { return ref.Name == t.Ref.Name }) {
			return refs, t.Run, nil
		}
	}
	return refs, newest, nil
}

// Elsewhere is transport.Elsewhere for this project.
func (s *Store) Elsewhere(ctx context.Context) (run, remote string, err error) {
	others := s.Beside(ctx)
	return transport.Elsewhere(ctx, s.repo, func(op object.OID) bool { return others.Of(ctx, op) != nil })
}

// AskElsewhere is transport.Ask for this project: runs that are known here to be of a project beside do not count.
func (s *Store) AskElsewhere(ctx context.Context) (runs []string, remote string, silent []string, err error) {
	runs, remote, silent, err = transport.Ask(ctx, s.repo)
	if err != nil || len(runs) == 0 {
		return nil, "", silent, err
	}
	others := s.Beside(ctx)
	runs = slices.DeleteFunc(runs, func(name string) bool {
		for _, ref := range []string{git.RunRefPrefix + name, transport.TrackingPrefix(remote) + name} {
			if op, err := s.repo.ReadRef(ctx, ref); err == nil && op != "" {
				return others.Of(ctx, op) != nil
			}
		}
		return false
	})
	return runs, remote, silent, nil
}

// notBeside refuses a run of another project of the repository: its files are not those of this one.
func (s *Store) notBeside(ctx context.Context, run string) error {
	tip, err := chain.Tip(ctx, s.repo, run)
	if err != nil || tip == "" {
		return nil // told where the run is read
	}
	return s.owns(ctx, tip, "run "+run, "repair --from-ref "+run)
}

// owns refuses what an operation of another project of the repository is about; command does there what was asked for.
func (s *Store) owns(ctx context.Context, op object.OID, about, command string) error {
	if p := s.Beside(ctx).Of(ctx, op); p != nil {
		return fail.Errorf(record.CodeForeignRun, nil, "%s belongs to %s", about, p).WithHint("%s", p.In(command))
	}
	return nil
}

// refuseCopied refuses working files of a run that another project of the repository began, at a commit without this
// one: the directory was copied from that project's and has an id of its own since. To adopt this id would take the run
// from the other.
func (s *Store) refuseCopied(ctx context.Context, in *inspection) error {
	if in.tip == nil || in.judged == nil && string(in.governs) == string(in.config) {
		return nil
	}
	id, err := chain.ProjectAt(ctx, s.repo, in.tip.Op)
	if mine := s.ProjectID(ctx); err != nil || id == "" || mine == "" || id == mine {
		return nil // an error is told where the run is read
	}
	others := s.Beside(ctx)
	p := others.Named(id)
	if p == nil || p.Dir == "" {
		return nil
	}
	state, err := projectfile.Read(p.Dir, string(wire.DocState), workdir.MaxDocument)
	if run, rerr := runOf(document{state, state != nil}); err != nil || rerr != nil || run != in.run {
		return nil // it is being moved, or both had the id when the run began
	}
	ops, err := chain.Log(ctx, s.repo, in.tip.Op, 0)
	if err != nil || !others.hadIn(ctx, chain.CodeHead(ctx, s.repo, ops[len(ops)-1].Op), id) {
		return nil
	}
	return fail.Errorf(record.CodeForeignRun, nil, "the files of run %s in this directory are copies: it belongs to %s",
		in.run, p).WithHint("to remove them here: git -C %s clean -d -f -X -- .agentxchain TALK.md HUMAN_TASKS.md; "+
		"the run goes on there: %s", wire.ShellWord(s.Dir()), p.In("status"))
}

// SameID returns the directories of the other projects in the work tree that have an id: the runs of all of them count
// as one project's.
func (s *Store) SameID(ctx context.Context, id string) (dirs []string) {
	if id == "" || s.repo.TopLevel == "" {
		return nil
	}
	names, err := s.repo.Git.In(s.repo.TopLevel).Run(ctx, nil, "ls-files", "-z", "--cached", "--others",
		"--exclude-standard")
	if err != nil {
		return nil
	}
	for _, dir := range chain.ConfigDirs(names) {
		at := filepath.Join(s.repo.TopLevel, filepath.FromSlash(dir))
		data, err := projectfile.Read(at, wire.ConfigPath, projectfile.MaxGate)
		if dir != s.repo.Prefix && err == nil && chain.ProjectOf(data) == id {
			dirs = append(dirs, cmp.Or(text.OneLine(dir), "the top directory"))
		}
	}
	return dirs
}

// SameIDNotice says that other projects have the id of this one, "" when none has.
func (s *Store) SameIDNotice(ctx context.Context) string {
	id := s.ProjectID(ctx)
	dirs := s.SameID(ctx, id)
	if len(dirs) == 0 {
		return ""
	}
	return fmt.Sprintf("the project in %s has the id %s too, so that the runs of both count as one project's: %s",
		wire.ListSome(dirs, 3), text.OneLine(id), "give each a project.id of its own in "+wire.ConfigPath)
}

// Conflicts lists the conflicts of the project's runs.
func (s *Store) Conflicts(ctx context.Context) ([]*join.Conflict, error) {
	all, err := conflict.All(ctx, s.repo)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	return s.Beside(ctx).Without(ctx, all), nil
}

// Without leaves out the conflicts of these projects.
func (b Beside) Without(ctx context.Context, all []*join.Conflict) []*join.Conflict {
	return slices.DeleteFunc(all, func(c *join.Conflict) bool { return b.Of(ctx, object.OID(c.Op)) != nil })
}

// Conflict returns the conflict that an operation id or its beginning names. One of another project is refused: its files
// are not those of this one.
func (s *Store) Conflict(ctx context.Context, name string) (*join.Conflict, error) {
	c, err := conflict.Find(ctx, s.repo, name)
	if err != nil {
		return nil, err
	}
	return c, s.owns(ctx, object.OID(c.Op), "conflict "+c.Op[:12], "conflicts "+c.Op[:12])
}
