// How each provider is asked and how its answer is read (spec/06 §14.3).

package apiproxy

import (
	"context"
	"errors"
	"net/url"

	"github.com/anthropics/anthropic-sdk-go"
	anthropicoption "github.com/anthropics/anthropic-sdk-go/option"
	"github.com/openai/openai-go/v3"
	openaioption "github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/shared"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/webpost"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes"
)

// origin is the endpoint without its path, for an SDK to put its own after; the
// exchange sends to the endpoint itself.
func (c *settings) origin() string {
	u, err := url.Parse(c.endpoint)
	if err != nil {
		return ""
	}
	return u.Scheme + "://" + u.Host + "/"
}

// anthropic asks over the Messages API. The services are made directly: the
// SDK's NewClient would read keys, addresses and profiles of the environment.
func (x *exchange) anthropic(ctx context.Context, p prompt) {
	s := anthropic.NewMessageService(anthropicoption.WithBaseURL(x.c.origin()), anthropicoption.WithHTTPClient(x), anthropicoption.WithMaxRetries(0),
		anthropicoption.WithAPIKey(x.key), anthropicoption.WithRequestTimeout(x.within), anthropicoption.WithHeader("anthropic-version", "2023-06-01"))
	x.guarded(func() error {
		m, err := s.New(ctx, anthropic.MessageNewParams{Model: anthropic.Model(x.c.model), MaxTokens: int64(x.c.maxOutput),
			Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock(p.user))}},
			// Plain texts, as the interface allows: gateways know them best.
			anthropicoption.WithJSONSet("system", p.system), anthropicoption.WithJSONSet("messages.0.content", p.user))
		if err != nil {
			return err
		}
		if m == nil {
			return errNoMessage
		}
		x.a.usage = usage{input: tokenCount(m.Usage.InputTokens) + tokenCount(m.Usage.CacheCreationInputTokens) + tokenCount(m.Usage.CacheReadInputTokens), output: m.Usage.OutputTokens}
		for _, b := range m.Content {
			if b.Type == "text" {
				x.a.text = b.Text
				break
			}
		}
		if m.StopReason != anthropic.StopReasonEndTurn && m.StopReason != "" {
			x.a.stopped = "stop_reason " + runtimes.OneLine(string(m.StopReason))
		}
		return nil
	})
}

var errNoMessage = errors.New("the answer is empty")

// openai asks over the Chat Completions API, which Ollama has too.
func (x *exchange) openai(ctx context.Context, p prompt) {
	opts := []openaioption.RequestOption{openaioption.WithBaseURL(x.c.origin()), openaioption.WithHTTPClient(x), openaioption.WithMaxRetries(0), openaioption.WithRequestTimeout(x.within)}
	if x.key != "" {
		opts = append(opts, openaioption.WithAPIKey(x.key))
	}
	params := openai.ChatCompletionNewParams{Model: shared.ChatModel(x.c.model),
		Messages:       []openai.ChatCompletionMessageParamUnion{openai.DeveloperMessage(p.system), openai.UserMessage(p.user)},
		ResponseFormat: openai.ChatCompletionNewParamsResponseFormatUnion{OfJSONObject: &shared.ResponseFormatJSONObjectParam{}}}
	if x.c.provider == ollamaName {
		params.MaxTokens = openai.Int(int64(x.c.maxOutput))
	} else {
		params.MaxCompletionTokens = openai.Int(int64(x.c.maxOutput))
	}
	s := openai.NewChatCompletionService(opts...)
	x.guarded(func() error {
		m, err := s.New(ctx, params)
		if err != nil {
			return err
		}
		if m == nil {
			return errNoMessage
		}
		x.a.usage = usage{input: m.Usage.PromptTokens, output: m.Usage.CompletionTokens}
		if len(m.Choices) == 0 {
			return nil
		}
		first := m.Choices[0]
		x.a.text = first.Message.Content
		switch {
		case first.Message.Refusal != "":
			x.a.stopped = "refusal: " + runtimes.Cut(runtimes.OneLine(first.Message.Refusal), maxDetail)
		case first.FinishReason != "stop" && first.FinishReason != "":
			x.a.stopped = "finish_reason " + runtimes.OneLine(string(first.FinishReason))
		}
		return nil
	})
}

// google asks over plain HTTP: Google's SDK brings gRPC and telemetry into every
// start of this program. The key is a header; as part of an address it would end
// up in logs on the way.
func (x *exchange) google(ctx context.Context, p prompt) {
	part := func(text string) []any { return []any{ojson.NewObject("text", text)} }
	body := ojson.NewObject(
		"systemInstruction", ojson.NewObject("parts", part(p.system)),
		"contents", []any{ojson.NewObject("role", "user", "parts", part(p.user))},
		"generationConfig", ojson.NewObject("maxOutputTokens", x.c.maxOutput, "responseMimeType", "application/json"))
	x.post(ctx, []webpost.Header{{Name: "x-goog-api-key", Value: x.key}}, ojson.Compact(body))
	if x.a.err != nil || x.a.overflow || x.a.status < 200 || x.a.status > 299 {
		return
	}
	o, err := ojson.DecodeObject(x.a.body)
	if err != nil {
		x.a.unreadable = "it is not JSON (" + runtimes.OneLine(err.Error()) + ")"
		return
	}
	count := func(keys ...string) (n int64) {
		for _, k := range keys {
			i, _ := o.Object("usageMetadata").Int(k)
			n += tokenCount(int64(i))
		}
		return n
	}
	x.a.usage = usage{input: count("promptTokenCount"), output: count("candidatesTokenCount", "thoughtsTokenCount")}
	if why := o.Object("promptFeedback").String("blockReason"); why != "" {
		x.a.stopped = "blockReason " + runtimes.Cut(runtimes.OneLine(why), 100)
	}
	list := o.Objects("candidates")
	if len(list) == 0 {
		return
	}
	for _, part := range list[0].Object("content").Objects("parts") {
		if t, ok := member(part, "text").(string); ok && !part.Bool("thought") {
			x.a.text = t
			break
		}
	}
	if why := list[0].String("finishReason"); why != "" && why != "STOP" {
		x.a.stopped = "finishReason " + runtimes.Cut(runtimes.OneLine(why), 100)
	}
}
