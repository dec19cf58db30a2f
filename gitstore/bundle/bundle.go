// The refs of a run as a git bundle: writing one, and unpacking one in a repository of its own before any of it is
// believed.

package bundle

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/chain"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/history"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/proof"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/gitstore/witness"
	"github.com/git-agentxchain/git-agentxchain/internal/scratch"
)

// Codes of bundles of a run's refs.
const (
	CodeHistoryInvalid  = "history_invalid"  // a bundle that is malformed, incomplete, or not of a run
	CodeHistoryDiverged = "history_diverged" // its history differs from the refs here
)

const (
	notesSpace = "refs/notes/agentxchain"

	maxBundleRefs = 1000
	maxBundle     = 16 << 30 // bytes of the file
)

// Refs lists what belongs to a run: its ref, refs of other kinds that are named
// after it (refs/agentxchain/<kind>/<run> and below), and our notes.
func Refs(ctx context.Context, r *git.Repository, run string) ([]git.Ref, error) {
	name, err := git.RunRef(run)
	if err != nil {
		return nil, err
	}
	all, err := r.ListRefs(ctx, git.RefSpace)
	if err != nil {
		return nil, err
	}
	notes, err := r.ListRefs(ctx, "refs/notes/")
	if err != nil {
		return nil, err
	}
	var out []git.Ref
	for _, ref := range append(all, notes...) {
		kind, rest, _ := strings.Cut(strings.TrimPrefix(ref.Name, git.RefSpace), "/")
		ours := ref.Name == name || notesRef(ref.Name) ||
			strings.HasPrefix(ref.Name, git.RefSpace) && kind != "runs" &&
				(rest == run || strings.HasPrefix(rest, run+"/"))
		if !ours {
			continue
		}
		if ref.OID == "" || ref.Broken || ref.Target != "" {
			return nil, git.Broken(ref.Name)
		}
		out = append(out, ref)
	}
	return out, nil
}

func notesRef(name string) bool {
	return name == notesSpace || strings.HasPrefix(name, notesSpace+"/")
}

// Write writes the run's refs with their whole history as a git bundle to
// the new file at path, and returns the refs. Errors: no_run, and git's.
func Write(ctx context.Context, r *git.Repository, run, path string) ([]git.Ref, error) {
	refs, err := Refs(ctx, r, run)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(refs, func(ref git.Ref) bool { return ref.Name == git.RunRefPrefix+run }) {
		return nil, chain.NoRun(run)
	}
	args := []string{"bundle", "create", "--quiet", path}
	for _, ref := range refs {
		args = append(args, ref.Name)
	}
	_, err = r.Git.Run(ctx, nil, args...)
	return refs, err
}

// Bundle is a bundle that was unpacked and found good. Close it after use.
type Bundle struct {
	Run  string // the only run in it, "" when there are several
	Refs []Ref
	Ops  int // operations in it

	Repo *git.Repository // where it is unpacked
	dir  *scratch.Dir
}

// How a ref of a bundle relates to the one here.
const (
	Create  = "create"   // there is no such ref here
	Forward = "forward"  // it continues the one here
	Same    = "same"     // the same
	Behind  = "included" // the one here continues it
	Joined  = "joined"   // the same witness signed on both sides: both lines are kept
	// Diverged is a run with new operations on both sides: a restore joins them (travel.JoinBundle).
	Diverged = "diverged"
)

// Ref is a ref of a bundle.
type Ref struct {
	Name     string
	OID      object.OID
	Here     object.OID // for an archived run, the ref in the archive; "" for none
	Relation string     // one of the Bundle constants

	at object.OID // where the ref is here
}

