// Package client is a client of the ALX protocol (interop/alx): it solves intents, inspects
// sessions, and follows run events through lost connections. It reads tolerantly unless told
// otherwise, bounds what a service may send, and follows no redirect.
package client
