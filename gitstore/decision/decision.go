// The record of a decision that moves refs of several repositories, from which any process can finish or undo it
// (docs/siblings.md#deciding).

package decision

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/gitstore/workdir"
	"github.com/git-agentxchain/git-agentxchain/internal/durable"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// Codes of decisions over several repositories.
const (
	CodeDecisionUndone    = "decision_undone"
	CodeDecisionUnsettled = "decision_unsettled"
)

// DecisionFile is the path, relative to a workspace, of the record of its pending decision, and WorkspaceLock is
// the lock under which it is written.
const (
	DecisionFile  = ".agentxchain/multirepo/decision.json"
	WorkspaceLock = ".agentxchain/multirepo/coordinator.lock"
)

// OutcomeMove is the outcome of a decision by which every participant moves. Until an outcome is written, no
// participant has moved.
const OutcomeMove = "move"

// Decision is the write-ahead record: {schema_version, workspace, begun_at, outcome,
// participants, steps}. Other members survive.
type Decision struct {
	SchemaVersion string          `json:"schema_version"`
	Workspace     string          `json:"workspace"` // absolute path
	BegunAt       string          `json:"begun_at"`  // before any ref was locked
	Outcome       string          `json:"outcome"`   // "" or OutcomeMove
	Participants  []Participant   `json:"participants"`
	Steps         []*ojson.Object `json:"steps"` // the workspace's own steps, in its own format
	Extra         ojson.Extra
}

// NewDecision returns the record of a decision that begins now.
func NewDecision(schema, workspace string) *Decision {
	return &Decision{SchemaVersion: schema, Workspace: workspace, BegunAt: time.Now().UTC().Format(time.RFC3339Nano)}
}

// Participant is one ref of a decision and the process that was to move it.
type Participant struct {
	Repo    string    `json:"repo_id"` // "" for the coordinator's own record
	GitDir  string    `json:"git_dir"` // absolute path of the common git directory
	Ref     string    `json:"ref"`
	Old     string    `json:"old"` // object ids; Old is "" for a new ref
	New     string    `json:"new"`
	Reflog  string    `json:"reflog"`
	Objects string    `json:"object_format"`
	Refs    string    `json:"ref_format"`
	Owner   git.Owner `json:"owner"`
}

// maxDecision bounds the record, in bytes.
const maxDecision = 512 << 20

// ReadDecision returns the pending decision of a workspace, nil for none. The error is decision_unsettled when
// there is an unreadable record: it is written under another name and renamed, so it cannot be a torn write.
func ReadDecision(workspace string) (*Decision, error) {
	unsettled := func(err error) error {
		return fail.Errorf(CodeDecisionUnsettled, err, "the record of a decision in %s cannot be read", workspace).
			WithHint("look at %s; it says which refs were to move", DecisionFile)
	}
	root, err := os.OpenRoot(workspace)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, unsettled(err)
	}
	defer func() { _ = root.Close() }()
	data, _, ok, err := (&workdir.Dir{Path: workspace, Root: root}).Read(DecisionFile, maxDecision)
	if err != nil || !ok {
		if err != nil {
			err = unsettled(err)
		}
		return nil, err
	}
	v, err := ojson.DecodeLimited(data, ojson.Limits{Bytes: len(data)})
	o, ok := v.(*ojson.Object)
	if err != nil || !ok {
		return nil, unsettled(err)
	}
	d := &Decision{}
	if errs := ojson.Unmarshal(o, d); len(errs) > 0 {
		return nil, unsettled(errs[0])
	}
	for i := range d.Participants {
		if p := &d.Participants[i]; !filepath.IsAbs(p.GitDir) || !git.SafeRefName(p.Ref) ||
			!strings.HasPrefix(p.Ref,
				git.RefSpace) || !object.OID(p.New).Valid(p.Objects) || object.OID(p.New).IsZero() ||
			p.Old != "" && !object.OID(p.Old).Valid(p.Objects) {
			return nil, unsettled(fmt.Errorf("participant %d is malformed", i+1))
		}
	}
	return d, nil
}

// Write writes the record so that it survives a power cut. The caller holds the workspace's lock.
func (d *Decision) Write() error {
	return d.inWorkspace(func(root *os.Root) error {
		return durable.WriteFileRoot(root, DecisionFile, ojson.Pretty(ojson.Marshal(d)), 0o666)
	})
}

// Remove removes the record of a settled decision.
func (d *Decision) Remove() error {
	return d.inWorkspace(func(root *os.Root) error {
		if err := root.Remove(DecisionFile); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return durable.SyncDirRoot(root, filepath.ToSlash(filepath.Dir(DecisionFile)))
	})
}

func (d *Decision) inWorkspace(f func(*os.Root) error) error {
	root, err := os.OpenRoot(d.Workspace)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	return f(root)
}

