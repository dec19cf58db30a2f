// Package fail is how git and what stands on it say that something failed or is refused: an error with a stable code,
// a sentence, and what to do about it. It does not say which rooms use which code.
package fail
