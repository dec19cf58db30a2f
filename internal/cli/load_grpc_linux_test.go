// The service for runners under load: misused HTTP/2.

package cli

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/protobuf/proto"

	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/pb"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/pbgrpc"
)

// h2 is a connection after the preface.
type h2 struct {
	*http2.Framer
	c      net.Conn
	head   strings.Builder
	enc    *hpack.Encoder
	addr   string
	stream uint32
}

func newH2(c net.Conn, addr string, settings ...http2.Setting) (*h2, error) {
	h := &h2{Framer: http2.NewFramer(c, c), c: c, addr: addr, stream: 1}
	h.AllowIllegalWrites = true
	h.enc = hpack.NewEncoder(&h.head)
	if _, err := io.WriteString(c, http2.ClientPreface); err != nil {
		return nil, err
	}
	return h, h.WriteSettings(settings...)
}

// open opens a stream for a method.
func (h *h2) open(method string, more ...string) (uint32, error) {
	id := h.stream
	h.stream += 2
	h.head.Reset()
	for i, pairs := 0, append([]string{":method", "POST", ":scheme", "http", ":authority", h.addr, ":path", method,
		"content-type", "application/grpc", "te", "trailers"}, more...); i < len(pairs); i += 2 {
		_ = h.enc.WriteField(hpack.HeaderField{Name: pairs[i], Value: pairs[i+1]})
	}
	return id,
		h.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: []byte(h.head.String()), EndHeaders: true})
}

// message returns the beginning of a gRPC message of a length.
func message(length uint32, compressed byte, data []byte) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{compressed}, length), data...)
}

// unbounded sends data for as long as the server takes it; it acknowledges nothing and ignores the windows.
func (h *h2) unbounded(id uint32, size int) error {
	piece := make([]byte, 16<<10)
	for sent := 0; sent < size; sent += len(piece) {
		if err := h.WriteData(id, false, piece); err != nil {
			return err
		}
	}
	return nil
}

// answersPings keeps a connection alive, as a client would.
func (h *h2) answersPings() error {
	for {
		f, err := h.ReadFrame()
		if err != nil {
			return err
		}
		if p, ok := f.(*http2.PingFrame); ok && !p.IsAck() {
			if err := h.WritePing(true, p.Data); err != nil {
				return err
			}
		}
	}
}

