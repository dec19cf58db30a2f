// What is sent when the context does not fit.

package apiproxy

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes"
)

func filler(word string, n int) string { return strings.Repeat(word+" ", n) }

// fullContext returns a context with every section that the dispatcher writes, and two that it does
// not.
func fullContext() string {
	return `# Execution Context

## Current State

- **Run:** run_1
- **Budget spent:** $1.00
- **Budget remaining:** $9.00

## Project Goal

Ship it.

## Intake Intent

**Charter:** CHARTER-TEXT

## Delegation Context

DELEGATION-TEXT

## Delegation Review

REVIEW-TEXT

## Runtime Capability Contract

- CONTRACT-TEXT

## Active Repo Decisions

- DEC-1 REPO-DECISION-TEXT

## Last Accepted Turn

- **Turn:** ` + "`turn_0`" + `
- **Summary:** ` + filler("summary", 200) + `
- **Decisions:**
  - DEC-001: ` + filler("decision", 50) + `
- **Objections:**
  - OBJ-001 (high): ` + filler("objection", 50) + `

### Open Objections

- OPEN-OBJECTION-TEXT

### Files Changed

- a.go

### Verification

- ` + filler("verified", 50) + `

## Decision History

` + "```\n## Not A Heading\n```\n" + filler("history", 100) + `

## Blockers

- BLOCKER-TEXT

## Workflow Artifacts

` + filler("workflow", 100) + `

## Gate Required Files

` + filler("gatefile", 100) + `

## Phase Gate Status

- ` + filler("gatestatus", 50) + `

## Section Of A Later Version

LATER-TEXT
`
}

func TestSectionsAreTheText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOf(rapid.SampledFrom(
			[]string{"## Current State", "- **Budget spent:** $1", "## Last Accepted Turn", "- **Summary:** x",
				"  - more", "### Verification", "```", "~~~~", "# x", "## Été", "", "text\r", "### Files Changed",
				"- Decisions: y"})).Draw(t, "lines")
		text := strings.Join(lines, "\n")
		var b strings.Builder
		for _, s := range sections(text) {
			b.WriteString(s.text)
		}
		if b.String() != text {
			t.Fatalf("%q became %q", text, b.String())
		}
	})
}

