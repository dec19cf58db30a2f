// A hook: its configuration, its call, its outcome.

package hooks

import (
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
)

// Codes of a hook that changed a protected file, and of a guard that could not work
// (docs/hooks.md#protected-files).
const (
	CodeStateTamper   = "hook_state_tamper"
	CodeHistoryTamper = "hook_history_tamper"
	CodeLedgerTamper  = "hook_ledger_tamper"
	CodeBundleTamper  = "hook_bundle_tamper"
	CodeGuardFailed   = "hook_guard_failed"
)

// Verdicts that a hook may give.
const (
	VerdictAllow = "allow"
	VerdictWarn  = "warn"
	VerdictBlock = "block"
)

// The twelve values of orchestrator_action (docs/hooks.md#what-becomes-of-it).
const (
	ActionContinued      = "continued"
	ActionWarned         = "warned"
	ActionBlocked        = "blocked"
	ActionDowngraded     = "downgraded_block_to_warn"
	ActionBlockedTimeout = "blocked_timeout"
	ActionWarnedTimeout  = "warned_timeout"
	ActionBlockedFailure = "blocked_failure"
	ActionWarnedFailure  = "warned_failure"
	ActionBlockedInvalid = "blocked_invalid_output"
	ActionWarnedInvalid  = "warned_invalid_output"
	ActionAbortedTamper  = "aborted_tamper"
	ActionSkipped        = "skipped"
)

const (
	typeHTTP    = "http"
	typeProcess = "process"
)

// Hook is one configured hook (docs/hooks.md#fields).
type Hook struct {
	Phase     string
	Name      string
	Type      string        // process or http; an unknown type fails without running
	Command   []string      // process: argv, run without a shell
	URL       string        // http
	Headers   *ojson.Object // http: values may contain ${NAME}
	TimeoutMS int           // 100 to 30000
	Blocking  bool          // false: advisory
	Env       *ojson.Object // variables set for the hook
	EnvNames  []string      // variables passed on from our own environment
}

// FromConfig returns the hooks of a phase in order. The validator checks the configuration's shape; here, members
// of another shape read as absent.
func FromConfig(c *config.Config, phase string) []Hook {
	if c == nil {
		return nil
	}
	return FromObject(c.Hooks, phase)
}

// FromObject is like FromConfig for a bare "hooks" object: phase to list of hooks.
func FromObject(all *ojson.Object, phase string) []Hook {
	if all.Len() == 0 {
		return nil
	}
	list := all.Objects(phase)
	if len(list) == 0 {
		return nil
	}
	out := make([]Hook, len(list))
	for i, o := range list {
		ms, _ := o.Int("timeout_ms")
		out[i] = Hook{
			Phase:     phase,
			Name:      o.String("name"),
			Type:      o.String("type"),
			Command:   o.Strings("command"),
			URL:       o.String("url"),
			Headers:   o.Object("headers"),
			TimeoutMS: ms,
			Blocking:  o.Has("mode") && o.String("mode") != "advisory", // an unknown mode may mean to block
			Env:       o.Object("env"),
			EnvNames:  o.Strings("env_names"),
		}
		if out[i].Type == "" {
			out[i].Type = typeProcess
		}
	}
	return out
}

// Call is one invocation of a phase's hooks.
type Call struct {
	Phase     string
	RunID     string // "" without a run
	TurnID    string // "" when no turn is concerned; null in the entries
	Payload   *ojson.Object
	Protected []string // project-relative files protected in addition to the base set

	// Overruled reports whether a person has overruled what a hook says: its block then counts as a warning, and
	// the following hooks are still asked. Nil overrules nothing.
	Overruled func(hook, message string) bool
}

// Runner runs hooks in one project. Only Root is required.
type Runner struct {
	Root          string           // absolute path of the project, where hooks start
	Correlation   string           // correlation_id of what hooks are given; omitted when ""
	Environ       func() []string  // our own environment; os.Environ when nil
	Now           func() time.Time // time.Now when nil
	ExtraEnvNames []string         // variables passed on to every process hook
	Guarded       []string         // project-relative files protected in every call
	// project-relative files that no hook may remove, though we may rewrite their contents meanwhile
	Kept []string

	// Beside are other projects whose governed files no hook may change: the siblings of a coordinator's workspace.
	Beside []Sibling

	// Restore returns the present bytes of a protected file, from somewhere no hook can write. It is called only
	// for files too big to keep in memory, and only after one was changed; a digest checks its result. When it is
	// nil, or Restorable says that it does not know the file, such files are copied to Scratch before a hook runs.
	Restore    func(path string) ([]byte, error)
	Restorable func(path string) bool // whether Restore knows a file; all when nil
	Scratch    string                 // directory of those copies; the system's temporary one when ""
	Grace      time.Duration          // between SIGTERM and SIGKILL; 2 s when 0
}

// Outcome is the outcome of a phase's hooks (docs/hooks.md#what-becomes-of-it).
type Outcome struct {
	OK      bool // the pipeline may go on
	Blocked bool // a blocking hook refused, failed, or gave no answer
	Entries []Entry
	Blocker *Blocker // set when Blocked
	Tamper  *Tamper  // set when a hook changed a protected file

	// Annotations are rows for hook-annotations.jsonl; after_acceptance only.
	Annotations []*ojson.Object
}

// Rows returns the entries as rows for hook-audit.jsonl.
func (o *Outcome) Rows() []*ojson.Object {
	rows := make([]*ojson.Object, len(o.Entries))
	for i := range o.Entries {
		rows[i] = o.Entries[i].Row()
	}
	return rows
}

// Blocker is the hook that stopped the phase.
type Blocker struct{ HookName, Verdict, Message string }

// Tamper is the first protected file found changed. All of them were restored.
type Tamper struct{ HookName, File, Code, Message string }

// Entry is the record of one hook (docs/hooks.md#what-becomes-of-it).
type Entry struct {
	Timestamp   string // after execution
	Phase       string
	HookName    string
	Transport   string // process or http; "" for a skipped hook
	RunID       string
	TurnID      string          // "" is written as null
	DurationMS  int             // 0 for a skipped hook
	Verdict     string          // after a downgrade; "" is written as null
	Message     ojson.Value     // nil for none
	Annotations []*ojson.Object // {key, value}
	ExitCode    *int
	TimedOut    bool
	Stderr      string // at most 4096 characters
	Action      string // one of the Action constants
}

// Row returns the entry as a row of hook-audit.jsonl, with members in the order of
// docs/hooks.md#what-becomes-of-it; a skipped hook has no transport. The name occurs twice: the public corpus reads
// hook_name, the implementor guide hook_id.
func (e Entry) Row() *ojson.Object {
	row := ojson.NewObject("timestamp", e.Timestamp, "hook_phase", e.Phase, "hook_name", e.HookName,
		"hook_id", e.HookName)
	if e.Transport != "" {
		row.Set("transport", e.Transport)
	}
	row.Set("run_id", e.RunID)
	row.Set("turn_id", ojson.OrNull(e.TurnID))
	row.Set("duration_ms", e.DurationMS)
	row.Set("verdict", ojson.OrNull(e.Verdict))
	row.Set("message", e.Message)
	annotations := make([]any, len(e.Annotations))
	for i, a := range e.Annotations {
		annotations[i] = a
	}
	row.Set("annotations", annotations)
	row.Set("exit_code", nil)
	if e.ExitCode != nil {
		row.Set("exit_code", *e.ExitCode)
	}
	row.Set("timed_out", e.TimedOut)
	row.Set("stderr_excerpt", e.Stderr)
	row.Set("orchestrator_action", e.Action)
	return row
}
