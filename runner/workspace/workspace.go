// Workspaces: linked work trees with a branch and a run of their own, so that many runs of one
// repository can be active at a time.

package workspace

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/gitcommit"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/gitstatus"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/lockfile"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/projectfile"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

// CodeNoBase means that the project has no commit with agentxchain.json for a workspace to begin
// from.
const CodeNoBase = "no_committed_project"

// CodeRuntimeManual means that every role of a project is bound to a person: a run could do nothing
// by itself.
const CodeRuntimeManual = "runtime_not_automatic"

// AcceptLock is an exclusive lock file that names its owner.
type AcceptLock = lockfile.Lock

// LockFile takes a lock file of the repository for as long as this server lives or until it is
// released: one server at a time does what it names. If a live process owns it the error is locked
// and names the owner; the lock of a dead one is taken over.
func LockFile(ctx context.Context, path, purpose string) (*AcceptLock, error) {
	return lockfile.Serve(ctx, path, purpose)
}

// Base is the committed project that a workspace begins from.
type Base struct {
	Commit object.OID
	Raw    []byte // agentxchain.json as it is committed
	Config *config.Config
}

// BaseOf reads the project at a commit, "" for the one that is checked out; uncommitted changes are
// not in it. Errors: no_committed_project, invalid_config, invalid_json.
func BaseOf(ctx context.Context, r *runner.Runner, commit object.OID) (base *Base, err error) {
	err = r.Alone(func(s *gitstore.Store) error {
		base, err = baseOf(ctx, s, commit)
		return err
	})
	return base, err
}

func baseOf(ctx context.Context, s *gitstore.Store, commit object.OID) (*Base, error) {
	head := commit
	if head == "" {
		var err error
		if head, err = gitstore.HeadCommit(ctx, s.Repository()); err != nil {
			return nil, err
		}
	}
	hint := "git add " + wire.ConfigPath + " and the programs that it names, and git commit"
	if head == "" {
		return nil, &wire.Error{
			Code:    CodeNoBase,
			Field:   wire.ConfigPath,
			Message: "The branch has no commit yet; a run needs one to begin from.",
			Hint:    hint,
		}
	}
	raw, ok, err := s.CommittedFile(ctx, head, wire.ConfigPath)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, &wire.Error{Code: CodeNoBase, Field: wire.ConfigPath,
			Message: "Commit " + head.Short() + " has no " + wire.ConfigPath + ".", Hint: hint}
	}
	cfg, problems, err := config.Decode(raw)
	if err != nil {
		return nil, err
	}
	if len(problems) > 0 {
		return nil, config.Refusal(problems)
	}
	return &Base{Commit: head, Raw: raw, Config: cfg}, nil
}

// Automatic lists the runtimes that roles are bound to and that need no person, each once. Without
// any the error is runtime_not_automatic.
func (b *Base) Automatic() ([]string, error) {
	var out []string
	for _, role := range b.Config.Roles.All() {
		if role == nil || slices.Contains(out, role.RuntimeID) {
			continue
		}
		if rt, ok := b.Config.Runtimes.Get(role.RuntimeID); ok && rt != nil && rt.Type != config.RuntimeManual {
			out = append(out, role.RuntimeID)
		}
	}
	if len(out) == 0 {
		return nil, &wire.Error{
			Code:  CodeRuntimeManual,
			Field: "runtimes",
			Message: "Every role of " + wire.ConfigPath +
				" is bound to a manual runtime: nothing would carry a turn out.",
			Hint: "bind roles to a runtime of type local_cli, mcp, api_proxy or remote_agent in " + wire.ConfigPath +
				" and commit it",
		}
	}
	return out, nil
}

// Options says how to make a workspace.
type Options struct {
	Dir     string            // absolute directory that does not exist
	Branch  string            // short name of a branch that does not exist, or is the workspace's already
	From    object.OID        // commit
	Files   map[string][]byte // project-relative; committed first, on top of From
	Message string            // of that commit
}

// Add makes a linked work tree on a branch of its own with an idle project in it, and returns the
// project's directory there. Called again after a crash it continues where it stopped, as long as
// no run has begun in it. It leaves alone a branch or a directory with a user's work (file_exists).
func Add(ctx context.Context, r *runner.Runner, opt Options) (dir string, err error) {
	err = r.Alone(func(s *gitstore.Store) error {
		dir, err = add(ctx, s, opt)
		return err
	})
	return dir, err
}

