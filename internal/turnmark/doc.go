// Package turnmark tells an agent's processes from a person's. An agent can type
// the command that approves its own gate; a process that belongs to a dispatched
// turn is refused it. A turn's processes are known by four marks, each of which
// outlives the loss of the others:
//
//   - a variable in the environment of the process or of one of its ancestors;
//   - a file that the process or one of its ancestors holds open, inherited from
//     the start: cleaning the environment does not close it;
//   - descent from the process that carries the turn out: it is the parent of every
//     orphan of its agents (process.AdoptOrphans), and they are in sessions of their
//     own, which a process cannot leave for another one. It is known by the lock it
//     has on the turn's file;
//   - a limit of the process that every child gets and only root can lift (Brand).
//
// The last three need Linux. The file is also the lock that keeps two processes
// from carrying out one turn.
package turnmark
