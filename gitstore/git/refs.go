// Reading and moving refs. Moving goes through `git update-ref` only: go-git
// v5 writes refs in place, unsynced, and ignores git's lock files.

package git

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/internal/durable"
	"github.com/git-agentxchain/git-agentxchain/internal/faults"
)

// Ref is a ref and its target.
type Ref struct {
	Name   string
	OID    object.OID // "" when Broken
	Target string     // the target ref of a symbolic ref, else ""
	Broken bool       // its file holds no object id
}

// RefUpdate moves one ref if it is still where the caller last saw it.
type RefUpdate struct {
	Name string
	New  object.OID // "" or zeros delete the ref; equal to Old only verifies it
	Old  object.OID // "" or zeros: the ref must not exist
}

// ByName orders updates by the names of their refs.
func ByName(a, b RefUpdate) int { return strings.Compare(a.Name, b.Name) }

// RefMovedError is the cause of a ref_moved error.
type RefMovedError struct {
	Name string
	Want object.OID // the expected value; "" for absent
	Have object.OID // the actual value; "" for absent
}

func (e *RefMovedError) Error() string {
	return fmt.Sprintf("%s is at %s, not at %s", e.Name, orNone(e.Have), orNone(e.Want))
}

func orNone(o object.OID) string {
	if o.IsZero() {
		return "nothing"
	}
	return o.Short()
}

// ReadRef returns the object id of a ref, "" when the ref does not exist. A symbolic ref is refused
// (ref_is_symbolic): a run ref that points to a branch would make us write to the branch. A damaged one is
// ref_broken, never absent.
func (r *Repository) ReadRef(ctx context.Context, name string) (object.OID, error) {
	if !SafeRefName(name) {
		return "", fail.Errorf(fail.CodeBadRefName, nil, "%q is not a ref name", name)
	}
	if err := ctx.Err(); err != nil {
		return "", context.Cause(ctx)
	}
	if r.RefFormat == "files" && sharedRef(name) {
		if oid, known, err := r.readRefFile(name); known || err != nil {
			return oid, err
		}
	}
	return r.askRef(ctx, name)
}

// sharedRef reports whether a ref is in the common directory for all work trees; bisect, worktree and rewritten
// refs are not.
func sharedRef(name string) bool {
	return slices.ContainsFunc([]string{"refs/agentxchain/", "refs/heads/", "refs/tags/", "refs/remotes/"}, func(p string) bool {
		return strings.HasPrefix(name, p)
	})
}

// maxPackedScan is the size of a packed-refs file up to which reading it beats
// starting git, in bytes.
const maxPackedScan = 1 << 20

// readRefFile reads a ref of the files backend without a process. It reads loose before packed refs, as git does:
// pack-refs publishes the packed copy before it removes the loose one. known is false when git has to decide.
func (r *Repository) readRefFile(name string) (oid object.OID, known bool, err error) {
	path := filepath.Join(r.CommonDir, filepath.FromSlash(name))
	fi, err := os.Lstat(path)
	switch {
	case err == nil && fi.Mode()&fs.ModeSymlink != 0:
		return "", true, Symbolic(name, "a symbolic link")
	case err == nil && fi.IsDir():
		// A deleted deeper ref may leave an empty directory.
		return r.scanPacked(name)
	case err == nil && !fi.Mode().IsRegular():
		return "", true, Broken(name)
	case err == nil:
		data, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return r.scanPacked(name) // packed in between
		}
		if err != nil {
			return "", true, cmp.Or(Shut(path), error(fail.Errorf(fail.CodeRefBroken, err, "the ref %s cannot be read", name)))
		}
		if target, ok := bytes.CutPrefix(data, []byte("ref:")); ok {
			return "", true, Symbolic(name, strings.TrimSpace(string(target)))
		}
		if oid := object.OID(bytes.TrimRight(data, " \t\r\n")); oid.Valid(r.ObjectFormat) && !oid.IsZero() {
			return oid, true, nil
		}
		return "", true, Broken(name)
	case Absent(err):
		return r.scanPacked(name)
	}
	return "", false, r.shutRef(name)
}

