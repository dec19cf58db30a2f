// The commit message of an operation: a subject and trailers.

package record

import (
	"cmp"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/protocol"
)

// Trailers of an operation's commit.
const (
	TrailerRun      = "Agentxchain-Run"
	TrailerOp       = "Agentxchain-Op"
	TrailerTurn     = "Agentxchain-Turn"
	TrailerRole     = "Agentxchain-Role"
	TrailerState    = "Agentxchain-State-Digest" // sha256:<hex> of state.json
	TrailerHead     = "Agentxchain-Code-Head"    // HEAD of the project's own history
	TrailerDropped  = "Agentxchain-Dropped"      // turns that ended, separated by spaces
	TrailerUnstaged = "Agentxchain-Unstaged"     // turns whose staged result was sent back and is kept below files/
	TrailerPrevious = "Agentxchain-Previous"     // last operation of the previous run, in a run's first commit
	TrailerOrigin   = "Agentxchain-Origin"       // the original operation, if this one was decided again
)

// maxSubject keeps one operation to one screen line in git log, in bytes.
const maxSubject = 200

// Message builds the commit message. Every value is folded to one line, so no
// summary or id taken from a turn result can forge a trailer.
func Message(subject string, fields ...string) string {
	var b strings.Builder
	subject = text.OneLine(subject)
	subject = text.Clip(subject, maxSubject)
	if subject == "" {
		subject = "operation"
	}
	b.WriteString(subject)
	b.WriteString("\n\n")
	for i := 0; i+1 < len(fields); i += 2 {
		if v := text.OneLine(fields[i+1]); v != "" {
			b.WriteString(fields[i] + ": " + v + "\n")
		}
	}
	return b.String()
}

// Signature returns the signature of a record's actor.
func Signature(env *protocol.Env) object.Signature {
	return object.Signature{
		Name:  cmp.Or(env.Actor.Name, "agentxchain"),
		Email: cmp.Or(env.Actor.Email, "agentxchain@localhost"),
		When:  env.Now.UTC(),
	}
}

// Trailer returns the value of the last trailer with the given key.
func Trailer(message, key string) string {
	value := ""
	for line := range strings.SplitSeq(message, "\n") {
		if v, ok := strings.CutPrefix(line, key+": "); ok {
			value = v
		}
	}
	return value
}
