// What a person is shown before being asked whether a gate opens.

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
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/projectfile"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/gates"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Limits of what is shown of a gate. The rest is counted or named.
const (
	maxShownDiff      = 128 << 10 // bytes of all documents together
	maxShownDiffLines = 2000
	maxShownFiles     = 200  // files a turn changed
	maxShownOps       = 5000 // operations looked through for the last approval
)

// Pending is a gate that waits for a person, with everything the decision is about
// (docs/spec/gates.md#what-is-shown-before-the-question). It describes the present: files may
// change before the answer, and the approval is judged again.
type Pending struct {
	Run         string
	Op          object.OID // the run's newest operation
	Type        string     // phase_transition, run_completion
	Gate        string
	From, To    string // phases; To is "" for a completion
	RequestedBy string // turn, "" when the state does not say
	Role        string // of that turn
	Summary     string // that turn's own words
	RequestedAt time.Time
	BlockedOn   string // what else the run is blocked on, "" for nothing

	Result       gates.Result // the predicates, evaluated on the present files
	Verification string       // status the requesting turn reported, "" for none
	Documents    []Document
	Since        DiffBase // what Diff and the documents' counts start from
	Diff         string   // a patch of the documents
	Cut          string   // what Diff leaves out, "" for nothing

	Objections []*ojson.Object // open ones: {turn_id, role, id, severity, statement}
	Changed    []string        // files the requesting turn changed
	MoreFiles  int             // further ones
	Checkpoint string          // the commit that holds them, "" for none
	Actions    []config.GateAction
	Given                       // of people, when the gate asks for several
	Rule       *config.GateRule // whose approval counts, nil for any person

	Signs []string // sign-off documents that a yes is written into

	Before []string // documents that are here as they were before the turn that asked changed them
	Away   *Away    // its work, when this checkout lacks it

	Yes, No string // the consequences
}

// Document is a document that the gate looks at.
type Document struct {
	Path           string
	Required       bool
	Owner          string // role, "" when none is required
	Present        bool
	SHA256         string // hex, "" when it is absent
	Size           int
	SinceRun       bool // it differs from what was committed when the run began
	SincePhase     bool // or when the phase began
	SinceLast      bool // or at Since
	Added, Removed int  // lines since Since; -1 for a binary file
	Reasons        []string
}

// DiffBase is the commit of the project that documents are compared with.
type DiffBase struct {
	What   string // approval, run, or "" when nothing can be compared
	Commit string
	Op     object.OID
	At     time.Time
}

// Show returns what a person is shown about the waiting gate in v.
//
// Errors: nothing_pending, git_failed.
func Show(ctx context.Context, store *gitstore.Store, v *gitstore.View) (*Pending, error) {
	s := v.State
	if !run.HasPending(s) {
		return nil, &wire.Error{
			Code:    wire.CodeNothingPending,
			Field:   "pending",
			Message: fmt.Sprintf("No gate waits for a person; the run is %s.", s.Status),
			Hint:    v.Onwards(),
		}
	}
	out := &Pending{
		Run:        s.Run(),
		Op:         v.Op,
		Objections: v.Index.OpenObjections,
	}
	var err error
	if out.Given, err = Votes(ctx, store, v); err != nil {
		return nil, err
	}
	row := out.request(v)
	if s.Status == wire.StatusBlocked {
		out.BlockedOn = wire.OrEmpty(s.BlockedOn)
	}
	standing, err := Stand(store.Dir(), v, s.Phase)
	if err != nil {
		return nil, err
	}
	if standing != nil {
		out.Result = standing.Result
	}
	out.Rule = v.Config.GateRule(out.Gate)
	if g := v.Config.Gate(out.Gate); g != nil {
		out.Actions = g.Actions
		for _, a := range config.GateArtifacts(v.Config, g, s.Phase) {
			out.Documents = append(out.Documents, Document{Path: a.Path, Required: a.Required, Owner: a.OwnedBy})
			if v.Config.PersonSigns() && gates.SignoffDocument(v.Config, a.Path) {
				out.Signs = append(out.Signs, a.Path)
			}
		}
	}
	out.turn(row)
	files, err := Files(store.Dir(), v)
	if err != nil {
		return nil, err
	}
	out.Before, out.Away = Before(ctx, store, v, files)
	out.outcomes()
	return out, out.documents(ctx, store, v)
}

// request fills in the request and returns the accepted turn that asked, nil when it is not known.
func (g *Pending) request(v *gitstore.View) *ojson.Object {
	w := v.State.Waiting()
	g.Type, g.Gate, g.From, g.To, g.RequestedBy = w.Type, w.Gate, w.From, w.To, w.By
	if t, err := wire.ParseTime(w.At); err == nil {
		g.RequestedAt = t
	}
	return Asking(v)
}

func (g *Pending) turn(row *ojson.Object) {
	if row == nil {
		return
	}
	g.Role, g.Summary = row.String("role"), row.String("summary")
	g.Verification = row.Object("verification").String("status")
	g.Checkpoint = row.String("checkpoint_sha")
	g.Changed = row.Strings("files_changed")
	if seen := row.Object("observed_artifact").Strings("files_changed"); len(seen) > 0 {
		g.Changed = seen // what was observed is more precise than what was declared
	}
	if n := len(g.Changed); n > maxShownFiles {
		g.Changed, g.MoreFiles = g.Changed[:maxShownFiles], n-maxShownFiles
	}
}

func (g *Pending) outcomes() {
	g.Yes, g.No = "the run completes", "the run continues in phase "+g.From+", and the next turn reads your reason"
	if g.To != "" {
		g.Yes = "the run enters phase " + g.To
	}
	if n := len(g.Actions); n > 0 {
		g.Yes = text.Count(n, "command of the gate is run first; ", "commands of the gate are run first; ") + g.Yes
	}
	for _, path := range g.Signs {
		g.Yes += ", and " + path + " says yes, committed"
	}
	if g.Result.Action == gates.ActionGateFailed {
		g.Yes = "refused, because the gate does not pass on the current files"
	}
	if len(g.Before) > 0 {
		g.Yes = "refused, because " + wire.ListSome(g.Before, 3) + " is not what the turn handed in"
	}
	if g.Away != nil {
		g.Yes += "; " + g.Away.What() + ", bring it here: " + g.Away.Bring()
	}
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
		case strings.HasPrefix(op.Name, "approve_") && strings.HasPrefix(op.Subject, "approve ") && withdrawn > 0:
			withdrawn--
		case strings.HasPrefix(op.Name, "approve_") && strings.HasPrefix(op.Subject, "approve ") && last.What == "":
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

// Fits reports whether the gate is of the requested kind; nil matches any.
func (g *Pending) Fits(completion *bool) bool {
	return completion == nil || *completion == (g.Type == run.GateCompletion)
}

// Still refuses an answer to something other than what was shown: another request, or documents
// that have changed since.
func (g *Pending) Still(gate, by string, files []evidence.FileBlob) error {
	if g == nil {
		return nil
	}
	moved := func(what string) error {
		return &wire.Error{
			Code:    gitstore.CodeStateMoved,
			Field:   "gates." + gate,
			Message: "What waits has changed since it was shown: " + what + ".",
			Hint:    "git agentxchain approve",
		}
	}
	if g.Gate != gate || g.RequestedBy != by {
		return moved("gate " + gate + " waits")
	}
	for _, d := range g.Documents {
		for _, f := range files {
			if f.Path != d.Path {
				continue
			}
			if (f.Blob != nil) != d.Present || f.Blob != nil && f.Blob.Digest != d.SHA256 {
				return moved(d.Path + " has changed")
			}
		}
	}
	return nil
}