// Settle brings every ref to where the outcome says: all of them to New, or, without an outcome, unlocked where
// they are. It removes locks left by the decision's ended processes, and no others. The caller holds the
// workspace's lock, and the processes that prepared the decision are over or under the caller's control.
//
// moved reports whether the outcome stands: a decision is undone when none of its refs has moved and another
// process has moved one elsewhere in the meantime. Settle touches nothing in a repository without its own note of
// the decision: it was settled before, or the record cannot be believed. Errors: decision_unsettled, ref_locked,
// and git's own; the next command tries again.
func (d *Decision) Settle(ctx context.Context) (moved bool, err error) {
	at, noted := make([]place, len(d.Participants)), make([]bool, len(d.Participants))
	for i := range d.Participants {
		p := &d.Participants[i]
		if noted[i] = p.Noted(d.Workspace); noted[i] {
			p.await(ctx, p.lockPath()) // a git whose command has died may be about to move the ref
		}
		if at[i], err = d.look(ctx, p); err != nil {
			return false, err
		}
		if !noted[i] && at[i] == placeOld {
			at[i] = placeOther
		}
	}
	moved = d.Outcome == OutcomeMove
	if moved {
		if moved, err = d.stands(at); err != nil {
			return false, err
		}
	}
	for i := range d.Participants {
		p := &d.Participants[i]
		if at[i] == placeGone || !noted[i] {
			continue
		}
		if err := d.settle(ctx, p, moved && at[i] == placeOld); err != nil {
			return false, err
		}
	}
	return moved, nil
}

// place is the position of a participant's ref.
type place int

const (
	placeOld   place = iota
	placeNew         // or something that was built on it
	placeOther       // another process has moved it elsewhere, or the repository has no note of the decision
	placeGone        // the repository no longer exists
)

// maxBuiltOn bounds how many commits behind a ref are searched for New.
const maxBuiltOn = 10000

func (d *Decision) look(ctx context.Context, p *Participant) (place, error) {
	if _, err := os.Stat(p.GitDir); errors.Is(err, fs.ErrNotExist) {
		return placeGone, nil
	}
	r := p.repository()
	defer func() { _ = r.Close() }()
	oid, err := r.ReadRef(ctx, p.Ref)
	if err != nil {
		return 0, err
	}
	if oid == object.OID(p.Old) {
		return placeOld, nil
	}
	t := record.NewReader(ctx, r)
	for range maxBuiltOn {
		if oid == object.OID(p.New) {
			return placeNew, nil
		}
		c, err := t.Commit(oid)
		if err != nil || len(c.Parents) == 0 || oid == object.OID(p.Old) {
			break
		}
		oid = c.Parents[0]
	}
	return placeOther, nil
}

// stands decides by where the refs are whether a decided move stands.
func (d *Decision) stands(at []place) (bool, error) {
	moved, other := 0, -1
	for i, w := range at {
		switch w {
		case placeNew:
			moved++
		case placeOther:
			other = i
		}
	}
	switch {
	case other < 0:
		return true, nil
	case moved == 0:
		return false, nil
	}
	p := d.Participants[other]
	return false, fail.Errorf(CodeDecisionUnsettled, nil,
		"a decision has moved other repositories, and the ref %s of %s is not where they left it", p.Ref, p.GitDir).
		WithHint("git --git-dir=%s update-ref %s %s finishes it", p.GitDir, p.Ref, p.New)
}

// settle unlocks the ref of one participant, moves it if required, and removes the note about it.
func (d *Decision) settle(ctx context.Context, p *Participant, move bool) error {
	begun, err := time.Parse(time.RFC3339Nano, d.BegunAt)
	if err != nil {
		return fail.Errorf(CodeDecisionUnsettled, err, "the record of a decision does not say when it began")
	}
	// Some file systems round times to the second or the clock tick, and use another clock: compare with the time
	// of the note, which is older than the lock.
	begun = begun.Truncate(time.Second)
	if at, ok := p.notedAt(d.Workspace); ok && at.Before(begun) {
		begun = at
	}
	if err := p.unlock(ctx, begun); err != nil {
		return err
	}
	if move {
		r := p.repository()
		defer func() { _ = r.Close() }()
		if err := r.UpdateRefs(ctx, []git.RefUpdate{{Name: p.Ref, New: object.OID(p.New), Old: object.OID(p.Old)}},
			p.Reflog); err != nil {
			return err
		}
	}
	// A power cut must not bring the lock back after the note is gone.
	if err := durable.SyncDir(filepath.Dir(p.lockPath())); err != nil && !git.Absent(err) {
		return err
	}
	p.forget(d.Workspace)
	return nil
}

// repository opens the participant's repository by its git directory.
func (p *Participant) repository() *git.Repository {
	g := git.NewForeignGit(p.GitDir)
	g.Disarm()
	g.Env = append(g.Env, "GIT_DIR="+p.GitDir)
	g.Scope = &git.LocalScope{GitDir: p.GitDir, CommonDir: p.GitDir}
	return &git.Repository{
		GitDir:       p.GitDir,
		CommonDir:    p.GitDir,
		ObjectsDir:   filepath.Join(p.GitDir, "objects"),
		ObjectFormat: p.Objects,
		RefFormat:    p.Refs,
		Git:          g,
	}
}
