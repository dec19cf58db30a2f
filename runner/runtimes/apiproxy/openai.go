// OpenAI's Chat Completions API, which Ollama also offers, as far as a turn needs it.

package apiproxy

import (
	"context"

	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/internal/webpost"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes"
)

type openaiRequest struct {
	Model               string         `json:"model"`
	Messages            []message      `json:"messages"`
	MaxTokens           int            `json:"max_tokens,omitempty"`            // Ollama
	MaxCompletionTokens int            `json:"max_completion_tokens,omitempty"` // OpenAI
	ResponseFormat      responseFormat `json:"response_format"`
}

type responseFormat struct {
	Type string `json:"type"`
}

type openaiAnswer struct {
	Choices []struct {
		Message struct {
			Content string `json:"content"`
			Refusal string `json:"refusal"`
		} `json:"message"`
		FinishReason string `json:"finish_reason"`
	} `json:"choices"`
	Usage struct {
		Prompt     count `json:"prompt_tokens"`
		Completion count `json:"completion_tokens"`
	} `json:"usage"`
}

func (x *exchange) openai(ctx context.Context, p prompt) *answer {
	request := openaiRequest{
		Model:          x.c.model,
		Messages:       []message{{Role: "developer", Content: p.system}, {Role: "user", Content: p.user}},
		ResponseFormat: responseFormat{Type: "json_object"},
	}
	if x.c.provider == ollamaName {
		request.MaxTokens = x.c.maxOutput
	} else {
		request.MaxCompletionTokens = x.c.maxOutput
	}
	headers := []webpost.Header{{Name: "Accept", Value: "application/json"}}
	if x.key != "" {
		headers = append(headers, webpost.Header{Name: "Authorization", Value: "Bearer " + x.key})
	}
	a := x.post(ctx, request, headers...)
	var m openaiAnswer
	if !a.read(&m) {
		return a
	}
	a.usage = usage{input: int64(m.Usage.Prompt), output: int64(m.Usage.Completion)}
	if len(m.Choices) == 0 {
		return a
	}
	first := m.Choices[0]
	a.text = first.Message.Content
	switch {
	case first.Message.Refusal != "":
		a.stopped = "refusal: " + text.CutRunes(runtimes.OneLine(first.Message.Refusal), maxDetail)
	case first.FinishReason != "" && first.FinishReason != "stop":
		a.stopped = "finish_reason " + runtimes.OneLine(first.FinishReason)
	}
	return a
}
