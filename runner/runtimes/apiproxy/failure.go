// Failures of a request, in stable classes (docs/runtimes.md#api_proxy).

package apiproxy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes"
)

// Classes of failure, as in dispatch:<class>.
const (
	ClassCredentials = runtimes.ClassCredentials
	ClassAuth        = runtimes.ClassAuth
	ClassModel       = runtimes.ClassModel
	ClassInvalid     = "invalid_request"
	ClassOverflow    = "context_overflow"
	ClassRateLimited = runtimes.ClassRateLimited
	ClassOverloaded  = runtimes.ClassOverloaded
	ClassNetwork     = runtimes.ClassNetwork
	ClassTimeout     = runtimes.ClassTimeout
	ClassParse       = "response_parse_failure"
	ClassExtraction  = "turn_result_extraction_failure"
	ClassUnknown     = "unknown_api_error"
	ClassUnwritable  = "artifacts_unwritable"
)

// maxDetail bounds how much of a provider's own words is kept, in characters.
const maxDetail = 500

// Failure is one classified failure. None of its texts contains the key.
type Failure struct {
	Class      string
	Message    string
	Recovery   string
	Retryable  bool
	RetryAfter time.Duration // as requested by the provider
	Status     int           // of the answer, 0 without one
	Detail     string        // of the answer, at most 500 characters
	Type, Code string        // the provider's names of the error

	cause error
}

// object returns the failure in the form of api-error.json.
func (f *Failure) object() *ojson.Object {
	return ojson.NewObject("error_class", f.Class, "message", f.Message, "recovery", f.Recovery,
		"retryable", f.Retryable, "http_status", f.status(),
		"raw_detail", ojson.OrNull(f.Detail), "provider_error_type", ojson.OrNull(f.Type),
		"provider_error_code", ojson.OrNull(f.Code))
}

func (f *Failure) status() ojson.Value {
	if f.Status == 0 {
		return nil
	}
	return ojson.Int(f.Status)
}

// thenUnblock ends the advice to a person: the run is blocked until they unblock it.
const thenUnblock = ", then: git agentxchain unblock"

// classify returns the failure of an answer; nil when it can be read.
func (c *settings) classify(a *answer) *Failure {
	f := &Failure{Status: a.status, Detail: detail(a.body), RetryAfter: a.retryAfter, cause: a.err}
	switch {
	case errors.Is(a.err, context.Canceled):
		return f.be(ClassNetwork, true, "The request to "+c.provider+" was cancelled.", "git agentxchain unblock")
	case a.timedOut:
		return f.be(ClassTimeout, true, fmt.Sprintf("%s did not answer in time.", c.provider),
			"Raise timeout_seconds of runtime "+c.id+" or wait"+thenUnblock)
	case a.invalid:
		return f.be(ClassInvalid, false, "The request to "+c.provider+" could not be made: "+a.err.Error()+".",
			"Correct runtime "+c.id+" in agentxchain.json"+thenUnblock)
	case a.overflow:
		return f.be(ClassParse, true, fmt.Sprintf("The answer of %s is longer than %d bytes.", c.provider, maxAnswer),
			"Correct base_url of runtime "+c.id+" in agentxchain.json"+thenUnblock)
	case a.err != nil:
		return f.be(ClassNetwork, true, "The request to "+c.provider+" failed: "+a.err.Error()+".",
			"Check the network and base_url of runtime "+c.id+thenUnblock)
	case a.status >= 300 && a.status < 400:
		return f.be(ClassInvalid, false,
			fmt.Sprintf("%s answered with a redirect (HTTP %d), which is not followed: it could carry the key elsewhere.", c.provider, a.status), "Set base_url of runtime "+c.id+" in agentxchain.json to the final address"+thenUnblock)
	case a.status < 200 || a.status >= 400:
		f.Type, f.Code = a.errorType, a.errorCode
		return c.refused(f, a)
	case a.unreadable != "":
		return f.be(ClassParse, true, "The answer of "+c.provider+" cannot be read: "+a.unreadable+".",
			"Look at provider-response.json in the turn's staging directory"+thenUnblock)
	}
	return nil
}

