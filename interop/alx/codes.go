// The closed list of error codes with their HTTP statuses; docs/alx-errors.md is generated from it (WG-05).

package alx

import "slices"

// Codes of error.code. They are never renamed or given another meaning within major version 1.
const (
	CodeInvalidJSON                = "invalid_json"
	CodeInvalidRequest             = "invalid_request"
	CodeInvalidCursor              = "invalid_cursor"
	CodeProtocolVersionUnsupported = "protocol_version_unsupported"
	CodeUnauthorized               = "unauthorized"
	CodeForbidden                  = "forbidden"
	CodeNotFound                   = "not_found"
	CodeSessionNotFound            = "session_not_found"
	CodeRunNotFound                = "run_not_found"
	CodeMethodNotAllowed           = "method_not_allowed"
	CodeNotAcceptable              = "not_acceptable"
	CodeRequestTimeout             = "request_timeout"
	CodeIdempotencyConflict        = "idempotency_conflict"
	CodeRunBlocked                 = "run_blocked"
	CodeBodyTooLarge               = "body_too_large"
	CodeUnsupportedMediaType       = "unsupported_media_type"
	CodeRunFailed                  = "run_failed"
	CodeTooManyRequests            = "too_many_requests"
	CodeInternal                   = "internal"
	CodeProjectNotReady            = "project_not_ready"
	CodeRuntimeNotAutomatic        = "runtime_not_automatic"
	CodeRuntimeUntrusted           = "runtime_untrusted"
	CodeShuttingDown               = "shutting_down"
	CodeUnavailable                = "unavailable"
)

// ErrorCode is one row of the list.
type ErrorCode struct {
	Code    string `json:"code" jsonschema:"the stable token"`
	Status  int    `json:"status" jsonschema:"the HTTP status it comes with"`
	Meaning string `json:"meaning" jsonschema:"what it says"`
}

// ErrorCodes returns the whole list, in the order of the statuses.
func ErrorCodes() []ErrorCode {
	return []ErrorCode{
		{CodeInvalidJSON, 400, "the body is not a JSON object, or breaks the depth, duplicate-member or UTF-8 rules"},
		{CodeInvalidRequest, 400,
			"a member, header or parameter is missing or has a value it cannot have; details.field names it"},
		{CodeInvalidCursor, 400, "a cursor or event id does not come from this service and this list"},
		{CodeProtocolVersionUnsupported, 400,
			"the client speaks another major version; details.supportedVersions lists ours"},
		{CodeUnauthorized, 401, "a bearer token is missing or wrong"},
		{CodeForbidden, 403, "the request comes from a page or for a host that is not served"},
		{CodeNotFound, 404, "no such path"},
		{CodeSessionNotFound, 404, "no such session"},
		{CodeRunNotFound, 404, "no such run"},
		{CodeMethodNotAllowed, 405, "the path does not take that method; the Allow header lists those it takes"},
		{CodeNotAcceptable, 406, "the path cannot answer in a form the Accept header allows"},
		{CodeRequestTimeout, 408, "the request did not arrive in time"},
		{CodeIdempotencyConflict, 409, "the idempotency key was used for another request"},
		{CodeRunBlocked, 409, "the run is blocked and a person is needed; the session's nextStep says for what"},
		{CodeBodyTooLarge, 413, "the body is larger than the limit; details.limit is it, in bytes"},
		{CodeUnsupportedMediaType, 415, "the body is not application/json"},
		{CodeRunFailed, 422, "the run ended without completing"},
		{CodeTooManyRequests, 429, "too much is under way; Retry-After says when to try again"},
		{CodeInternal, 500, "a defect of the service; the correlation id finds it in the log"},
		{CodeProjectNotReady, 503, "the repository cannot start a run as it is; the message says why"},
		{CodeRuntimeNotAutomatic, 503,
			"a role's runtime is carried out by a person; details.runtimes lists what to configure"},
		{CodeRuntimeUntrusted, 503,
			"the operator has not allowed the project's programs to run on the service's machine"},
		{CodeShuttingDown, 503, "the service is shutting down; runs go on when it is back"},
		{CodeUnavailable, 503, "the service cannot do this now; trying again is safe"},
	}
}

// HTTPStatus returns the status of a code, 500 for one that is not in the list.
func HTTPStatus(code string) int {
	for _, c := range ErrorCodes() {
		if c.Code == code {
			return c.Status
		}
	}
	return 500
}

// knownErrorCode reports whether code is in the closed list.
func knownErrorCode(code string) bool {
	return slices.ContainsFunc(ErrorCodes(), func(c ErrorCode) bool { return c.Code == code })
}

// MachineCode reports whether code can be a stable token at all: a letter, then letters, digits and
// "_.-", at most 64 bytes. That is all that can be required of an endpoint whose list is not ours.
func MachineCode(code string) bool {
	if code == "" || len(code) > 64 {
		return false
	}
	for i := range len(code) {
		c := code[i]
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && (i == 0 || !('0' <= c && c <= '9' || c == '_' || c == '.' || c == '-')) {
			return false
		}
	}
	return true
}
