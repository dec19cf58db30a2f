// Package failures combines several failures of one piece of work into one error, and gives remedies for permission
// errors.
package failures