func add(ctx context.Context, s *gitstore.Store, opt Options) (string, error) {
	repo := s.Repository()
	tip, err := repo.ReadRef(ctx, "refs/heads/"+opt.Branch)
	if err != nil {
		return "", err
	}
	if tip == "" {
		if _, err := s.MakeBranch(ctx, opt.Branch, opt.From, opt.Files, opt.Message); err != nil {
			return "", err
		}
	} else if made, err := s.MadeBranch(ctx, tip, opt.From, opt.Files, opt.Message); err != nil {
		return "", err
	} else if !made {
		return "", &wire.Error{Code: gitstore.CodeFileExists, Field: "refs/heads/" + opt.Branch,
			Message: "The branch " + opt.Branch + " exists already; it stays as it is.", Hint: "git log " + opt.Branch}
	}
	for n := 0; ; n++ {
		err := checkOut(ctx, s, opt.Dir, opt.Branch)
		var git *git.GitError
		if err == nil {
			break
		}
		if n == maxCheckOuts || !errors.As(err, &git) {
			return "", err
		}
		time.Sleep(50 * time.Millisecond << n) // a git of a killed process may be in the way
	}
	dir := filepath.Join(opt.Dir, filepath.FromSlash(repo.Prefix))
	return dir, idle(ctx, dir)
}

const (
	maxCheckOuts = 4
	orphanWait   = 5 * time.Second
)

// checkOut makes the work tree of a workspace where there is none, or where a killed process was
// making it. The git that process had started may still be at work: checkOut waits for it, since it
// would remove what it takes for its own.
func checkOut(ctx context.Context, s *gitstore.Store, dir, branch string) error {
	repo := s.Repository()
	if fi, err := os.Lstat(dir); err == nil {
		if fi.IsDir() {
			if err := unused(filepath.Join(dir, filepath.FromSlash(repo.Prefix))); err != nil {
				return err
			}
		}
		making := filepath.Join(repo.CommonDir, "worktrees", filepath.Base(dir), "locked")
		for until := time.Now().Add(orphanWait); time.Now().Before(until) &&
			ctx.Err() == nil; time.Sleep(20 * time.Millisecond) {
			if _, err := os.Lstat(making); err != nil {
				break
			}
		}
		if err := s.DiscardWorktree(ctx, dir, branch); err != nil {
			return err
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o777); err != nil {
		return err
	}
	return s.AddWorktree(ctx, dir, branch)
}

// unused refuses a directory in which a run has begun: it may hold a user's work, whatever has
// become of the run's record.
func unused(dir string) error {
	data, err := projectfile.Read(dir, string(wire.DocState), protocol.MaxStagedBytes)
	if err != nil || data == nil {
		return err
	}
	if st, refusal := run.DecodeState(data); refusal == nil && st.Run() == "" {
		return nil
	}
	return &wire.Error{Code: wire.CodeRunExists, Field: string(wire.DocState),
		Message: "A run has begun in " + dir + " whose record is gone from this repository; it is left as it is.",
		Hint:    "save what is of use there, then: git worktree remove " + dir}
}

// Restore checks out the branch of a workspace whose directory is gone, and brings the run back
// from its record.
func Restore(ctx context.Context, r *runner.Runner, dir, branch, run string) (project string, err error) {
	err = r.Alone(func(s *gitstore.Store) error {
		project, err = restore(ctx, s, dir, branch, run)
		return err
	})
	return project, err
}

func restore(ctx context.Context, s *gitstore.Store, dir, branch, run string) (string, error) {
	if err := s.DiscardWorktree(ctx, dir, branch); err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o777); err != nil {
		return "", err
	}
	if err := s.AddWorktree(ctx, dir, branch); err != nil {
		return "", err
	}
	project := filepath.Join(dir, filepath.FromSlash(s.Repository().Prefix))
	there, err := gitstore.Open(ctx, project, gitstore.Options{})
	if err != nil {
		return "", err
	}
	defer func() { _ = there.Close() }()
	_, err = there.Repair(ctx, gitstore.FromRef, gitstore.RepairOptions{Run: run})
	return project, err
}

