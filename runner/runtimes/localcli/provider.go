// Distinguishing a provider's refusal from an agent's ordinary words (docs/runtimes.md#local_cli).

package localcli

import (
	"bytes"
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes"
)

const (
	maxRecord = 64 << 10 // of one line that is examined
	minReset  = time.Second
	maxReset  = time.Hour
)

var (
	authWords = []string{"authentication_failed", "authentication_error", "authentication failed",
		"authentication required", "authenticationerror", "invalid authentication credentials", "unauthorized",
		"invalid api key", "invalid_api_key", "incorrect api key", "api key not valid", "api_key_invalid",
		"api error: 401", "status 401", "http 401", `"statuscode":401`, "oauth token has expired", "not logged in",
		"no auth type is selected", "set an auth method", "invalid auth method", "no authentication information"}
	nodeWords = []string{"requires node", "unsupported node", "node version", "node.js version",
		"syntaxerror: unexpected token", "symbol.dispose", "err_unsupported_dir_import"}
	rateWords = []string{"rate_limit_error", `"error":"rate_limit"`, `"error": "rate_limit"`, "rate limited",
		"rate-limited", "rate_limited", "hit your limit", "usage limit", "rate limit reached",
		"rate limit exceeded", "rate_limit_exceeded", "429 too many requests", "too many requests",
		`"errortype":"rate_limit"`, "resource_exhausted", "api error: 429", "error: 429", "status 429", "http 429",
		`"statuscode":429`, `\"code\":429`}
	quotaWords = []string{"insufficient_quota", "exceeded your current quota", "quota exceeded. check your plan",
		"credit balance is too low"}
	modelWords = []string{"model_not_found", "issue with the selected model", "providermodelnotfounderror",
		"does not exist or you do not have access", "not found on provider", "is not found for api version"}
	overloadWords = []string{"overloaded", "service unavailable", "api error: 529", "error: 529", "status 529",
		"api error: 503", "error: 503", "status 503", `"statuscode":529`, `"statuscode":503`, `\"code\":503`}
)

// providerFailure recognises what only a person or time can fix, in the error records of the
// agent's output. The same words in ordinary output mean nothing.
func providerFailure(agent, id string, stdout, stderr []byte) *runtimes.Outcome {
	own := errorRecords(stderr)
	records := append(errorRecords(stdout), own...)
	find := func(words []string, records []string) string {
		for _, r := range records {
			for _, w := range words {
				if strings.Contains(r, w) {
					return r
				}
			}
		}
		return ""
	}
	if login := loginOf(agent); login != "" && find(authWords, records) != "" {
		return blocked(agent+"_auth_failed",
			fmt.Sprintf("The agent %s of runtime %s is not logged in, or its provider refused its key.", agent, id),
			login+", then: git agentxchain unblock")
	}
	if agent == "claude" && find(nodeWords, own) != "" {
		return blocked("claude_node_incompatible", "claude cannot run with the Node.js that is on PATH.",
			"put a newer node first on PATH, then: git agentxchain unblock")
	}
	paid, limited := find(quotaWords, records), find(rateWords, records)
	if paid != "" && resetIn(paid) == 0 { // with a time it is one of the limits that pass
		return blocked(runtimes.ClassRateLimited,
			fmt.Sprintf("The account that runtime %s uses has no quota or credit left.", id),
			"raise the quota or the credit with the provider, then: git agentxchain unblock")
	}
	if r := cmp.Or(limited, paid); r != "" {
		out := blocked(runtimes.ClassRateLimited,
			fmt.Sprintf("The provider of runtime %s limits how much may be asked.", id),
			"wait until the limit is lifted, then: git agentxchain unblock")
		out.Retryable = true
		for _, record := range append([]string{r}, records...) {
			if out.RetryAfter = resetIn(record); out.RetryAfter > 0 {
				break
			}
		}
		return out
	}
	if loginOf(agent) == "" {
		return nil
	}
	if find(modelWords, records) != "" {
		return blocked(runtimes.ClassModel, fmt.Sprintf("The provider of runtime %s does not have the agent's model.", id),
			"choose another model, in the agent's own settings or in its command in agentxchain.json, "+
				"then: git agentxchain unblock")
	}
	if find(overloadWords, records) != "" {
		out := blocked(runtimes.ClassOverloaded, fmt.Sprintf("The provider of runtime %s is overloaded.", id),
			"wait until the provider has room again, then: git agentxchain unblock")
		out.Retryable = true
		return out
	}
	return nil
}

// loginOf returns how to log in to a known agent, "" for another program.
func loginOf(agent string) string {
	switch agent {
	case "aider":
		return "export a valid key of the service of aider's model"
	case "claude":
		return "log claude in (claude /login) or export a valid ANTHROPIC_API_KEY"
	case "codex":
		return "log codex in (codex login) or export a valid OPENAI_API_KEY"
	case "copilot":
		return "log copilot in (copilot, then /login) or export a valid GH_TOKEN"
	case "cursor-agent":
		return "log cursor-agent in (cursor-agent login) or export a valid CURSOR_API_KEY"
	case "gemini":
		return "log gemini in (start gemini, it asks) or export a valid GEMINI_API_KEY"
	case "opencode":
		return "log opencode in (opencode auth login) or correct the key in its configuration"
	case "qwen":
		return "log qwen in (qwen, then /auth) or export a valid OPENAI_API_KEY"
	}
	return ""
}

