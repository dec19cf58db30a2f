// What the coordinator sees of a repository: its configuration, its run and what the run accepted
// (docs/coordinator.md#a-turn).

package initiative

import (
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Child is a repository of the initiative as it was read. It is the authority on its own run; the coordinator
// records what it finds there.
type Child struct {
	ID     string
	Path   string         // the repository's location, for messages
	Config *config.Config // nil when it is not a governed project that can be loaded
	State  *run.State     // nil when it has no governed state that can be read
	Unread string         // why there is no State, "" where nothing was refused

	Op string // commit id of the newest recorded operation of its run, "" for none

	// Lost is an operation that its run once had, as noted on this machine, and no longer has; "" for none.
	Lost string

	// Holds says that the initiative's run is recorded there, while State is of another run.
	Holds bool

	// Refused says why its working files are invalid; "" where they are valid. State is then taken from its record,
	// and what the record lacks proves nothing.
	Refused string

	// Remote says that the repository is not here, and was read from what was fetched from its server: it counts,
	// but nothing can be done in it.
	Remote bool

	// Bare says that it is a repository without a work tree.
	Bare bool

	// Fresh says that there is no state.json, as in a clone where no work was done: git ignores that file.
	Fresh bool

	// Unproven says that the run has no ref: another implementation drives it, and only its working files exist.
	Unproven bool

	Loose    map[string]bool          // turns accepted only according to the working files, beyond the record
	Given    map[string]string        // turn -> the super run that dispatched it, as the repository noted or recorded
	Lacks    map[string]bool          // turns that were given out, of which the clone here has no trace
	Rows     map[string]*ojson.Object // turn -> its last row of history
	reissued map[string]string        // turn -> the turn that replaced it
}

// NewChild returns a child; history and events are the rows of its
// history.jsonl and events.jsonl.
func NewChild(id, path string, cfg *config.Config, state *run.State, history, events []*ojson.Object) *Child {
	c := &Child{
		ID:       id,
		Path:     path,
		Config:   cfg,
		State:    state,
		Rows:     make(map[string]*ojson.Object),
		reissued: make(map[string]string),
	}
	for _, row := range history {
		if turn := row.String("turn_id"); turn != "" {
			c.Rows[turn] = row
		}
	}
	for _, row := range events {
		if row.String("event_type") == "turn_reissued" {
			c.link(row.Object("payload").String("old_turn_id"), row.Object("turn").String("turn_id"))
		}
	}
	c.LinkActive()
	return c
}

// LinkActive links turns to the active turns that replaced them.
func (c *Child) LinkActive() {
	if c.State == nil {
		return
	}
	for id, turn := range c.State.ActiveTurns.All() {
		if turn != nil {
			c.link(turn.ReissuedFrom, id)
		}
	}
}

// NoteGiven notes which super run gave out a turn.
func (c *Child) NoteGiven(turn, superRun string) {
	if c.Given == nil {
		c.Given = make(map[string]string)
	}
	c.Given[turn] = superRun
}

// Origin returns the turn from which reissues led, step by step, to turn.
func (c *Child) Origin(turn string) string {
	for range len(c.reissued) {
		old, ok := "", false
		for from, to := range c.reissued {
			if to == turn {
				old, ok = from, true
			}
		}
		if !ok {
			return turn
		}
		turn = old
	}
	return turn
}

func (c *Child) link(old, turn string) {
	if old != "" && turn != "" && old != turn {
		c.reissued[old] = turn
	}
}

// Follow returns the turn that continues the work of turn: itself, unless it was reissued (docs/siblings.md).
func (c *Child) Follow(turn string) string {
	for range len(c.reissued) + 1 {
		next, ok := c.reissued[turn]
		if !ok {
			return turn
		}
		turn = next
	}
	return turn // the links form a cycle
}

// Accepted returns the history row of a turn when it was accepted, else nil.
func (c *Child) Accepted(turn string) *ojson.Object {
	row := c.Rows[turn]
	if row == nil || !run.SaysAccepted(row) {
		return nil
	}
	return row
}

// Rejected reports whether the last thing history knows of a turn is its rejection.
func (c *Child) Rejected(turn string) bool {
	row := c.Rows[turn]
	return row != nil && row.String("status") == "rejected"
}

// Proven reports whether more than working files says that a turn was accepted.
func (c *Child) Proven(turn string) bool { return !c.Unproven && !c.Loose[turn] }

// Active reports whether a turn is being worked on.
func (c *Child) Active(turn string) bool { return c.State != nil && c.State.ActiveTurns.Has(turn) }

// Run returns the id of the child's run, "" when it has none.
func (c *Child) Run() string {
	if c.State == nil {
		return ""
	}
	return c.State.Run()
}

// phase returns the phase of the next turn: a child without a run, or with one that is over, starts a new run in
// its first phase.
func (c *Child) phase() string {
	if c.State.Status == wire.StatusIdle || c.State.Status == wire.StatusCompleted {
		if phases := c.Config.Phases(); len(phases) > 0 {
			return phases[0]
		}
	}
	return c.State.Phase
}

// Waits reports whether a gate of the child's own waits for a person.
func (c *Child) Waits() bool {
	return run.HasPending(c.State)
}

// Children are the repositories of an initiative by id. An absent one could not be read at all.
type Children map[string]*Child

// State returns the state of a child; nil when it has none that can be read.
func (cs Children) State(repo string) *run.State {
	if c := cs[repo]; c != nil {
		return c.State
	}
	return nil
}

// noState says that a repository has no State, and why.
func (c *Child) noState() string {
	text := "Repository " + c.ID + " has no governed state that can be read"
	if c.Unread != "" {
		text += ": " + strings.TrimSuffix(c.Unread, ".")
	}
	return text + "."
}

// CheckPhases compares a child's phases with those of the initiative, which it
// must follow one by one (docs/coordinator.md#the-configuration); nil when they agree.
func CheckPhases(cfg *Config, c *Child) *wire.Problem {
	if c.Config == nil || slices.Equal(c.Config.Phases(), cfg.Phases()) {
		return nil
	}
	return &wire.Problem{
		Code:  "repo_phase_alignment_invalid",
		Field: "repos." + c.ID,
		Value: c.ID,
		Message: "repository " + c.ID + " goes through the phases " + OrNone(c.Config.Phases()) +
			", the initiative through " + OrNone(cfg.Phases()),
	}
}
