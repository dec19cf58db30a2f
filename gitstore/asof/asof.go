// A run as of one of its operations, laid out beside the repository: a scratch work tree whose record ends there.
// Every query works in it as in the real one.

package asof

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/proof"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/gates"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// AsOf is a layout of a run as of an operation.
type AsOf struct {
	chain.OpInfo
	Dir string    // the project in the scratch work tree
	At  time.Time // time of the operation, to the millisecond
}

// LayOut makes the layout in root, an empty directory, from the record in repo: the ledgers, documents and bundles
// of that moment, the configuration in force, and the project files that gates look at, as the operation's commit
// has them, updated from later evidence. It reads objects in place and writes nothing to repo. It leaves out every
// setting that sends anything.
//
// Errors: not_found for a name that is not an operation; those of Repair.
func LayOut(ctx context.Context, repo *git.Repository, name, root string) (*AsOf, error) {
	out, err := repo.Git.Run(ctx, nil, "rev-parse", "--verify", "--quiet", "--end-of-options", name+"^{commit}")
	if err != nil {
		if git.ExitCode(err) >= 0 {
			return nil, fail.Errorf(wire.CodeNotFound, nil, "%q names no operation",
				name).WithHint("git agentxchain log")
		}
		return nil, err
	}
	op := strings.TrimSpace(string(out))
	g := git.NewForeignGit(root)
	run := func(args ...string) error {
		_, err := g.Run(ctx, nil, args...)
		return err
	}
	if err := run("init", "-q", "--template=", "--object-format="+repo.ObjectFormat, "-b", "main"); err != nil {
		return nil, err
	}
	info := filepath.Join(root, ".git", "info")
	for _, dir := range []string{info, filepath.Join(root, filepath.FromSlash(repo.Prefix))} {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return nil, fail.Errorf(fail.CodeUnreadable, err, "cannot make the directory %s", dir)
		}
	}
	if err := repo.LendObjects(filepath.Join(root, ".git", "objects")); err != nil {
		return nil, err
	}
	l := &layout{
		ctx:    ctx,
		repo:   repo,
		dir:    filepath.Join(root, filepath.FromSlash(repo.Prefix)),
		prefix: repo.Prefix,
		info:   info,
		run:    run,
	}
	return l.lay(op)
}

type layout struct {
	ctx    context.Context
	repo   *git.Repository
	dir    string // the project
	prefix string
	info   string // .git/info
	run    func(args ...string) error
}

func (l *layout) lay(op string) (*AsOf, error) {
	s, err := gitstore.OpenAt(l.ctx, l.dir, gitstore.Options{})
	if err != nil {
		return nil, err
	}
	defer func() { _ = s.Close() }()
	detail, err := chain.Show(l.ctx, s.Repository(), op)
	if err != nil {
		return nil, err
	}
	out := &AsOf{OpInfo: detail.OpInfo, Dir: l.dir, At: detail.Time}
	if at, err := wire.ParseTime(detail.Record.String("at")); err == nil {
		out.At = at
	}
	ref, err := git.RunRef(detail.Run)
	if err != nil {
		return nil, err
	}
	if err := l.run("update-ref", ref, op); err != nil {
		return nil, err
	}
	x, err := s.OpenRun(l.ctx, detail.Run, detail.Op)
	if err != nil {
		return nil, err
	}
	cfg, err := x.Config()
	if err != nil {
		return nil, err
	}
	ops, err := s.Chain(l.ctx, out.Run, out.Op)
	if err != nil {
		return nil, err
	}
	// An operation that looks at no project file, such as a denied gate, does not record the code's HEAD: it is
	// then the one recorded before.
	head := ""
	for i := len(ops) - 1; i >= 0 && head == ""; i-- {
		head = ops[i].CodeHead
	}
	documents := gateDocuments(cfg)
	if err := l.checkout(head, documents); err != nil {
		return nil, err
	}
	quiet := cfg.Raw.Clone()
	quiet.Delete("notifications")
	data, err := x.ConfigBytes()
	if err != nil {
		return nil, err
	}
	if cfg.Raw.Has("notifications") {
		data = ojson.Pretty(quiet)
	}
	if err := l.write(wire.ConfigPath, data); err != nil {
		return nil, err
	}
	if _, err := s.Repair(l.ctx, gitstore.FromRef, gitstore.RepairOptions{Run: detail.Run}); err != nil {
		return nil, err
	}
	proof.NoteSeen(l.ctx, s.Repository(), out.Run, out.Op)
	return out, l.evidence(s, ops, head, documents)
}

