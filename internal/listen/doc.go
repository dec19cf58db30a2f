// Package listen opens the sockets of the servers: on this machine only, unless a token, and TLS where required,
// protects an address that other machines can reach.
package listen
