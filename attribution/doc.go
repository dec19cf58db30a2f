// What the package is for, and what it answers.

// Package attribution tells which turn of which run wrote a line of a file. It
// joins git blame with the recorded runs; nothing is read from the working ledgers,
// which anybody may edit.
//
// A line is attributed to a turn only on evidence that holds by itself: the commit is
// the turn's own, or the turn's own change, which git still has, added exactly that
// line. What a commit message says is a hint where to look, never a proof: a
// message survives an amend that adds other lines. When the evidence is gone or
// contradicts itself the answer is that it cannot be told, with the turns it may
// have been.
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
	KindPerson  Kind = "person"  // no turn did: a commit outside of every turn
	KindPending Kind = "pending" // not committed, and no turn has declared the file
	KindUnknown Kind = "unknown" // it cannot be told
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
	Candidates []*Turn  // with KindUnknown: the turns it may have been
	Named      []string // with KindUnknown: turns the commit names that no run here knows
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
	// Shallow holds the commits at which this clone's history ends.
	Shallow map[object.OID]bool
}

// Query asks about a file.
type Query struct {
	Path   string              // from the root of the work tree, with slashes
	Ranges []history.LineRange // none: every line
	// ProjectID is the project's id in its configuration; where the files of another
	// project's runs lie is not recorded, so those are looked for by their ends.
	ProjectID string
	// Staged returns the files an active turn declares in its staged result, and
	// whether there is one. Nil stands for none.
	Staged func(turn string) (files []string, ok bool)
}
