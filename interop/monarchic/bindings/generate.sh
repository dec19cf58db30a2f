#!/bin/sh
# Writes the Python and TypeScript forms of the protocol's .proto. Needs protoc and
# grpc_python_plugin (Debian: protobuf-compiler, libprotobuf-dev, protobuf-compiler-grpc)
# and, on PATH, protoc-gen-es (npm: @bufbuild/protoc-gen-es).
set -eu
cd "$(dirname "$0")"
protoc -I ../proto --python_out=python \
	--plugin=protoc-gen-grpc_python="$(command -v grpc_python_plugin)" --grpc_python_out=python \
	--es_out=typescript --es_opt=target=ts,import_extension=js \
	monarchic_agent_protocol.proto
