// Package lockfile is the acceptance lock: a file with one named owner that can be taken over when the owner's
// process has died. The reference implementation uses the same file (docs/spec/lifecycle.md#accepting-a-turn);
// package git parses and judges its content.
package lockfile