// Absent also covers a parent that is a file (ENOTDIR).
func Absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || IsNotDir(err)
}

func (r *Repository) scanPacked(name string) (oid object.OID, known bool, err error) {
	f, err := object.Open(filepath.Join(r.CommonDir, "packed-refs"))
	if errors.Is(err, fs.ErrNotExist) {
		return "", true, nil
	}
	if err != nil {
		return "", false, nil
	}
	defer func() { _ = f.Close() }()
	fi, err := f.Stat()
	if err != nil {
		return "", false, nil
	}
	if fi.Size() > maxPackedScan {
		oid, known := searchPacked(f, fi.Size(), r.ObjectFormat, name)
		return oid, known, nil
	}
	data := make([]byte, fi.Size())
	if _, err := io.ReadFull(f, data); err != nil {
		return "", false, nil
	}
	line := append([]byte(" "+name), '\n')
	i := bytes.Index(data, line)
	if i < 0 {
		return "", !bytes.HasSuffix(data, line[:len(line)-1]), nil // truncated: ask git
	}
	start := bytes.LastIndexByte(data[:i], '\n') + 1
	if oid := object.OID(data[start:i]); oid.Valid(r.ObjectFormat) {
		return oid, true, nil
	}
	return "", false, nil
}

// NoneBelow reports, without a process, that no ref begins with prefix, which ends in "/"; false where only git knows.
func (r *Repository) NoneBelow(prefix string) bool {
	if r.RefFormat != "files" {
		return false
	}
	if _, err := os.Lstat(filepath.Join(r.CommonDir, filepath.FromSlash(prefix))); !Absent(err) {
		return false
	}
	f, err := object.Open(filepath.Join(r.CommonDir, "packed-refs"))
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, maxPackedScan+1))
	return err == nil && len(data) <= maxPackedScan && !bytes.Contains(data, []byte(" "+prefix))
}

// askRef lets git decide, by exit codes. show-ref --verify takes full names only; rev-parse would go on to try
// refs/heads/<name> and others.
func (r *Repository) askRef(ctx context.Context, name string) (object.OID, error) {
	target, err := r.Git.Run(ctx, nil, "symbolic-ref", "-q", name)
	if err == nil {
		return "", Symbolic(name, strings.TrimSpace(string(target)))
	}
	if ExitCode(err) != 1 {
		return "", err
	}
	for range 2 {
		var out []byte
		if out, err = r.Git.Run(ctx, nil, "show-ref", "--verify", "--hash", name); err == nil {
			oid := object.OID(strings.TrimSpace(string(out)))
			if !oid.Valid(r.ObjectFormat) {
				return "", Broken(name)
			}
			return oid, nil
		}
		if ExitCode(err) < 0 {
			return "", err
		}
		_, qerr := r.Git.Run(ctx, nil, "show-ref", "--verify", "-q", name)
		if ExitCode(qerr) == 1 {
			return "", nil
		}
		if qerr != nil {
			return "", err
		}
		// The ref exists. git complained about its object, unless another process has created it since: ask again.
	}
	return "", fail.Errorf(fail.CodeRefBroken, err, "the ref %s points at an object that is not there",
		name).WithHint("run git fsck")
}

// Symbolic returns the error for a symbolic ref (ref_is_symbolic).
func Symbolic(name, target string) error {
	return fail.Errorf(fail.CodeRefSymbolic, nil, "the ref %s is symbolic, it stands for %s", name, target).
		WithHint("look at who made it, then remove it: git symbolic-ref -d %s", name)
}

// Broken returns the error for a ref that holds no object id (ref_broken).
func Broken(name string) error {
	return fail.Errorf(fail.CodeRefBroken, nil, "the ref %s does not hold an object id", name).
		WithHint("%s", MendBroken(name))
}

