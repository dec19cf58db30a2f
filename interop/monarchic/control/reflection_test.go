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

	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/control"
)

func TestReflectionTellsTheService(t *testing.T) {
	s := serve(t, func(o *control.Options) { o.Token = "a-long-secret" })
	conn, err := grpc.NewClient(s.addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	must(t, err)
	defer func() { _ = conn.Close() }()
	ask := func(ctx context.Context, req *reflectpb.ServerReflectionRequest) (*reflectpb.ServerReflectionResponse, error) {
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
	res, err = ask(ctx, &reflectpb.ServerReflectionRequest{
		MessageRequest: &reflectpb.ServerReflectionRequest_FileContainingSymbol{
			FileContainingSymbol: "monarchic.agent_protocol.v1.PipelineSpec",
		},
	})
	must(t, err)
	if len(res.GetFileDescriptorResponse().GetFileDescriptorProto()) == 0 {
		t.Errorf("no definition of PipelineSpec: %v", res)
	}
}
