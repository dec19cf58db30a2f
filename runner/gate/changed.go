// How the documents of a gate differ from what they were: when the run began, its phase, and at the last approval.

package gate

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/history"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/internal/projectfile"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Limits of what is shown of differences. The rest is named.
const (
	maxShownDiff      = 128 << 10 // bytes of all documents together
	maxShownDiffLines = 2000
	maxShownOps       = 5000 // operations looked through for the last approval
)

// DiffBase is the commit of the project that documents are compared with.
type DiffBase struct {
	What   string // approval, run, or "" when nothing can be compared
	Commit string
	Op     object.OID
	At     time.Time
}

// documents reads the gate's documents and compares them with what was committed when
// the run began, when the phase began, and at the last approval.
func (g *Pending) documents(ctx context.Context, store *gitstore.Store, v *gitstore.View) error {
	var names []string
	added := make(map[string][]byte) // of documents that git may not know
	for i := range g.Documents {
		d := &g.Documents[i]
		for _, f := range g.Result.Findings {
			if f.Path == d.Path {
				d.Reasons = append(d.Reasons, f.Reason)
			}
		}
		clean, problem := wire.CleanPath(d.Path)
		if problem != "" {
			continue
		}
		data, err := projectfile.Read(store.Dir(), clean, projectfile.MaxGate)
		if err != nil {
			return err
		}
		names = append(names, clean)
		if data != nil {
			b := evidence.NewBlob(data)
			d.Present, d.SHA256, d.Size = true, b.Digest, b.Size
			added[clean] = data
		}
	}
	runs, phase, last, err := bases(ctx, store, v)
	if err != nil || len(names) == 0 {
		return err
	}
	since := func(base DiffBase, mark func(*Document, history.FileStat)) error {
		if base.What == "" {
			return nil
		}
		stats, err := changedSince(ctx, store, base.Commit, names, added)
		for i := range g.Documents {
			for _, f := range stats {
				if f.Path == g.Documents[i].Path {
					mark(&g.Documents[i], f)
				}
			}
		}
		return err
	}
	g.Since = last
	if err := since(runs, func(d *Document, _ history.FileStat) { d.SinceRun = true }); err != nil {
		return err
	}
	if err := since(phase, func(d *Document, _ history.FileStat) { d.SincePhase = true }); err != nil {
		return err
	}
	g.marked(v)
	counts := func(d *Document, f history.FileStat) { d.SinceLast, d.Added, d.Removed = true, f.Added, f.Removed }
	if err := since(last, counts); err != nil {
		return err
	}
	return g.shownDiff(ctx, store, added)
}

// marked prefers what the run's record says about the documents to what was committed at the time.
func (g *Pending) marked(v *gitstore.View) {
	marks := protocol.DocumentMarks(v.Config, v.State)
	if marks == nil {
		return
	}
	for i := range g.Documents {
		d := &g.Documents[i]
		if m, ok := marks.Get(d.Path); ok {
			d.SinceRun, d.SincePhase = m.Run != d.digest(), m.Phase != d.digest()
		}
	}
}

// digest returns the record's digest of the document.
func (d *Document) digest() string {
	if !d.Present {
		return run.DocumentMissing
	}
	return "sha256:" + d.SHA256
}

