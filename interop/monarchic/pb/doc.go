// Package pb holds the protobuf form of the protocol, generated from
// ../proto/monarchic_agent_protocol.proto (spec/08 §1, §3, §6.1): its messages
// and the client and server side of RunnerControlService.
package pb

//go:generate sh generate.sh
