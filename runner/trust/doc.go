// Package trust reports what a committed file would make this machine run or contact, in one digest, and
// whether a person has agreed to exactly that here: in this repository's own git configuration, for one
// command, or by the environment. It runs nothing; a caller asks before it uses a program.
package trust
