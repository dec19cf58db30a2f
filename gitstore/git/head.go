// What is checked out, according to HEAD and the files around it.

package git

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
)

// Head returns the commit that HEAD names, even if it is missing; "" when there is none or it is unknown.
func (r *Repository) Head(ctx context.Context) object.OID { return r.HeadOf(ctx, r.GitDir) }

// HeadOf is Head for the work tree with the given git directory.
func (r *Repository) HeadOf(ctx context.Context, gitDir string) object.OID {
	if r.RefFormat == "files" {
		text := headFile(gitDir)
		if oid := object.OID(text); oid.Valid(r.ObjectFormat) {
			return oid
		}
		if branch, ok := strings.CutPrefix(text, "ref: "); ok && sharedRef(branch) {
			oid, _ := r.ReadRef(ctx, branch)
			return oid
		}
	}
	g := r.Git
	if gitDir != r.GitDir {
		g = g.In(gitDir)
	}
	out, err := g.Run(ctx, nil, "rev-parse", "--verify", "--quiet", "HEAD")
	if oid := object.OID(strings.TrimSpace(string(out))); err == nil && oid.Valid(r.ObjectFormat) {
		return oid
	}
	return ""
}

// OnBranch reports whether HEAD is the branch, or, when branch is "", the commit itself.
func (r *Repository) OnBranch(branch string, oid object.OID) bool {
	if r.RefFormat != "files" {
		return false
	}
	want := string(oid)
	if branch != "" {
		want = "ref: refs/heads/" + branch
	}
	return headFile(r.GitDir) == want
}

// headFile returns the content of the file HEAD in a git directory, "" when it cannot be read.
func headFile(gitDir string) string {
	data, err := ReadBounded(filepath.Join(gitDir, "HEAD"), MaxPointer)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}

// headRef returns the ref that the file HEAD names, "" for none.
func (r *Repository) headRef() string {
	ref, ok := strings.CutPrefix(headFile(r.GitDir), "ref: ")
	if !ok || !SafeRefName(ref) {
		return ""
	}
	return ref
}

// HeadFiles returns the files that say what is checked out: the index, HEAD, the branch, and their logs.
func (r *Repository) HeadFiles() []string {
	files := []string{filepath.Join(r.GitDir, "index"), filepath.Join(r.GitDir, "HEAD")}
	if r.RefFormat != "files" {
		for _, dir := range []string{r.GitDir, r.CommonDir} {
			if tables, err := filepath.Glob(filepath.Join(dir, "reftable", "*")); err == nil {
				files = append(files, tables...)
			}
		}
		return files
	}
	files = append(files, filepath.Join(r.GitDir, "logs", "HEAD"))
	if ref := r.headRef(); ref != "" {
		name := filepath.FromSlash(ref)
		files = append(files, filepath.Join(r.CommonDir, name), filepath.Join(r.CommonDir, "logs", name))
	}
	return files
}

// TornLogs returns HEAD and its branch, if their log ends in the middle of a line: git would append the next move
// to that line and read the two as one.
func (r *Repository) TornLogs() (refs []string) {
	if r.RefFormat != "files" {
		return nil
	}
	torn := func(log string) bool {
		f, err := object.Open(log)
		if err != nil {
			return false
		}
		defer func() { _ = f.Close() }()
		fi, err := f.Stat()
		if err != nil || fi.Size() == 0 {
			return false
		}
		last := make([]byte, 1)
		_, err = f.ReadAt(last, fi.Size()-1)
		return err == nil && last[0] != '\n'
	}
	if torn(filepath.Join(r.GitDir, "logs", "HEAD")) {
		refs = append(refs, "HEAD")
	}
	if ref := r.headRef(); ref != "" && torn(filepath.Join(r.CommonDir, "logs", filepath.FromSlash(ref))) {
		refs = append(refs, ref)
	}
	return refs
}

// Checkout returns the commit and the branch that are checked out; both are "" on a branch without a commit, the
// branch is "" when HEAD is detached.
func (r *Repository) Checkout(ctx context.Context) (head object.OID, branch string, err error) {
	out, err := r.Git.Run(ctx, nil, "rev-parse", "HEAD", "--abbrev-ref", "HEAD")
	if err != nil {
		if ExitCode(err) >= 0 {
			return "", "", nil
		}
		return "", "", err
	}
	oid, name, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	if name == "HEAD" {
		name = ""
	}
	return object.OID(oid), name, nil
}
