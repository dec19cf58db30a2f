// The commit message of an operation: a subject and trailers.

package gitstore

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/protocol"
)

// Trailers of an operation's commit.
const (
	trailerRun      = "Agentxchain-Run"
	trailerOp       = "Agentxchain-Op"
	trailerTurn     = "Agentxchain-Turn"
	trailerRole     = "Agentxchain-Role"
	trailerState    = "Agentxchain-State-Digest" // sha256:<hex> of state.json
	trailerHead     = "Agentxchain-Code-Head"    // HEAD of the project's own history
	trailerDropped  = "Agentxchain-Dropped"      // turns that ended, separated by spaces
	trailerUnstaged = "Agentxchain-Unstaged"     // turns whose staged result was sent back and is kept below files/
	trailerPrevious = "Agentxchain-Previous"     // last operation of the run before, in a run's first commit
	trailerOrigin   = "Agentxchain-Origin"       // the operation it is, decided again after those of another machine
)

// maxSubject keeps one operation to one screen line in git log, in bytes.
const maxSubject = 200

// message builds the commit message. Every value is folded to one line, so no
// summary or id taken from a turn result can forge a trailer.
func message(subject string, fields ...string) string {
	var b strings.Builder
	subject = oneLine(subject)
	subject = text.Clip(subject, maxSubject)
	if subject == "" {
		subject = "operation"
	}
	b.WriteString(subject)
	b.WriteString("\n\n")
	for i := 0; i+1 < len(fields); i += 2 {
		if v := oneLine(fields[i+1]); v != "" {
			b.WriteString(fields[i] + ": " + v + "\n")
		}
	}
	return b.String()
}

// oneLine replaces every run of white space by a space and spells hostile runes out.
func oneLine(s string) string { return text.OneLine(s) }

// stateDigest is the value of the state trailer.
func stateDigest(state []byte) string {
	sum := sha256.Sum256(state)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// signatureOf names the actor of a record.
func signatureOf(env *protocol.Env) git.Signature {
	return git.Signature{Name: cmp.Or(env.Actor.Name, "agentxchain"), Email: cmp.Or(env.Actor.Email, "agentxchain@localhost"), When: env.Now.UTC()}
}
