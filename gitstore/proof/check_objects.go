// Fsck of objects: each exists and hashes to its id.

package proof

import (
	"bytes"
	"context"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
)

// objects has git read every object of the runs and check its hash. A single git process does that for all runs:
// the ledgers of a run contain those of earlier runs, and with one process per run git would read them once for
// each run.
func (f *checker) objects(refs []git.Ref) error {
	complaint, err := f.verifyObjects(refs)
	if complaint == "" || err != nil {
		return err
	}
	// Git says that something is wrong, but not reliably what: read one by one.
	w := &objectWalk{f: f, r: record.NewReader(f.ctx, f.repo), sound: make(map[object.OID]bool)}
	var whole []git.Ref
	for _, ref := range refs {
		before := w.found
		if err := w.run(strings.TrimPrefix(ref.Name, git.RunRefPrefix), ref.OID); err != nil {
			return err
		}
		if w.found == before {
			whole = append(whole, ref)
		}
	}
	return f.unexplained(whole)
}

// verifyObjects returns git's complaint, "" when every object of the runs is in order.
func (f *checker) verifyObjects(refs []git.Ref) (complaint string, err error) {
	if len(refs) == 0 {
		return "", nil
	}
	var tips bytes.Buffer
	for _, ref := range refs {
		tips.WriteString(string(ref.OID) + "\n")
	}
	args := []string{"rev-list", "--objects", "--verify-objects", "--quiet", "--stdin"}
	cmd, err := f.repo.Git.Command(f.ctx, args)
	if err != nil {
		return "", err
	}
	said := &git.BoundedBuffer{Limit: git.MaxGitStderr}
	cmd.Stdin, cmd.Stderr = &tips, said
	err = cmd.Run()
	complaint = strings.TrimSpace(said.Buf.String())
	if f.ctx.Err() != nil {
		return "", context.Cause(f.ctx)
	}
	if err == nil {
		// A git before 2.38 complains about a damaged file, but exits successfully.
		if !strings.HasPrefix(complaint, "error:") && !strings.Contains(complaint, "\nerror:") {
			complaint = ""
		}
		return complaint, nil
	}
	if err = f.repo.Git.Failure(args, err, complaint); git.ExitCode(err) < 0 {
		return "", err
	}
	if complaint == "" {
		complaint = err.Error()
	}
	return complaint, nil
}

// unexplained finds the runs that git rejects although all of their objects could be read. It checks all of them
// and continues with halves.
func (f *checker) unexplained(refs []git.Ref) error {
	complaint, err := f.verifyObjects(refs)
	if complaint == "" || err != nil {
		return err
	}
	if len(refs) == 1 {
		f.find(Finding{
			Code:    fail.CodeObjectCorrupt,
			Run:     strings.TrimPrefix(refs[0].Name, git.RunRefPrefix),
			Message: "git finds damage in the run's objects: " + complaint,
			Repair:  "git fsck",
		})
		return nil
	}
	half := len(refs) / 2
	if err := f.unexplained(refs[:half]); err != nil {
		return err
	}
	return f.unexplained(refs[half:])
}

// objectWalk reads objects and reports those that cannot be read, for each run that has them.
type objectWalk struct {
	f     *checker
	r     *record.Reader
	sound map[object.OID]bool // it was read, and everything below it
	found int
}

// run reads the objects of one run.
func (w *objectWalk) run(run string, tip object.OID) error {
	seen := make(map[object.OID]bool) // seen, and not sound: already reported
	for op := tip; op != ""; {
		c, err := w.r.Commit(op)
		if err != nil {
			return w.fault(run, op, err)
		}
		if _, err := w.tree(run, op, c.Tree, seen); err != nil {
			return err
		}
		if len(c.Parents) == 0 {
			return nil
		}
		op = c.Parents[0]
	}
	return nil
}

// tree reports whether a tree and everything below it can be read.
func (w *objectWalk) tree(run string, op, oid object.OID, seen map[object.OID]bool) (bool, error) {
	if w.sound[oid] || seen[oid] {
		return w.sound[oid], nil
	}
	list, err := w.r.Entries(oid)
	w.r.Drop(oid)
	if err != nil {
		seen[oid] = true
		return false, w.fault(run, op, err)
	}
	sound := true
	for _, e := range list {
		ok := w.sound[e.OID]
		switch {
		case e.IsTree():
			if ok, err = w.tree(run, op, e.OID, seen); err != nil {
				return false, err
			}
		case !ok && !seen[e.OID]:
			if _, err := w.r.Blob(e.OID); err != nil {
				seen[e.OID] = true
				if err := w.fault(run, op, err); err != nil {
					return false, err
				}
				break
			}
			ok, w.sound[e.OID] = true, true
		}
		sound = sound && ok
	}
	if sound {
		w.sound[oid] = true
	} else {
		seen[oid] = true
	}
	return sound, nil
}

func (w *objectWalk) fault(run string, op object.OID, err error) error {
	w.found++
	return w.f.fault(run, op, err)
}
