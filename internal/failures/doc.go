// Package failures makes several failures of one piece of work one error, and says what to do about those of
// permissions.
package failures