// MendBroken says how to repair a ref that holds no object id: git neither moves nor removes it, nor reads its log.
func MendBroken(name string) string {
	return "remove its file, which git cannot: rm \"$(git rev-parse --git-path " + name + ")\", then git agentxchain sync, " +
		"where a remote has it; else git update-ref " + name + " ID, with the last id of \"$(git rev-parse --git-path logs/" +
		name + ")\""
}

// Tips returns the refs below prefix that hold an object id: name without the prefix -> object.
func (r *Repository) Tips(ctx context.Context, prefix string) (map[string]object.OID, error) {
	refs, err := r.ListRefs(ctx, prefix)
	if err != nil {
		return nil, err
	}
	out := make(map[string]object.OID, len(refs))
	for _, ref := range refs {
		if ref.OID != "" && ref.Target == "" && !ref.Broken {
			out[strings.TrimPrefix(ref.Name, prefix)] = ref.OID
		}
	}
	return out, nil
}

// ListRefs returns the refs below prefix (which ends in "/") sorted by name. It includes symbolic and broken ones:
// git's own listing leaves broken refs out, and a run must not vanish because its ref was damaged.
func (r *Repository) ListRefs(ctx context.Context, prefix string) ([]Ref, error) {
	if !strings.HasSuffix(prefix, "/") || !SafeRefName(prefix+"x") {
		return nil, fail.Errorf(fail.CodeBadRefName, nil, "%q is not a ref prefix", prefix)
	}
	if refs, ok, err := r.heldRefs(ctx, prefix); ok || err != nil {
		return refs, err
	}
	return r.listRefs(ctx, prefix)
}

// listRefs is ListRefs for several prefixes, with one git process.
func (r *Repository) listRefs(ctx context.Context, prefixes ...string) ([]Ref, error) {
	out, err := r.Git.Run(ctx, nil,
		append([]string{"for-each-ref", "--format=%(objectname) %(refname) %(symref)"}, prefixes...)...)
	if err != nil {
		return nil, err
	}
	var refs []Ref
	for line := range strings.Lines(string(out)) {
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 3)
		if len(f) != 3 || !object.OID(f[0]).Valid(r.ObjectFormat) {
			return nil, fail.Errorf(fail.CodeGitFailed, nil, "git for-each-ref answered %q", line)
		}
		refs = append(refs, Ref{Name: f[1], OID: object.OID(f[0]), Target: f[2]})
	}
	for _, prefix := range prefixes {
		if r.RefFormat == "files" && sharedRef(prefix+"x") {
			if refs, err = r.addUnlisted(prefix, refs); err != nil {
				return nil, err
			}
		}
	}
	return refs, nil
}

// addUnlisted adds loose ref files that git did not list.
func (r *Repository) addUnlisted(prefix string, refs []Ref) ([]Ref, error) {
	listed := make(map[string]bool, len(refs))
	for _, ref := range refs {
		listed[ref.Name] = true
	}
	top := filepath.Join(r.CommonDir, filepath.FromSlash(prefix))
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		rel, rerr := filepath.Rel(r.CommonDir, path)
		name := filepath.ToSlash(rel)
		if err != nil || d.IsDir() {
			if err != nil && Absent(err) {
				return nil // removed during the search, or no such refs at all
			}
			return cmp.Or(r.shutRef(name), err)
		}
		if rerr != nil || listed[name] || !SafeRefName(name) {
			return nil
		}
		ref := Ref{Name: name}
		oid, known, err := r.readRefFile(name)
		switch {
		case fail.CodeOf(err) == fail.CodeRefSymbolic:
			ref.Target = "?" // dangling, else git would have listed it
		case fail.CodeOf(err) == fail.CodeUnreadable:
			return err
		case err != nil:
			ref.Broken = true
		case !known || oid == "":
			return nil // deleted in between
		default:
			ref.OID = oid // its object is missing; fsck reports that
		}
		refs = append(refs, ref)
		return nil
	})
	slices.SortFunc(refs, func(a, b Ref) int { return strings.Compare(a.Name, b.Name) })
	return refs, err
}

