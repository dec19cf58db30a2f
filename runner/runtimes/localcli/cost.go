// The cost of a turn, from the agent's own report (docs/runtimes.md#local_cli).

package localcli

import (
	"bytes"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// meters read the usage from a record of each agent's output; they add to the tally or replace it.
var meters = map[string]func(*tally, *ojson.Object){
	"claude":   (*tally).result,
	"qwen":     (*tally).result,
	"gemini":   (*tally).stats,
	"codex":    (*tally).turnCompleted,
	"opencode": (*tally).stepFinished,
}

// tally is what an agent has used so far.
type tally struct {
	usage *ojson.Object // the keys are those of a turn result's cost
	usd   *float64      // nil when the agent does not report it
	model string
}

// reported reads the cost from the agent's JSON output; nil and nil when it has none or its format
// is not known. The keys of usage are those of a turn result's cost.
func reported(agent string, stdout []byte) (*float64, *ojson.Object) {
	meter := meters[agent]
	if meter == nil {
		return nil, nil
	}
	t := &tally{usage: ojson.NewObject()}
	for line := range bytes.Lines(stdout) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 || line[0] != '{' {
			continue
		}
		doc, err := ojson.DecodeObject(line)
		if err != nil {
			continue
		}
		if m := doc.String("model"); m != "" {
			t.model = m
		} else if m := doc.Object("message").String("model"); m != "" {
			t.model = m
		}
		meter(t, doc)
	}
	if t.usd != nil {
		t.usage.Set("usd", *t.usd)
	}
	if t.usage.Len() == 0 {
		return nil, nil
	}
	t.usage.Set("source", "stream_json")
	if t.model != "" {
		t.usage.Set("model", t.model)
	}
	return t.usd, t.usage
}

// result reads the last record of Claude Code and Qwen Code: the whole session.
func (t *tally) result(doc *ojson.Object) {
	if doc.String("type") != "result" {
		return
	}
	t.usage, t.usd = ojson.NewObject(), nil
	t.count(doc.Object("usage"), "input_tokens", "output_tokens", "cache_creation_input_tokens",
		"cache_read_input_tokens")
	for _, key := range []string{"total_cost_usd", "cost_usd"} {
		if usd, ok := doc.Float(key); ok && plausible(usd) {
			t.usd = &usd
			return
		}
	}
}

// stats reads the last record of Gemini CLI.
func (t *tally) stats(doc *ojson.Object) {
	if doc.String("type") == "result" {
		t.usage = ojson.NewObject()
		t.count(doc.Object("stats"), "input_tokens", "output_tokens")
	}
}

// turnCompleted reads a record of Codex; there is one for each of its own turns.
func (t *tally) turnCompleted(doc *ojson.Object) {
	if doc.String("type") == "turn.completed" {
		t.count(doc.Object("usage"), "input_tokens", "output_tokens")
	}
}

// stepFinished reads a record of opencode; there is one for each request. It reports a cost of 0
// for a model whose price it does not know.
func (t *tally) stepFinished(doc *ojson.Object) {
	if doc.String("type") != "step_finish" {
		return
	}
	part := doc.Object("part")
	tokens := part.Object("tokens")
	t.add("input_tokens", tokens, "input")
	t.add("output_tokens", tokens, "output")
	if usd, ok := part.Float("cost"); ok && usd > 0 && plausible(usd) {
		if t.usd != nil {
			usd += *t.usd
		}
		t.usd = &usd
	}
}

func (t *tally) count(from *ojson.Object, keys ...string) {
	for _, key := range keys {
		t.add(key, from, key)
	}
}

// maxTokens is more than any turn uses; a larger number is not a count.
const maxTokens = 1 << 40

func (t *tally) add(key string, from *ojson.Object, name string) {
	n, ok := from.Int(name)
	if !ok || n < 0 || n > maxTokens {
		return
	}
	have, _ := t.usage.Int(key)
	t.usage.Set(key, have+n)
}

func plausible(usd float64) bool { return usd >= 0 && usd < 1e6 }
