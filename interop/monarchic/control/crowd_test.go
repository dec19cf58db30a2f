package control_test

import (
	"context"
	"io"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/pb"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/pbgrpc"
)

// More connections than allowed, which send a preface and then nothing, keep no runner out.
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

// Watching the health needs no token and has no time limit: half of the connections are reserved for others.
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

// Large messages in transit use a bounded part of the memory; small ones are still read.
func TestLargeMessagesAreBounded(t *testing.T) {
	testrepo.Serving(t)
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

// Nothing stays of a connection whose streams were all cancelled, or of requests that had not begun when it ended.
func TestCancelledStreamsLeaveNothing(t *testing.T) {
	testrepo.Serving(t)
	s := serve(t, nil)
	var head strings.Builder
	encoder := hpack.NewEncoder(&head)
	flood := func(connections int) {
		for range connections {
			c, err := net.Dial("tcp", s.addr)
			must(t, err)
			_, err = io.WriteString(c, http2.ClientPreface)
			must(t, err)
			framer := http2.NewFramer(c, c)
			must(t, framer.WriteSettings())
			for id := uint32(1); id < 1001; id += 2 {
				head.Reset()
				for _, kv := range [][2]string{{":method", "POST"}, {":scheme", "http"}, {":authority", s.addr},
					{":path", pbgrpc.RunnerControlService_AcquireLease_FullMethodName},
					{"content-type", "application/grpc"}} {
					must(t, encoder.WriteField(hpack.HeaderField{Name: kv[0], Value: kv[1], Sensitive: true}))
				}
				if framer.WriteHeaders(http2.HeadersFrameParam{
					StreamID:      id,
					BlockFragment: []byte(head.String()),
					EndHeaders:    true,
				}) != nil ||
					framer.WriteRSTStream(id, http2.ErrCodeCancel) != nil {
					break // it has seen enough
				}
			}
			must(t, c.Close())
		}
	}
	held := func() int {
		var m runtime.MemStats
		for range 3 { // the second one empties the pools
			runtime.GC()
		}
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	flood(5)
	before := held()
	flood(100)
	after := 0
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if after = held(); after < before+(4<<20) {
			return
		}
	}
	t.Errorf("%d KiB more are held", (after-before)>>10)
}
