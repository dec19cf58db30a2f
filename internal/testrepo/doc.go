// Package testrepo makes real git repositories for tests: either hash, either
// ref format, main or linked work tree, with a short history.
package testrepo
