"""One step of a run, with nothing but the protocol: register, lease, start, report.

usage: step.py ADDRESS DIRECTORY   (needs grpcio and protobuf)

The step writes step-python.md into DIRECTORY, the served work tree.
"""

import pathlib
import sys

import grpc

import monarchic_agent_protocol_pb2 as pb
import monarchic_agent_protocol_pb2_grpc as rpc


def main(address, directory):
    with grpc.insecure_channel(address) as channel:
        runner = rpc.RunnerControlServiceStub(channel)
        who = dict(contract_version="v1", runner_id="python")
        who["session_id"] = runner.RegisterRunner(pb.RegisterRunnerRequest(**who)).session_id
        got = runner.AcquireLease(pb.AcquireLeaseRequest(available_slots=1, **who))
        if not got.HasField("assignment"):
            sys.exit("no work: %s" % got.extensions)
        lease = got.assignment.lease
        if not runner.ReportStepStarted(pb.ReportStepStartedRequest(lease=lease, **who)).accepted:
            sys.exit("the start was refused")
        name = "step-python.md"
        pathlib.Path(directory, name).write_text(got.assignment.task.goal + "\n")
        report = pb.ReportStepOutcomeRequest(lease=lease, status=pb.COMPLETE, **who)
        report.artifacts.add(version="v1", artifact_id=name, type="patch", path=name, task_id=lease.task_id)
        report.run_outcome.CopyFrom(pb.RunOutcome(version="v1", task_id=lease.task_id, final_decision=pb.ACCEPT, summary="written"))
        report.run_outcome.evidence.update({"checks": [{"command": "test -s " + name, "exit_code": 0}]})
        answer = runner.ReportStepOutcome(report)
        if not answer.accepted:
            sys.exit("refused: %s" % answer.failure)
        print("accepted " + lease.step_id)


main(*sys.argv[1:])