// TestSurviveLoadRunners puts the service for runners under load.
func TestSurviveLoadRunners(t *testing.T) {
	testrepo.Serving(t)
	dir := mcpProject(t)
	l := startLoaded(t, dir, "--json", "monarchic", "serve", "--listen", "127.0.0.1:0", "--heartbeat", "1s")
	l.listens()
	l.addr = l.said["address"].(string)
	dial := func() *grpc.ClientConn {
		c, err := grpc.NewClient(l.addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	kept := dial()
	defer func() { _ = kept.Close() }()
	runner := pbgrpc.NewRunnerControlServiceClient(kept)
	limited := func() (context.Context, context.CancelFunc) { return context.WithTimeout(t.Context(), time.Minute) }
	var session string
	l.asks["register"] = func() error {
		fresh := dial()
		defer func() { _ = fresh.Close() }()
		ctx, cancel := limited()
		defer cancel()
		res, err := pbgrpc.NewRunnerControlServiceClient(fresh).RegisterRunner(ctx, &pb.RegisterRunnerRequest{
			ContractVersion: "v1", RunnerId: "good", Capabilities: &pb.RunnerCapabilities{}})
		if err == nil && res.GetSessionId() == "" {
			err = errors.New(res.String())
		}
		session = res.GetSessionId()
		return err
	}
	l.asks["then heartbeat"] = func() error {
		ctx, cancel := limited()
		defer cancel()
		_, err := runner.Heartbeat(ctx, &pb.HeartbeatRequest{
			ContractVersion: "v1",
			RunnerId:        "good",
			SessionId:       session,
		})
		return err
	}
	l.asks["then lease"] = func() error {
		ctx, cancel := limited()
		defer cancel()
		res, err := runner.AcquireLease(ctx, &pb.AcquireLeaseRequest{
			ContractVersion: "v1",
			RunnerId:        "good",
			SessionId:       session,
			AvailableSlots:  1,
		})
		if err == nil && res == nil {
			err = errors.New("no answer")
		}
		return err
	}
	l.asks["health"] = func() error {
		ctx, cancel := limited()
		defer cancel()
		res, err := healthpb.NewHealthClient(kept).Check(ctx, &healthpb.HealthCheckRequest{})
		if err == nil && res.GetStatus() != healthpb.HealthCheckResponse_SERVING {
			err = errors.New(res.String())
		}
		return err
	}
	l.strangers()
	l.runners()
	l.crowd(400)
	l.bear(30 * time.Second)
}

// runners adds the bad clients of HTTP/2 and gRPC.
func (l *underLoad) runners() {
	const service = "/monarchic.agent_protocol.v1.RunnerControlService/"
	const watch = "/grpc.health.v1.Health/Watch"
	on := func(name string, at int, do func(ctx context.Context, h *h2)) {
		l.on(name, at, func(ctx context.Context, c net.Conn, _ *sort) {
			_ = c.SetDeadline(time.Now().Add(5 * time.Second))
			if h, err := newH2(c, l.addr); err == nil {
				do(ctx, h)
			}
		})
	}
	held := func(name string, at int, do func(ctx context.Context, h *h2) error, settings ...http2.Setting) {
		l.held(name, at, func(ctx context.Context, c net.Conn) error {
			h, err := newH2(c, l.addr, settings...)
			if err != nil {
				return err
			}
			return do(ctx, h)
		})
	}
	gone := func(h *h2) error { return waits(h.c) }
	held("hello and nothing", 20, func(_ context.Context, h *h2) error { return gone(h) })
	held("hello and pings", 20, func(_ context.Context, h *h2) error { return h.answersPings() })
	l.held("half a hello", 20, func(ctx context.Context, c net.Conn) error {
		return drip(ctx, c, "", http2.ClientPreface)
	})
	held("slow message", 40, func(ctx context.Context, h *h2) error {
		for range 8 {
			id, err := h.open(service + "RegisterRunner")
			if err != nil {
				return err
			}
			if err := h.WriteData(id, false, message(1<<20, 0, nil)); err != nil {
				return err
			}
		}
		go func() { _ = h.answersPings() }()
		for ctx.Err() == nil {
			if err := h.WriteData(1, false, []byte{0}); err != nil {
				return err
			}
			time.Sleep(200 * time.Millisecond)
		}
		return nil
	})
	// Each sends the beginning of many large messages.
	held("large messages without end", 8, func(_ context.Context, h *h2) error {
		go func() { _, _ = io.Copy(io.Discard, h.c) }()
		for range 60 {
			id, err := h.open(service + "ReportStepOutcome")
			if err != nil {
				return err
			}
			if err := h.WriteData(id, false, message(16<<20, 0, nil)); err != nil {
				return err
			}
			if err := h.unbounded(id, 16<<20-1); err != nil {
				return err
			}
		}
		return gone(h)
	})
	// The same, but polite: it keeps to the windows, so that the server has to take it all.
	l.sorts["many large messages"] = &sort{at: 2, do: func(ctx context.Context, _ *sort) {
		c, err := grpc.NewClient(l.addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			return
		}
		defer func() { _ = c.Close() }()
		ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
		defer cancel()
		large := &pb.RegisterRunnerRequest{ContractVersion: "v1", RunnerId: strings.Repeat("a", 15<<20)}
		done := make(chan struct{}, 40)
		for range cap(done) {
			go func() {
				_, _ = pbgrpc.NewRunnerControlServiceClient(c).RegisterRunner(ctx, large)
				done <- struct{}{}
			}()
		}
		for range cap(done) {
			<-done
		}
	}}
	held("watches unread", 20, func(_ context.Context, h *h2) error {
		for range 20 {
			id, err := h.open(watch)
			if err != nil {
				return err
			}
			if err := h.WriteData(id, true, message(0, 0, nil)); err != nil {
				return err
			}
		}
		return h.answersPings()
	}, http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0})
	on("streams cancelled", 3, func(_ context.Context, h *h2) {
		go func() { _, _ = io.Copy(io.Discard, h.c) }()
		for range 500 {
			id, err := h.open(service + "AcquireLease")
			if err != nil || h.WriteRSTStream(id, http2.ErrCodeCancel) != nil {
				return
			}
		}
	})
	on("too many streams", 2, func(_ context.Context, h *h2) {
		for range 300 {
			if _, err := h.open(service + "Heartbeat"); err != nil {
				return
			}
		}
		_ = gone(h)
	})
	on("settings", 2, func(_ context.Context, h *h2) {
		for range 2000 {
			if h.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: rand.Uint32N(1 << 20)}) != nil {
				return
			}
		}
	})
	on("pings", 2, func(_ context.Context, h *h2) {
		for range 20000 {
			if h.WritePing(false, [8]byte{}) != nil {
				return
			}
		}
	})
	on("headers without end", 2, func(_ context.Context, h *h2) {
		_ = h.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: []byte{0x82}})
		for range 2000 {
			if h.WriteContinuation(1, false, make([]byte, 8<<10)) != nil {
				return
			}
		}
	})
	on("large headers", 2, func(_ context.Context, h *h2) {
		_, _ = h.open(service+"Heartbeat", "x-large", strings.Repeat("a", 10<<10),
			"x-larger", strings.Repeat("b", 4<<20))
		_ = gone(h)
	})
	on("too large a message", 2, func(_ context.Context, h *h2) {
		if id, err := h.open(service + "Heartbeat"); err == nil {
			_ = h.WriteData(id, false, message(1<<32-1, 0, make([]byte, 1000)))
			_ = h.unbounded(id, 8<<20)
		}
	})
	on("compressed", 2, func(_ context.Context, h *h2) {
		if id, err := h.open(service+"Heartbeat", "grpc-encoding", "gzip"); err == nil {
			_ = h.WriteData(id, true, message(1000, 1, make([]byte, 1000)))
		}
		_ = gone(h)
	})
	on("no message", 3, func(_ context.Context, h *h2) {
		for range 20 {
			if id, err := h.open(service + "ReportStepOutcome"); err == nil {
				junk := noise(rand.IntN(2000))
				_ = h.WriteData(id, true, message(uint32(len(junk)), 0, junk))
			}
		}
		_ = gone(h)
	})
	// A value in a value in a value.
	deep, _ := proto.Marshal(&pb.ReportStepOutcomeRequest{ContractVersion: "v1", RunnerId: "bad"})
	inner := []byte{}
	for len(inner) < 1<<20 {
		inner = append(binary.AppendUvarint([]byte{0x0a}, uint64(len(inner))), inner...)
		if len(inner) > 4000 && len(inner)%7 == 0 {
			break
		}
	}
	deep = append(deep, inner...)
	on("deep message", 2, func(_ context.Context, h *h2) {
		if id, err := h.open(service + "ReportStepOutcome"); err == nil {
			_ = h.WriteData(id, true, message(uint32(len(deep)), 0, deep))
		}
		_ = gone(h)
	})
	on("garbage in frames", 3, func(_ context.Context, h *h2) {
		for range 50 {
			junk := noise(rand.IntN(5000))
			if h.WriteRawFrame(http2.FrameType(rand.IntN(12)), http2.Flags(rand.IntN(256)), rand.Uint32N(20),
				junk) != nil {
				return
			}
		}
	})
	on("windows too wide", 1, func(_ context.Context, h *h2) {
		_ = h.WriteWindowUpdate(0, 1<<31-1)
		_ = h.WriteWindowUpdate(0, 1<<31-1)
		_ = gone(h)
	})
	l.on("HTTP/1", 2, func(_ context.Context, c net.Conn, _ *sort) {
		_ = c.SetDeadline(time.Now().Add(5 * time.Second))
		_, _ = io.WriteString(c, "POST "+service+"Heartbeat HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello")
		_ = waits(c)
	})
}
