// Package release says whether a program file is one that was released: its SHA-256 stands in a
// list of checksums, and the list is signed with an SSH key that the reader trusts
// (docs/releasing.md#check-a-binary). It reads what it is given and asks no network.
package release