// refused classifies an answer that is an error: by the provider's own name for it, then by its
// status.
func (c *settings) refused(f *Failure, a *answer) *Failure {
	said := fmt.Sprintf("%s answered HTTP %d", c.provider, a.status)
	if a.message != "" {
		said += ": " + a.message
	}
	class := byName(f.Code)
	if class == "" {
		class = byName(f.Type)
	}
	mapped := class
	switch a.status {
	case 401, 403:
		class = ClassAuth
	case 404:
		class = ClassModel
	case 429:
		class = ClassRateLimited
	case 529, 503:
		if a.status == 529 && c.provider == anthropicName || a.status == 503 && c.provider == googleName {
			class = ClassOverloaded
		}
	case 400, 413, 422:
		if sizeWording(a.message) {
			class = ClassOverflow
		}
	}
	// Google answers INVALID_ARGUMENT to an invalid key.
	if mapped == ClassInvalid && strings.Contains(strings.ToLower(a.message), "api key not valid") {
		class = ClassAuth
	}
	switch class {
	case ClassAuth:
		return f.be(class, false, said,
			"Put a valid key for "+c.provider+" into "+cmp.Or(c.authEnv, "auth_env")+thenUnblock)
	case ClassModel:
		return f.be(class, false, said,
			"Check model ("+c.model+") and base_url of runtime "+c.id+" in agentxchain.json"+thenUnblock)
	case ClassOverflow:
		return f.be(class, false, said,
			"The prompt is too long for "+c.model+
				": enable preflight_tokenization, shorten the role's prompt, or use a model with a larger window in agentxchain.json"+thenUnblock)
	case ClassRateLimited:
		if c.exhausted(f, a.message) {
			return f.be(class, false, said,
				"The account's quota or budget is used up: raise it with the provider"+thenUnblock)
		}
		return f.be(class, true, said, "Wait for the provider's limit to pass"+thenUnblock)
	case ClassOverloaded:
		return f.be(class, true, said, "Wait until "+c.provider+" has room again"+thenUnblock)
	case ClassInvalid:
		return f.be(class, false, said, "Correct runtime "+c.id+" in agentxchain.json as the message says"+thenUnblock)
	}
	again := a.status == 400 || a.status == 408 || a.status == 409 || a.status >= 500
	return f.be(ClassUnknown, again, said, "Look at api-error.json in the turn's staging directory"+thenUnblock)
}

// byName maps the providers' names of errors to classes.
func byName(name string) string {
	switch name {
	case "authentication_error", "permission_error", "invalid_api_key", "UNAUTHENTICATED", "PERMISSION_DENIED":
		return ClassAuth
	case "not_found_error", "model_not_found", "NOT_FOUND":
		return ClassModel
	case "invalid_request_error", "INVALID_ARGUMENT", "FAILED_PRECONDITION", "request_too_large":
		return ClassInvalid
	case "context_length_exceeded":
		return ClassOverflow
	case "rate_limit_error", "rate_limit_exceeded", "insufficient_quota", "RESOURCE_EXHAUSTED":
		return ClassRateLimited
	case "overloaded_error", "UNAVAILABLE":
		return ClassOverloaded
	}
	return ""
}

// exhausted reports a limit that waiting does not lift.
func (c *settings) exhausted(f *Failure, message string) bool {
	if f.Code == "insufficient_quota" || f.Type == "insufficient_quota" {
		return true
	}
	return c.provider == anthropicName && contains(message, "spend", "budget", "daily")
}

func sizeWording(message string) bool { return contains(message, "context", "token", "too long") }

func contains(text string, words ...string) bool {
	text = strings.ToLower(text)
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
}

// noResult returns the failure of an answer without a turn result.
func (c *settings) noResult(a *answer, why string) *Failure {
	message := c.provider + " answered, but " + why
	if a.stopped != "" {
		message += " (" + a.stopped + ")"
	}
	f := &Failure{Status: a.status, Detail: detail([]byte(a.text))}
	return f.be(ClassExtraction, true, message+".",
		"Look at provider-response.json in the turn's staging directory; the model may need a clearer prompt or more max_output_tokens")
}

func (f *Failure) be(class string, retryable bool, message, recovery string) *Failure {
	f.Class, f.Retryable, f.Message, f.Recovery = class, retryable, runtimes.OneLine(message), recovery
	return f
}

// detail returns the beginning of a text in a form that can be shown.
func detail(data []byte) string {
	return text.CutRunes(strings.ToValidUTF8(string(data[:min(len(data), 4*maxDetail)]), "�"), maxDetail)
}
