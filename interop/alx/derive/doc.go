// Package derive turns the record of a governed run into the shapes of the ALX protocol
// (docs/alx.md): run events, timeline, session, solve response, Knowledge Block, confidence. It is
// pure: the same rows give the same answer, and it reads neither files nor the clock. It invents
// nothing: what no row says is absent.
package derive