// UpdateRefs moves refs in one `git update-ref --stdin` transaction, each by compare-and-swap, with a reflog entry,
// and syncs them. When a ref is not at Old nothing moves and the error is ref_moved wrapping a *RefMovedError; when
// another process holds its lock file it is ref_locked; both are safe to retry after rereading. With
// working_files_behind all of them have moved, but a power cut may still undo that (see behindRefs).
//
// A single ref moves atomically even across a crash. For several, git promises that only while it lives; keep what
// must move together under one ref.
func (r *Repository) UpdateRefs(ctx context.Context, updates []RefUpdate, reflogMessage string) error {
	var in bytes.Buffer
	zero := object.ZeroOID(r.ObjectFormat)
	for _, u := range updates {
		if !SafeRefName(u.Name) {
			return fail.Errorf(fail.CodeBadRefName, nil, "%q is not a ref name", u.Name)
		}
		for _, o := range []object.OID{u.New, u.Old} {
			if !o.IsZero() && !o.Valid(r.ObjectFormat) {
				return fail.Errorf(fail.CodeObjectInvalid, nil, "%q is not an object id of this repository", o)
			}
		}
		if err := r.RefuseSymbolic(ctx, u.Name); err != nil {
			return err
		}
		old := u.Old
		if old.IsZero() {
			old = zero
		}
		switch {
		case u.New == u.Old || u.New.IsZero() && u.Old.IsZero():
			fmt.Fprintf(&in, "verify %s\x00%s\x00", u.Name, old)
		case u.New.IsZero():
			fmt.Fprintf(&in, "delete %s\x00%s\x00", u.Name, old)
		default:
			fmt.Fprintf(&in, "update %s\x00%s\x00%s\x00", u.Name, u.New, old)
		}
	}
	if in.Len() == 0 {
		return nil
	}
	defer r.ForgetRefs()
	faults.Point("refs.update.before")
	return r.LockingGit("moving a ref", r.RefLocks(updates), func(mark func(*Git) *Git) error {
		_, err := mark(r.Git).Run(ctx, in.Bytes(), MovingRefs(reflogMessage)...)
		if err != nil && !r.arrived(ctx, updates, err) {
			return r.ExplainUpdate(ctx, updates, err)
		}
		faults.Point("refs.update.after")
		return r.AfterMove(updates) // then the lock is gone for good
	})
}

// MovingRefs returns the arguments of a git that moves refs as its standard input says.
//
// By default, before it locks a ref, git looks up the given ids as names of refs, to warn of ambiguous ones, and
// caches packed-refs. It detects a newer file by size, inode and second alone, so that with a concurrent git
// pack-refs it compares a stale value with the new one and overwrites an update (of 1,248 updates by three writers
// 17 were lost; without the lookup none of 2,657). --no-deref: if the ref becomes symbolic after our check, it is
// replaced rather than followed to a branch.
func MovingRefs(reflogMessage string) []string {
	return []string{"-c", "core.warnAmbiguousRefs=false", "update-ref",
		"--no-deref", "--create-reflog", "-m", ReflogLine(reflogMessage), "-z", "--stdin"}
}

// AfterMove finishes a move of refs: it makes their names durable, checks the packs that were held for them, and
// releases these.
func (r *Repository) AfterMove(updates []RefUpdate) error {
	r.ForgetRefs()
	err := r.SyncRefDirs(updates)
	if herr := r.Reached(updates); herr != nil {
		err = errors.Join(err, behindRefs(updates, herr))
	}
	return err
}

// arrived reports whether an interrupted git had moved the refs after all. One that ended by itself says so.
func (r *Repository) arrived(ctx context.Context, updates []RefUpdate, cause error) bool {
	if ExitCode(cause) >= 0 {
		return false
	}
	moved := false
	for _, u := range updates {
		now, err := r.ReadRef(context.WithoutCancel(ctx), u.Name)
		if err != nil || now != u.New && !(now.IsZero() && u.New.IsZero()) {
			return false
		}
		moved = moved || u.New != u.Old
	}
	return moved
}

