// Package archiving takes ended runs out of the refs that every listing, fetch and push goes through, brings them
// back, and prunes what a remote keeps. Package archive keeps their list.
package archiving
