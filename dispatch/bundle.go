// Build: the three files of a dispatch bundle (docs/bundles.md).

package dispatch

import (
	"fmt"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/secrets"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Names of the bundle's files (docs/bundles.md#where).
const (
	AssignmentFile = "ASSIGNMENT.json"
	PromptFile     = "PROMPT.md"
	ContextFile    = "CONTEXT.md"
	ManifestFile   = "MANIFEST.json"
)

// Input is everything that a bundle is made from. Config and State are required; other members may be zero, and
// their sections are then absent.
type Input struct {
	Config *config.Config
	State  *run.State // after the assignment: the turn is among its active turns
	Index  *run.Index
	Turn   *run.Turn // LastRow is the run's newest accepted history row; nil means Index.LastRow.

	// LastRow is the run's newest accepted history row; nil means Index.LastRow.
	LastRow *ojson.Object
	// Decisions are decision-ledger rows, oldest first, and DecisionCount is their total number; nil means
	// Index.RecentDecisions and Index.Decisions.
	Decisions     []*ojson.Object
	DecisionCount int
	// OpenObjections of earlier turns; nil means Index.OpenObjections.
	OpenObjections []*ojson.Object
	// RepoDecisions are rows of repo-decisions.jsonl; nil means the state's snapshot.
	RepoDecisions []*ojson.Object
	// Prompts maps a role to the text of its own instructions, already read and
	// bounded by the caller. A role with a configured path and no text here
	// gets a warning, with PromptProblem as the reason.
	Prompts       map[string]string
	PromptProblem string
	// LastLog is the tail of the previous turn's captured output, for reviewers.
	LastLog []byte
	// CrossRepo is COORDINATOR_CONTEXT.json of a turn that belongs to an initiative over several repositories, else
	// nil.
	CrossRepo *ojson.Object
	// Messages are the TaskMessages for the turn, oldest first (docs/monarchic.md#messages).
	Messages []*ojson.Object
	// Proposals are waiting proposals, oldest first.
	Proposals []Waiting
	// Warnings are the caller's, such as a dirty work tree.
	Warnings []Warning

	// Exists reports whether a project-relative path is a regular file. Nil:
	// no file is known to exist.
	Exists func(path string) bool
	// Read returns at most limit bytes from the start of a regular file of the project, false when the file does
	// not exist. It must not follow a link out of the project. Nil: no previews.
	Read func(path string, limit int) ([]byte, bool)

	// PreviousIndex is the previous dispatch/index.json, for Index: it provides the warnings of turns that are not
	// dispatched now.
	PreviousIndex []byte

	Now string // time of the dispatch, in wire format
}

// Warning is advice for the actor that does not stop the dispatch.
type Warning struct {
	Code    string // stable token
	Message string
}

// Codes of warnings. The reference gives all of them the first (docs/bundles.md#what-is-in-it).
const (
	WarningScopeOverlap = "advisory_scope_overlap"
	WarningDirtyTree    = "advisory_dirty_tree"
	WarningPrompt       = "prompt_template_unreadable"
)

// dirtyNames is how many paths a warning about the work tree names (docs/bundles.md).
const dirtyNames = 5

// DirtyTree warns of changes in the work tree that are not in the turn's baseline: they have no recorded author,
// and could pass for the turn's own.
func DirtyTree(paths []string) Warning {
	shown := make([]string, 0, dirtyNames)
	for _, p := range paths[:min(len(paths), dirtyNames)] {
		shown = append(shown, line(p))
	}
	names := strings.Join(shown, ", ")
	if len(paths) > dirtyNames {
		names += ", ..."
	}
	return Warning{WarningDirtyTree, fmt.Sprintf("the work tree has %s that the turn did not start from: %s",
		text.Count(len(paths), "change", "changes"), names)}
}

// Bundle is what the store writes into the turn's bundle directory before it
// is sealed.
type Bundle struct {
	Files    map[string][]byte // file name -> contents
	Warnings []string
}

// Build renders the bundle of in.Turn. It fails with a *wire.Error when the
// input does not name one active turn of a configured role (docs/bundles.md), and
// reads nothing but through in.Exists and in.Read.
func Build(in Input) (*Bundle, error) {
	v, err := newView(in)
	if err != nil {
		return nil, err
	}
	b := &Bundle{Files: map[string][]byte{
		AssignmentFile: text.JSON(ojson.Pretty(v.assignment())),
		PromptFile:     withoutSecrets(v.prompt()),
		ContextFile:    withoutSecrets(v.context()),
	}}
	for _, w := range v.warnings() {
		b.Warnings = append(b.Warnings, w.Message)
	}
	return b, nil
}

// withoutSecrets removes what looks like a secret from a text that is recorded and sent to a model, whether a
// person or an agent put it into a prompt, a summary or a reason.
func withoutSecrets(doc []byte) []byte { return []byte(secrets.Redact(string(doc))) }

// view is a checked input with the parts that every section needs.
type view struct {
	Input
	roleID  string
	role    *config.Role
	route   *config.Route // nil when the phase is not routed
	gate    *config.Gate  // exit gate of the phase, or nil
	staging string
	last    *ojson.Object // newest accepted row of this run, or nil
	next    string        // phase after this one, "" when final or unknown
	final   bool          // this is the last phase
}

func newView(in Input) (*view, error) {
	if in.Config == nil || in.State == nil {
		return nil, refuse(wire.CodeInvalidArgument, "a dispatch bundle needs a configuration and a state")
	}
	if in.Turn == nil {
		if in.Turn = in.State.OnlyTurn(); in.Turn == nil {
			if n := in.State.ActiveTurns.Len(); n > 1 {
				return nil, refuse(wire.CodeTargetRequired, "%d turns are active: name the one to dispatch", n)
			}
			return nil, refuse(wire.CodeTurnNotActive, "no turn is active, so there is nothing to dispatch")
		}
	}
	t := in.Turn
	if !safeName(t.TurnID) {
		return nil, refuse(wire.CodeInvalidArgument, "turn id %q cannot name a directory", t.TurnID)
	}
	v := &view{Input: in, roleID: roleOf(t), staging: wire.StagingPath(t.TurnID)}
	if v.role = in.Config.Role(v.roleID); v.role == nil {
		e := refuse(wire.CodeUnknownRole, "turn %s is assigned to role %q, which the configuration does not define",
			t.TurnID, v.roleID)
		e.Field = "roles"
		return nil, e
	}
	if v.Index == nil {
		v.Index = &run.Index{}
	}
	if v.route = in.Config.Route(in.State.Phase); v.route != nil {
		v.gate = in.Config.Gate(v.route.ExitGate)
		v.next = in.Config.NextPhase(in.State.Phase)
		v.final = v.next == ""
	}
	v.last = in.LastRow
	if v.last == nil {
		v.last = v.Index.LastRow
	}
	// History is append-only across runs: a row of an earlier run is not this run's last accepted row.
	if r := v.last.String("run_id"); v.last.Len() == 0 || (r != "" && r != in.State.Run()) {
		v.last = nil
	}
	return v, nil
}

func refuse(code, format string, args ...any) *wire.Error {
	return &wire.Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// roleOf returns the turn's role; the conformance corpus spells the member
// "role" (docs/conformance.md).
func roleOf(t *run.Turn) string {
	if t.AssignedRole != "" {
		return t.AssignedRole
	}
	s, _ := t.Extra.Value("role").(string)
	return s
}

// runtimeType returns the type of the role's runtime.
func (v *view) runtimeType() string {
	if rt, ok := v.Config.Runtimes.Get(v.Turn.RuntimeID); ok && rt != nil && rt.Type != "" {
		return rt.Type
	}
	if v.role.RuntimeType != "" {
		return v.role.RuntimeType
	}
	return "manual"
}

// remote reports whether the runtime answers with text only: it cannot write files of the project itself.
func (v *view) remote() bool {
	t := v.runtimeType()
	return t == "api_proxy" || t == "remote_agent"
}

// allowedNext returns the roles to which the phase routes.
func (v *view) allowedNext() []string {
	if v.route == nil || v.route.AllowedNextRoles == nil {
		return []string{}
	}
	return v.route.AllowedNextRoles
}

// exists asks the caller, but never about a path outside the project.
func (v *view) exists(path string) bool {
	return v.Exists != nil && safePath(path) && v.Exists(path)
}

func (v *view) presence(path string) string {
	if v.exists(path) {
		return "exists"
	}
	return "MISSING"
}

// artifacts returns the artifacts of the current phase's workflow kit.
func (v *view) artifacts() []config.Artifact {
	return v.Config.WorkflowKit.Phases.Value(v.State.Phase)
}

// owner returns the owner of an artifact: its own, else the phase's entry role.
func (v *view) owner(a config.Artifact) string {
	if a.OwnedBy == "" && v.route != nil {
		return v.route.EntryRole
	}
	return a.OwnedBy
}

// reviewer reports whether the role only reviews.
func (v *view) reviewer() bool { return v.role.WriteAuthority == wire.ReviewOnly }
