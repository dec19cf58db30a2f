// Package agreement holds who has to agree to a decision, and whether those who said yes
// count: the rules of a decision, the people's words and signed statements, and the moment
// they are held against. What a decision then changes is the engine's; reading decisions
// back out of a record is package approval's; the forms of statements and signatures are
// package attest's.
package agreement
