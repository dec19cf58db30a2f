// Package projectfile reads single files of a project: regular ones of bounded size, never through a link out of
// the project or into its .git. Callers interpret and write files.
package projectfile
