// The standard health service, grpc.health.v1.Health.

package control

import (
	"context"
	"net/http"
	"sync"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// The states of a service, as grpc.health.v1 numbers them.
const (
	serving        = 1
	notServing     = 2
	serviceUnknown = 3
)

// healthPath is the path of its methods.
const healthPath = "/grpc.health.v1.Health/"

// health reports whether a service is served. Its messages are
//
//	message HealthCheckRequest { string service = 1; }
//	message HealthCheckResponse { ServingStatus status = 1; }
//
// which are identical to StringValue and Int32Value, byte for byte.
type health struct {
	service string
	over    chan struct{}
	end     func()
	watches chan struct{} // one slot for each watch
}

func newHealth(service string) *health {
	over := make(chan struct{})
	return &health{
		service: service,
		over:    over,
		end:     sync.OnceFunc(func() { close(over) }),
		watches: make(chan struct{}, maxWatches),
	}
}

// shutdown makes the service not serving, for calls and for watches.
func (h *health) shutdown() { h.end() }

func (h *health) register(mux *http.ServeMux, options connect.HandlerOption) {
	const check, watch = healthPath + "Check", healthPath + "Watch"
	mux.Handle(check, connect.NewUnaryHandlerSimple(check, h.check, options))
	mux.Handle(watch, connect.NewServerStreamHandlerSimple(watch, h.watch, options))
}

// status returns a service's status; "" means the whole server.
func (h *health) status(service string) int32 {
	select {
	case <-h.over:
		return notServing
	default:
	}
	if service == "" || service == h.service {
		return serving
	}
	return serviceUnknown
}

func (h *health) check(_ context.Context, req *wrapperspb.StringValue) (*wrapperspb.Int32Value, error) {
	status := h.status(req.GetValue())
	if status == serviceUnknown {
		return nil, refuse(connect.CodeNotFound, "unknown service")
	}
	return wrapperspb.Int32(status), nil
}

// watch sends the status now and when it changes, which happens once.
func (h *health) watch(
	ctx context.Context, req *wrapperspb.StringValue, to *connect.ServerStream[wrapperspb.Int32Value],
) error {
	select {
	case h.watches <- struct{}{}:
		defer func() { <-h.watches }()
	default:
		return refuse(connect.CodeResourceExhausted, "too many watch already; ask with Check")
	}
	if err := to.Send(wrapperspb.Int32(h.status(req.GetValue()))); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-h.over:
		return to.Send(wrapperspb.Int32(notServing))
	}
}
