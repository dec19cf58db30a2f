// Members that may be absent or null.

package wire

import (
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// OrEmpty returns *p or "".
func OrEmpty(p *string) string {
	if p == nil {
		return ""
	}
	return *p
}

// NonNil is s as a list that JSON shows as [], never as null.
func NonNil(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}

// Member is the value of a member, nil without one.
func Member(o *ojson.Object, key string) any { v, _ := o.Get(key); return v }
