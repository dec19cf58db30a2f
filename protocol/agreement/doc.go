// Package agreement determines who has to agree to a decision, and whether those who agreed count: the rules of a
// decision, people's approvals and signed statements, and the moment for which they are judged. The engine decides
// what a decision then changes; package approval reads decisions back out of a record; package attest has the forms
// of statements and signatures.
package agreement
