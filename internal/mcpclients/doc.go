// Package mcpclients knows how to register our server with programs that speak the Model Context Protocol: the
// command line, the project file they read, and how to add an entry to it. It does not touch the disk.
package mcpclients
