// What all types of the strict family share.

package strict

import "github.com/git-agentxchain/git-agentxchain/interop/monarchic/wire"

// Version is the only valid contract_version.
const Version = "v1"

// Validate checks a value made by a program against every rule that reading it would apply. The
// error is wire.Problems.
func Validate[T any](v *T) error {
	_, err := wire.From[T](wire.Encode(v))
	return err
}

// report reports one broken rule of an object.
type report = func(member, rule, text string)

// notEmpty refuses members that are blank; what precedes each member's name in the text.
func notEmpty(tell report, what string, members ...string) {
	for i := 0; i+1 < len(members); i += 2 {
		if blank(members[i+1]) {
			tell(members[i], wire.RuleEmpty, what+" "+members[i]+" must not be empty")
		}
	}
}
