// Export: objects of the Monarchic agent protocol derived from a recorded run
// (docs/monarchic-export.md#kinds).

package bridge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/wire"
	protocolwire "github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

// Options says what to export, and what is not in the run itself.
type Options struct {
	Run     string    // "" is the run of this work tree
	Version string    // of this program, for provenance
	Repo    string    // name of the repository; "" is origin's URL, else the project's id
	At      time.Time // time of the export; zero is the time of the run's last event
}

// Export is a run, read once, from which any kind of object is derived. The same operation gives
// the same objects: Read reads only the run's record and, unless Options.Repo names it, the URL of
// origin.
type Export struct {
	Run      string
	Op       runner.OpID // the operation at which it is read
	Warnings []string    // what could not be carried over unchanged

	opt     Options
	facts   *facts
	warned  map[string]bool
	outputs map[string]string // output_digest by turn
}

// Object is one exported object with its type.
type Object struct {
	Type  monarchic.Type
	Value ojson.Value
}

// Kind is what --type names: objects of one sort.
type Kind struct {
	Name     string
	Single   bool // one object, not a list
	Portable bool // has a portable form
	Strict   bool // has a strict form

	make func(x *Export, strict bool) ([]Object, error)
}

// Kinds lists what can be exported, in the order of `all`. The receipt of a run is one portable
// object, or one strict object for each accepted turn.
func Kinds() []Kind {
	return []Kind{
		{"intent", true, false, true, (*Export).intent},             // what the run was asked to do
		{"plan", true, true, true, (*Export).plan},                  // the turns as steps of a plan
		{"tasks", false, true, true, (*Export).tasks},               // what each turn was told to do
		{"events", false, true, true, (*Export).events},             // the event log, and decisions of the ledger
		{"gates", false, true, false, (*Export).gates},              // evaluations of gates
		{"artifacts", false, true, true, (*Export).artifacts},       // files the accepted turns left, and their results
		{"receipt", true, true, true, (*Export).receipt},            // what came of the run; strict: of each accepted turn
		{"verification", false, true, true, (*Export).verification}, // what the accepted turns verified
		{"reviews", false, true, true, (*Export).reviews},           // approvals, rejections and open objections
		{"reruns", false, true, true, (*Export).reruns},             // what was done again, and why
		{"blocked", false, true, true, (*Export).blocked},           // what stops the run now
		{"outcome", true, true, false, (*Export).outcome},           // objective, cost and risk of the run
		{"messages", false, true, true, (*Export).messages},         // the mailbox, and what amounts to messages
		{"leases", false, true, true, (*Export).leases},             // who holds which turn
		{"recovery", false, true, true, (*Export).recovery},         // what was recovered from
		{"manifest", true, false, true, (*Export).manifest},         // all artifacts with their combined digest
		{"contract", true, true, false, (*Export).contract},         // what the configuration asks of a delivery
		{"pipeline", true, true, false, (*Export).pipeline},         // the phases as a pipeline
		{"roles", false, true, false, (*Export).roles},              // the roles of the configuration
		{"role_bundles", false, true, false, (*Export).roleBundles}, // the role each turn was dispatched with
	}
}

// KindNames lists the names of Kinds.
func KindNames() []string {
	var out []string
	for _, k := range Kinds() {
		out = append(out, k.Name)
	}
	return out
}

// Read reads a run. Codes: no_run, not_found and those of reading a record.
func Read(ctx context.Context, r *runner.Runner, opt Options) (*Export, error) {
	f, err := readFacts(ctx, r, opt.Run)
	if err != nil {
		return nil, err
	}
	x := &Export{
		Run:     f.rec.Run,
		Op:      f.rec.Op,
		opt:     opt,
		facts:   f,
		warned:  make(map[string]bool),
		outputs: make(map[string]string),
	}
	if x.opt.Repo == "" {
		x.opt.Repo = cmp.Or(origin(ctx, r), f.cfg.Project.ID, f.rec.Run)
	}
	for _, w := range f.warnings {
		x.warn("%s", w)
	}
	return x, nil
}

// Objects derives the objects of one kind, in the order of the run. A form that the kind does not
// have is refused with invalid_argument.
func (x *Export) Objects(kind string, strict bool) ([]Object, error) {
	i := slices.IndexFunc(Kinds(), func(k Kind) bool { return k.Name == kind })
	if i < 0 {
		return nil, &protocolwire.Error{Code: protocolwire.CodeInvalidArgument, Field: "type",
			Message: fmt.Sprintf("There is no kind of object called %q (%s).", text.ClipRunes(kind, 80),
				strings.Join(KindNames(), ", "))}
	}
	k := Kinds()[i]
	if strict && !k.Strict {
		return nil, &protocolwire.Error{
			Code:    protocolwire.CodeInvalidArgument,
			Field:   "strict",
			Message: fmt.Sprintf("The strict family has no form of %s.", kind),
			Hint:    "leave out --strict",
		}
	}
	if !strict && !k.Portable {
		return nil, &protocolwire.Error{
			Code:    protocolwire.CodeInvalidArgument,
			Field:   "strict",
			Message: fmt.Sprintf("Only the strict family has a form of %s.", kind),
			Hint:    "add --strict",
		}
	}
	return k.make(x, strict)
}

// Group is the objects of one kind.
type Group struct {
	Kind    string
	Single  bool // one object by its nature
	Objects []Object
}

// All derives every kind that has the requested form. A single object that a run does not have yet
// has no group: the receipt of a run that goes on, and the outcome of one that is not over, whose
// readers would take it for ended.
func (x *Export) All(strict bool) ([]Group, error) {
	var out []Group
	for _, k := range Kinds() {
		if strict && !k.Strict || !strict && !k.Portable || k.Name == "outcome" && !x.ended() {
			continue
		}
		objs, err := k.make(x, strict)
		if _, refused := errors.AsType[*protocolwire.Error](err); refused && k.Single {
			continue
		}
		if err != nil {
			return nil, err
		}
		out = append(out, Group{k.Name, k.IsSingle(strict), objs})
	}
	return out, nil
}

// IsSingle reports whether the kind is one object in the requested form.
func (k Kind) IsSingle(strict bool) bool { return k.Single && (k.Name != "receipt" || !strict) }

// object wraps a protocol struct.
func object(t monarchic.Type, v any) Object { return Object{t, wire.Encode(v)} }

// Value returns the JSON form of a protocol struct.
func Value(v any) ojson.Value { return wire.Encode(v) }

func compact(v any) []byte { return ojson.Compact(wire.Encode(v)) }

// ours puts the source of an object under extensions.agentxchain.
func ours(source any) *ojson.Object {
	return ojson.NewObject("agentxchain", source)
}

// origin returns the URL of the remote origin without parts that may be secret, "" when there is
// none or it is a path of this machine.
func origin(ctx context.Context, r *runner.Runner) string {
	urls, err := r.Record().Repository().LocalSettings(ctx, "remote.origin.url")
	if err != nil || len(urls) == 0 {
		return ""
	}
	return cleanRemote(urls[0])
}
