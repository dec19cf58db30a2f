// The identity of this clone, and since when it has seen the claims of others (docs/teams.md#claims).

package travel

import (
	"crypto/rand"
	"encoding/json"
	"path/filepath"
	"time"

	"github.com/git-agentxchain/git-agentxchain/gitstore/git"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/fail"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

const (
	cloneFile = "agentxchain/clone"       // a random id, in the git directory that all work trees share
	seenFile  = "agentxchain/claims.json" // claims of other clones, with the time they arrived
)

// maxSeen bounds the file of other clones' claims, in bytes.
const maxSeen = 16 << 20

// CloneID returns the id of this clone, "" until MakeCloneID made it. It also depends on the clone's path, so that
// a copy of the directory is another clone.
func CloneID(repo *git.Repository) string {
	secret, err := git.ReadBounded(filepath.Join(repo.CommonDir, filepath.FromSlash(cloneFile)), git.MaxPointer)
	if err != nil || len(secret) == 0 {
		return ""
	}
	return wire.SHA256(append(secret, repo.CommonDir...))[:16]
}

// MakeCloneID gives this clone an id unless it has one.
func MakeCloneID(repo *git.Repository) error {
	if CloneID(repo) != "" {
		return nil
	}
	return writeShared(repo, cloneFile, []byte(rand.Text()+"\n"))
}

func writeShared(repo *git.Repository, name string, data []byte) error {
	err := git.WriteShared(filepath.Join(repo.CommonDir, filepath.FromSlash(name)), data, 0o666)
	if err != nil {
		return fail.Errorf(fail.CodeUnreadable, err, "the git directory cannot be written to")
	}
	return nil
}

// seenClaim records since when this clone has seen a claim, by its own clock.
type seenClaim struct {
	Claim string    `json:"claim"` // distinguishes it from its predecessor
	Since time.Time `json:"since"`
}

// ClaimsSeen returns since when this clone has seen the claims of a run: claims has a text for each turn that
// changes with its claim. New claims count from now. The times are saved if keep is set; losing them only makes
// this clone wait longer.
func ClaimsSeen(repo *git.Repository, run string, claims map[string]string, now time.Time,
	keep bool) map[string]time.Time {
	all := make(map[string]map[string]seenClaim)
	seen := filepath.Join(repo.CommonDir, filepath.FromSlash(seenFile))
	if data, err := git.ReadBounded(seen, maxSeen); err == nil {
		_ = json.Unmarshal(data, &all) // a broken file counts as empty
	}
	was, next, out := all[run], make(map[string]seenClaim), make(map[string]time.Time)
	changed := len(was) != len(claims)
	for turn, claim := range claims {
		c := was[turn]
		if c.Claim != claim || c.Since.After(now) {
			c, changed = seenClaim{Claim: claim, Since: now}, true
		}
		next[turn], out[turn] = c, c.Since
	}
	if !keep || !changed {
		return out
	}
	if all[run] = next; len(next) == 0 {
		delete(all, run)
	}
	if data, err := json.Marshal(all); err == nil {
		_ = writeShared(repo, seenFile, data)
	}
	return out
}
