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
# Messages are registered when the first of them is used, not before main: commands that have nothing to do with the
# protocol start by so much sooner (docs/performance.md, what the libraries cost).
sed -i -E -e 's/^func init\(\) \{ (file_monarchic_agent_protocol_proto_init)\(\) \}$/var register sync.Once\n\n\/\/ Register makes the messages known to the libraries. What uses a message does that by itself; call it before\n\/\/ reading File_monarchic_agent_protocol_proto or looking for a message by its name.\nfunc Register() { register.Do(\1) }\n/' \
	-e 's/^(func \([^)]*\) (ProtoReflect\(\) protoreflect.Message|Descriptor\(\) protoreflect.EnumDescriptor|Type\(\) protoreflect.EnumType) \{)$/\1\n\tRegister()/' \
	monarchic_agent_protocol.pb.go
gofmt -w monarchic_agent_protocol.pb.go
# The plugin knows one package for both; the messages' names come in by a dot import.
sed -e 's/^package pb$/package pbgrpc/' \
	-e 's#^import ($#import (\n\t. "github.com/git-agentxchain/git-agentxchain/interop/monarchic/pb"#' \
	"$plugins/monarchic_agent_protocol_grpc.pb.go" >../pbgrpc/monarchic_agent_protocol_grpc.pb.go
gofmt -w ../pbgrpc/monarchic_agent_protocol_grpc.pb.go
