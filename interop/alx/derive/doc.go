// Package derive turns what is recorded of a governed run into the shapes of the ALX
// protocol (docs/alx.md): run events, timeline, session, solve response, Knowledge Block,
// confidence. It is pure: the same rows give the same answer, nothing is read and no
// clock is asked. Nothing is invented: what no row says is absent.
package derive
