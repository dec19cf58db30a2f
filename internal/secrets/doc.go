// Package secrets finds credentials in text: tokens whose format their issuer documents, private keys, passwords in
// URLs and values with a name that says secret. It reports findings by rule, line and fingerprint, never by value,
// and removes secrets from streams.
//
// The package is pure: text in, findings out. It compiles no expressions and does nothing before it is called. One
// pass over the text looks for the few bytes with which each rule begins, so the time is linear in the length.
package secrets
