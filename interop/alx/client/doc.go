// Package client speaks the ALX protocol (interop/alx) with a service: solve
// intents, inspect sessions, follow run events through lost connections. It
// reads tolerantly unless told otherwise, bounds what a service may send, and
// follows no redirect.
package client
