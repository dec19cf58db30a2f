// Package lockfile is the acceptance lock: a file with one owner, named, that dies
// with its process and can be taken over then. The file is the reference
// implementation's as well (docs/spec/lifecycle.md#accepting-a-turn); what it says
// is read and judged by package git.
package lockfile
