// Package mcp carries out turns by calling the tool agentxchain_turn of a server that speaks the
// Model Context Protocol: either a server that is started for the turn and talks over its standard
// streams, or one that is reached over streamable HTTP.
package mcp
