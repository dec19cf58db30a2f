// The published JSON Schemas of this project, as files inside the program.

// Package schemas holds the published JSON Schemas (draft 2020-12), so that the program validates
// with the same files that people read.
package schemas

import "embed"

// Config is the schema of agentxchain.json.
//
//go:embed agentxchain.json
var Config []byte

// Monarchic is the directory monarchic/v1: the types of the Monarchic agent
// protocol v1, one file each, and schema.json, the index.
//
//go:embed monarchic/v1
var Monarchic embed.FS
