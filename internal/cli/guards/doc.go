// Package guards holds the commands that install, show and test what guards a repository: git
// hooks, lifecycle hooks and their trust, the merge driver. The guards are in hooks/githooks.
package guards