// errorRecords returns the lines of an output that report an error, in lower case: JSON error
// records, and lines that begin like error messages. A request that the agent repeated counts unless work followed.
func errorRecords(output []byte) []string {
	var out, retries []string
	for line := range bytes.Lines(output) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 || len(line) > maxRecord {
			continue
		}
		if line[0] == '{' {
			if doc, err := ojson.DecodeObject(line); err == nil {
				switch text := strings.ToLower(string(ojson.Compact(withoutWork(doc)))); {
				case isRetry(doc):
					retries = append(retries, text)
				case isErrorRecord(doc):
					out = append(out, text)
				case doc.String("type") == "assistant":
					retries = nil
				}
				continue
			}
		}
		if text := strings.ToLower(string(line)); isErrorLine(text) {
			out = append(out, text)
		}
	}
	return append(out, retries...)
}

// isRetry reports that Claude Code repeats a request to its model, which may well succeed.
func isRetry(doc *ojson.Object) bool {
	return doc.String("type") == "system" && doc.String("subtype") == "api_retry"
}

func isErrorRecord(doc *ojson.Object) bool {
	kind := doc.String("type")
	if e, ok := doc.Get("error"); ok && ojson.Truthy(e) {
		return true
	}
	return doc.Bool("is_error") || kind == "error" || strings.HasSuffix(kind, ".failed") ||
		strings.HasSuffix(kind, ".error") || strings.HasSuffix(kind, "_error") ||
		// Qwen Code calls this a success.
		kind == "result" && strings.HasPrefix(doc.String("result"), "[API Error: ")
}

// withoutWork drops what an agent has said and done, which an error record may include.
func withoutWork(doc *ojson.Object) *ojson.Object {
	out := doc.Clone()
	for _, key := range []string{"content", "messages", "tool_use_result", "output", "item"} {
		out.Delete(key)
	}
	return out
}

// isErrorLine tells an error message from prose by the beginning of the line.
func isErrorLine(text string) bool {
	if len(text) > 2000 {
		return false
	}
	text = strings.TrimLeft(text, " \t[(*#>-✗✖×❌⚠️")
	for _, begin := range []string{"error", "fatal", "api error", "apierror", "stream error", "unexpected status",
		"http 4", "http 5", "http/1.1 4", "http error", "status 4", "request failed",
		"you've hit your", "you have hit your", "you’ve hit your", "claude ai usage limit", "claude usage limit",
		"claude code requires", "usage limit", "rate limit", "rate_limit", "rate-limit", "429 ", "401 ",
		"too many requests", "unauthorized", "invalid api key", "authentication", "invalid authentication",
		"please set an auth method", "invalid auth method", "syntaxerror", "exception", "codex: error", "claude: error", "openai error", "anthropic error"} {
		if strings.HasPrefix(text, begin) {
			return true
		}
	}
	// "SomethingError: …", "package.SomeError: …"
	head, _, ok := strings.Cut(text, ":")
	return ok && !strings.ContainsAny(head, " \t") &&
		(strings.HasSuffix(head, "error") || strings.HasSuffix(head, "exception"))
}

// resetIn reads how long a limit lasts, 1 s to 1 h; 0 when it is not stated.
func resetIn(text string) time.Duration {
	for _, phrase := range []string{"resets in ", "reset in ", "retry-after: ", `retry-after":`, `retry_after":`,
		"retry after ", "try again in ", "retry in ", "wait "} {
		for rest := text; ; {
			_, after, ok := strings.Cut(rest, phrase)
			if !ok {
				break
			}
			if d := duration(after, strings.Contains(phrase, "after")); d > 0 {
				return min(max(d, minReset), maxReset)
			}
			rest = after
		}
	}
	return 0
}

// duration reads "30s", "30 seconds", "2 minutes", "1.5s" and "1m30s" at the start of text; with
// bare, plain numbers count as seconds, as in a header.
func duration(text string, bare bool) time.Duration {
	text = strings.TrimLeft(text, ` "'`)
	var total time.Duration
	for {
		n := 0
		for n < len(text) && (text[n] >= '0' && text[n] <= '9' || text[n] == '.' && n > 0) {
			n++
		}
		num, err := strconv.ParseFloat(strings.TrimSuffix(text[:n], "."), 64)
		if n == 0 || err != nil || num > 1e6 {
			return total
		}
		text = strings.TrimLeft(text[n:], " ")
		word := 0
		for word < len(text) && text[word] >= 'a' && text[word] <= 'z' {
			word++
		}
		var unit time.Duration
		switch text[:word] {
		case "ms", "milliseconds":
			unit = time.Millisecond
		case "s", "sec", "secs", "second", "seconds":
			unit = time.Second
		case "m", "min", "mins", "minute", "minutes":
			unit = time.Minute
		case "h", "hour", "hours":
			unit = time.Hour
		default:
			if bare && total == 0 {
				return time.Duration(num * float64(time.Second))
			}
			return total
		}
		total += time.Duration(num * float64(unit))
		text = strings.TrimLeft(text[word:], " ")
	}
}