// bases returns the project's commits when the run began, when its phase began and when a person
// last approved a gate of it; the last is the first without an approval.
func bases(ctx context.Context, store *gitstore.Store, v *gitstore.View) (began, phase, last DiffBase, err error) {
	if v.Op == "" {
		return began, phase, last, nil
	}
	ops, err := store.Log(ctx, v.State.Run(), maxShownOps)
	if err != nil {
		return began, phase, last, err
	}
	entered, perr := wire.ParseTime(wire.OrEmpty(v.State.PhaseEnteredAt))
	withdrawn := 0
	for i := range ops {
		op := &ops[i]
		base := DiffBase{Commit: op.CodeHead, Op: op.Op, At: op.Time}
		switch {
		case op.Name == protocol.OpWithdraw && strings.HasPrefix(op.Subject, protocol.SubjectWithdrawn):
			withdrawn++
		case !strings.HasPrefix(op.Name, "approve_") || !strings.HasPrefix(op.Subject, "approve "):
		case withdrawn > 0:
			withdrawn--
		case last.What == "":
			last = base
			last.What = "approval"
		}
		// The log has whole seconds: an operation of the same second may belong to the phase, so an
		// older commit is compared with.
		if perr == nil && phase.What == "" && op.Time.Before(entered.Truncate(time.Second)) {
			phase = base
			phase.What = "phase"
		}
		if op.Name == "init_run" || len(op.Parents) == 0 {
			began = base
			began.What = "run"
			break
		}
	}
	if last.What == "" {
		last = began
	}
	if phase.What == "" {
		phase = began
	}
	return began, phase, last, nil
}

// changedSince lists the named files that differ from the commit. Files unknown to git are all new,
// and so is everything when there was no commit yet.
func changedSince(
	ctx context.Context,
	store *gitstore.Store,
	commit string,
	names []string,
	have map[string][]byte,
) ([]history.FileStat, error) {
	var stats []history.FileStat
	var known []string
	if commit != "" {
		var err error
		if stats, _, _, err = history.WorkDiff(ctx, store.Repository(), commit, names, 1); err != nil {
			return nil, err
		}
		if known, err = history.FilesAt(ctx, store.Repository(), commit, names); err != nil {
			return nil, err
		}
	}
	for _, name := range names {
		listed := slices.ContainsFunc(stats, func(f history.FileStat) bool { return f.Path == name })
		if data, ok := have[name]; ok && !listed && !slices.Contains(known, name) {
			stats = append(stats, history.FileStat{Path: name, Added: countLines(data)})
		}
	}
	return stats, nil
}

func countLines(data []byte) int {
	n := bytes.Count(data, []byte("\n"))
	if len(data) > 0 && data[len(data)-1] != '\n' {
		n++
	}
	return n
}

// shownDiff makes the patch of the changed documents, as much as a person may read.
func (g *Pending) shownDiff(ctx context.Context, store *gitstore.Store, have map[string][]byte) error {
	var b strings.Builder
	lines, left := 0, []string{}
	for i := range g.Documents {
		d := &g.Documents[i]
		if !d.SinceLast {
			continue
		}
		var patch []byte
		var cut bool
		if c := g.Since.Commit; c != "" {
			var err error
			if _, patch, cut, err = history.WorkDiff(ctx, store.Repository(), c, []string{d.Path}, maxShownDiff); err != nil {
				return err
			}
		}
		if len(patch) == 0 && !cut && d.Present {
			patch = newFilePatch(d.Path, have[d.Path])
		}
		n := bytes.Count(patch, []byte("\n"))
		if cut || b.Len()+len(patch) > maxShownDiff || lines+n > maxShownDiffLines {
			left = append(left, d.Path)
			continue
		}
		lines += n
		b.WriteString(strings.ToValidUTF8(string(patch), "\uFFFD"))
	}
	g.Diff = b.String()
	if len(left) > 0 {
		g.Cut = fmt.Sprintf("%s too long to show here: %s",
			text.Count(len(left), "document is", "documents are"), wire.ListSome(left, 5))
	}
	return nil
}

// newFilePatch returns the patch of a file unknown to git.
func newFilePatch(path string, data []byte) []byte {
	if len(data) > maxShownDiff || !history.Textual(data) {
		return fmt.Appendf(nil, "new file %s, %d bytes\n", path, len(data))
	}
	n := countLines(data)
	out := fmt.Appendf(nil, "--- /dev/null\n+++ b/%s\n@@ -0,0 +1,%d @@\n", path, n)
	for line := range bytes.Lines(data) {
		out = append(append(out, '+'), bytes.TrimRight(line, "\n")...)
		out = append(out, '\n')
	}
	return out
}
