// The text of the .proto, for git agentxchain monarchic proto.

package proto

import _ "embed"

// Text is monarchic_agent_protocol.proto.
//
//go:embed monarchic_agent_protocol.proto
var Text []byte

// Name is the name of the file that programs import.
const Name = "monarchic_agent_protocol.proto"
