#!/bin/sh
# Writes the Go form of the protocol's .proto: the messages beside this file, the
# client into ../pbgrpc. Needs protoc; the two plugins come from tools/go.mod.
set -eu
cd "$(dirname "$0")"
plugins=$(mktemp -d)
trap 'rm -rf "$plugins"' EXIT
go build -modfile=../../../tools/go.mod -o "$plugins/" \
	google.golang.org/protobuf/cmd/protoc-gen-go \
	google.golang.org/grpc/cmd/protoc-gen-go-grpc
PATH="$plugins:$PATH" protoc -I ../proto \
	--go_out=. --go_opt=paths=source_relative \
	--go-grpc_out="$plugins" --go-grpc_opt=paths=source_relative \
	monarchic_agent_protocol.proto
# The plugin knows one package for both; the messages' names come in by a dot import.
sed -e 's/^package pb$/package pbgrpc/' \
	-e 's#^import ($#import (\n\t. "github.com/git-agentxchain/git-agentxchain/interop/monarchic/pb"#' \
	"$plugins/monarchic_agent_protocol_grpc.pb.go" >../pbgrpc/monarchic_agent_protocol_grpc.pb.go
gofmt -w ../pbgrpc/monarchic_agent_protocol_grpc.pb.go
