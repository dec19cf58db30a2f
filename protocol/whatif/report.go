// A whole run under another configuration.

package whatif

import (
	"slices"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/verdict"
)

// Report is what another configuration would have changed in a run.
type Report struct {
	Run         string       `json:"run_id"`
	Operations  int          `json:"operations"`
	Judged      int          `json:"judged"`
	NotJudged   []Skipped    `json:"not_judged"`
	Differences []Difference `json:"differences"` // in order of the operations
	Unknown     int          `json:"unknown"`     // differences whose verdict lacks recorded evidence
	Refused     int          `json:"refused"`     // operations with accepted work that would have been refused
	NeverAsked  []string     `json:"hooks_never_asked"`
}

// Skipped are operations that were not judged, with the reason.
type Skipped struct {
	Why        string `json:"why"`
	Operations int    `json:"operations"`
}

// NewReport summarises the operations of a run, in their order; nil entries had the same configuration and so
// cannot differ.
func NewReport(run string, ops []*Compared) *Report {
	r := &Report{
		Run:         run,
		Operations:  len(ops),
		NotJudged:   []Skipped{},
		Differences: []Difference{},
		NeverAsked:  []string{},
	}
	accepted := make(map[string]bool)
	for _, c := range ops {
		if c != nil && c.Before != nil && c.Before.Kind == protocol.OpAccept && c.Before.Outcome == verdict.Granted {
			accepted[c.Before.Turn] = true
		}
	}
	for _, c := range ops {
		switch {
		case c == nil:
			r.Judged++
			continue
		case c.NotJudged != "":
			r.skip(c.NotJudged)
			continue
		}
		r.Judged++
		refused := false
		for _, d := range c.Differences {
			if d.Outcome && d.Kind == "assign_turn" && d.After == verdict.Refused && accepted[d.Turn] {
				d.Refuses = true // the accepted work would never have started
			}
			if d.After == verdict.Unknown {
				r.Unknown++
			}
			refused = refused || d.Refuses
			r.Differences = append(r.Differences, d)
		}
		if refused {
			r.Refused++
		}
	}
	return r
}

func (r *Report) skip(why string) {
	i := slices.IndexFunc(r.NotJudged, func(s Skipped) bool { return s.Why == why })
	if i < 0 {
		r.NotJudged = append(r.NotJudged, Skipped{Why: why})
		i = len(r.NotJudged) - 1
	}
	r.NotJudged[i].Operations++
}

// Hooks notes the hooks of the other configuration that were never asked.
func (r *Report) Hooks(was, now *config.Config) {
	for _, name := range addedHooks(was, now) {
		if !slices.Contains(r.NeverAsked, name) {
			r.NeverAsked = append(r.NeverAsked, name)
		}
	}
	slices.Sort(r.NeverAsked)
}

// LineOf returns the line of a member, or of its nearest existing ancestor; 0 for none.
func LineOf(lines map[string]int, pointer string) int {
	for p := pointer; p != ""; {
		if n := lines[p]; n > 0 {
			return n
		}
		i := len(p) - 1
		for i > 0 && p[i] != '/' {
			i--
		}
		p = p[:i]
	}
	return 0
}

// Locate fills in the line numbers of a chain's steps.
func Locate(c *verdict.Chain, document []byte) {
	lines := ojson.Lines(document)
	for l := range c.All() {
		l.Line = LineOf(lines, l.Config)
	}
}

// Object returns the report as --json shows it.
func (r *Report) Object() *ojson.Object { return ojson.Marshal(r) }
