// Package mcpclients knows how programs that speak the Model Context Protocol are told of our
// server: the line to type, the project's file they read, and how an entry gets into it. It
// touches no disk.
package mcpclients