// idle gives a fresh workspace the state that every project has before its first run. A committed
// state would be that of another work tree's run.
func idle(ctx context.Context, dir string) error {
	s, err := gitstore.Open(ctx, dir, gitstore.Options{})
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }()
	raw, err := projectfile.Read(dir, wire.ConfigPath, projectfile.MaxGate)
	if err != nil {
		return err
	}
	cfg, _, err := config.Decode(raw)
	if err != nil {
		return err
	}
	return s.Replace(string(wire.DocState), run.FreshState(cfg, "").Encode())
}

// Remove removes the work tree of a run that is over, when it holds nothing that git does not have:
// everything is committed, the run is recorded, and the ignored files are the run's own working
// files. The branch and the run's record stay, and agents' logs and displaced files are moved to
// the directory keep. Otherwise the work tree is left alone and why says what prevents its removal.
func Remove(ctx context.Context, r *runner.Runner, dir, keep string) (why string, err error) {
	err = r.Alone(func(s *gitstore.Store) error {
		why, err = remove(ctx, s, dir, keep)
		return err
	})
	return why, err
}

func remove(ctx context.Context, home *gitstore.Store, dir, keep string) (why string, err error) {
	project := filepath.Join(dir, filepath.FromSlash(home.Repository().Prefix))
	s, err := gitstore.Open(ctx, project, gitstore.Options{})
	if err != nil {
		return "", err
	}
	defer func() { _ = s.Close() }()
	v, err := s.View(ctx)
	if err != nil {
		return "", err
	}
	if v.State == nil || v.Op == "" || len(v.Notices) > 0 {
		return "its run is not fully recorded", nil
	}
	st, err := gitstatus.Of(ctx, s.Repository(), "")
	if err != nil {
		return "", err
	}
	for _, p := range st.Paths() {
		if !wire.Operational(strings.TrimPrefix(p, s.Repository().Prefix)) {
			return p + " is not committed", nil
		}
	}
	ignored, err := gitstatus.IgnoredFiles(ctx, s.Repository())
	if err != nil {
		return "", err
	}
	for _, p := range ignored {
		own := strings.TrimPrefix(p, s.Repository().Prefix)
		if !wire.Operational(own) && own != ".agentxchain/" {
			return p + " is ignored by git and exists only there", nil
		}
	}
	for _, name := range []string{"dispatch/audit", "transactions"} {
		if err := moveAway(filepath.Join(project, ".agentxchain", filepath.FromSlash(name)),
			filepath.Join(keep, filepath.Base(name))); err != nil {
			return "its logs cannot be kept elsewhere: " + err.Error(), nil
		}
	}
	return "", home.RemoveWorktree(ctx, dir)
}

// moveAway moves a directory to an unused path; a missing directory is not an error.
func moveAway(from, to string) error {
	if _, err := os.Lstat(from); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	return os.Rename(from, to)
}

// CommitFile writes data to one project file and commits it alone. A file that already has these
// contents and is committed is left as it is.
func CommitFile(ctx context.Context, r *runner.Runner, name string, data []byte, message string) error {
	return r.Alone(func(s *gitstore.Store) error { return commitFile(ctx, s, name, data, message) })
}

func commitFile(ctx context.Context, s *gitstore.Store, name string, data []byte, message string) error {
	have, err := projectfile.Read(s.Dir(), name, projectfile.MaxGate)
	if err != nil {
		return err
	}
	if !bytes.Equal(have, data) {
		if err := s.Replace(name, data); err != nil {
			return err
		}
	}
	st, err := gitstatus.Of(ctx, s.Repository(), s.Repository().Prefix)
	if err != nil {
		return err
	}
	if _, dirty := st.Dirty[name]; !dirty {
		return nil
	}
	_, err = gitcommit.Paths(ctx, s.Repository(), []string{name}, message)
	return err
}

// WithGoal returns agentxchain.json with the project's goal replaced and everything else unchanged;
// the same bytes when it has that goal already.
func (b *Base) WithGoal(goal string) ([]byte, error) {
	if b.Config.Project.Goal == goal {
		return b.Raw, nil
	}
	doc, err := ojson.DecodeObject(b.Raw)
	if err != nil {
		return nil, err
	}
	project := doc.Object("project").Clone()
	if project == nil {
		project = ojson.NewObject()
	}
	project.Set("goal", goal)
	doc.Set("project", project)
	return ojson.Pretty(doc), nil
}
