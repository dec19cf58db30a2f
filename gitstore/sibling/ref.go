// The run refs of a sibling.

package sibling

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
)

// maxSiblingRefs bounds a packed-refs file, in bytes.
const maxSiblingRefs = 64 << 20

// Ref returns the object id of a run's ref, "" when there is none. Codes: bad_ref_name, ref_is_symbolic,
// ref_broken.
func (x *Clone) Ref(ctx context.Context, run string) (object.OID, error) {
	name, err := git.RunRef(run)
	if err != nil || x.git == nil {
		return "", err
	}
	return x.refNamed(ctx, name)
}

// refNamed is ref for any name.
func (x *Clone) refNamed(ctx context.Context, name string) (object.OID, error) {
	if x.Repo.RefFormat == "reftable" {
		return x.reftable(ctx, name)
	}
	fi, err := x.git.Root.Lstat(name)
	switch {
	case err == nil && fi.Mode()&fs.ModeSymlink != 0:
		return "", git.Symbolic(name, "a symbolic link")
	case err == nil && fi.IsDir(), err != nil && git.Absent(err):
		return x.packedRef(name)
	case err != nil:
		return "", fail.Errorf(fail.CodeRefBroken, err, "the ref %s cannot be read", name)
	}
	data, _, ok, err := x.git.Read(name, git.MaxPointer)
	switch {
	case err != nil:
		return "", fail.Errorf(fail.CodeRefBroken, err, "the ref %s cannot be read", name)
	case !ok:
		return x.packedRef(name) // packed in between
	}
	if target, ok := bytes.CutPrefix(data, []byte("ref:")); ok {
		return "", git.Symbolic(name, strings.TrimSpace(string(git.ClipBytes(target))))
	}
	return x.oid(name, string(bytes.TrimRight(data, " \t\r\n")))
}

func (x *Clone) oid(name, s string) (object.OID, error) {
	if oid := object.OID(s); oid.Valid(x.Repo.ObjectFormat) && !oid.IsZero() {
		return oid, nil
	}
	return "", git.Broken(name)
}

func (x *Clone) packedRef(name string) (object.OID, error) {
	data, _, ok, err := x.git.Read("packed-refs", maxSiblingRefs)
	if err != nil {
		return "", fail.Errorf(fail.CodeRefBroken, err, "packed-refs cannot be read")
	}
	if !ok {
		return "", nil
	}
	line := []byte(" " + name + "\n")
	i := bytes.Index(append(data, '\n'), line)
	if i < 0 {
		return "", nil
	}
	return x.oid(name, string(data[bytes.LastIndexByte(data[:i], '\n')+1:i]))
}

// reftable returns a ref from a repository in reftable format.
func (x *Clone) reftable(ctx context.Context, name string) (object.OID, error) {
	out, err := x.askTables(ctx, x.git.Path, "for-each-ref", "--format=%(refname) %(objectname) %(symref)", name)
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(out) {
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 3)
		switch {
		case len(f) != 3 || f[0] != name:
		case f[2] != "":
			return "", git.Symbolic(name, f[2])
		default:
			return x.oid(name, f[1])
		}
	}
	return "", nil
}

// headInTables returns the HEAD of the work tree in the form of a HEAD file.
func (x *Clone) headInTables(ctx context.Context) (string, error) {
	if target, err := x.askTables(ctx, x.Repo.GitDir, "symbolic-ref", "--quiet", "HEAD"); err == nil {
		return "ref: " + strings.TrimSpace(target), nil
	}
	oid, err := x.askTables(ctx, x.Repo.GitDir, "rev-parse", "--verify", "--quiet", "HEAD")
	return strings.TrimSpace(oid), err
}

// askTables asks git, which defines the format, about a repository of our own making that shares nothing with the
// sibling but the tables of one of its git directories: git reads no configuration of the sibling and looks for
// none of its objects.
func (x *Clone) askTables(ctx context.Context, gitDir string, args ...string) (string, error) {
	rel, err := filepath.Rel(x.git.Path, filepath.Join(gitDir, "reftable"))
	if err == nil {
		var fi fs.FileInfo
		if fi, err = x.git.Root.Lstat(rel); err == nil && !fi.IsDir() {
			err = fs.ErrInvalid
		}
	}
	if err != nil {
		return "", fail.Errorf(fail.CodeRefBroken, err, "the refs of %s cannot be read", x.Dir)
	}
	tmp, err := os.MkdirTemp("", "agentxchain-refs-")
	if err != nil {
		return "", fail.Errorf(fail.CodeUnreadable, err, "no temporary directory can be made")
	}
	defer func() { _ = os.RemoveAll(tmp) }()
	config := fmt.Sprintf("[core]\n\trepositoryformatversion = 1\n\tbare = true\n"+
		"[extensions]\n\tobjectformat = %s\n\trefstorage = reftable\n", x.Repo.ObjectFormat)
	err = errors.Join(os.Mkdir(filepath.Join(tmp, "objects"), 0o700), os.Mkdir(filepath.Join(tmp, "refs"), 0o700),
		os.WriteFile(filepath.Join(tmp, "config"), []byte(config), 0o600),
		os.WriteFile(filepath.Join(tmp, "HEAD"), []byte("ref: refs/heads/.invalid\n"), 0o600),
		os.Symlink(filepath.Join(gitDir, "reftable"), filepath.Join(tmp, "reftable")))
	if err != nil {
		return "", fail.Errorf(fail.CodeUnreadable, err, "a temporary repository cannot be made")
	}
	g := git.NewForeignGit(tmp)
	g.Env = append(g.Env, "GIT_DIR="+tmp)
	out, err := g.Run(ctx, nil, args...)
	if err != nil {
		return "", fail.Errorf(fail.CodeRefBroken, err, "the refs of %s cannot be read", x.Dir)
	}
	return string(out), nil
}
