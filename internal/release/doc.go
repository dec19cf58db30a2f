// Package release says whether a program file was released: its SHA-256 is in a list of checksums, and the list is
// signed with an SSH key that the reader trusts (docs/releasing.md#check-a-binary). It reads only its input and
// does not use the network.
package release
