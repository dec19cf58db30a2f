// Spelling rules of configuration values: identifiers, phase names, URLs, white space.

package config

import (
	"net/url"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// IsID matches ^[a-z0-9_-]+$: roles, hooks, webhooks, schedules.
func IsID(s string) bool {
	for i := range len(s) {
		c := s[i]
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' && c != '-' {
			return false
		}
	}
	return s != ""
}

// isName matches ^[a-z][a-z0-9_-]*$: phases and policy ids.
func isName(s string) bool {
	return IsID(s) && s[0] >= 'a' && s[0] <= 'z'
}

// isWebURL reports whether s is an absolute http or https URL with a host.
func isWebURL(s string) bool {
	u, err := url.Parse(wire.Trim(s))
	return err == nil && (strings.EqualFold(u.Scheme, "http") || strings.EqualFold(u.Scheme, "https")) && u.Host != ""
}
