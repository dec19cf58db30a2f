// InjectIntent: a person gives work to the run (docs/intake.md).

package intents

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/change"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// OpInject is the wire name of InjectIntent.
const OpInject = "inject_intent"

// Directories of intents, project-relative.
const (
	Dir            = ".agentxchain/intake/intents"
	EventsDir      = ".agentxchain/intake/events"
	PriorityMarker = ".agentxchain/intake/injected-priority.json"
)

// Bounds of intents.
const (
	Max      = 100      // intents of one run that are not over
	MaxBytes = 64 << 10 // one file
	MaxText  = 4000     // bytes of a description or charter
	MaxItems = 50
	MaxItem  = 1000 // bytes
)

// ValidID reports whether id is well-formed: intent_<1 to 20 digits>_<4 lower-case hex digits>.
func ValidID(id string) bool {
	number, hex, ok := strings.Cut(strings.TrimPrefix(id, "intent_"), "_")
	return ok && strings.HasPrefix(id, "intent_") && number != "" && len(number) <= 20 &&
		strings.Trim(number, "0123456789") == "" &&
		len(hex) == 4 && strings.Trim(hex, "0123456789abcdef") == ""
}

// Path returns the path of an intent's file.
func Path(id string) string { return Dir + "/" + id + ".json" }

// Spec is work that a person asks for.
type Spec struct {
	Description string   `json:"description"`
	Priority    string   `json:"priority"` // p0 to p3
	Template    string   `json:"template"`
	Charter     string   `json:"charter,omitempty"`    // Description if empty
	Acceptance  []string `json:"acceptance,omitempty"` // Description if empty
	Phase       string   `json:"phase_scope,omitempty"`
	Role        string   `json:"preferred_role,omitempty"`
	Approver    string   `json:"approver"`
}

// Priorities returns the urgencies of an intent, most urgent first.
func Priorities() []string { return []string{"p0", "p1", "p2", "p3"} }

// Templates returns the templates that an intent may name.
func Templates() []string {
	return []string{"generic", "api-service", "cli-tool", "library", "web-app", "full-local-cli", "enterprise-app"}
}

// Check refuses what cannot become an intent. Code: invalid_argument.
func (sp *Spec) Check(c *config.Config) *wire.Error {
	switch {
	case wire.TrimSpace(sp.Description) == "":
		return wire.InvalidArgument("description", "An intent says what to do.")
	case len(sp.Description) > MaxText || len(sp.Charter) > MaxText:
		return wire.InvalidArgument("description", "A description or charter has at most %d bytes.", MaxText)
	case !slices.Contains(Priorities(), sp.Priority):
		return wire.InvalidArgument("priority", "%s is not a priority; the priorities are %s.", wire.Shown(sp.Priority),
			wire.List(Priorities()))
	case !slices.Contains(Templates(), sp.Template):
		return wire.InvalidArgument("template", "%s is not a template; the templates are %s.", wire.Shown(sp.Template),
			wire.List(Templates()))
	case sp.Phase != "" && !slices.Contains(c.Phases(), sp.Phase):
		return wire.InvalidArgument("phase", "%s is not a phase; the phases are %s.", wire.Shown(sp.Phase),
			wire.List(c.Phases()))
	case sp.Role != "" && c.Role(sp.Role) == nil:
		return wire.InvalidArgument("role", "%s is not a role; the roles are %s.", wire.Shown(sp.Role),
			wire.List(c.Roles.Keys()))
	case len(sp.Acceptance) > MaxItems:
		return wire.InvalidArgument("acceptance", "%d acceptance items are more than an intent takes (%d).",
			len(sp.Acceptance),
			MaxItems)
	}
	for _, item := range sp.Acceptance {
		if wire.TrimSpace(item) == "" || len(item) > MaxItem {
			return wire.InvalidArgument("acceptance", "An acceptance item has between 1 and %d bytes.", MaxItem)
		}
	}
	return nil
}

// New returns an approved intent and the event it came from. run is "" before any run has begun: the next run takes
// it.
func New(sp *Spec, env *change.Env, run string) (intent, event *ojson.Object) {
	now, text := env.Time(), wire.TrimSpace(sp.Description)
	id := func(prefix string) string {
		drawn := env.ID(prefix)
		return fmt.Sprintf("%s_%d_%s", prefix, env.Now.UnixMilli(), drawn[len(drawn)-4:])
	}
	signal := ojson.NewObject("description", text, "injected", true, "priority", sp.Priority)
	sum := sha256.Sum256(ojson.Compact(signal))
	event = ojson.NewObject(
		"schema_version", "1.0",
		"event_id", id("evt"),
		"source", "manual",
		"category", "operator_injection",
		"created_at", now,
		"repo", nil,
		"ref", nil,
		"signal", signal,
		"evidence", []*ojson.Object{ojson.NewObject("type", "text", "value", text)},
		"dedup_key", "manual:"+hex.EncodeToString(sum[:])[:16],
	)
	charter, items := wire.TrimSpace(sp.Charter), sp.Acceptance
	if charter == "" {
		charter = text
	}
	if len(items) == 0 {
		items = []string{text}
	}
	step := func(from any, to, reason string) *ojson.Object {
		return ojson.NewObject("from", from, "to", to, "at", now, "reason", reason)
	}
	approval := step("triaged", "approved", "operator injection")
	approval.Set("approver", sp.Approver)
	var phase any
	if sp.Phase != "" {
		phase = sp.Phase
	}
	intent = ojson.NewObject(
		"schema_version", "1.0",
		"intent_id", id("intent"),
		"event_id", event.String("event_id"),
		"status", "approved",
		"priority", sp.Priority,
		"template", sp.Template,
		"charter", charter,
		"acceptance_contract", items,
		"phase_scope", phase,
		"requires_human_start", true,
		"target_run", nil,
		"created_at", now,
		"updated_at", now,
		"history", []*ojson.Object{
			step(nil, "detected", "event ingested"),
			step("detected", "triaged", "triage completed"),
			approval,
		},
	)
	if sp.Role != "" {
		intent.Set("preferred_role", sp.Role)
	}
	if run != "" {
		intent.Set("approved_run_id", run)
	} else {
		intent.Set("cross_run_durable", true)
	}
	intent.Set("approved_by", sp.Approver)
	return intent, event
}

