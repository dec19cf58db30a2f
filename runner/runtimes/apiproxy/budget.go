// The token budget: what is sent when the context does not fit (docs/runtimes.md#api_proxy).

package apiproxy

import (
	"fmt"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes"
)

// maxSummary is the length to which the last turn's summary is cut, in characters.
const maxSummary = 240

// budget says how a request was made to fit.
type budget struct {
	context   string // as sent
	sent      bool
	truncated bool
	available int // tokens for the input
	system    int
	prompt    int
	separator int
	original  int // tokens of the whole context
	final     int
	sections  []*section
}

func (b *budget) immutable() int { return b.system + b.prompt + b.separator }

// fit decides what of the context is sent: all of it when it fits, else it leaves out the least
// important parts, in a fixed order. Nothing outside of that order is ever left out; a request that
// still does not fit is not sent.
func (c *settings) fit(system, prompt, context string) *budget {
	b := &budget{
		context:   context,
		available: c.window - c.maxOutput - c.margin,
		system:    tokens(system),
		prompt:    tokens(prompt),
		original:  tokens(context),
	}
	if strings.TrimSpace(context) != "" {
		b.separator = tokens(separator)
	}
	b.final = b.original
	b.sections = sections(context)
	for _, s := range b.sections {
		s.original = tokens(s.text)
		s.final = s.original
	}
	switch {
	case b.immutable() > b.available:
	case strings.TrimSpace(context) == "", b.immutable()+b.original <= b.available:
		b.sent = true
	default:
		b.compress()
	}
	return b
}

// steps lists the parts in the order in which they are left out.
func steps() []string {
	return []string{"budget", "phase_gate_status", "decision_history", "workflow_artifacts", "last_turn_verification",
		"gate_required_files",
		"last_turn_objections", "last_turn_decisions", "truncate:last_turn_summary", "last_turn_summary"}
}

// compress takes steps until the request fits.
func (b *budget) compress() {
	for _, step := range steps() {
		id, cutting := strings.CutPrefix(step, "truncate:")
		applied := false
		for _, s := range b.sections {
			if s.id == id && s.action != dropped {
				applied = s.apply(cutting) || applied
			}
		}
		if !applied {
			continue
		}
		b.truncated = true
		b.render()
		if b.immutable()+b.final <= b.available {
			b.sent = true
			return
		}
	}
}

// apply leaves out or cuts a section; it reports whether that changed anything.
func (s *section) apply(cutting bool) bool {
	if !cutting {
		s.text, s.action, s.final = "", dropped, 0
		return true
	}
	body, end := strings.TrimRight(s.text, "\r\n"), ""
	end = s.text[len(body):]
	label, value, ok := strings.Cut(body, ":")
	if !ok {
		label, value = "", body
	} else {
		label += ":"
	}
	if rest, ok := strings.CutPrefix(value, "** "); ok {
		label, value = label+"** ", rest
	}
	short := text.CutRunes(value, maxSummary)
	if short == value {
		return false
	}
	s.text, s.action = label+short+end, truncated
	s.final = tokens(s.text)
	return true
}

func (b *budget) render() {
	var out strings.Builder
	for _, s := range b.sections {
		out.WriteString(s.text)
	}
	b.context = out.String()
	b.final = tokens(b.context)
}

// report returns the content of TOKEN_BUDGET.json (docs/runtimes.md#api_proxy).
func (b *budget) report(req *runtimes.Request, c *settings) *ojson.Object {
	rows := []*ojson.Object{}
	seen := make(map[string]*ojson.Object)
	for _, s := range b.sections {
		row := seen[s.id]
		if row == nil {
			row = ojson.NewObject("id", s.id, "required", s.required, "original_tokens", 0, "final_tokens", 0,
				"action", s.action)
			seen[s.id] = row
			rows = append(rows, row)
		}
		was, _ := row.Int("original_tokens")
		now, _ := row.Int("final_tokens")
		row.Set("original_tokens", was+s.original)
		row.Set("final_tokens", now+s.final)
	}
	return ojson.NewObject("provider", c.provider, "model", c.model, "runtime_id", c.id, "run_id", req.RunID,
		"turn_id", req.TurnID,
		"tokenizer", "provider_local", "context_window_tokens", c.window, "reserved_output_tokens", c.maxOutput,
		"safety_margin_tokens", c.margin,
		"available_input_tokens", b.available, "system_prompt_tokens", b.system, "prompt_tokens", b.prompt,
		"separator_tokens", b.separator,
		"original_context_tokens", b.original, "final_context_tokens", b.final,
		"estimated_input_tokens", b.immutable()+b.final,
		"truncated", b.truncated, "sent_to_provider", b.sent,
		"effective_context_path", req.BundleDir+"/CONTEXT.effective.md", "sections", rows)
}

// overflow returns the failure of a request that was too large to send.
func (c *settings) overflow(b *budget) *Failure {
	f := &Failure{}
	return f.be(ClassOverflow, false, fmt.Sprintf(
		"The prompt and what must be kept of the context are about %d tokens; %s has room for %d. Nothing was sent.",
		b.immutable()+b.final, c.model, b.available),
		"Shorten the role's prompt or the charter, or use a model with a larger context window"+thenUnblock)
}
