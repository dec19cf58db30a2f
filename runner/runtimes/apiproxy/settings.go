// The options of an api_proxy runtime (docs/runtimes.md#api_proxy, docs/spec/configuration.md#runtimes).

package apiproxy

import (
	"cmp"
	"net/url"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/webpost"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes"
)

// Providers that can be asked.
const (
	anthropicName = "anthropic"
	openaiName    = "openai"
	googleName    = "google"
	ollamaName    = "ollama"
)

const (
	defaultTimeout = 120 * time.Second
	maxTimeout     = time.Hour
	minKey         = 4 // shorter keys are a mistake
)

// settings are the options with their defaults filled in.
type settings struct {
	id        string
	provider  string
	model     string
	authEnv   string
	endpoint  string
	maxOutput int
	timeout   time.Duration

	retry    policy
	retryRaw *ojson.Object

	preflight    bool
	preflightRaw *ojson.Object
	window       int
	margin       int
}

func readSettings(rt *config.Runtime) (*settings, error) {
	o := rt.Raw
	c := &settings{id: rt.ID, provider: o.String("provider"), model: o.String("model"), authEnv: o.String("auth_env"),
		maxOutput: config.DefaultMaxOutputTokens, timeout: defaultTimeout, margin: config.DefaultSafetyMarginTokens,
		retryRaw: o.Object("retry_policy"), preflightRaw: o.Object("preflight_tokenization")}
	if strings.TrimSpace(c.model) == "" {
		return nil, c.invalid("model", "names no model")
	}
	if n, ok := o.Int("max_output_tokens"); ok && n > 0 {
		c.maxOutput = n
	}
	if s, ok := o.Float("timeout_seconds"); ok && s > 0 {
		c.timeout = min(time.Duration(min(s, maxTimeout.Seconds())*float64(time.Second)), maxTimeout)
	}
	if err := c.setEndpoint(o.String("base_url")); err != nil {
		return nil, err
	}
	c.retry = readPolicy(c.retryRaw)
	c.preflight = c.preflightRaw.Bool("enabled")
	c.window, _ = o.Int("context_window_tokens")
	if n, ok := c.preflightRaw.Int("safety_margin_tokens"); ok && n >= 0 {
		c.margin = n
	}
	return c, nil
}

func (c *settings) invalid(field, problem string) error {
	return runtimes.InvalidOption(c.id, field, problem)
}

// setEndpoint takes base_url as the whole address; one without a path gets the provider's own path.
func (c *settings) setEndpoint(base string) error {
	origin, path := "", ""
	switch c.provider {
	case anthropicName:
		origin, path = "https://api.anthropic.com", "/v1/messages"
	case openaiName:
		origin, path = "https://api.openai.com", "/v1/chat/completions"
	case ollamaName:
		origin, path = "http://localhost:11434", "/v1/chat/completions"
	case googleName:
		origin, path = "https://generativelanguage.googleapis.com", "/v1beta/models/{model}:generateContent"
	default:
		return c.invalid("provider", "is not anthropic, openai, google or ollama")
	}
	if base == "" {
		base = origin
	}
	base = strings.ReplaceAll(base, "{model}", url.PathEscape(c.modelName()))
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return c.invalid("base_url", "is not an absolute http or https URL")
	}
	if strings.Trim(u.Path, "/") == "" {
		u = u.JoinPath(strings.ReplaceAll(path, "{model}", url.PathEscape(c.modelName())))
	}
	c.endpoint = u.String()
	return nil
}

// modelName returns the model as it appears in an address.
func (c *settings) modelName() string { return strings.TrimPrefix(c.model, "models/") }

// shownEndpoint returns the endpoint without parts that may be secret.
func (c *settings) shownEndpoint() string { return webpost.ShownURL(c.endpoint) }

// key reads the key from the environment. Ollama may do without.
func (c *settings) key(getenv func(string) string) (string, *Failure) {
	if c.authEnv == "" {
		if c.provider == ollamaName {
			return "", nil
		}
		return "", c.missing("Runtime " + c.id + " names no auth_env, so there is no key for " + c.provider + ".")
	}
	key := strings.TrimSpace(getenv(c.authEnv))
	switch {
	case key == "" && c.provider == ollamaName:
		return "", nil
	case key == "":
		return "", c.missing("The environment variable " + c.authEnv + " with the key for " + c.provider +
			" is not set.")
	case len(key) < minKey || strings.ContainsFunc(key, func(r rune) bool { return r < ' ' || r > '~' }):
		return "", c.missing("The environment variable " + c.authEnv + " holds no key that can be sent.")
	}
	return key, nil
}

func (c *settings) missing(message string) *Failure {
	return &Failure{
		Class:    ClassCredentials,
		Message:  message,
		Recovery: "Set " + cmp.Or(c.authEnv, "auth_env") + " in the environment of the runner" + thenUnblock,
	}
}