// Files returns the files of a new intent: its event, the marker of an urgent one, and the intent itself.
func Files(intent, event *ojson.Object, now string) []change.FileWrite {
	out := []change.FileWrite{{
		Path: EventsDir + "/" + event.String("event_id") + ".json",
		Data: ojson.Pretty(event),
	}}
	if intent.String("priority") == "p0" {
		out = append(out, change.FileWrite{Path: PriorityMarker, Data: ojson.Pretty(ojson.NewObject(
			"intent_id", intent.String("intent_id"),
			"priority", "p0",
			"description", event.Object("signal").String("description"),
			"injected_at", now,
		))})
	}
	return append(out, change.FileWrite{Path: Path(intent.String("intent_id")), Data: ojson.Pretty(intent)})
}

// InjectIntent records an approved intent of the run.
type InjectIntent struct {
	Spec Spec `json:"spec"`
}

func (*InjectIntent) Name() string            { return OpInject }
func (*InjectIntent) Blobs() []*evidence.Blob { return nil }

// InjectResult is the outcome of InjectIntent.
type InjectResult struct{ Recorded *ojson.Object }

func (op *InjectIntent) Apply(t *change.Draft) *wire.Error {
	if err := CheckInjector(t.Env.Actor); err != nil {
		return err
	}
	if err := op.Spec.Check(t.Config); err != nil {
		return err
	}
	if len(t.State.Intents) >= Max {
		return wire.InvalidArgument("intents", "%d intents of this run are not over; it takes no more.",
			len(t.State.Intents))
	}
	intent, event := New(&op.Spec, t.Env, t.State.Run())
	t.State.Intents = append(slices.Clip(t.State.Intents),
		Entry(intent, event.String("source"), event.String("category")))
	t.Files = append(t.Files, Files(intent, event, t.Env.Time())...)
	id := intent.String("intent_id")
	t.Append(wire.LedgerDecisions, ojson.NewObject(
		"type", "intent_injected",
		"run_id", t.State.Run(),
		"phase", t.State.Phase,
		"intent_id", id,
		"priority", op.Spec.Priority,
		"charter", intent.String("charter"),
		"acceptance_contract", intent.Strings("acceptance_contract"),
		"by", ojson.NewObject("name", t.Env.Actor.Name, "email", t.Env.Actor.Email),
		"terminal", t.Env.Actor.Terminal,
		"timestamp", t.Env.Time(),
	))
	t.Subject = "inject " + id + " (" + op.Spec.Priority + "): " + run.Clip(wire.OneLine(intent.String("charter")), 60)
	t.Result = &InjectResult{Recorded: intent}
	return nil
}

// CheckInjector refuses an agent: an intent is work that a person has approved.
func CheckInjector(a evidence.Actor) *wire.Error {
	if a.InsideTurn == "" {
		return nil
	}
	return &wire.Error{
		Code:    wire.CodeInsideTurn,
		Field:   "actor",
		Message: a.Place() + "; an agent does not approve work.",
		Hint:    "a person runs git agentxchain inject in their own terminal",
	}
}

func Entry(doc *ojson.Object, source, category string) *ojson.Object {
	return ojson.NewObject("source", ojson.OrNull(source), "category", ojson.OrNull(category), "document", doc)
}

// CheckDocument says what is wrong with the file of an intent, "" for nothing.
func CheckDocument(doc *ojson.Object) string {
	items := doc.Strings("acceptance_contract")
	switch {
	case !ValidID(doc.String("intent_id")):
		return "it has no intent id"
	case len(doc.String("charter")) > MaxText:
		return fmt.Sprintf("its charter has more than %d bytes", MaxText)
	case len(items) > MaxItems || slices.ContainsFunc(items, func(i string) bool {
		return len(i) > MaxItem || strings.TrimSpace(i) == ""
	}):
		return fmt.Sprintf("its acceptance contract has more than %d items, or one of them is empty or has more than %d bytes", MaxItems, MaxItem)
	}
	return ""
}
