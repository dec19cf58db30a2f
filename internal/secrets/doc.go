// Package secrets finds credentials in text: tokens whose shape their issuer
// documents, private keys, passwords in addresses and values that are called
// secret. It names what it finds by rule, line and fingerprint, never by value,
// and takes it out of streams.
//
// The package is pure: text in, findings out. It compiles no
// expression and does nothing before it is called. One pass over the text looks for
// the few bytes each rule begins with, so the time is linear in the length.
package secrets
