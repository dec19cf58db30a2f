// What an escalation asks of a person, derived from its reason and its text
// (docs/notifications.md#human-escalations).

package run

import "strings"

// ClassifyEscalation classifies an escalation by what a person has to provide: typ is needs_oauth,
// needs_credential, needs_payment, needs_legal, needs_physical_access or needs_decision; service is a known service
// that the texts name, or "". The typed reason takes precedence over the texts, of which only whole words count
// (docs/notifications.md#human-escalations).
func ClassifyEscalation(blockedOn, typedReason, detail, category string) (typ, service string) {
	text := escalationWords(blockedOn + " " + typedReason + " " + detail + " " + category)
	typ = typeOfReason(typedReason)
	if typ == "" {
		typ = typeOfWords(text)
	}
	for _, c := range []struct{ service, keys string }{
		{"Anthropic", "anthropic|claude"},
		{"OpenAI", "openai|chatgpt|gpt|codex"},
		{"GitHub", "github|gh"},
		{"Google", "google|gmail|gcp|gemini"},
		{"Linear",
			"linear app|linear com|linear api|linear issue|linear issues|linear ticket|linear tickets|linear workspace|linear board|linear account"},
		{"Slack", "slack"},
		{"LinkedIn", "linkedin"},
		{"X/Twitter", "twitter|tweet|x com"},
		{"Reddit", "reddit"},
		{"npm", "npm|npmjs"},
		{"Homebrew", "homebrew"},
		{"VS Code Marketplace", "vs code marketplace|vscode marketplace|visual studio marketplace|vsce"},
	} {
		if mentionsAny(text, c.keys) {
			return typ, c.service
		}
	}
	return typ, ""
}

const needsDecision = "needs_decision"

// typeOfReason returns the type that a typed reason determines by itself, "" when the words have to decide. The
// run's own reasons all ask for a decision, except those that may have any cause: a turn or an operator that asks
// for a person, a command or a dispatch that failed.
func typeOfReason(typedReason string) string {
	switch typedReason {
	case "needs_oauth", "needs_credential", "needs_payment", "needs_legal", "needs_physical_access", needsDecision:
		return typedReason
	case "pending_phase_transition", "pending_run_completion", "conflict_loop", "retries_exhausted",
		"policy_escalation",
		"budget_exhausted", "timeout", "non_progress", "hook_block", "hook_tamper", "stale_turn":
		return needsDecision
	}
	return ""
}

func typeOfWords(text string) string {
	for _, c := range []struct{ typ, keys, unless string }{
		{"needs_oauth",
			"oauth|oauth2|sign in|log in|login|sso|reauthenticate|re authenticate|reauth|re auth|session expired", ""},
		{"needs_credential",
			"credential|credentials|api key|api keys|apikey|access key|access keys|auth env|token|tokens|secret|secrets|password|passphrase|pat|auth failed|unauthorized|401",
			"token budget|token budgets|token limit|token limits|token count|token usage|token window|tokens used|tokens per|max tokens|input tokens|output tokens|context tokens|prompt tokens|" +
				"hardware token|hardware tokens|design token|design tokens"},
		{"needs_payment",
			"payment|pay|billing|invoice|credit card|credit balance|out of credits|subscription|purchase|top up", ""},
		{"needs_legal",
			"legal|license|licenses|licence|licences|licensing|nda|dpa|gdpr|terms of service|terms of use|terms and conditions|" +
				"sign contract|sign the contract|signed contract|vendor contract|customer contract", ""},
		{"needs_physical_access",
			"physical|usb|2fa|mfa|phone|yubikey|hardware key|hardware token|hardware tokens|captcha|in person|on site",
			""},
	} {
		// Phrases with a known other meaning are not evidence.
		words := text
		for phrase := range strings.SplitSeq(c.unless, "|") {
			if phrase != "" {
				words = strings.ReplaceAll(words, " "+phrase+" ", " - ")
			}
		}
		if mentionsAny(words, c.keys) {
			return c.typ
		}
	}
	return needsDecision
}

// escalationWords returns the text in lower case with single spaces around every word.
func escalationWords(s string) string {
	const enough = 64 << 10
	s = strings.ToLower(Clip(s, enough))
	return " " + strings.Join(strings.FieldsFunc(s, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < '0' || c > '9')
	}), " ") + " "
}

func mentionsAny(text, keys string) bool {
	for key := range strings.SplitSeq(keys, "|") {
		if strings.Contains(text, " "+key+" ") {
			return true
		}
	}
	return false
}

func escalationAction(typ, service string) string {
	what := service
	if what == "" {
		what = "the service"
	}
	switch typ {
	case "needs_oauth":
		return "Sign in to " + what + " again and check that the session works."
	case "needs_credential":
		return "Provide working credentials for " + what + "."
	case "needs_payment":
		return "Settle the payment or plan of " + what + "."
	case "needs_legal":
		return "Obtain the legal clearance that is asked for."
	case "needs_physical_access":
		return "Do the step that needs a person at the device."
	}
	return "Decide, and record the decision where the run can see it."
}
