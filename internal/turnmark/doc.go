// Package turnmark tells an agent's processes from a person's. An agent can type
// the command that approves its own gate; a process that belongs to a dispatched
// turn is refused. A turn's processes are recognised by four marks, each of which
// works without the others:
//
//   - a variable in the environment of the process or of one of its ancestors;
//   - a file that the process or one of its ancestors holds open, inherited from
//     the start: clearing the environment does not close it;
//   - descent from the process that carries out the turn: it is the parent of every
//     orphan of its agents (process.AdoptOrphans), and they are in their own
//     sessions, which a process cannot leave for another one. It is recognised by
//     its lock on the turn's file;
//   - a limit of the process that every child inherits and only root can lift (Brand).
//
// The last three need Linux. The file is also the lock that keeps two processes
// from carrying out one turn.
package turnmark