// checkout brings the gate documents of the code's commit, if this clone has it; every other file stays out of the
// work tree without counting as deleted.
func (l *layout) checkout(head string, documents []string) error {
	if head == "" || l.run("cat-file", "-e", head+"^{commit}") != nil {
		return nil
	}
	patterns := []string{".gitignore", ".gitattributes", "/" + l.prefix + wire.ConfigPath}
	for _, d := range documents {
		patterns = append(patterns,
			"/"+strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(l.prefix+d))
	}
	sparse := filepath.Join(l.info, "sparse-checkout")
	if err := os.WriteFile(sparse, []byte(strings.Join(patterns, "\n")+"\n"), 0o666); err != nil {
		return fail.Errorf(fail.CodeUnreadable, err, "cannot write %s", sparse)
	}
	_ = l.run("config", "core.sparseCheckout", "true")
	_ = l.run("config", "core.sparseCheckoutCone", "false")
	// git checkout succeeds even when the tree itself cannot be read.
	err := l.run("ls-tree", head)
	if err == nil {
		err = l.run("-c", "advice.detachedHead=false", "checkout", "-q", "--force", "--detach", head)
	}
	if err == nil {
		// The index keeps which files stay out. No command is to take the layout for a checkout that a person made
		// sparse, and tell them to add to it.
		_ = l.run("config", "--unset", "core.sparseCheckout")
		_ = os.Remove(sparse)
		return nil
	}
	// Files missing from a partial clone stay missing; the record is what counts.
	if l.repo.Git.Partial(l.ctx) {
		return nil
	}
	return fail.Errorf(fail.CodeObjectMissing, err, "the files of commit %s, which gates look at, cannot be read",
		object.OID(head).Short()).
		WithHint("run git fsck; fetch the commit from another clone")
}

func (l *layout) write(name string, data []byte) error {
	root, err := os.OpenRoot(l.dir)
	if err != nil {
		return fail.Errorf(fail.CodeUnreadable, err, "the directory %s cannot be entered", l.dir)
	}
	defer func() { _ = root.Close() }()
	if dir := filepath.Dir(filepath.FromSlash(name)); dir != "." {
		if err := root.MkdirAll(dir, 0o777); err != nil {
			return fail.Errorf(fail.CodeUnreadable, err, "cannot make the directory of %s", name)
		}
	}
	if err := root.WriteFile(filepath.FromSlash(name), data, 0o666); err != nil {
		return fail.Errorf(fail.CodeUnreadable, err, "cannot write %s", name)
	}
	return nil
}

// evidence writes the gate documents that one of ops read on top of the code's commit head: they were not committed
// yet.
func (l *layout) evidence(s *gitstore.Store, ops []chain.OpInfo, head string, documents []string) error {
	want := make(map[string]bool)
	for _, d := range documents {
		want[d] = true
	}
	for i := len(ops) - 1; i >= 0 && len(want) > 0; i-- {
		if at := ops[i].CodeHead; at != "" && at != head {
			break
		}
		op, err := chain.OneOp(l.ctx, s.Repository(), ops, i)
		if err != nil {
			return err
		}
		for _, f := range protocol.GateEvidence(op.Record.Op) {
			if !want[f.Path] {
				continue
			}
			delete(want, f.Path)
			if f.Blob == nil {
				continue
			}
			if clean, problem := wire.CleanPath(f.Path); problem != "" || clean != f.Path {
				continue
			}
			if err := l.write(f.Path, f.Blob.Data); err != nil {
				return err
			}
		}
	}
	return nil
}

// gateDocuments lists the files that gates of any phase look at.
func gateDocuments(cfg *config.Config) []string {
	var out []string
	for _, phase := range cfg.Phases() {
		out = append(out, gates.Files(cfg, phase)...)
	}
	return out
}