// behindRefs returns the error for a failure after refs have moved.
func behindRefs(updates []RefUpdate, cause error) *fail.Error {
	names := make([]string, len(updates))
	for i, u := range updates {
		names[i] = u.Name
	}
	return fail.Errorf(fail.CodeWorkBehind, cause, "%s has moved, but that may not survive a power cut",
		strings.Join(names, ", ")).
		WithHint("remove the cause and run any git agentxchain command: it completes what is missing")
}

// RefuseSymbolic checks before a move for symbolic refs, and for damaged files that git itself would take for an
// absent ref (all zeros) and overwrite. For anything else git's own answer is better.
func (r *Repository) RefuseSymbolic(ctx context.Context, name string) error {
	if r.RefFormat == "files" && sharedRef(name) {
		_, _, err := r.readRefFile(name)
		return err
	}
	target, err := r.Git.Run(ctx, nil, "symbolic-ref", "-q", name)
	if err == nil {
		return Symbolic(name, strings.TrimSpace(string(target)))
	}
	if ExitCode(err) == 1 {
		return nil
	}
	return err
}

// ExplainUpdate finds out why git refused by inspecting refs, not by parsing English.
func (r *Repository) ExplainUpdate(ctx context.Context, updates []RefUpdate, cause error) error {
	if ExitCode(cause) < 0 {
		return cause
	}
	for _, u := range updates {
		have, err := r.ReadRef(ctx, u.Name)
		if err != nil {
			return err
		}
		if have != u.Old && !(have.IsZero() && u.Old.IsZero()) {
			moved := &RefMovedError{Name: u.Name, Want: u.Old, Have: have}
			return fail.Errorf(fail.CodeRefMoved, moved, "another process moved the run meanwhile").
				WithHint("run the command again")
		}
	}
	for _, u := range updates {
		lock := filepath.Join(r.CommonDir, filepath.FromSlash(u.Name)+".lock")
		if _, err := os.Lstat(lock); err == nil {
			return fail.Errorf(fail.CodeRefLocked, cause, "another process is moving %s", u.Name).
				WithHint("run the command again; if it goes on, git agentxchain doctor says whose %s is", lock)
		}
	}
	return cause
}

// SyncRefDirs makes moves of refs durable: git syncs the file of a ref, but not its directory. A deleted ref takes its
// empty directories with it, and git locks packed-refs for it. Reftables and packed refs have no such file.
func (r *Repository) SyncRefDirs(updates []RefUpdate) error {
	if r.RefFormat != "files" {
		return nil
	}
	done := make(map[string]bool)
	sync := func(u RefUpdate, dir string) (there bool, err error) {
		done[dir] = true
		err = durable.SyncDir(filepath.Join(r.CommonDir, filepath.FromSlash(dir)))
		if err != nil && !Absent(err) {
			return true, behindRefs([]RefUpdate{u}, err)
		}
		return err == nil, nil
	}
	for _, u := range updates {
		for dir := path.Dir(u.Name); dir != "." && !done[dir]; dir = path.Dir(dir) {
			there, err := sync(u, dir)
			if err != nil {
				return err
			}
			if there && !u.Old.IsZero() {
				break // the directories above that of an existing ref are durable already
			}
		}
		if u.New.IsZero() && !done["."] {
			if _, err := sync(u, "."); err != nil {
				return err
			}
		}
	}
	return nil
}

// ReflogLine turns a message into a single line; an argument cannot hold NUL.
func ReflogLine(s string) string {
	s = strings.Join(strings.FieldsFunc(s, func(c rune) bool { return c < ' ' || c == 0x7f }), " ")
	if s == "" {
		return "agentxchain"
	}
	return s
}
