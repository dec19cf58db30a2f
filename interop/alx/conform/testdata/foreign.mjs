// A service of the ALX protocol written from its text alone: one function, in memory.
import { createServer } from "node:http";
import { randomUUID } from "node:crypto";

const runs = new Map();
const keys = new Map();

const server = createServer(async (request, response) => {
  const correlationId = request.headers["x-correlation-id"] ?? randomUUID();
  const protocol = { protocol_version: "1.1", capabilities: ["run-events", "sessions"] };
  const send = (status, members) => {
    response.writeHead(status, { "content-type": "application/json", "x-correlation-id": correlationId });
    response.end(JSON.stringify({ ok: status < 400, correlationId, protocol, ...members }));
  };
  const refuse = (status, code) => send(status, { success: false, error: { code, message: `refused: ${code}` } });
  const session = (id) => ({
    sessionId: id, userId: "anybody", intent: runs.get(id), status: "completed", progress: { done: 1, of: 1 }, nextStep: null,
    summary: "all done", executionId: id,
    timeline: ["session.created", "session.step", "session.completed"].map((type, i) => ({ type, sequence: i + 1 })),
  });
  const [, , , what, id, last] = new URL(request.url, "http://x").pathname.split("/");
  if (request.method === "POST" && what === "solve") {
    let body = "";
    for await (const part of request) body += part;
    let asked;
    try {
      asked = JSON.parse(body);
    } catch {
      return refuse(400, "INVALID_JSON");
    }
    if (!asked.intent || !(asked.protocol?.protocol_version ?? "1.0").startsWith("1.")) return refuse(422, "INVALID_REQUEST");
    const run = keys.get(asked.idempotencyKey) ?? `run-${runs.size}`;
    keys.set(asked.idempotencyKey, run);
    runs.set(run, asked.intent);
    return send(200, {
      success: true, executionId: run, artifact: null, result: "done", confidence: 0, execution: { sessionId: run }, steps: [], learning: null,
    });
  }
  if (!what) return send(200, { name: "foreign" });
  if (what === "sessions") {
    if (!id) return send(200, { sessions: [...runs.keys()].map(session) });
    return runs.has(id) ? send(200, session(id)) : refuse(404, "NO_SESSION");
  }
  if (what === "runs" && last === "events" && runs.has(id)) {
    const events = ["run.started", "phase.entered", "run.completed"].map((type, i) => ({
      type, id: `e${i}`, sequence: i + 1, runId: id, ...(type === "run.completed" ? { ok: true } : {}),
    }));
    if (!(request.headers.accept ?? "").includes("text/event-stream")) return send(200, { events, ended: true });
    const after = request.headers["last-event-id"];
    response.writeHead(200, { "content-type": "text/event-stream", "x-correlation-id": correlationId });
    for (const e of events.slice(after ? events.findIndex((x) => x.id === after) + 1 : 0)) {
      response.write(`id: ${e.id}\nevent: ${e.type}\ndata: ${JSON.stringify(e)}\n\n`);
    }
    return response.end();
  }
  return refuse(404, "NOT_HERE");
});
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
