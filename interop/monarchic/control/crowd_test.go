package control_test

import (
	"context"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/pb"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/pbgrpc"
)

// More connections than there may be, which say hello and then nothing, keep no runner out.
func TestSilentConnectionsKeepOutNone(t *testing.T) {
	s := serve(t, nil)
	for range 300 {
		c, err := net.Dial("tcp", s.addr)
		must(t, err)
		t.Cleanup(func() { _ = c.Close() })
		_, err = io.WriteString(c, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00")
		must(t, err)
	}
	client, err := grpc.NewClient(s.addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	must(t, err)
	defer func() { _ = client.Close() }()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	_, err = pbgrpc.NewRunnerControlServiceClient(client).RegisterRunner(ctx, &pb.RegisterRunnerRequest{
		ContractVersion: "v1", RunnerId: "late", Capabilities: &pb.RunnerCapabilities{}}, grpc.WaitForReady(true))
	must(t, err)
}

// Who watches the health needs no token and may stay for ever: half of the connections stay for others.
func TestWatchesAreBounded(t *testing.T) {
	s := serve(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var refused, told int
	for range 4 {
		client, err := grpc.NewClient(s.addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
		must(t, err)
		defer func() { _ = client.Close() }()
		for range 40 {
			w, err := healthpb.NewHealthClient(client).Watch(ctx, &healthpb.HealthCheckRequest{})
			must(t, err)
			switch _, err := w.Recv(); status.Code(err) {
			case codes.OK:
				told++
			case codes.ResourceExhausted:
				refused++
			default:
				t.Fatal(err)
			}
		}
	}
	if told != 128 || refused != 32 {
		t.Errorf("%d watch, %d were refused", told, refused)
	}
}

// Large messages that are on their way take a bounded part of the memory; small ones are read beside them.
func TestLargeMessagesAreBounded(t *testing.T) {
	s := serve(t, nil)
	client, err := grpc.NewClient(s.addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	must(t, err)
	defer func() { _ = client.Close() }()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	large := &pb.RegisterRunnerRequest{ContractVersion: "v1", RunnerId: strings.Repeat("a", 15<<20)}
	answers := make(chan error, 30)
	for range cap(answers) {
		go func() {
			_, err := pbgrpc.NewRunnerControlServiceClient(client).RegisterRunner(ctx, large)
			answers <- err
		}()
	}
	_, err = s.c.RegisterRunner(ctx, &pb.RegisterRunnerRequest{
		ContractVersion: "v1", RunnerId: "small", Capabilities: &pb.RunnerCapabilities{}})
	must(t, err)
	refused := 0
	for range cap(answers) {
		err := <-answers
		if status.Code(err) == codes.ResourceExhausted {
			refused++
		} else if status.Code(err) != codes.InvalidArgument { // the name is too long
			t.Error(err)
		}
	}
	if refused == 0 {
		t.Error("all are taken in at once")
	}
}
