// A runner of the Monarchic protocol for the scripts: one call per command.

package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/pb"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/pbgrpc"
)

// leaseRunner is what one scripted runner remembers between its calls.
type leaseRunner struct {
	Runner     string          `json:"runner"`
	Session    string          `json:"session"`
	Assignment json.RawMessage `json:"assignment"`
}

// scriptLeaseRunner makes one call and prints the answer as JSON:
//
//	lease-runner FILE ADDRESS register NAME | acquire | start | progress | renew | resume | heartbeat | ack | outcome [MEMBER=VALUE...]
//
// FILE holds what the runner remembers. LEASE_RUNNER_TOKEN is sent as a bearer token.
func scriptLeaseRunner(args []string) error {
	if len(args) < 3 {
		return fmt.Errorf("usage: lease-runner FILE ADDRESS CALL [ARG...]")
	}
	file, addr, call, args := args[0], args[1], args[2], args[3:]
	var me leaseRunner
	if data, err := os.ReadFile(file); err == nil {
		if err := json.Unmarshal(data, &me); err != nil {
			return err
		}
	}
	conn, err := grpc.NewClient(addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if token := os.Getenv("LEASE_RUNNER_TOKEN"); token != "" {
		ctx = metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+token)
	}
	as := &pb.LeaseAssignment{}
	if me.Assignment != nil {
		if err := protojson.Unmarshal(me.Assignment, as); err != nil {
			return err
		}
	}
	answer, err := me.call(ctx, pbgrpc.NewRunnerControlServiceClient(conn), call, args, as)
	if err != nil {
		return err
	}
	data, err := protojson.MarshalOptions{UseProtoNames: true, EmitUnpopulated: true}.Marshal(answer)
	if err != nil {
		return err
	}
	fmt.Println(string(data))
	if me.Assignment, err = protojson.Marshal(as); err != nil {
		return err
	}
	if data, err = json.Marshal(me); err != nil {
		return err
	}
	return os.WriteFile(file, data, 0o600)
}

func (me *leaseRunner) call(ctx context.Context, c pbgrpc.RunnerControlServiceClient, call string, args []string,
	as *pb.LeaseAssignment) (proto.Message, error) {
	const v = "v1"
	switch call {
	case "register":
		me.Runner = args[0]
		res, err := c.RegisterRunner(ctx, &pb.RegisterRunnerRequest{ContractVersion: v, RunnerId: me.Runner})
		me.Session = res.GetSessionId()
		return res, err
	case "acquire":
		res, err := c.AcquireLease(ctx, &pb.AcquireLeaseRequest{
			ContractVersion: v,
			RunnerId:        me.Runner,
			SessionId:       me.Session,
			AvailableSlots:  1,
		})
		if got := res.GetAssignment(); got != nil {
			proto.Reset(as)
			proto.Merge(as, got)
		}
		return res, err
	case "start":
		return c.ReportStepStarted(ctx, &pb.ReportStepStartedRequest{
			ContractVersion: v,
			RunnerId:        me.Runner,
			SessionId:       me.Session,
			Lease:           as.Lease,
		})
	case "progress":
		return c.ReportStepProgress(ctx, &pb.ReportStepProgressRequest{
			ContractVersion: v,
			RunnerId:        me.Runner,
			SessionId:       me.Session,
			Lease:           as.Lease,
			Events: []*pb.Event{{
				Version:   v,
				EventType: "step",
				Timestamp: "2026-01-01T00:00:00Z",
				TaskId:    as.GetLease().GetTaskId(),
				Status:    "running",
			}},
		})
	case "renew":
		return c.RenewLease(ctx, &pb.RenewLeaseRequest{
			ContractVersion: v,
			RunnerId:        me.Runner,
			SessionId:       me.Session,
			Lease:           as.Lease,
		})
	case "resume":
		res, err := c.ResumeLease(ctx, &pb.ResumeLeaseRequest{
			ContractVersion: v,
			RunnerId:        me.Runner,
			SessionId:       me.Session,
			Lease:           as.Lease,
		})
		if res.GetAccepted() {
			as.Lease.FencingToken = res.CurrentFencingToken
		}
		return res, err
	case "heartbeat":
		return c.Heartbeat(ctx, &pb.HeartbeatRequest{
			ContractVersion: v,
			RunnerId:        me.Runner,
			SessionId:       me.Session,
			ActiveLeases:    []*pb.LeaseStatus{{Lease: as.Lease, State: "running"}},
		})
	case "ack":
		return c.AckCancellation(ctx, &pb.AckCancellationRequest{
			ContractVersion: v,
			RunnerId:        me.Runner,
			SessionId:       me.Session,
			Lease:           as.Lease,
			Status:          "stopped",
		})
	case "outcome":
		own := as.GetTask().GetExtensions().GetFields()["agentxchain"].GetStructValue().GetFields()
		result := map[string]any{}
		if tmpl := own["turn_result_template"].GetStructValue(); tmpl != nil {
			result = tmpl.AsMap()
		}
		result["decisions"], result["files_changed"] = []any{}, []any{}
		result["proposed_next_role"] = "human"
		result["verification"] = map[string]any{"status": "skipped"}
		result["artifact"] = map[string]any{"type": "review", "ref": nil}
		result["objections"] = []any{map[string]any{"id": "OBJ-001", "severity": "low", "statement": "a real doubt"}}
		for _, a := range args {
			name, value, _ := strings.Cut(a, "=")
			var x any
			if json.Unmarshal([]byte(value), &x) != nil {
				x = value
			}
			result[name] = x
		}
		body, err := structpb.NewStruct(map[string]any{"agentxchain": map[string]any{"turn_result": result}})
		if err != nil {
			return nil, err
		}
		return c.ReportStepOutcome(ctx, &pb.ReportStepOutcomeRequest{
			ContractVersion: v,
			RunnerId:        me.Runner,
			SessionId:       me.Session,
			Lease:           as.Lease,
			Status:          pb.PlanStatus_COMPLETE,
			Extensions:      body,
		})
	}
	return nil, fmt.Errorf("there is no call %q", call)
}
