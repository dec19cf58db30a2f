// Package mcpserver offers a governed project to agents over the Model Context Protocol: what the
// run is waiting for, the instructions of a turn, staging and accepting its result (docs/mcp.md).
// It offers nothing that a person has to decide, and everything done through the server is recorded
// as done inside a turn, so that the engine refuses it too.
package mcpserver
