// One step of a run, with nothing but the protocol: register, lease, start, report.
//
// usage: tsc -p . && node out/step.js ADDRESS DIRECTORY
// (needs typescript, @types/node, @bufbuild/protobuf, @connectrpc/connect and @connectrpc/connect-node)
//
// The step writes step-typescript.md into DIRECTORY, the served work tree.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { OutcomeDecision, PlanStatus, RunnerControlService } from "./monarchic_agent_protocol_pb.js";

const [address = "", directory = ""] = process.argv.slice(2);
const runner = createClient(RunnerControlService, createGrpcTransport({ baseUrl: `http://${address}` }));
function fail(text: string): never {
  console.error(text);
  process.exit(1);
}

const me = { contractVersion: "v1", runnerId: "typescript" };
const who = { ...me, sessionId: (await runner.registerRunner(me)).sessionId };
const got = await runner.acquireLease({ ...who, availableSlots: 1 });
const { lease, task } = got.assignment ?? fail(`no work: ${JSON.stringify(got.extensions)}`);
if (!lease || !task) fail("an assignment without a lease or a task");
if (!(await runner.reportStepStarted({ ...who, lease })).accepted) fail("the start was refused");
const name = "step-typescript.md";
writeFileSync(join(directory, name), task.goal + "\n");
const answer = await runner.reportStepOutcome({
  ...who,
  lease,
  status: PlanStatus.COMPLETE,
  artifacts: [{ version: "v1", artifactId: name, type: "patch", path: name, taskId: lease.taskId }],
  runOutcome: {
    version: "v1",
    taskId: lease.taskId,
    finalDecision: OutcomeDecision.ACCEPT,
    summary: "written",
    evidence: { checks: [{ command: `test -s ${name}`, exit_code: 0 }] },
  },
});
if (!answer.accepted) fail(`refused: ${answer.failure?.code}: ${answer.failure?.message}`);
console.log(`accepted ${lease.stepId}`);
process.exit(0);
