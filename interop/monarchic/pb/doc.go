// Package pb holds the protobuf form of the protocol, generated from
// ../proto/monarchic_agent_protocol.proto: its messages. The client of
// RunnerControlService is in package pbgrpc.
package pb

//go:generate sh generate.sh
