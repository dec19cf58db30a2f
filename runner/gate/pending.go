// What a person is shown before being asked whether a gate opens.

package gate

import (
	"context"
	"fmt"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/gates"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// maxShownFiles bounds how many of the files that a turn changed are named. The rest is counted.
const maxShownFiles = 200

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