// A section of many lines takes time in proportion to its size, not its square.
func TestSectionsOfManyLines(t *testing.T) {
	text := "## Last Accepted Turn\n" + strings.Repeat("\n", 1<<16)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got := sections(text)
	runtime.ReadMemStats(&after)
	if len(got) != 1 || got[0].text != text {
		t.Fatalf("%d sections, expected the text as one", len(got))
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 16*uint64(len(text)) {
		t.Errorf("%d bytes of text took %d bytes of memory", len(text), used)
	}
}

func TestCompressionNeverLosesWhatMatters(t *testing.T) {
	text := fullContext()
	whole := tokens(text)
	before := whole + 1
	for window := whole; window >= 0; window -= 20 {
		c := &settings{window: window + tokens("s") + tokens("p") + tokens(separator)}
		b := c.fit("s", "p", text)
		if !b.sent {
			break
		}
		for _, must := range []string{"CHARTER-TEXT", "DELEGATION-TEXT", "REVIEW-TEXT", "CONTRACT-TEXT",
			"REPO-DECISION-TEXT", "OPEN-OBJECTION-TEXT", "BLOCKER-TEXT", "LATER-TEXT", "Ship it.", "run_1"} {
			if !strings.Contains(b.context, must) {
				t.Fatalf("window %d: %s is lost", window, must)
			}
		}
		if b.truncated != (b.context != text) || b.final > before || b.immutable()+b.final > b.available {
			t.Fatalf("window %d: truncated %v, %d tokens after %d, %d available", window, b.truncated, b.final, before,
				b.available)
		}
		before = b.final
	}
	if before > whole/2 {
		t.Errorf("compression only gets from %d to %d tokens", whole, before)
	}
}

func TestCompressionOrder(t *testing.T) {
	text := fullContext()
	first := make(map[string]int) // the largest window at which a step is taken
	for window := tokens(text) - 1; window > 0; window -= 3 {
		c := &settings{window: window + tokens("s") + tokens("p") + tokens(separator)}
		for _, s := range c.fit("s", "p", text).sections {
			if mark := s.id + " " + s.action; s.action != kept && first[mark] == 0 {
				first[mark] = window
			}
		}
	}
	before := tokens(text)
	for _, mark := range []string{"budget dropped", "phase_gate_status dropped", "decision_history dropped",
		"workflow_artifacts dropped", "last_turn_verification dropped",
		"gate_required_files dropped", "last_turn_objections dropped", "last_turn_decisions dropped",
		"last_turn_summary truncated", "last_turn_summary dropped"} {
		at := first[mark]
		if at == 0 || at > before {
			t.Errorf("%s at a window of %d, the step before it at %d", mark, at, before)
		}
		before = at
		delete(first, mark)
	}
	if len(first) > 0 {
		t.Errorf("other steps: %v", first)
	}
}

func TestPreflight(t *testing.T) {
	p := providers()[0]
	dispatch := func(window int) (*bench, *runtimes.Outcome) {
		b := newBench(t, p, says(p, goodResult), "max_output_tokens", 100, "context_window_tokens", window,
			"preflight_tokenization", ojson.NewObject("enabled", true, "safety_margin_tokens", 10))
		b.req.Context = []byte(fullContext())
		return b, b.dispatch(context.Background())
	}
	room := 110 + tokens(systemText) + tokens("# Prompt") + tokens(separator)
	whole := tokens(fullContext())

	b, out := dispatch(room + whole)
	if out.Kind != runtimes.Returned || b.bundled("CONTEXT.effective.md") != fullContext() {
		t.Errorf("it fits: %+v", out)
	}
	b, out = dispatch(room + whole - 100)
	doc, err := ojson.DecodeObject([]byte(b.bundled("TOKEN_BUDGET.json")))
	if err != nil || out.Kind != runtimes.Returned || !doc.Bool("truncated") || !doc.Bool("sent_to_provider") ||
		!strings.Contains(b.bundled("CONTEXT.effective.md"), "CHARTER-TEXT") ||
		strings.Contains(b.bundled("CONTEXT.effective.md"), "Budget spent") {
		t.Errorf("a little too much: %+v %s", out, b.bundled("TOKEN_BUDGET.json"))
	}
	if !strings.Contains(string(b.bodies[0]), "LATER-TEXT") || strings.Contains(string(b.bodies[0]), "Budget spent") {
		t.Error("what was sent is not what is written down")
	}
	if strings.Join(doc.Keys(),
		" ") != "provider model runtime_id run_id turn_id tokenizer context_window_tokens reserved_output_tokens safety_margin_tokens available_input_tokens system_prompt_tokens prompt_tokens separator_tokens original_context_tokens final_context_tokens estimated_input_tokens truncated sent_to_provider effective_context_path sections" {
		t.Errorf("keys %v", doc.Keys())
	}
	b, out = dispatch(room + 20)
	if out.Kind != runtimes.Blocked || out.Class != ClassOverflow || len(b.requests) != 0 ||
		b.bundled("TOKEN_BUDGET.json") == "" || b.bundled("CONTEXT.effective.md") == "" || out.CostUSD != nil {
		t.Errorf("far too much: %+v", out)
	}
	b, out = dispatch(115)
	if out.Class != ClassOverflow || b.bundled("CONTEXT.effective.md") != fullContext() {
		t.Errorf("the prompt alone is too much: %+v", out)
	}
}

func TestTokens(t *testing.T) {
	for text, atLeast := range map[string]int{
		"":                     0,
		"hello world":          2,
		"internationalization": 3,
		"12345678":             3,
		"{}[]();":              7,
		"日本語テキスト":              7,
		"a\n\nb":               3,
		"==========":           2,
		"🙂🙂":                   2,
	} {
		if n := tokens(text); n < atLeast || n > 3*atLeast+1 {
			t.Errorf("%q: %d tokens", text, n)
		}
	}
	if n := tokens(strings.Repeat("x", 4000)); n != 1000 {
		t.Errorf("a long word: %d", n)
	}
	prose := fmt.Sprint(filler("the quick brown fox jumps over the lazy dog.", 100))
	if n := tokens(prose); n < 1000 || n > 1700 { // about 10 tokens a sentence
		t.Errorf("prose: %d", n)
	}
}

func FuzzSections(f *testing.F) {
	f.Add(fullContext(), 500)
	f.Fuzz(func(t *testing.T, text string, window int) {
		c := &settings{window: window % 100000}
		b := c.fit("s", "p", text)
		if b.sent && b.immutable()+b.final > b.available {
			t.Fatal("it is sent and does not fit")
		}
		if !b.truncated && b.context != text {
			t.Fatal("changed and not said")
		}
	})
}
