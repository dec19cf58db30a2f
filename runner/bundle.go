// The dispatch bundle of a turn: what goes into it, and the index of all bundles
// (docs/bundles.md).

package runner

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/git-agentxchain/git-agentxchain/dispatch"
	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/internal/projectfile"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner/observe"
)

// dispatchBundles builds and seals the bundle of the turn a transition dispatches.
// What hooks and the coordinator had added to an earlier bundle of the same turn
// stays in it.
func (c *change) dispatchBundles(ctx context.Context, t *protocol.Transition) (map[string]map[string][]byte, error) {
	turn, ok := t.State.ActiveTurns.Get(turnOf(t))
	if !ok {
		return nil, nil
	}
	in := c.r.dispatchInput(c.view, t.State, t.Index, turn)
	in.Now = c.env.Time()
	in.LastLog = c.r.lastLog(in)
	in.Warnings = c.newDirt(turn)
	in.PreviousIndex = c.r.indexNow()
	cross, err := c.crossFiles(turn)
	if err != nil {
		return nil, err
	}
	in.CrossRepo = crossDocument(cross)
	if in.Messages, err = c.r.messagesFor(ctx, t.Index, turn.TurnID); err != nil {
		return nil, err
	}
	if in.Proposals, err = c.r.proposalsFor(ctx, c.view, turn); err != nil {
		return nil, err
	}
	b, err := dispatch.Build(in)
	if err != nil {
		return nil, err
	}
	maps.Copy(b.Files, cross)
	c.warnings = b.Warnings
	switch {
	case c.resealing:
		err = c.resupplied(ctx, turn, b.Files)
	case turn.Status == wire.TurnDispatched && c.hooks.has("after_dispatch"):
		b.Files, err = c.supplemented(ctx, turn, b.Files)
	default:
		err = c.r.survivors(turn, b.Files)
	}
	if err != nil {
		return nil, err
	}
	if len(in.Messages) > 0 { // after what an earlier bundle keeps: its list is shorter
		b.Files[dispatch.MessagesFile] = dispatch.MessagesDocument(in.Messages)
	}
	seal, err := dispatch.Seal(dispatch.Identity{RunID: t.State.Run(), TurnID: turn.TurnID, Role: turn.AssignedRole}, c.env.Time(), b.Files)
	if err != nil {
		return nil, err
	}
	b.Files[dispatch.ManifestFile] = seal
	t.Documents[wire.DocDispatchIndex] = dispatch.Index(in)
	return map[string]map[string][]byte{turn.TurnID: b.Files}, nil
}

// survivors adds to files what an earlier bundle of the turn keeps.
func (r *Runner) survivors(turn *run.Turn, files map[string][]byte) error {
	dir := dispatch.BundleDir(turn.TurnID)
	if dir == "" {
		return nil // Build has refused it already
	}
	root, err := os.OpenRoot(r.store.Dir())
	if err != nil {
		return projectfile.Unreadable(".", err)
	}
	defer func() { _ = root.Close() }()
	before, err := bundleContents(root, dir)
	if err != nil {
		var coded *wire.Error
		if errors.As(err, &coded) {
			coded.Hint = "take out of " + dir + " what does not belong to the bundle, then run the command again"
		}
		return err
	}
	maps.Copy(files, before.Supplements())
	return nil
}

// newDirt warns about changes in the work tree that are not in the turn's baseline
// (docs/bundles.md): nobody has said whose they are.
func (c *change) newDirt(turn *run.Turn) []dispatch.Warning {
	if c.tree == nil || turn.Baseline == nil {
		return nil
	}
	paths := slices.DeleteFunc(observe.ProjectDirty(c.tree), func(p string) bool { return turn.Baseline.DirtySnapshot.Has(p) })
	if len(paths) == 0 {
		return nil
	}
	return []dispatch.Warning{dispatch.DirtyTree(paths)}
}

// index brings dispatch/index.json up to a transition that dispatches nothing but
// changes which turns are active: an ended turn must not stay listed.
func (c *change) index(t *protocol.Transition) {
	if _, ok := t.Documents[wire.DocDispatchIndex]; ok || t.Documents == nil || !turnsMoved(c.view.State, t.State) {
		return
	}
	was := c.r.indexNow()
	if was == nil {
		return
	}
	t.Documents[wire.DocDispatchIndex] = dispatch.Index(dispatch.Input{Config: c.view.Config, State: t.State, Index: t.Index, PreviousIndex: was, Now: c.env.Time()})
}

// turnsMoved reports whether the index of the bundles would differ.
func turnsMoved(before, after *run.State) bool {
	if before.Run() != after.Run() || before.Phase != after.Phase || before.ActiveTurns.Len() != after.ActiveTurns.Len() {
		return true
	}
	for id, a := range after.ActiveTurns.All() {
		b, ok := before.ActiveTurns.Get(id)
		if !ok || a == nil || b == nil || a.Status != b.Status || a.Attempt != b.Attempt || a.AssignedRole != b.AssignedRole || a.RuntimeID != b.RuntimeID {
			return true
		}
	}
	return false
}

