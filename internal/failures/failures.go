// Several failures as one.

package failures

import (
	"strconv"
	"strings"

	"github.com/hashicorp/go-multierror"
)

// maxShown bounds how many failures one message spells out.
const maxShown = 10

// All returns the failures among errs as one error: nil when there are none, the failure itself when there is only
// one. errors.Is and errors.As examine each in turn.
func All(errs ...error) error {
	var all *multierror.Error
	for _, err := range errs {
		if err != nil {
			all = multierror.Append(all, err)
		}
	}
	if all == nil {
		return nil
	}
	if len(all.Errors) == 1 {
		return all.Errors[0]
	}
	all.ErrorFormat = format
	return all
}

// format writes the failures in sequence, on one line if each has only one: messages end up in tables and logs.
func format(errs []error) string {
	var b strings.Builder
	for i, err := range errs {
		if i == maxShown {
			b.WriteString("; and " + strconv.Itoa(len(errs)-i) + " more")
			break
		}
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(err.Error())
	}
	return b.String()
}
