// The OpenAPI 3.1 document of the service, made from the wire types.

package openapi

import (
	"sync"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/interop/alx"
)

// Document returns the document as JSON. It is made once; the caller must not
// change it.
func Document() ([]byte, error) { return document() }

var document = sync.OnceValues(func() ([]byte, error) {
	schemas, err := components()
	if err != nil {
		return nil, err
	}
	doc := ojson.NewObject(
		"openapi", "3.1.0",
		"info", ojson.NewObject("title", "ALX protocol", "version", alx.Version,
			"summary", "Solve intents by governed runs, inspect sessions, follow run events.",
			"description", "Unknown members and capabilities are ignored by both sides. Every failure carries error.code, a stable token.",
			"license", ojson.NewObject("name", "Apache-2.0", "identifier", "Apache-2.0")),
		"servers", []*ojson.Object{ojson.NewObject("url", "/")},
		"security", []*ojson.Object{{}, ojson.NewObject("bearer", []any{})},
		"paths", paths(),
		"components", ojson.NewObject(
			"schemas", schemas,
			"securitySchemes", ojson.NewObject("bearer", ojson.NewObject("type", "http", "scheme", "bearer",
				"description", "Required when the service listens on an address other machines can reach.")),
			"parameters", parameters(),
			"headers", ojson.NewObject(
				"CorrelationId", ojson.NewObject("description", "The correlation id of the answer.",
					"schema", ojson.NewObject("type", "string")),
				"ProtocolVersion", ojson.NewObject("description", "The wire version of the answer.",
					"schema", ojson.NewObject("type", "string"))),
		))
	return ojson.Pretty(doc), nil
})

func ref(to string) *ojson.Object    { return ojson.NewObject("$ref", "#/components/"+to) }
func schema(of string) *ojson.Object { return ref("schemas/" + of) }

func parameters() *ojson.Object {
	p := func(name, in, description string, s *ojson.Object) *ojson.Object {
		o := ojson.NewObject("name", name, "in", in, "description", description)
		if in == "path" {
			o.Set("required", true)
		}
		o.Set("schema", s)
		return o
	}
	text := func() *ojson.Object { return ojson.NewObject("type", "string") }
	number := func(most int) *ojson.Object { return ojson.NewObject("type", "integer", "minimum", 1, "maximum", most) }
	return ojson.NewObject(
		"CorrelationId", p(alx.HeaderCorrelationID, "header",
			"Taken when it is 1 to 128 letters, digits and -_.:, else replaced.", text()),
		"IdempotencyKey", p(alx.HeaderIdempotencyKey, "header", "As the member idempotencyKey of the body.", text()),
		"Prefer", p(alx.HeaderPrefer, "header", "respond-async answers at once, with 202.", text()),
		"LastEventId", p(alx.HeaderLastEventID, "header", "Resumes a stream after this event.", text()),
		"Id", p("id", "path", "The identifier.", text()),
		"After", p(alx.ParamAfter, "query", "Events after the one with this id.", text()),
		"EventLimit", p(alx.ParamLimit, "query", "At most so many.", number(alx.MaxRunEventsPage)),
		"Limit", p(alx.ParamLimit, "query", "At most so many.", number(alx.MaxSessionsPage)),
		"Cursor", p(alx.ParamCursor, "query", "The nextCursor of the page before.", text()),
		"Status", p(alx.ParamStatus, "query", "Only sessions that stand so.",
			ojson.NewObject("type", "string", "enum", names(alx.SessionStatuses()))),
		"UserId", p(alx.ParamUserID, "query", "Only sessions of this user.", text()),
	)
}

func names[S ~[]E, E ~string](list S) []string {
	out := make([]string, len(list))
	for i, e := range list {
		out[i] = string(e)
	}
	return out
}
