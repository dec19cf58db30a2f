// The contract between a run and a runtime.

package runtimes

import (
	"context"
	"io"
	"os"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
)

// Request is one dispatched turn for its runtime. The contents come from the bundle as it was
// sealed, not from a second look at the disk.
type Request struct {
	Root      string // absolute directory of the project
	RunID     string
	TurnID    string
	Role      string
	Phase     string
	Attempt   int
	Authority string // write authority of the role
	Runtime   *config.Runtime
	Config    *config.Config

	BundleDir   string // project-relative, slash-separated, as all paths below
	StagingPath string // where the result goes
	Prompt      []byte // PROMPT.md
	Context     []byte // CONTEXT.md, nil when the bundle has none

	Deadline time.Time      // when the turn's time is up; zero for none
	Log      io.Writer      // takes the agent's output as it arrives; never nil, never fails
	Activity func(Activity) // called for signs of life; never nil, safe for concurrent use
	Getenv   func(string) string
	Environ  []string   // environment for child processes, turn marker included
	Inherit  []*os.File // left open in child processes from descriptor 3 on: they mark them as the turn's

	Protected []string // absolute paths that no process of the turn may write under isolation, see Confined
	Writable  []string // directories below them that it may write all the same
}

// Activity is a sign of life of an agent (docs/runtimes.md#what-is-written-while-an-agent-works).
type Activity struct {
	Type    string // starting, output, diagnostic_only, silent, request, response, heartbeat
	Summary string // one line, already safe to show
	Line    string // last line of output, "" when there is none
	PID     int    // process that works on the turn, 0 when it is none of ours
	Stream  string // stdout, stderr, request, staged_result; all but stderr are proof of life
	Lines   int    // lines of output since the last sign, 0 when not counted
}

// Kinds of outcome.
const (
	Staged   = "staged"    // the agent has written its result to the staging path
	Returned = "returned"  // the result is Outcome.Result, for the caller to stage
	Rejected = "rejected"  // the agent answered without a result: costs an attempt
	Blocked  = "blocked"   // it could not be asked or could not work: a person has to fix something
	TimedOut = "timed_out" // its time was up
	Aborted  = "aborted"   // the caller gave up; the turn stays as it is
	Pending  = "pending"   // a person works on it (manual); the turn stays as it is
)

// Classes of blocked dispatches that several types of runtime have. A dispatch of ClassRateLimited may simply be
// repeated later.
const (
	ClassRateLimited = "rate_limited"
	ClassOverloaded  = "provider_overloaded"
	ClassNetwork     = "network_failure"
	ClassTimeout     = "timeout"
	ClassAuth        = "auth_failure"
	ClassCredentials = "missing_credentials"
	ClassModel       = "model_not_found"
)

// Outcome is the outcome of a dispatch.
type Outcome struct {
	Kind   string
	Result []byte // Returned: the turn result, JSON as it was received

	Reason   string // Rejected, Blocked, TimedOut: one sentence
	Class    string // Blocked: stable error class (docs/runtimes.md#local_cli), as in dispatch:<class>
	Recovery string // Blocked: what the person does next
	Failure  string // Blocked at the start: runtime_spawn_failed, stdout_attach_failed, no_subprocess_output

	Retryable  bool          // Blocked: the same request may be repeated
	RetryAfter time.Duration // earliest time for it, 0 when unknown

	Exit    *int   // of the agent's process, when it had one
	Signal  string // that ended it
	Err     error  // Aborted: why, when it was not the caller who gave up; has a code
	Moved   string // HEAD is on another branch than before: a clause
	CostUSD *float64
	Usage   *ojson.Object // as the provider reports it; the caller merges it into the result's cost
}

// Runtime carries out turns of one configured runtime. Dispatch returns when the agent is done,
// when ctx ends or when the deadline has passed; everything it has started is gone by then. The
// outcome is never nil.
type Runtime interface {
	Dispatch(ctx context.Context, req *Request) *Outcome
	// Probe finds out whether a dispatch could work, without asking for work: whether the program
	// exists, the server answers, the key is set.
	Probe(ctx context.Context, req *ProbeRequest) []Finding
}

// ProbeRequest says what a probe may use.
type ProbeRequest struct {
	Root    string
	Runtime *config.Runtime
	Config  *config.Config
	Getenv  func(string) string
	Environ []string
	Online  bool // servers may be contacted and programs started
	Trusted bool // this machine trusts what agentxchain.json names
}

// Finding is one result of a probe.
type Finding struct {
	OK      bool
	Code    string // stable: command_missing, command_incompatible, auth_env_missing, unreachable, tool_missing, ...
	Message string
	Hint    string
	Path    string // of the program, where one is looked for
	Version string // reported by the agent, one line; "" where it was not asked
}
