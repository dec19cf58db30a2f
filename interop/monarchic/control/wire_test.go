// The wire as a stock gRPC client, and others, see it.

package control_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	_ "google.golang.org/grpc/encoding/gzip"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/pb"
)

func (s *served) conn() *grpc.ClientConn {
	s.t.Helper()
	conn, err := grpc.NewClient(s.addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	must(s.t, err)
	s.t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func TestEveryMethodOfTheProtoIsServed(t *testing.T) {
	s := serve(t, nil)
	conn := s.conn()
	pb.Register()
	services := pb.File_monarchic_agent_protocol_proto.Services()
	for i := range services.Len() {
		methods := services.Get(i).Methods()
		for j := range methods.Len() {
			m := methods.Get(j)
			path := "/" + string(services.Get(i).FullName()) + "/" + string(m.Name())
			err := conn.Invoke(context.Background(), path, dynamicpb.NewMessage(m.Input()),
				dynamicpb.NewMessage(m.Output()))
			if status.Code(err) != codes.InvalidArgument { // it has no contract_version
				t.Errorf("%s: %v, want InvalidArgument", path, err)
			}
		}
	}
	err := conn.Invoke(context.Background(), "/monarchic.agent_protocol.v1.RunnerControlService/Other",
		&healthpb.HealthCheckRequest{}, &healthpb.HealthCheckResponse{})
	if status.Code(err) != codes.Unimplemented {
		t.Errorf("a method that does not exist: %v, want Unimplemented", err)
	}
}

func TestHealth(t *testing.T) {
	s := serve(t, nil)
	c := healthpb.NewHealthClient(s.conn())
	ctx := context.Background()
	for _, service := range []string{"", "monarchic.agent_protocol.v1.RunnerControlService"} {
		h, err := c.Check(ctx, &healthpb.HealthCheckRequest{Service: service})
		if err != nil || h.Status != healthpb.HealthCheckResponse_SERVING {
			t.Errorf("%q: %v, %v, want SERVING", service, h, err)
		}
	}
	if _, err := c.Check(ctx, &healthpb.HealthCheckRequest{Service: "other"}); status.Code(err) != codes.NotFound {
		t.Errorf("another service: %v, want NotFound", err)
	}
}

// A watching client is told of the end, and does not delay it.
func TestHealthIsWatched(t *testing.T) {
	s := &served{t: t, dir: t.TempDir(), now: time.Now().UTC()}
	makeProject(t, s.dir)
	s.opt.Now = s.clock
	stop := s.start()
	defer stop()
	c := healthpb.NewHealthClient(s.conn())
	for service, want := range map[string]healthpb.HealthCheckResponse_ServingStatus{
		"":      healthpb.HealthCheckResponse_SERVING,
		"other": healthpb.HealthCheckResponse_SERVICE_UNKNOWN,
	} {
		w, err := c.Watch(context.Background(), &healthpb.HealthCheckRequest{Service: service})
		must(t, err)
		if h, err := w.Recv(); err != nil || h.Status != want {
			t.Fatalf("%q: %v, %v, want %s", service, h, err, want)
		}
		defer func() {
			stop()
			if h, err := w.Recv(); err != nil || h.Status != healthpb.HealthCheckResponse_NOT_SERVING {
				t.Errorf("%q: %v, %v, want NOT_SERVING", service, h, err)
			}
			if _, err := w.Recv(); err != io.EOF {
				t.Errorf("%q: %v, want the end", service, err)
			}
		}()
	}
}

func TestCompressedRequestsAreRefused(t *testing.T) {
	s := serve(t, nil)
	_, err := s.c.RegisterRunner(context.Background(), &pb.RegisterRunnerRequest{ContractVersion: "v1", RunnerId: "x"},
		grpc.UseCompressor("gzip"))
	if status.Code(err) != codes.Unimplemented {
		t.Errorf("gzip: %v, want Unimplemented", err)
	}
}

// Neither the Connect protocol nor gRPC-Web nor HTTP/1.1 reaches the service.
func TestOnlyGRPCIsSpoken(t *testing.T) {
	s := serve(t, nil)
	path := "http://" + s.addr + "/monarchic.agent_protocol.v1.RunnerControlService/RegisterRunner"
	h2 := &http.Transport{Protocols: new(http.Protocols)}
	h2.Protocols.SetUnencryptedHTTP2(true)
	h1 := &http.Transport{}
	defer h1.CloseIdleConnections()
	defer h2.CloseIdleConnections()
	for _, kind := range []string{"application/json", "application/proto", "application/grpc-web+proto",
		"application/grpc+json", "application/connect+json", "text/plain", ""} {
		for name, transport := range map[string]*http.Transport{"HTTP/2": h2, "HTTP/1.1": h1} {
			req, err := http.NewRequest(http.MethodPost, path,
				bytes.NewReader([]byte(`{"contractVersion":"v1","runnerId":"x"}`)))
			must(t, err)
			req.Header.Set("Content-Type", kind)
			res, err := transport.RoundTrip(req)
			if err == nil {
				_ = res.Body.Close()
			}
			if name == "HTTP/2" && (err != nil || res.StatusCode != http.StatusUnsupportedMediaType) {
				t.Errorf("%s %q: %v, %v, want status 415", name, kind, res, err)
			}
			if name == "HTTP/1.1" && err == nil && res.StatusCode < 400 {
				t.Errorf("%s %q: status %d, want no answer", name, kind, res.StatusCode)
			}
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.calls) != 0 {
		t.Errorf("these were taken for calls: %+v", s.calls)
	}
}
