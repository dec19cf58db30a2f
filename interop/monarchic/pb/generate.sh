#!/bin/sh
# Writes the Go form of the protocol's .proto beside this file. Needs protoc;
# the two plugins come from tools/go.mod.
set -eu
cd "$(dirname "$0")"
plugins=$(mktemp -d)
trap 'rm -rf "$plugins"' EXIT
go build -modfile=../../../tools/go.mod -o "$plugins/" \
	google.golang.org/protobuf/cmd/protoc-gen-go \
	google.golang.org/grpc/cmd/protoc-gen-go-grpc
PATH="$plugins:$PATH" protoc -I ../proto \
	--go_out=. --go_opt=paths=source_relative \
	--go-grpc_out=. --go-grpc_opt=paths=source_relative \
	monarchic_agent_protocol.proto
