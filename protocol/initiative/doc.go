// Package initiative has the rules of one initiative over several repositories: agentxchain-multi.json, barriers,
// which repository works next, how an accepted turn becomes a fact of the whole, gates, and where record and
// repositories disagree.
//
// Like package protocol it computes changes and makes none: package coordinator reads the workspace for it and
// carries a Change out.
package initiative
