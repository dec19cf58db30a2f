// Anthropic's Messages API, as far as a turn needs it.

package apiproxy

import (
	"context"

	"github.com/git-agentxchain/git-agentxchain/internal/webpost"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes"
)

// anthropicRequest uses plain texts where the interface also takes lists of blocks: gateways handle texts best.
type anthropicRequest struct {
	Model     string    `json:"model"`
	MaxTokens int       `json:"max_tokens"`
	System    string    `json:"system"`
	Messages  []message `json:"messages"`
}

// message is one message of a conversation, as Anthropic and OpenAI write it.
type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

type anthropicAnswer struct {
	Content []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	} `json:"content"`
	StopReason string `json:"stop_reason"`
	Usage      struct {
		Input         count `json:"input_tokens"`
		CacheCreation count `json:"cache_creation_input_tokens"`
		CacheRead     count `json:"cache_read_input_tokens"`
		Output        count `json:"output_tokens"`
	} `json:"usage"`
}

func (x *exchange) anthropic(ctx context.Context, p prompt) *answer {
	a := x.post(ctx, anthropicRequest{
		Model:     x.c.model,
		MaxTokens: x.c.maxOutput,
		System:    p.system,
		Messages:  []message{{Role: "user", Content: p.user}},
	},
		webpost.Header{Name: "Accept", Value: "application/json"},
		webpost.Header{Name: "X-Api-Key", Value: x.key},
		webpost.Header{Name: "Anthropic-Version", Value: "2023-06-01"},
	)
	var m anthropicAnswer
	if !a.read(&m) {
		return a
	}
	a.usage = usage{
		input: tokenCount(int64(m.Usage.Input)) + tokenCount(int64(m.Usage.CacheCreation)) +
			tokenCount(int64(m.Usage.CacheRead)),
		output: int64(m.Usage.Output),
	}
	for _, b := range m.Content {
		if b.Type == "text" {
			a.text = b.Text
			break
		}
	}
	if m.StopReason != "" && m.StopReason != "end_turn" {
		a.stopped = "stop_reason " + runtimes.OneLine(m.StopReason)
	}
	return a
}
