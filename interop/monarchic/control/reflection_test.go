// gRPC reflection, as stock clients ask for it.

package control_test

import (
	"context"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	reflectpb "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/control"
)

func TestReflectionTellsTheService(t *testing.T) {
	s := serve(t, func(o *control.Options) { o.Token = "a-long-secret" })
	conn, err := grpc.NewClient(s.addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	must(t, err)
	defer func() { _ = conn.Close() }()
	ask := func(ctx context.Context, req *reflectpb.ServerReflectionRequest) (*reflectpb.ServerReflectionResponse,
		error) {
		stream, err := reflectpb.NewServerReflectionClient(conn).ServerReflectionInfo(ctx)
		must(t, err)
		_ = stream.Send(req)
		must(t, stream.CloseSend())
		return stream.Recv()
	}
	list := &reflectpb.ServerReflectionRequest{
		MessageRequest: &reflectpb.ServerReflectionRequest_ListServices{ListServices: "*"},
	}
	if _, err := ask(context.Background(), list); status.Code(err) != codes.Unauthenticated {
		t.Errorf("without the token: %v", err)
	}
	ctx := metadata.AppendToOutgoingContext(context.Background(), "authorization", "Bearer a-long-secret")
	res, err := ask(ctx, list)
	must(t, err)
	if got := res.GetListServicesResponse().GetService(); len(got) != 1 ||
		got[0].Name != "monarchic.agent_protocol.v1.RunnerControlService" {
		t.Errorf("services: %v", got)
	}
	for _, req := range []*reflectpb.ServerReflectionRequest{
		{MessageRequest: &reflectpb.ServerReflectionRequest_FileContainingSymbol{
			FileContainingSymbol: "monarchic.agent_protocol.v1.PipelineSpec",
		}},
		{MessageRequest: &reflectpb.ServerReflectionRequest_FileByFilename{FileByFilename: "monarchic_agent_protocol.proto"}},
	} {
		res, err := ask(ctx, req)
		must(t, err)
		set := &descriptorpb.FileDescriptorSet{}
		for _, data := range res.GetFileDescriptorResponse().GetFileDescriptorProto() {
			file := &descriptorpb.FileDescriptorProto{}
			must(t, proto.Unmarshal(data, file))
			set.File = append(set.File, file)
		}
		files, err := protodesc.NewFiles(set)
		must(t, err)
		d, err := files.FindDescriptorByName("monarchic.agent_protocol.v1.RunnerControlService")
		must(t, err)
		if got := d.(protoreflect.ServiceDescriptor).Methods().Len(); got != 9 {
			t.Errorf("%v: expected 9 methods, got %d", req, got)
		}
		if !proto.Equal(res.GetOriginalRequest(), req) {
			t.Errorf("expected the request %v back, got %v", req, res.GetOriginalRequest())
		}
	}
	for _, req := range []*reflectpb.ServerReflectionRequest{
		{MessageRequest: &reflectpb.ServerReflectionRequest_FileContainingSymbol{FileContainingSymbol: "no.such.Message"}},
		{MessageRequest: &reflectpb.ServerReflectionRequest_FileContainingSymbol{FileContainingSymbol: "google.protobuf.Empty"}},
		{MessageRequest: &reflectpb.ServerReflectionRequest_FileByFilename{FileByFilename: "../etc/passwd"}},
		{MessageRequest: &reflectpb.ServerReflectionRequest_AllExtensionNumbersOfType{AllExtensionNumbersOfType: "a.B"}},
	} {
		res, err := ask(ctx, req)
		must(t, err)
		if got := res.GetErrorResponse().GetErrorCode(); got != int32(codes.NotFound) {
			t.Errorf("%v: expected NOT_FOUND, got %v", req, res)
		}
	}
	res, err = ask(ctx, &reflectpb.ServerReflectionRequest{Host: "h"})
	must(t, err)
	if res.GetErrorResponse().GetErrorCode() != int32(codes.InvalidArgument) || res.GetValidHost() != "h" {
		t.Errorf("a request for nothing: %v", res)
	}

	// Older clients use the previous version, whose messages are the same.
	older, err := conn.NewStream(ctx, &grpc.StreamDesc{ClientStreams: true, ServerStreams: true},
		"/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo")
	must(t, err)
	for range 2 { // one stream takes several requests
		must(t, older.SendMsg(list))
		res := &reflectpb.ServerReflectionResponse{}
		must(t, older.RecvMsg(res))
		if got := res.GetListServicesResponse().GetService(); len(got) != 1 {
			t.Errorf("services in v1alpha: %v", got)
		}
	}
}

// FuzzReflection: every request is answered or refused, and the answer is a message.
func FuzzReflection(f *testing.F) {
	f.Add([]byte{0x3a, 1, '*'})
	f.Add([]byte{0x22, 0})
	f.Add([]byte{0x1a, 0xff})
	f.Fuzz(func(t *testing.T, request []byte) {
		answer, err := control.ReflectOn(request)
		if err != nil {
			return
		}
		if err := proto.Unmarshal(answer, &reflectpb.ServerReflectionResponse{}); err != nil &&
			proto.Unmarshal(request, &reflectpb.ServerReflectionRequest{}) == nil {
			t.Errorf("%x is answered with %x: %v", request, answer, err)
		}
	})
}
