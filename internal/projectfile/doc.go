// Package projectfile reads single files of a project: regular ones of bounded size, never through a link out of
// the project or into its .git. What a file means, and writing one, is for the caller.
package projectfile
