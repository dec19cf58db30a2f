// The standard reflection service: it describes the service to permitted callers.

package control

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/pb"
)

// Fields of grpc.reflection.v1.ServerReflectionRequest and of its response. The library for it
// would cost every command of this program a millisecond before main; Empty keeps fields it does
// not know, and so can hold both messages.
const (
	askFile      protowire.Number = 3
	askSymbol    protowire.Number = 4
	askExtension protowire.Number = 5
	askNumbers   protowire.Number = 6
	askServices  protowire.Number = 7

	tellHost     protowire.Number = 1
	tellRequest  protowire.Number = 2
	tellFiles    protowire.Number = 4
	tellServices protowire.Number = 6
	tellError    protowire.Number = 7
)

// reflected returns the definitions that the service needs, by the names of their files.
func reflected() map[string]func() ([]byte, []int) {
	return map[string]func() ([]byte, []int){
		"monarchic_agent_protocol.proto": (*pb.PipelineSpec)(nil).Descriptor, //nolint:staticcheck // the bytes, without protodesc
		"google/protobuf/struct.proto":   (*structpb.Struct)(nil).Descriptor, //nolint:staticcheck // the bytes, without protodesc
	}
}

// registerReflection serves both versions that clients use; they differ in their name.
func registerReflection(mux *http.ServeMux, options ...connect.HandlerOption) {
	for _, version := range []string{"v1", "v1alpha"} {
		path := "/grpc.reflection." + version + ".ServerReflection/ServerReflectionInfo"
		mux.Handle(path, connect.NewBidiStreamHandler(path, reflect, options...))
	}
}

func reflect(_ context.Context, stream *connect.BidiStream[emptypb.Empty, emptypb.Empty]) error {
	for {
		req, err := stream.Receive()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		answer, err := reflectOn(req.ProtoReflect().GetUnknown())
		if err != nil {
			return err
		}
		res := &emptypb.Empty{}
		res.ProtoReflect().SetUnknown(answer)
		if err := stream.Send(res); err != nil {
			return err
		}
	}
}

// reflectOn answers one request, both in wire form.
func reflectOn(request []byte) ([]byte, error) {
	var host, arg string
	var kind protowire.Number
	for rest := request; len(rest) > 0; {
		n, t, size := protowire.ConsumeTag(rest)
		if size < 0 {
			return nil, refuse(connect.CodeInvalidArgument, "the request is not a message: %w", protowire.ParseError(size))
		}
		rest = rest[size:]
		if size = protowire.ConsumeFieldValue(n, t, rest); size < 0 {
			return nil, refuse(connect.CodeInvalidArgument, "the request is not a message: %w", protowire.ParseError(size))
		}
		if t == protowire.BytesType {
			text, _ := protowire.ConsumeString(rest)
			switch {
			case n == tellHost:
				host = text
			case n >= askFile && n <= askServices:
				kind, arg = n, text
			}
		}
		rest = rest[size:]
	}
	out := appendBytes(nil, tellHost, []byte(host))
	out = appendBytes(out, tellRequest, request)
	switch kind {
	case askServices:
		return appendBytes(out, tellServices, appendBytes(nil, 1, appendBytes(nil, 1, []byte(serviceName)))), nil
	case askFile:
		return appendFiles(out, arg)
	case askSymbol:
		pb.Register()
		d, err := protoregistry.GlobalFiles.FindDescriptorByName(protoreflect.FullName(arg))
		if err != nil {
			return appendError(out, 5, "there is no definition of "+arg), nil
		}
		return appendFiles(out, d.ParentFile().Path())
	case askExtension, askNumbers:
		return appendError(out, 5, "there are no extensions"), nil
	}
	return appendError(out, 3, "the request asks for nothing that is known here"), nil
}

// appendFiles answers with a file and, for the service's own, what it imports.
func appendFiles(out []byte, name string) ([]byte, error) {
	known := reflected()
	names := []string{name}
	if name == "monarchic_agent_protocol.proto" {
		names = append(names, "google/protobuf/struct.proto")
	}
	var files []byte
	for _, name := range names {
		definition, ok := known[name]
		if !ok {
			return appendError(out, 5, "there is no file "+name), nil
		}
		packed, _ := definition()
		z, err := gzip.NewReader(bytes.NewReader(packed))
		if err != nil {
			return nil, err
		}
		data, err := io.ReadAll(z)
		if err != nil {
			return nil, err
		}
		files = appendBytes(files, 1, data)
	}
	return appendBytes(out, tellFiles, files), nil
}

func appendError(out []byte, code uint64, message string) []byte {
	e := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), code)
	return appendBytes(out, tellError, appendBytes(e, 2, []byte(message)))
}

func appendBytes(out []byte, n protowire.Number, data []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(out, n, protowire.BytesType), data)
}
