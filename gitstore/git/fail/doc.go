// Package fail is how git and the packages on top of it report a failure or refusal: an error with a stable code, a
// sentence, and a hint. It does not define which package uses which code.
package fail