// indexNow is dispatch/index.json as it is, nil when there is none to be read.
func (r *Runner) indexNow() []byte {
	data, err := projectfile.Read(r.store.Dir(), string(wire.DocDispatchIndex), projectfile.MaxGate)
	if err != nil {
		return nil
	}
	return data
}

// dispatchInput gathers what the bundle of a turn is made from.
func (r *Runner) dispatchInput(v *gitstore.View, s *run.State, x *run.Index, turn *run.Turn) dispatch.Input {
	in := dispatch.Input{Config: v.Config, State: s, Index: x, Turn: turn, LastRow: x.LastRow, OpenObjections: x.OpenObjections,
		Prompts: make(map[string]string), Now: wire.FormatTime(r.Now()), Exists: r.isFile, Read: r.readStart}
	for _, l := range v.RepoDecisions {
		in.RepoDecisions = append(in.RepoDecisions, l.Row)
	}
	if path, ok := v.Config.Prompts.Get(turn.AssignedRole); ok && path != "" {
		text, problem := r.promptText(path)
		if problem != "" {
			in.PromptProblem = problem
		} else {
			in.Prompts[turn.AssignedRole] = text
		}
	}
	return in
}

// MaxPrompt bounds a role's prompt template, in bytes.
const MaxPrompt = 256 << 10

// promptText reads a role's own instructions. A path that leads out of the
// project, by its spelling or through a link, is not followed; problem says why
// there is no text.
func (r *Runner) promptText(path string) (text, problem string) {
	clean, why := wire.CleanPath(path)
	if why != "" {
		return "", "it does not name a file inside the project"
	}
	data, err := projectfile.Read(r.store.Dir(), clean, MaxPrompt)
	switch {
	case err != nil:
		return "", strings.TrimSuffix(err.Error(), ".")
	case data == nil:
		return "", "there is no such file"
	case !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0:
		return "", "it is not UTF-8 text"
	}
	return string(data), ""
}

// isFile reports whether a path of the project is a regular file, also through a
// link that stays in the project.
func (r *Runner) isFile(path string) bool {
	root, err := os.OpenRoot(r.store.Dir())
	if err != nil {
		return false
	}
	defer func() { _ = root.Close() }()
	info, err := root.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// readStart reads at most limit bytes of a project file for a preview. Links are
// not followed at all: git keeps what a link says, not what it leads to, and what
// lies behind one was never part of an accepted change.
func (r *Runner) readStart(path string, limit int) ([]byte, bool) {
	data, err := r.readPart(path, int64(limit), false)
	return data, err == nil
}

// readPart reads the first or the last limit bytes of a regular file that no link
// leads to.
func (r *Runner) readPart(path string, limit int64, end bool) ([]byte, error) {
	root, err := os.OpenRoot(r.store.Dir())
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	var info fs.FileInfo
	for i := range len(path) + 1 {
		if i < len(path) && path[i] != '/' {
			continue
		}
		if info, err = root.Lstat(path[:i]); err != nil {
			return nil, err
		}
		if i < len(path) && !info.IsDir() {
			return nil, fs.ErrNotExist
		}
	}
	if info == nil || !info.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	// A pipe put into the file's place meanwhile does not hold us up, and is seen.
	f, err := root.OpenFile(path, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	now, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !os.SameFile(now, info) {
		return nil, fmt.Errorf("%s was replaced while it was being read", path)
	}
	if end && now.Size() > limit {
		if _, err := f.Seek(now.Size()-limit, io.SeekStart); err != nil {
			return nil, err
		}
	}
	return io.ReadAll(io.LimitReader(f, limit))
}

// maxLog bounds what is read of a log for its excerpt, in bytes.
const maxLog = 512 << 10

// lastLog is the end of what the actor of the last accepted turn printed, for a
// role that reviews (docs/bundles.md#what-is-in-it row 9e).
func (r *Runner) lastLog(in dispatch.Input) []byte {
	role := in.Config.Role(in.Turn.AssignedRole)
	if role == nil || role.WriteAuthority != wire.ReviewOnly {
		return nil
	}
	dir := dispatch.AuditDir(in.LastRow.String("turn_id"))
	if dir == "" {
		return nil
	}
	data, err := r.readPart(dir+"/"+dispatch.LogFile, maxLog, true)
	if err != nil {
		return nil
	}
	return data
}

// keepLog saves the end of the log of a turn about to be accepted: its bundle goes
// with it. A log that cannot be kept is no reason to refuse the turn.
func (c *change) keepLog(turn *run.Turn) {
	if dir := dispatch.BundleDir(turn.TurnID); dir != "" {
		_ = c.r.store.KeepLog(dir+"/"+dispatch.LogFile, dispatch.AuditDir(turn.TurnID)+"/"+dispatch.LogFile)
	}
}
