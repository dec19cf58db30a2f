// Problems: the faults of a document, by rule and place.

package wire

import (
	"fmt"
)

// Rules that a decoder may find broken. Their names are stable for programs.
const (
	RuleSyntax  = "syntax"          // not one JSON document within the limits
	RuleType    = "type"            // a value of the wrong JSON type
	RuleMissing = "required"        // a required member is missing
	RuleUnknown = "unknown_member"  // a member that a closed object does not have
	RuleEnum    = "enum"            // a token that the enum does not have
	RuleInteger = "integer"         // not an integer, or out of its range
	RuleNumber  = "number"          // out of the range of a double
	RuleText    = "text"            // a string that is not Unicode text
	RuleAlias   = "alias_conflict"  // two spellings of one member with different values
	RuleRole    = "unknown_role"    // an unknown role token, without role_id
	RuleEmpty   = "not_empty"       // a member that must not be empty is blank or has no items
	RuleMatch   = "extension_match" // a member differs from its copy in extensions
	RuleState   = "state"           // members that exclude or require one another
)

// Problem is one fault of a document.
type Problem struct {
	Pointer string // JSON pointer (RFC 6901); "" is the whole document
	Rule    string // one of the Rule constants
	Text    string // what is wrong, without the place
}

// MaxProblems bounds the faults that are kept of one document; a hostile one has millions.
const MaxProblems = 100

// Problems are the faults of one document in document order, the first MaxProblems of them. As an
// error it reads as its first fault and how many follow.
type Problems []Problem

// Add appends a fault unless there are enough.
func (p *Problems) Add(pointer, rule, text string) {
	if len(*p) < MaxProblems {
		*p = append(*p, Problem{pointer, rule, text})
	}
}

func (p Problems) Error() string {
	if len(p) == 0 {
		return "no fault"
	}
	text := p[0].String()
	switch n := len(p) - 1; {
	case n+1 >= MaxProblems:
		text += fmt.Sprintf(" (and %d more, or even more than that)", n)
	case n > 0:
		text += fmt.Sprintf(" (and %d more)", n)
	}
	return text
}

// err returns p as an error, nil when p is empty.
func (p Problems) err() error {
	if len(p) == 0 {
		return nil
	}
	return p
}

func (p Problem) String() string {
	where := p.Pointer
	if where == "" {
		return p.Text
	}
	return where + ": " + p.Text
}
