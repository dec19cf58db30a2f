// A service's description of itself, its paths and headers (docs/serve.md).

package alx

import (
	"net/url"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// Paths of the service.
const (
	PathService  = "/alx/v1"
	PathOpenAPI  = PathService + "/openapi.json"
	PathSolve    = PathService + "/solve"
	PathSessions = PathService + "/sessions"
	PathRuns     = PathService + "/runs"
)

// SessionPath returns the path of one session.
func SessionPath(id string) string { return PathSessions + "/" + url.PathEscape(id) }

// RunEventsPath returns the path of a run's events.
func RunEventsPath(id string) string { return PathRuns + "/" + url.PathEscape(id) + "/events" }

// Headers with a meaning of their own.
const (
	HeaderCorrelationID   = "X-Correlation-Id"
	HeaderProtocolVersion = "X-Alx-Protocol-Version"
	HeaderIdempotencyKey  = "Idempotency-Key"
	HeaderLastEventID     = "Last-Event-ID"
	HeaderPrefer          = "Prefer"
	PreferAsync           = "respond-async"
)

// Query parameters.
const (
	ParamLimit  = "limit"
	ParamCursor = "cursor"
	ParamStatus = "status"
	ParamUserID = "userId"
	ParamAfter  = "after"
)

// Media types.
const (
	MediaJSON        = "application/json"
	MediaEventStream = "text/event-stream"
)

// Limits that every request must keep; a service may set lower ones and says so.
const (
	MaxBodyBytes      = 1 << 20
	MaxDepth          = 64
	MaxIntentRunes    = 16000
	MaxIDBytes        = 128 // userId, sessionId, idempotencyKey
	DefaultPage       = 50
	MaxSessionsPage   = 200
	MaxRunEventsPage  = 1000
	MaxRunEventBytes  = 1 << 20
	MaxResponseBytes  = 64 << 20
	MaxLastEventBytes = 256
)

// ServiceInfo is the answer of GET /alx/v1.
type ServiceInfo struct {
	Envelope
	Service           Service      `json:"service" jsonschema:"what answers"`
	SupportedVersions []string     `json:"supportedVersions" jsonschema:"wire versions; other minors are served too"`
	Vocabularies      Vocabularies `json:"vocabularies" jsonschema:"the closed lists"`
	ErrorCodes        []ErrorCode  `json:"errorCodes" jsonschema:"every error.code there is"`
	Endpoints         []Endpoint   `json:"endpoints" jsonschema:"every path there is"`
	Limits            Limits       `json:"limits" jsonschema:"what a request must keep"`
	Error             *Error       `json:"error,omitempty" jsonschema:"why, when ok is false"`
	Extra             ojson.Extra  `json:"-"`
}

// Service names the program.
type Service struct {
	Name    string `json:"name" jsonschema:"the program"`
	Version string `json:"version" jsonschema:"its version"`
}

// Vocabularies are the closed lists.
type Vocabularies struct {
	RunEvents       []RunEventType      `json:"runEventTypes" jsonschema:"types of run events (WG-04)"`
	TimelineEvents  []TimelineEventType `json:"sessionTimelineEventTypes" jsonschema:"types of timeline events (WG-03)"`
	SessionStatuses []SessionStatus     `json:"sessionStatuses" jsonschema:"statuses of sessions"`
}

// Endpoint is one path.
type Endpoint struct {
	Method  string `json:"method" jsonschema:"HTTP method"`
	Path    string `json:"path" jsonschema:"with {id} for an identifier"`
	Purpose string `json:"purpose" jsonschema:"what it does"`
}

// Limits are the limits that a request must keep.
type Limits struct {
	BodyBytes   int `json:"bodyBytes" jsonschema:"largest body"`
	Depth       int `json:"depth" jsonschema:"deepest nesting of a body"`
	IntentRunes int `json:"intentRunes" jsonschema:"longest intent, in code points"`
}

// Endpoints returns every path of the protocol.
func Endpoints() []Endpoint {
	return []Endpoint{
		{"GET", PathService, "this description"},
		{"GET", PathOpenAPI, "the OpenAPI document"},
		{"POST", PathSolve, "solve an intent by a governed run"},
		{"GET", PathSessions, "sessions, newest first, a page at a time"},
		{"GET", PathSessions + "/{id}", "one session with its timeline"},
		{"GET", PathRuns + "/{id}/events", "a run's events, as a page or as a stream"},
	}
}

// NewServiceInfo describes a service of this package's wire version.
func NewServiceInfo(correlation string, s Service) *ServiceInfo {
	return &ServiceInfo{
		Envelope: NewEnvelope(true, correlation), Service: s, SupportedVersions: supportedVersions(),
		Vocabularies: Vocabularies{RunEventTypes(), TimelineEventTypes(), SessionStatuses()},
		ErrorCodes:   ErrorCodes(), Endpoints: Endpoints(),
		Limits: Limits{MaxBodyBytes, MaxDepth, MaxIntentRunes},
	}
}
