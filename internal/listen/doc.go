// Package listen opens the sockets of the servers: on this machine alone, unless a token, and where it is asked for TLS, guards
// what other machines would reach.
package listen
