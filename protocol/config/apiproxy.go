// Options of api_proxy runtimes: provider, retries, token budget (docs/spec/configuration.md#runtimes).

package config

import (
	"fmt"
	"math"
	"slices"
)

// Defaults of the token budget check (docs/spec/configuration.md#runtimes).
const (
	DefaultMaxOutputTokens    = 4096
	DefaultSafetyMarginTokens = 2048
)

// retryClasses returns the failures that retry_policy.retry_on may name.
func retryClasses() []string {
	return []string{"rate_limited", "network_failure", "timeout", "response_parse_failure",
		"turn_result_extraction_failure", "unknown_api_error", "provider_overloaded"}
}

func (s section) apiProxy() {
	provider := s.enum("provider", true, "", "anthropic", "openai", "google", "ollama")
	s.text("model", true)
	// A local ollama needs no key.
	if provider != "ollama" {
		s.text("auth_env", true)
	}
	s.webURL("base_url", false)
	maxOutput := s.integer("max_output_tokens", 1, math.MaxInt)
	s.number("timeout_seconds", "a number greater than 0", func(f float64) bool { return f > 0 })
	if r := s.object("retry_policy"); r.o != nil {
		r.retryPolicy()
	}
	s.tokenBudget(provider, maxOutput)
}

func (s section) retryPolicy() {
	s.only("enabled", "max_attempts", "base_delay_ms", "max_delay_ms", "backoff_multiplier", "jitter", "retry_on")
	s.boolean("enabled", true)
	s.integer("max_attempts", 1, math.MaxInt)
	notNegative := func(f float64) bool { return f >= 0 }
	base := s.number("base_delay_ms", "a number of at least 0", notNegative)
	longest := s.number("max_delay_ms", "a number of at least 0", notNegative)
	if base != nil && longest != nil && *longest < *base {
		s.d.add(s.code, s.at("max_delay_ms"), "",
			"%s must not be smaller than base_delay_ms", s.at("max_delay_ms"))
	}
	s.number("backoff_multiplier", "a number greater than 0", func(f float64) bool { return f > 0 })
	s.enum("jitter", false, "", "none", "full")
	classes, _ := s.array("retry_on")
	for i, v := range classes {
		if t, ok := v.(string); !ok || !slices.Contains(retryClasses(), t) {
			s.fail(fmt.Sprintf("retry_on[%d]", i), oneOf(retryClasses()), v)
		}
	}
}

// tokenBudget checks the local token count made before a request. A context window without preflight_tokenization
// would look like a limit and have no effect.
func (s section) tokenBudget(provider string, maxOutput *int) {
	window := s.integer("context_window_tokens", 1, math.MaxInt)
	if s.o.Has("context_window_tokens") && !s.o.Has("preflight_tokenization") {
		s.missing("preflight_tokenization", "an object, because context_window_tokens is set")
	}
	p := s.object("preflight_tokenization")
	if p.o == nil {
		return
	}
	p.only("enabled", "tokenizer", "safety_margin_tokens")
	enabled := p.boolean("enabled", false)
	p.enum("tokenizer", false, "provider_local", "provider_local")
	margin := p.integer("safety_margin_tokens", 0, math.MaxInt)
	if !enabled {
		return
	}
	if provider != "" && provider != "anthropic" {
		p.d.add(p.code, p.at("enabled"), provider,
			"%s needs a provider with a local token counter (anthropic), not %s", p.at("enabled"), provider)
	}
	if !s.o.Has("context_window_tokens") {
		s.missing("context_window_tokens", "a positive integer, because preflight_tokenization is enabled")
	} else if window != nil {
		need := float64(orInt(maxOutput, DefaultMaxOutputTokens)) + float64(orInt(margin, DefaultSafetyMarginTokens))
		if float64(*window) <= need {
			s.d.add(s.code, s.at("context_window_tokens"), fmt.Sprint(*window),
				"%s must be greater than max_output_tokens and safety_margin_tokens together (%.0f)",
				s.at("context_window_tokens"), need)
		}
	}
}

func orInt(p *int, def int) int {
	if p == nil {
		return def
	}
	return *p
}
