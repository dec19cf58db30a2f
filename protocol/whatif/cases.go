// Cases: what a configuration is expected to decide, checked with the engine (docs/whatif.md#cases).

package whatif

import (
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/run"
	"github.com/git-agentxchain/git-agentxchain/protocol/verdict"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// Case is one expectation. It is written by hand, or recorded from a run.
type Case struct {
	Name     string        `json:"name"`
	Given    *Given        `json:"given,omitempty"`
	Result   *ojson.Object `json:"result,omitempty"` // members of the turn's result; the others get neutral values
	Recorded *Recorded     `json:"recorded,omitempty"`
	Expect   Expect        `json:"expect"`
	Extra    ojson.Extra   `json:"-"`
}

// Given is a run in a phase with one turn at work.
type Given struct {
	Phase        string              `json:"phase,omitempty"`    // default: the first
	Role         string              `json:"role,omitempty"`     // default: the entry role of the phase
	Participated ojson.Map[[]string] `json:"participated"`       // phase -> roles with an accepted turn
	Accepted     int                 `json:"accepted,omitempty"` // turns of the run
	InPhase      int                 `json:"accepted_in_phase,omitempty"`
	Streak       int                 `json:"streak,omitempty"` // consecutive last turns of the role among them
	SpentUSD     float64             `json:"spent_usd,omitempty"`
	Minutes      float64             `json:"minutes,omitempty"` // since the turn was assigned
	Files        ojson.Map[string]   `json:"files"`             // of the project, path -> text
	Changed      []string            `json:"changed,omitempty"` // by the turn; default: files_changed of the result
	Extra        ojson.Extra         `json:"-"`
}

// Recorded is a recorded operation with everything it was decided on.
type Recorded struct {
	Op        string               `json:"op"`
	Config    *ojson.Object        `json:"config"`
	State     *ojson.Object        `json:"state"`
	Index     *ojson.Object        `json:"index"`
	Decisions []*ojson.Object      `json:"repo_decisions,omitempty"`
	Operation *ojson.Object        `json:"operation"`
	Evidence  ojson.Map[*Evidence] `json:"evidence"` // SHA-256 -> bytes
}

// Evidence is text, or bytes that are not text.
type Evidence struct {
	Text   *string `json:"text,omitempty"`
	Base64 string  `json:"base64,omitempty"`
}

// Expect is the expected outcome; an omitted member may have any value.
type Expect struct {
	Outcome string            `json:"outcome,omitempty"` // accepted, refused
	Code    string            `json:"code,omitempty"`    // of the refusal
	Rule    string            `json:"rule,omitempty"`    // what refuses: a rule, or the policy it is about
	Gates   ojson.Map[string] `json:"gates"`             // gate -> open, waits, closed
	Phase   string            `json:"phase,omitempty"`   // afterwards
	Status  string            `json:"status,omitempty"`  // of the run afterwards
	Extra   ojson.Extra       `json:"-"`
}

// The expected outcomes of an operation and of a gate.
const (
	Accepted = "accepted"
	Refused  = "refused"
	Open     = "open"
	Waits    = "waits"
	Closed   = "closed"
)

// MaxCaseBytes bounds the file of a case.
const MaxCaseBytes = 16 << 20

// DecodeCase reads a case. The error says which member is wrong, and in which line.
func DecodeCase(data []byte) (*Case, error) {
	v, err := ojson.DecodeLimited(data, ojson.Limits{Bytes: MaxCaseBytes, Depth: 200})
	if err != nil {
		return nil, err
	}
	o, ok := v.(*ojson.Object)
	if !ok {
		return nil, fmt.Errorf("a case is an object, not %s", ojson.TypeName(v))
	}
	c := &Case{}
	at, err := c.decode(o)
	if err == nil {
		return c, nil
	}
	if line := LineOf(ojson.Lines(data), at); line > 0 {
		err = fmt.Errorf("line %d: %w", line, err)
	}
	return nil, err
}

// decode fills in the case. at is the JSON Pointer of the invalid member.
func (c *Case) decode(o *ojson.Object) (at string, err error) {
	if errs := ojson.Unmarshal(o, c); len(errs) > 0 {
		return strings.NewReplacer("~", "~0", "/", "~1", ".", "/", "[", "/", "]", "").Replace("." + errs[0].Path),
			errs[0]
	}
	unknown := func(in string, extra *ojson.Extra, known string) bool {
		if keys := extra.Keys(); len(keys) > 0 {
			name := strings.TrimPrefix(in+"."+keys[0], ".")
			at, err = "/"+strings.ReplaceAll(name, ".", "/"),
				fmt.Errorf("a case has no member %s; there are %s", name, known)
		}
		return err != nil
	}
	e := &c.Expect
	switch {
	case unknown("", &c.Extra, "name, given, result, recorded and expect"),
		unknown("expect", &e.Extra, "outcome, code, rule, gates, phase and status"),
		c.Given != nil && unknown("given", &c.Given.Extra, "phase, role, participated, accepted, accepted_in_phase, "+
			"streak, spent_usd, minutes, files and changed"):
		return at, err
	case c.Recorded == nil && c.Given == nil:
		return "", errors.New("a case needs given or recorded; given may be {}")
	case c.Recorded != nil && (c.Given != nil || c.Result != nil):
		return "/recorded", errors.New("a recorded case has no given and no result")
	case !slices.Contains([]string{"", Accepted, Refused}, e.Outcome):
		return "/expect/outcome", fmt.Errorf("expect.outcome is accepted or refused, not %s", wire.Quoted(e.Outcome))
	}
	for gate, want := range e.Gates.All() {
		if !slices.Contains([]string{Open, Waits, Closed}, want) {
			return "/expect/gates/" + gate,
				fmt.Errorf("expect.gates.%s is open, waits or closed, not %s", gate, wire.Quoted(want))
		}
	}
	if e.Outcome == "" && e.Code == "" && e.Rule == "" && e.Phase == "" && e.Status == "" && e.Gates.Len() == 0 {
		return "/expect",
			errors.New("expect is empty, so that the case could not fail; it may be outcome accepted or refused")
	}
	return "", nil
}

// Run decides the case under a configuration. problems lists what differs from the expectation; err says that the
// case cannot be decided at all.
func (c *Case) Run(cfg *config.Config) (chain *verdict.Chain, problems []string, err error) {
	if c.Recorded != nil {
		chain, err = c.Recorded.decide(cfg)
	} else {
		chain, err = c.decide(cfg)
	}
	if err != nil {
		return nil, nil, err
	}
	return chain, c.Expect.check(chain), nil
}

func (c *Case) decide(cfg *config.Config) (*verdict.Chain, error) {
	g := c.Given
	changed := g.Changed
	if changed == nil {
		changed = c.Result.Strings("files_changed")
	}
	// The turn's changes were not there when the run began: a gate asks whether its documents have changed since.
	before, files := make(map[string][]byte), make(map[string][]byte)
	for path, text := range g.Files.All() {
		if files[path] = []byte(text); !slices.Contains(changed, path) {
			before[path] = files[path]
		}
	}
	p, d := NewPlay(cfg, before)
	if f := d.Failure(); f != nil {
		return nil, fmt.Errorf("the run cannot begin: %s", f.Message)
	}
	phase := g.Phase
	if phase == "" {
		phase = cfg.FirstPhase()
	}
	if cfg.Routing.Len() > 0 && cfg.Route(phase) == nil {
		return nil, fmt.Errorf("given.phase: the configuration has no phase %s", wire.Quoted(phase))
	}
	s, x := p.State, p.Index
	s.Phase = phase
	x.Accepted, x.StreakRole, x.Streak = max(g.Accepted, g.InPhase), "", g.Streak
	if g.InPhase > 0 {
		x.PhaseAccepted.Set(phase, g.InPhase)
	}
	for of, roles := range g.Participated.All() {
		x.Participants.Set(of, roles)
		if !x.PhaseAccepted.Has(of) {
			x.PhaseAccepted.Set(of, len(roles))
		}
	}
	s.BudgetStatus.SpentUSD = g.SpentUSD
	if cfg.Budget != nil && cfg.Budget.PerRunMaxUSD != nil {
		s.BudgetStatus.RemainingUSD = new(*cfg.Budget.PerRunMaxUSD - g.SpentUSD)
	}
	d = p.Assign(g.Role)
	if d.Failure() != nil {
		return d.Chain, nil
	}
	turn := p.State.OnlyTurn()
	if g.Streak > 0 {
		p.Index.StreakRole = turn.AssignedRole
	}
	p.Now = p.Now.Add(time.Duration(g.Minutes * float64(time.Minute)))
	p.Write(files)
	return p.Accept(turn, p.Result(turn, c.Result), changed).Chain, nil
}

func (r *Recorded) decide(cfg *config.Config) (*verdict.Chain, error) {
	past, err := r.past()
	if err != nil {
		return nil, err
	}
	c := past.Under(cfg, true)
	if c.After == nil {
		return nil, fmt.Errorf("the recorded operation cannot be judged: %s", c.NotJudged)
	}
	return c.After, nil
}

func (r *Recorded) past() (*Past, error) {
	rec, err := protocol.DecodeRecord(ojson.Pretty(r.Operation), func(digest string) ([]byte, error) {
		e, ok := r.Evidence.Get(digest)
		switch {
		case !ok:
			return nil, fmt.Errorf("it is not in the case")
		case e.Text != nil:
			return []byte(*e.Text), nil
		}
		return base64.StdEncoding.DecodeString(e.Base64)
	})
	if err != nil {
		return nil, err
	}
	if rec.Op == nil {
		return nil, fmt.Errorf("the recorded operation is of another rule set and cannot be applied again")
	}
	was, _ := config.DecodeObject(r.Config)
	state, perr := run.DecodeState(ojson.Pretty(r.State))
	if perr != nil {
		return nil, perr
	}
	state, _ = run.RepairState(state, was)
	index, err := run.DecodeIndex(ojson.Pretty(r.Index))
	if err != nil {
		return nil, err
	}
	snap := &protocol.Snapshot{Config: was, State: state, Index: index}
	for _, row := range r.Decisions {
		snap.RepoDecisions = append(snap.RepoDecisions, run.Line{Raw: ojson.Compact(row), Row: row})
	}
	return &Past{Op: r.Op, Record: rec, Before: snap}, nil
}

// RecordCase makes a case of a recorded operation; it expects the recorded outcome.
func RecordCase(name string, p *Past) (*Case, error) {
	d := p.Explain()
	if d == nil {
		return nil, fmt.Errorf("the operation cannot be applied again")
	}
	doc, evidence := p.Record.Encode()
	operation, err := ojson.DecodeObject(doc)
	if err != nil {
		return nil, err
	}
	state, err := ojson.DecodeObject(p.Before.State.Encode())
	if err != nil {
		return nil, err
	}
	index, err := ojson.DecodeObject(p.Before.Index.Encode())
	if err != nil {
		return nil, err
	}
	r := &Recorded{Op: p.Op, Config: p.Before.Config.Raw, State: state, Index: index, Operation: operation}
	for _, l := range p.Before.RepoDecisions {
		r.Decisions = append(r.Decisions, l.Row)
	}
	for _, digest := range slices.Sorted(maps.Keys(evidence)) {
		e := &Evidence{}
		if data := evidence[digest]; utf8.Valid(data) {
			e.Text = new(string(data))
		} else {
			e.Base64 = base64.StdEncoding.EncodeToString(data)
		}
		r.Evidence.Set(digest, e)
	}
	c := &Case{Name: name, Recorded: r}
	c.Expect = Expect{Outcome: Accepted, Phase: d.Chain.Next, Status: d.Chain.Status}
	if f := d.Failure(); f != nil {
		c.Expect = Expect{Outcome: Refused, Code: f.Code}
		if s := d.Chain.Decisive(); s != nil {
			c.Expect.Rule = s.Rule
		}
	}
	for gate, says := range gatesOf(d.Chain) {
		c.Expect.Gates.Set(gate, says)
	}
	return c, nil
}

// Encode returns the case as a document.
func (c *Case) Encode() []byte { return ojson.Pretty(ojson.Marshal(c)) }

// gatesOf returns the outcomes of the gates that a chain has decided on: the last verdict counts.
func gatesOf(c *verdict.Chain) map[string]string {
	out := make(map[string]string)
	for l := range c.All() {
		switch l.Rule {
		case verdict.RuleGate:
			says := Open
			switch l.Verdict {
			case verdict.Fail, verdict.Unknown:
				says = Closed
			case verdict.Wait:
				says = Waits
			}
			if l.Subject != "" {
				out[l.Subject] = says
			}
		case verdict.RuleApproval:
			if l.Verdict == verdict.Pass {
				out[l.Subject] = Open
			}
		}
	}
	return out
}

func (e *Expect) check(c *verdict.Chain) []string {
	var out []string
	differs := func(what, want, got string) {
		if want != "" && want != got {
			out = append(out, fmt.Sprintf("%s is %s, expected %s", what, orNothing(got), want))
		}
	}
	outcome := Accepted
	switch outcomeOf(c) {
	case verdict.Refused:
		outcome = Refused
	case verdict.Unknown:
		outcome = verdict.Unknown
	}
	differs("the outcome", e.Outcome, outcome)
	if len(out) > 0 && c.Message != "" {
		out[0] += ": " + c.Message
	}
	differs("the code", e.Code, c.Code)
	if e.Rule != "" && !refusedBy(c, e.Rule) {
		var by []string
		for l := range c.All() {
			if l.Verdict == verdict.Fail {
				by = append(by, strings.TrimSpace(l.Rule+" "+l.Subject))
			}
		}
		out = append(out, fmt.Sprintf("it is not refused by %s (%s)", e.Rule, orNothing(strings.Join(by, ", "))))
	}
	gates := gatesOf(c)
	for gate, want := range e.Gates.All() {
		differs("gate "+gate, want, gates[gate])
	}
	differs("the phase", e.Phase, c.Next)
	differs("the status", e.Status, c.Status)
	return out
}

// refusedBy reports whether the named rule, or a rule about the named policy or gate, refuses.
func refusedBy(c *verdict.Chain, name string) bool {
	for l := range c.All() {
		if l.Verdict == verdict.Fail && (l.Rule == name || l.Subject == name) {
			return true
		}
	}
	return false
}

func orNothing(s string) string {
	if s == "" {
		return "nothing"
	}
	return s
}
