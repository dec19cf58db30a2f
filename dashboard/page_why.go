// Why something had its outcome: the chains of verdicts that explain prints, as trees
// (docs/spec/verdicts.md).

package dashboard

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	chains "github.com/git-agentxchain/git-agentxchain/protocol/verdict"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
	"github.com/git-agentxchain/git-agentxchain/runner/gate"
	"github.com/git-agentxchain/git-agentxchain/runner/lookback"
)

const (
	maxChains = 10  // decisions on one page, the newest
	maxSteps  = 400 // rules of one decision
)

// gatePage shows one gate: what it requires, and which rules last judged it.
func gatePage(v *view) error {
	id := v.r.PathValue("id")
	v.Title = "Gate " + plain(id)
	si := v.s.Sight
	if si == nil {
		return errMissing{"There is no run, and so no gate."}
	}
	i := slices.IndexFunc(si.Gates, func(g gate.Standing) bool { return g.ID == id })
	if i < 0 {
		return errMissing{"There is no gate of this name in the configuration."}
	}
	phase := gatePhases(si.View.Config)[id]
	list := v.checklist(si.Gates[i], phase)
	list.ID, list.Title, list.Folded = "asks", "What it asks for", false
	if si.Gates[i].Status == wire.GatePassed && len(si.Gates[i].Result.Findings) > 0 {
		list.Note = "The gate was passed. What is open here came later: these are the files as they are now."
	}
	v.Blocks = append(v.Blocks, block{ID: "gate", Title: "Gate", Facts: []fact{
		{"Out of phase", text(phase)},
		{"Status", standing(si.Gates[i].Status)},
	}}, list)
	why, err := v.why(id)
	if err != nil {
		return err
	}
	if why.Empty == "" && len(why.Parts) == 0 {
		why.Empty = "No recorded operation has judged it yet."
	}
	v.Blocks = append(v.Blocks, why)
	return nil
}

func gateLink(id string) cell { return link(id, "/gates/"+url.PathEscape(id)) }

// why returns the chains of verdicts about a turn, a gate or an operation, the newest first. An
// artifact has none. For an invalid record it returns the problem in their place, so that the rest
// of the page stays readable.
func (v *view) why(of string) (block, error) {
	b := block{ID: "why", Title: "Which rules led to it"}
	e, err := v.srv.explained(v.r, v.s, of)
	switch {
	case errors.Is(err, errNoRecord):
		b.Empty = "An artifact has no record of operations from which it could be decided again."
		return b, nil
	case err != nil:
		if c := protocolError(err); c != nil && c.code == "not_found" {
			return b, nil
		}
		if errors.Is(err, errBusy) {
			return b, err
		}
		b.Parts = []block{errorBlock(err)}
		return b, nil
	}
	list := slices.Clone(e.Chains)
	slices.Reverse(list)
	for i, c := range list {
		if i == maxChains {
			b.Note = fmt.Sprintf("The newest %d of %d decisions.", i, len(list))
			break
		}
		b.Parts = append(b.Parts, v.chain(c, i > 0))
	}
	return b, nil
}

// explained decides again what led to a turn, a gate, an operation or a refusal.
func (s *Server) explained(r *http.Request, at *snapshot, of string) (*lookback.Explanation, error) {
	ctx, cancel := context.WithTimeout(r.Context(), 10*time.Second)
	defer cancel()
	release, ok := s.slot(ctx)
	if !ok {
		return nil, errBusy
	}
	defer release()
	ops := slices.Clone(at.Ops)
	slices.Reverse(ops)
	return s.model.src.explain(ctx, ops, of)
}

// explain answers GET /api/explain: what explain --json says about a turn, a gate, an operation or the code of a
// refusal.
func (a *ask) explain() {
	e, err := a.srv.explained(a.r, a.s, a.q.Get("of"))
	c := protocolError(err)
	switch {
	case err == nil:
		writeJSON(a.w, http.StatusOK, e.Object())
	case errors.Is(err, errNoRecord), c != nil && (c.code == "not_found" || c.code == "no_run"):
		apiError(a.w, http.StatusNotFound, "not_found", "No recorded decision is about that.")
	case errors.Is(err, errBusy):
		apiError(a.w, http.StatusServiceUnavailable, "busy", err.Error())
	default:
		apiError(a.w, http.StatusInternalServerError, runner.ErrorCode(err), err.Error())
	}
}

// chain shows one decision as a tree of rules.
func (v *view) chain(c *chains.Chain, folded bool) block {
	b := block{
		ID:     "why-" + short(c.Op),
		Title:  words(c.Kind) + ": " + c.Outcome,
		Note:   plain(c.Message),
		Folded: folded,
	}
	b.Lead = []cell{verdictCell(c.Outcome), opLink(c.Op), v.moment(instant(c.At)), text(c.Actor)}
	left := maxSteps
	b.Tree = steps(c.Steps, &left)
	if left < 0 {
		b.Note = strings.TrimSpace(b.Note + fmt.Sprintf(" The first %d rules.", maxSteps))
	}
	return b
}

// steps shows rules, each with what it said, where it is written and what it looked at.
func steps(list []*chains.Step, left *int) (out []item) {
	for _, s := range list {
		if *left--; *left < 0 {
			break
		}
		cells := []cell{verdictCell(s.Verdict), code(strings.TrimSpace(s.Rule + " " + s.Subject))}
		if len(s.Steps) == 0 && s.Why != "" {
			cells = append(cells, text(s.Why))
		}
		if s.Config != "" {
			where := "agentxchain.json"
			if s.Line > 0 {
				where += fmt.Sprintf(":%d", s.Line)
			}
			cells = append(cells, code(where+" "+s.Config))
		}
		cells = append(cells, text(s.Spec))
		for _, e := range s.Evidence {
			digest := "not there"
			if e.SHA256 != "" {
				digest = "sha256:" + e.SHA256
			}
			cells = append(cells, code(e.Path+" "+digest))
		}
		out = append(out, item{Cells: cells, Parts: steps(s.Steps, left)})
	}
	return out
}

// verdictCell returns a verdict or an outcome with its tone.
func verdictCell(said string) cell {
	t := neutral
	switch said {
	case chains.Pass, chains.Granted:
		t = good
	case chains.Warn, chains.Wait, chains.Unknown:
		t = warn
	case chains.Fail, chains.Refused:
		t = bad
	}
	return toned(said, t)
}
