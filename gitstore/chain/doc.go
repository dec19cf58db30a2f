// Package chain reads the operations of recorded runs: which runs there are, a run's log, one operation with what it
// was decided on, a run as one operation left it. It needs a repository and no work tree, and believes nothing:
// whether operations hold is package proof's to say.
package chain
