// The paths of the document with their answers.

package openapi

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/interop/alx"
)

// operation is one method of one path.
type operation struct {
	id, summary string
	parameters  []string
	body        string // schema of the request body, "" for none
	answers     map[int]string
	stream      bool // text/event-stream besides the page
	codes       []string
}

// everywhere returns the refusals that any path can answer with.
func everywhere() []string {
	return []string{
		alx.CodeInvalidRequest, alx.CodeUnauthorized, alx.CodeForbidden, alx.CodeNotFound, alx.CodeMethodNotAllowed,
		alx.CodeNotAcceptable, alx.CodeRequestTimeout, alx.CodeTooManyRequests, alx.CodeInternal,
		alx.CodeShuttingDown, alx.CodeUnavailable,
	}
}

func paths() *ojson.Object {
	return ojson.NewObject(
		alx.PathService, ojson.NewObject("get", operation{
			id:      "describe",
			summary: "Version, vocabularies, error codes, limits.",
			answers: map[int]string{200: "ServiceInfo"},
		}.object()),
		alx.PathOpenAPI, ojson.NewObject("get", operation{
			id:      "openapi",
			summary: "This document.",
			answers: map[int]string{200: ""},
		}.object()),
		alx.PathSolve, ojson.NewObject("post", operation{id: "solve", summary: "Solve an intent by a governed run.",
			parameters: []string{"IdempotencyKey", "Prefer"}, body: "SolveRequest",
			answers: map[int]string{200: "SolveResponse", 202: "SolveResponse"},
			codes: []string{alx.CodeInvalidJSON, alx.CodeProtocolVersionUnsupported, alx.CodeIdempotencyConflict,
				alx.CodeRunBlocked, alx.CodeRunFailed, alx.CodeBodyTooLarge, alx.CodeUnsupportedMediaType,
				alx.CodeProjectNotReady, alx.CodeRuntimeNotAutomatic, alx.CodeRuntimeUntrusted}}.object()),
		alx.PathSessions, ojson.NewObject("get", operation{id: "listSessions", summary: "Sessions, newest first.",
			parameters: []string{"Limit", "Cursor", "Status", "UserId"}, answers: map[int]string{200: "SessionList"},
			codes: []string{alx.CodeInvalidCursor}}.object()),
		alx.PathSessions+"/{id}",
		ojson.NewObject("get", operation{
			id:         "inspectSession",
			summary:    "One session with its timeline.",
			parameters: []string{"Id"},
			answers:    map[int]string{200: "SessionResponse"},
			codes:      []string{alx.CodeSessionNotFound},
		}.object()),
		alx.PathRuns+"/{id}/events",
		ojson.NewObject("get", operation{
			id:         "runEvents",
			summary:    "A run's events, as a page or as a stream.",
			parameters: []string{"Id", "After", "EventLimit", "LastEventId"},
			answers:    map[int]string{200: "RunEventPage"},
			stream:     true,
			codes:      []string{alx.CodeRunNotFound, alx.CodeInvalidCursor},
		}.object()),
	)
}

func (op operation) object() *ojson.Object {
	parameters := []*ojson.Object{ref("parameters/CorrelationId")}
	for _, p := range op.parameters {
		parameters = append(parameters, ref("parameters/"+p))
	}
	o := ojson.NewObject("operationId", op.id, "summary", op.summary, "parameters", parameters)
	if op.body != "" {
		o.Set("requestBody", ojson.NewObject("required", true,
			"content", ojson.NewObject(alx.MediaJSON, ojson.NewObject("schema", schema(op.body)))))
	}
	responses := &ojson.Object{}
	for _, status := range []int{200, 202} {
		if of, ok := op.answers[status]; ok {
			responses.Set(strconv.Itoa(status), op.answer(status, of))
		}
	}
	if op.stream {
		responses.Set("204", ojson.NewObject(
			"description", "A stream resumed after the last event of a run that has ended: there is no more.",
			"headers", ojson.NewObject(alx.HeaderCorrelationID, ref("headers/CorrelationId"))))
	}
	op.refusals(responses)
	o.Set("responses", responses)
	return o
}

func (op operation) answer(status int, of string) *ojson.Object {
	s := ojson.NewObject("type", "object")
	if of != "" {
		s = schema(of)
	}
	content := ojson.NewObject(alx.MediaJSON, ojson.NewObject("schema", s))
	description := "Done."
	if status == 202 {
		description = "The run goes on, or waits for a person: execution.status says which."
	}
	if op.stream {
		description = "A page; with Accept: text/event-stream a stream whose data lines are RunEvent documents."
		content.Set(alx.MediaEventStream,
			ojson.NewObject("schema", ojson.NewObject("type", "string", "contentMediaType", alx.MediaEventStream)))
	}
	headers := ojson.NewObject(alx.HeaderCorrelationID, ref("headers/CorrelationId"), alx.HeaderProtocolVersion,
		ref("headers/ProtocolVersion"))
	if status == 202 {
		headers.Set("Location",
			ojson.NewObject("description", "The path of the session.", "schema", ojson.NewObject("type", "string")))
	}
	return ojson.NewObject("description", description, "headers", headers, "content", content)
}

// refusals adds a response for every status the operation's codes have.
func (op operation) refusals(responses *ojson.Object) {
	codes := map[string]bool{}
	for _, c := range append(everywhere(), op.codes...) {
		codes[c] = true
	}
	byStatus := map[int][]string{}
	var order []int
	for _, c := range alx.ErrorCodes() {
		if !codes[c.Code] {
			continue
		}
		if byStatus[c.Status] == nil {
			order = append(order, c.Status)
		}
		byStatus[c.Status] = append(byStatus[c.Status], c.Code)
	}
	for _, status := range order {
		failure := schema("FailureResponse")
		if status == alx.HTTPStatus(alx.CodeRunFailed) || status == alx.HTTPStatus(alx.CodeRunBlocked) {
			// A run that ended badly is reported in the operation's own shape.
			failure = ojson.NewObject("anyOf", []*ojson.Object{schema("FailureResponse"), schema("SolveResponse")})
		}
		responses.Set(strconv.Itoa(status), ojson.NewObject(
			"description", fmt.Sprintf("Refused; error.code is %s.", strings.Join(byStatus[status], ", ")),
			"content", ojson.NewObject(alx.MediaJSON, ojson.NewObject("schema", failure))))
	}
}
