// The ALX protocol: what the package holds, and the HTTP contract in full.

// Package alx owns every wire shape of the ALX protocol v1 (wire version 1.1, docs/alx.md):
// envelope, solve, sessions, run events, Knowledge Blocks, settlements, the description of a
// service, and the closed vocabularies. No other package declares a second copy (WG-01; a test
// checks that). It knows no transport and no run: only shapes, their rules, their encoding.
//
// # HTTP contract
//
// Request and response bodies are JSON objects in UTF-8, application/json.
//
//	GET  /alx/v1                     200 ServiceInfo
//	GET  /alx/v1/openapi.json        200 the OpenAPI 3.1 document, bare
//	POST /alx/v1/solve               SolveRequest -> 200 or 202 SolveResponse
//	GET  /alx/v1/sessions            ?limit=1..200 &cursor= &status= &userId= -> 200 SessionList
//	GET  /alx/v1/sessions/{id}       200 SessionResponse
//	GET  /alx/v1/runs/{id}/events    ?limit=1..1000 &after= -> 200 RunEventPage, or text/event-stream
//
// Every failure is a FailureResponse (or the response of the operation with ok
// false and error set) with the status its code has in ErrorCodes.
//
// Solve. 200 when the run has ended: ok and success are true when it completed; when it failed, ok
// is false, error.code is run_failed and the status is that code's. 202 when the run goes on or
// waits: always with "Prefer: respond-async", and without it when the run is paused for a person or
// the server's time for a synchronous answer is over; ok is true (the request did not fail),
// success is false, execution.status says which. A 202 has a Location header with the path of the
// session; a client follows execution.status, not the HTTP status. The executionId is the run id.
//
// Idempotency. The key is the body's idempotencyKey or the header
// Idempotency-Key; both, and different, is invalid_request. A key belongs to the
// user id of the request. The same key with the same canonical request (RFC 8785
// of the body without correlationId, protocol and idempotencyKey) answers the
// same executionId with cached true; with another request idempotency_conflict.
//
// Headers. X-Correlation-Id is used when sane, else the body's correlationId, else a new one is
// made; every response has it. X-Alx-Protocol-Version is the wire version of every response,
// streams included. Retry-After comes with 429 and 503, Allow with 405, WWW-Authenticate with 401.
//
// Events. A run's events are numbered from 1 without gaps; id is the text that
// resumes a stream, opaque to the client, and the sequence and id of an event
// never change. The page answers events after the id in "after". The stream
// (Accept: text/event-stream) sends each event as
//
//	id: <RunEvent.id>
//	event: <RunEvent.type>
//	data: <RunEvent on one line>
//
// starts after Last-Event-ID, repeats nothing, sends a comment line as a
// heartbeat, and ends after run.completed or run.failed. An unknown or foreign
// id is invalid_cursor.
//
// Negotiation. A request may carry protocol {protocol_version, capabilities}:
// another major version is protocol_version_unsupported with
// details.supportedVersions, another minor is served. Unknown members and
// unknown capabilities are ignored, and never echoed as supported.
package alx
