// The package's purpose and its answers.

// Package attribution determines which turn of which run wrote a line of a file. It joins git blame with the
// recorded runs; it reads nothing from the working ledgers, which anybody may edit.
//
// A line is attributed to a turn only on evidence that is sufficient by itself: the commit is the turn's own, or
// the turn's own change, which git still has, added exactly that line. A commit message is a hint where to look,
// never a proof: a message survives an amend that adds other lines. When the evidence is gone or contradictory, the
// answer is unknown, with the turns that are possible.
package attribution

import (
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/history"
	"github.com/git-agentxchain/git-agentxchain/gitstore/git/object"
)

// Kind of an answer.
type Kind string

// Kinds of answers.
const (
	KindTurn    Kind = "turn"    // a turn wrote the line
	KindPerson  Kind = "person"  // no turn did: a commit outside every turn
	KindPending Kind = "pending" // not committed, and declared by no turn
	KindUnknown Kind = "unknown" // it cannot be determined
)

// Evidence that a turn wrote a line.
type Evidence string

// Kinds of evidence, strongest first.
const (
	ByCheckpoint Evidence = "checkpoint" // the commit is the turn's checkpoint
	ByRange      Evidence = "range"      // the actor committed it during the turn
	ByProposal   Evidence = "proposal"   // a person applied the turn's proposal in the commit
	ByAccepted   Evidence = "accepted"   // not committed; the file is as it was accepted
	ByTrailer    Evidence = "trailer"    // the commit names the turn, whose change added the line
	ByPatch      Evidence = "patch"      // the commit changes the file exactly as the turn did
	ByContent    Evidence = "content"    // only that turn's change of the file added the line
)

// Answer says who wrote a line.
type Answer struct {
	Kind       Kind
	Turn       *Turn    // with KindTurn
	Evidence   Evidence // with KindTurn
	Candidates []*Turn  // with KindUnknown: the possible turns
	Named      []string // with KindUnknown: turns that the commit names and no run here knows
	Why        string   // with KindUnknown: what is missing, a phrase
}

// Line is a line of the file with its answer.
type Line struct {
	history.BlameLine
	Answer
}

// Report is what is known about the lines of a file.
type Report struct {
	Path  string // from the root of the work tree
	Lines []Line
	// Shallow has the commits at which this clone's history ends.
	Shallow map[object.OID]bool
}

// Query asks about a file.
type Query struct {
	Path   string              // from the root of the work tree, with slashes
	Ranges []history.LineRange // none: every line
	// ProjectID is the project's id in its configuration. Where another project's runs keep their files is not
	// recorded, so those files are matched by the ends of their paths.
	ProjectID string
	// Staged returns the files that an active turn declares in its staged result, and whether one exists. Nil means
	// that none exists.
	Staged func(turn string) (files []string, ok bool)
}