// Judge checks a bundle: its form, every object, every operation by replaying it, and how its refs relate to those
// here. It changes nothing in this repository. Errors: history_invalid, history_diverged.
func Judge(ctx context.Context, repo *git.Repository, file string) (_ *Bundle, err error) {
	names, err := readBundleHead(file, repo.ObjectFormat)
	if err != nil {
		return nil, err
	}
	dir, err := scratch.New("agentxchain-bundle-")
	if err != nil {
		return nil, fail.Errorf(fail.CodeUnreadable, err, "there is no room to unpack the bundle")
	}
	b := &Bundle{dir: dir}
	defer func() {
		if err != nil {
			b.Close()
		}
	}()
	if err := b.receive(ctx, repo.ObjectFormat, file, names); err != nil {
		return nil, err
	}
	if err := b.judge(ctx); err != nil {
		return nil, err
	}
	for i := range b.Refs {
		if err := b.compare(ctx, repo, &b.Refs[i]); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// Open unpacks a bundle in a repository of its own, which done removes. Git checks every object; the content of
// operations is not judged. Errors: history_invalid.
func Open(ctx context.Context, file string) (repo *git.Repository, done func(), err error) {
	names, format, err := bundleHead(file)
	if err != nil {
		return nil, nil, err
	}
	dir, err := scratch.New("agentxchain-bundle-")
	if err != nil {
		return nil, nil, fail.Errorf(fail.CodeUnreadable, err, "there is no room to unpack the bundle")
	}
	b := &Bundle{dir: dir}
	if err := b.receive(ctx, format, file, names); err != nil {
		b.Close()
		return nil, nil, err
	}
	return b.Repo, b.Close, nil
}

// Close removes the unpacked bundle.
func (b *Bundle) Close() {
	if b == nil {
		return
	}
	if b.Repo != nil {
		_ = b.Repo.Close()
	}
	_ = b.dir.Remove()
}

// receive fetches the bundle into a repository of its own, where git checks every object and completeness.
func (b *Bundle) receive(ctx context.Context, format, file string, names []string) error {
	abs, err := filepath.Abs(file)
	if err != nil {
		return fail.Errorf(fail.CodeUnreadable, err, "the bundle cannot be found")
	}
	g := git.NewForeignGit(b.dir.Path)
	if _, err := g.Run(ctx, nil, "init", "--quiet", "--bare", "--template=", "--object-format="+format,
		"."); err != nil {
		return err
	}
	if b.Repo, err = git.Ask(ctx, g); err != nil {
		return err
	}
	args := []string{
		// Only this file is read, whatever the person's configuration would rewrite it to; git streams large
		// objects to disk and refuses odd ones.
		"-c", "protocol.allow=never", "-c", "protocol.file.allow=always",
		"-c", "fetch.fsckObjects=true", "-c", "fetch.unpackLimit=1", "-c", "core.bigFileThreshold=16m",
		"-c", "fetch.fsck.hasDot=error", "-c", "fetch.fsck.hasDotdot=error", "-c", "fetch.fsck.hasDotgit=error", "-c",
		"fetch.fsck.fullPathname=error",
		"-c", "gc.auto=0", "-c", "maintenance.auto=false",
		"fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-gc", "--no-recurse-submodules", abs,
	}
	for _, name := range names {
		args = append(args, name+":"+name)
	}
	if _, err := g.Run(ctx, nil, args...); err != nil {
		if ctx.Err() != nil || git.ExitCode(err) < 0 {
			return err
		}
		return Bad(err, "git refuses the bundle")
	}
	return nil
}

// judge checks every run in the bundle as fsck does.
func (b *Bundle) judge(ctx context.Context) error {
	refs, err := b.Repo.ListRefs(ctx, "refs/")
	if err != nil {
		return err
	}
	var runs []git.Ref
	for _, ref := range refs {
		if ref.OID == "" || ref.Broken || ref.Target != "" {
			return Bad(nil, "the bundle's ref %s cannot be read", ref.Name)
		}
		b.Refs = append(b.Refs, Ref{Name: ref.Name, OID: ref.OID})
		run, ok := strings.CutPrefix(ref.Name, git.RunRefPrefix)
		if !ok {
			continue
		}
		runs = append(runs, ref)
		b.Run = run
	}
	if len(runs) != 1 {
		b.Run = ""
	}
	if len(runs) == 0 {
		return Bad(nil, "the bundle holds no run")
	}
	report, err := proof.CheckRuns(ctx, b.Repo, runs)
	if err != nil {
		return Bad(err, "the history in the bundle cannot be read")
	}
	for _, x := range report.Findings {
		if !x.Note {
			return Bad(nil, "the history of run %s is not consistent: %s", x.Run, x.Message)
		}
	}
	b.Ops = report.Ops
	return nil
}

// compare finds out how a ref of the bundle relates to the one here.
func (b *Bundle) compare(ctx context.Context, here *git.Repository, ref *Ref) (err error) {
	if ref.at, err = here.ReadRef(ctx, ref.Name); err != nil {
		return err
	}
	ref.Here = ref.at
	if run, ok := strings.CutPrefix(ref.Name, git.RunRefPrefix); ok && ref.at == "" {
		if ref.Here, err = chain.PastTip(ctx, here, run); err != nil {
			return err
		}
	}
	switch {
	case ref.Here == "":
		ref.Relation = Create
		return nil
	case ref.Here == ref.OID:
		ref.Relation = Same
		return nil
	}
	if in, err := history.Ancestor(ctx, b.Repo, ref.Here, ref.OID); err != nil || in {
		ref.Relation = Forward
		return err
	}
	if in, err := history.Ancestor(ctx, here, ref.OID, ref.Here); err != nil || in {
		ref.Relation = Behind
		return err
	}
	if strings.HasPrefix(ref.Name, record.WitnessRefPrefix) {
		ref.Relation = Joined
		return nil
	}
	if strings.HasPrefix(ref.Name, git.RunRefPrefix) && ref.at != "" {
		if same, err := b.sameBeginning(ctx, here, ref); err != nil || same {
			ref.Relation = Diverged
			return err
		}
	}
	return ref.NotFollowing()
}

// NotFollowing refuses a ref that neither continues the one here nor is continued by it.
func (r *Ref) NotFollowing() *fail.Error {
	return fail.Errorf(CodeHistoryDiverged, nil, "%s is at %s here, and the bundle's %s does not go on from it",
		r.Name, r.Here.Short(), r.OID.Short()).
		WithHint("both sides have new operations: restore the artifact without --bundle, which records it on top of what is here and overwrites nothing")
}

// sameBeginning reports whether the run begins with the same operation in the bundle and here.
func (b *Bundle) sameBeginning(ctx context.Context, here *git.Repository, ref *Ref) (bool, error) {
	out, err := b.Repo.Git.Run(ctx, nil, "rev-list", "--max-parents=0", string(ref.OID), "--")
	if err != nil {
		return false, err
	}
	first := object.OID(strings.TrimSpace(string(out)))
	if !here.HasCommit(ctx, first) {
		return false, nil
	}
	return history.Ancestor(ctx, here, first, ref.at)
}

// moves reports whether a restore moves the ref here.
func (r *Ref) moves() bool {
	return r.Relation == Create || r.Relation == Forward || r.Relation == Joined
}

// JoinWitnesses joins what a witness signed here and in the bundle into one line, as a sync does, once the objects
// are here.
func (b *Bundle) JoinWitnesses(ctx context.Context, here *git.Repository) error {
	for i := range b.Refs {
		ref := &b.Refs[i]
		if ref.Relation != Joined {
			continue
		}
		run, _, _ := strings.Cut(strings.TrimPrefix(ref.Name, record.WitnessRefPrefix), "/")
		oid, err := witness.Join(ctx, here, run, ref.Here, ref.OID)
		if err != nil {
			return err
		}
		ref.OID = oid
	}
	return nil
}

// Newest returns the newest operation of the run in the bundle if it is not here yet, else "".
func (b *Bundle) Newest(run string) object.OID {
	if ref := b.ofRun(run); ref != nil && (ref.Relation == Create || ref.Relation == Forward) {
		return ref.OID
	}
	return ""
}

// Tips returns the newest operations of the run in the bundle and here, as they were compared; "" for none.
func (b *Bundle) Tips(run string) (there, here object.OID) {
	if ref := b.ofRun(run); ref != nil {
		return ref.OID, ref.at
	}
	return "", ""
}

// ofRun returns the ref of a run in the bundle, nil for none.
func (b *Bundle) ofRun(run string) *Ref {
	for i := range b.Refs {
		if b.Refs[i].Name == git.RunRefPrefix+run {
			return &b.Refs[i]
		}
	}
	return nil
}

// Updates returns the updates of the refs, that of run last.
func (b *Bundle) Updates(run string) []git.RefUpdate {
	var out, last []git.RefUpdate
	for _, ref := range b.Refs {
		if !ref.moves() {
			continue
		}
		u := git.RefUpdate{Name: ref.Name, New: ref.OID, Old: ref.at}
		if ref.Name == git.RunRefPrefix+run {
			last = append(last, u)
		} else {
			out = append(out, u)
		}
	}
	return append(out, last...)
}

// incomingRefs is the prefix of refs that keep the objects of a bundle from their transfer until the run's refs
// have moved: git's housekeeping would remove unreachable objects.
const incomingRefs = git.RefSpace + "incoming/"

// Transfer brings the objects over and keeps them with refs below incomingRefs and key (see DropIncoming). No other
// ref moves.
func (b *Bundle) Transfer(ctx context.Context, to *git.Repository, key string) error {
	args := []string{
		"-c", "protocol.file.allow=always", "-c", "fetch.fsckObjects=true", "-c", "fetch.unpackLimit=1",
		"-c", "gc.auto=0", "-c", "maintenance.auto=false",
		"fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-gc", "--no-recurse-submodules",
		b.Repo.GitDir,
	}
	var locks []git.GitLock
	any := false
	for i, ref := range b.Refs {
		if ref.moves() || ref.Relation == Diverged {
			held := fmt.Sprintf("%s%s/%d", incomingRefs, key, i)
			args = append(args, "+"+ref.Name+":"+held)
			locks = append(locks, to.RefLocks([]git.RefUpdate{{Name: held, New: ref.OID}})...)
			any = true
		}
	}
	if !any {
		return nil
	}
	return to.FetchLocal(ctx, locks, args)
}

// DropIncoming removes the refs that kept the objects of a transfer.
func DropIncoming(ctx context.Context, r *git.Repository, key string) error {
	refs, err := r.ListRefs(ctx, incomingRefs+key+"/")
	if err != nil || len(refs) == 0 {
		return err
	}
	updates := make([]git.RefUpdate, 0, len(refs))
	for _, ref := range refs {
		if ref.OID != "" {
			updates = append(updates, git.RefUpdate{Name: ref.Name, Old: ref.OID})
		}
	}
	return r.UpdateRefs(ctx, updates, "agentxchain: restored")
}

// Files returns the governed files as the newest operation of the bundle's only run recorded them, and its
// configuration.
func (b *Bundle) Files(ctx context.Context) (*chain.RunFiles, error) {
	ref := b.ofRun(b.Run)
	if b.Run == "" || ref == nil {
		return nil, Bad(nil, "the bundle holds several runs")
	}
	r := record.NewReader(ctx, b.Repo)
	c, err := r.Commit(ref.OID)
	if err != nil {
		return nil, err
	}
	return (&chain.RecordedRun{Run: b.Run, Op: ref.OID, Root: c.Tree, Reader: r}).Files()
}

// Project returns the project id in force at the newest operation of a run in the bundle, "" when its configuration
// does not name one. A tip that is not an operation is history_invalid.
func (b *Bundle) Project(ctx context.Context, run string) (string, error) {
	ref := b.ofRun(run)
	if ref == nil {
		return "", nil
	}
	id, err := chain.ProjectAt(ctx, b.Repo, ref.OID)
	if err != nil {
		return "", Bad(err, "%s is not an operation of a run", ref.Name)
	}
	return id, nil
}
