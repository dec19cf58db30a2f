"""A service of the ALX protocol written from its text alone: one class, in memory."""

import json
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

runs, keys = {}, {}


class Service(BaseHTTPRequestHandler):
    def log_message(self, *args):
        pass

    def answer(self, code, **members):
        members = {
            "ok": code < 400,
            "correlationId": self.headers.get("X-Correlation-Id") or str(uuid.uuid4()),
            "protocol": {"protocol_version": "1.0", "capabilities": []},
            **members,
        }
        body = json.dumps(members).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def refuse(self, http, code):
        self.answer(http, error={"code": code, "message": code.replace("_", " ")})

    def session(self, run):
        return {
            "sessionId": "session-" + run, "userId": "me", "intent": runs[run], "status": "completed", "progress": 1.0,
            "nextStep": "", "summary": "done", "timeline": [{"type": "session.created"}, {"type": "session.completed"}],
        }

    def do_POST(self):
        try:
            request = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))))
        except ValueError:
            return self.refuse(400, "not_json")
        version = request.get("protocol", {}).get("protocol_version", "1.0")
        if not self.path.startswith("/alx/v1/solve") or not request.get("intent") or not version.startswith("1."):
            return self.refuse(400, "bad_request")
        run = keys.setdefault(request.get("idempotencyKey") or uuid.uuid4().hex, "run-%d" % len(keys))
        runs[run] = request["intent"]
        self.answer(200, success=True, executionId=run, artifact=None, result="done", confidence=1, execution={},
                    steps=[{"index": 0}, {"index": 1}], learning={}, sessionId="session-" + run)

    def do_GET(self):
        parts = self.path.split("?")[0].strip("/").split("/")[2:]
        if not parts:
            return self.answer(200)
        if parts == ["sessions"]:
            return self.answer(200, sessions=[self.session(run) for run in runs])
        if parts[0] == "sessions" and parts[1].removeprefix("session-") in runs:
            return self.answer(200, **self.session(parts[1].removeprefix("session-")))
        if parts[0] == "runs" and parts[-1] == "events" and parts[1] in runs:
            return self.answer(200, events=[{"type": "run.started"}, {"type": "run.completed", "ok": True}])
        self.refuse(404, "not_found")


server = ThreadingHTTPServer(("127.0.0.1", 0), Service)
print("http://127.0.0.1:%d" % server.server_port, flush=True)
server.serve_forever()
