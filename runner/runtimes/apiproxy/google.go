// Google's generateContent API, as far as a turn needs it.

package apiproxy

import (
	"context"

	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/internal/webpost"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes"
)

type googleRequest struct {
	System   googleContent   `json:"systemInstruction"`
	Contents []googleContent `json:"contents"`
	Config   googleConfig    `json:"generationConfig"`
}

type googleContent struct {
	Role  string       `json:"role,omitempty"`
	Parts []googlePart `json:"parts"`
}

// googlePart is a text, or something else, which leaves Text nil.
type googlePart struct {
	Text    *string `json:"text"`
	Thought bool    `json:"thought,omitempty"`
}

type googleConfig struct {
	MaxOutputTokens  int    `json:"maxOutputTokens"`
	ResponseMIMEType string `json:"responseMimeType"`
}

type googleAnswer struct {
	Candidates []struct {
		Content      googleContent `json:"content"`
		FinishReason string        `json:"finishReason"`
	} `json:"candidates"`
	PromptFeedback struct {
		BlockReason string `json:"blockReason"`
	} `json:"promptFeedback"`
	Usage struct {
		Prompt     count `json:"promptTokenCount"`
		Candidates count `json:"candidatesTokenCount"`
		Thoughts   count `json:"thoughtsTokenCount"`
	} `json:"usageMetadata"`
}

// google sends the key as a header; in an address it would end up in logs.
func (x *exchange) google(ctx context.Context, p prompt) *answer {
	a := x.post(ctx, googleRequest{
		System:   googleContent{Parts: []googlePart{{Text: &p.system}}},
		Contents: []googleContent{{Role: "user", Parts: []googlePart{{Text: &p.user}}}},
		Config: googleConfig{
			MaxOutputTokens:  x.c.maxOutput,
			ResponseMIMEType: "application/json",
		},
	}, webpost.Header{Name: "x-goog-api-key", Value: x.key})
	var m googleAnswer
	if !a.read(&m) {
		return a
	}
	a.usage = usage{
		input:  tokenCount(int64(m.Usage.Prompt)),
		output: tokenCount(int64(m.Usage.Candidates)) + tokenCount(int64(m.Usage.Thoughts)),
	}
	if why := m.PromptFeedback.BlockReason; why != "" {
		a.stopped = "blockReason " + text.CutRunes(runtimes.OneLine(why), maxReason)
	}
	if len(m.Candidates) == 0 {
		return a
	}
	first := m.Candidates[0]
	for _, part := range first.Content.Parts {
		if part.Text != nil && !part.Thought {
			a.text = *part.Text
			break
		}
	}
	if first.FinishReason != "" && first.FinishReason != "STOP" {
		a.stopped = "finishReason " + text.CutRunes(runtimes.OneLine(first.FinishReason), maxReason)
	}
	return a
}
