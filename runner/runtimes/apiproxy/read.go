// What the answers of all providers have in common.

package apiproxy

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strconv"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes"
)

// maxReason bounds how much of a reason for stopping is kept, in characters.
const maxReason = 100

// read decodes an answer of status 2xx into the struct that into points to. A member of an
// unexpected type counts as missing: what matters is whether there is a text in the end. Anything
// but a JSON object makes the answer unreadable. It reports whether there is something to read.
func (a *answer) read(into any) bool {
	if a.err != nil || a.overflow || a.status < 200 || a.status > 299 {
		return false
	}
	var otherType *json.UnmarshalTypeError
	err := json.Unmarshal(a.body, into)
	switch {
	case err != nil && !errors.As(err, &otherType):
		if _, bad := ojson.DecodeLimited(a.body, ojson.Limits{LastWins: true}); bad != nil {
			err = bad // it names the line
		}
		a.unreadable = "it is not JSON (" + runtimes.OneLine(err.Error()) + ")"
	case bytes.TrimLeft(a.body, " \t\r\n")[0] != '{':
		a.unreadable = "it is not a JSON object"
	}
	return a.unreadable == ""
}

// count is a number of tokens. Gateways also write it as 26.0 or "26"; any other value counts as 0.
type count int64

func (c *count) UnmarshalJSON(data []byte) error {
	text := string(bytes.Trim(data, `"`))
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		*c = count(n)
	} else if f, err := strconv.ParseFloat(text, 64); err == nil && !math.IsNaN(f) {
		*c = count(max(0, min(f, maxTokens)))
	}
	return nil
}
