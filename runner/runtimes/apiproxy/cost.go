// The cost of a turn's attempts: the provider's usage times a rate.

package apiproxy

import (
	"math"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
)

// usage is what one answer reports.
type usage struct{ input, output int64 }

// maxTokens is the largest token count that is believed of one answer.
const maxTokens = 1 << 40

// tokenCount limits a reported number of tokens to the possible range.
func tokenCount(n int64) int64 { return max(0, min(n, maxTokens)) }

// spending sums the usage of the attempts.
type spending struct {
	requests      int
	input, output int64
}

func (s *spending) add(u usage) {
	s.requests++
	s.input += tokenCount(u.input)
	s.output += tokenCount(u.output)
}

// usd returns the total cost in US dollars, rounded to a tenth of a cent.
func (s *spending) usd(c *settings, cfg *config.Config) float64 {
	r := c.rate(cfg)
	usd := (float64(s.input)*r.InputPer1M + float64(s.output)*r.OutputPer1M) / 1e6
	return math.Round(usd*1000) / 1000
}

// object returns the result's cost.
func (s *spending) object(c *settings, cfg *config.Config) *ojson.Object {
	return ojson.NewObject("input_tokens", int(s.input), "output_tokens", int(s.output), "usd", s.usd(c, cfg),
		"source", "provider_usage", "provider", c.provider, "model", c.model)
}

// rate returns the rate that budget.cost_rates has for the model, else the list price known here,
// else zero.
func (c *settings) rate(cfg *config.Config) config.CostRate {
	if cfg != nil && cfg.Budget != nil {
		if r, ok := cfg.Budget.CostRates.Get(c.model); ok {
			return r
		}
	}
	return listPrice(c.provider, c.modelName())
}

// listPrice returns public list prices in US dollars per million tokens, by the beginning of a
// model's name. They change: budget.cost_rates overrides them.
func listPrice(provider, model string) config.CostRate {
	type price struct {
		prefix        string
		input, output float64
	}
	var list []price
	switch provider {
	case anthropicName:
		list = []price{{"claude-opus-4-5", 5, 25}, {"claude-opus-4-6", 5, 25}, {"claude-opus-4", 15, 75},
			{"claude-3-opus", 15, 75},
			{"claude-sonnet-4", 3, 15}, {"claude-3-7-sonnet", 3, 15}, {"claude-3-5-sonnet", 3, 15},
			{"claude-haiku-4", 1, 5}, {"claude-3-5-haiku", 0.8, 4}, {"claude-3-haiku", 0.25, 1.25}}
	case openaiName:
		list = []price{{"gpt-5-nano", 0.05, 0.4}, {"gpt-5-mini", 0.25, 2}, {"gpt-5", 1.25, 10},
			{"gpt-4.1-nano", 0.1, 0.4}, {"gpt-4.1-mini", 0.4, 1.6},
			{"gpt-4.1", 2, 8}, {"gpt-4o-mini", 0.15, 0.6}, {"gpt-4o", 2.5, 10}, {"o4-mini", 1.1, 4.4},
			{"o3-mini", 1.1, 4.4}, {"o3", 2, 8}}
	case googleName:
		list = []price{{"gemini-2.5-pro", 1.25, 10}, {"gemini-2.5-flash-lite", 0.1, 0.4},
			{"gemini-2.5-flash", 0.3, 2.5}, {"gemini-2.0-flash", 0.1, 0.4}}
	}
	for _, p := range list {
		if strings.HasPrefix(model, p.prefix) {
			return config.CostRate{InputPer1M: p.input, OutputPer1M: p.output}
		}
	}
	return config.CostRate{}
}
