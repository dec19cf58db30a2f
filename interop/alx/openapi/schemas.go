// JSON Schemas of the wire shapes, inferred from their Go types.

package openapi

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/interop/alx"
)

// shapes returns the types with a schema of their own; they have the members of the types that they
// embed.
func shapes() []reflect.Type {
	return []reflect.Type{
		reflect.TypeFor[alx.Envelope](), reflect.TypeFor[alx.Protocol](), reflect.TypeFor[alx.Error](),
		reflect.TypeFor[alx.FailureResponse](), reflect.TypeFor[alx.SolveRequest](),
		reflect.TypeFor[alx.SolveResponse](), reflect.TypeFor[alx.Execution](), reflect.TypeFor[alx.Step](),
		reflect.TypeFor[alx.Learning](), reflect.TypeFor[alx.Objections](), reflect.TypeFor[alx.SessionResponse](),
		reflect.TypeFor[alx.SessionItem](), reflect.TypeFor[alx.SessionList](),
		reflect.TypeFor[alx.TimelineEvent](), reflect.TypeFor[alx.RunEvent](), reflect.TypeFor[alx.RunEventPage](),
		reflect.TypeFor[alx.KnowledgeBlock](), reflect.TypeFor[alx.BlockDecision](),
		reflect.TypeFor[alx.BlockArtifact](), reflect.TypeFor[alx.BlockVerification](),
		reflect.TypeFor[alx.BlockSource](), reflect.TypeFor[alx.Settlement](), reflect.TypeFor[alx.Share](),
		reflect.TypeFor[alx.ServiceInfo](), reflect.TypeFor[alx.Service](), reflect.TypeFor[alx.Vocabularies](),
		reflect.TypeFor[alx.ErrorCode](), reflect.TypeFor[alx.Endpoint](), reflect.TypeFor[alx.Limits](),
	}
}

// components returns the schema of every shape by its name.
func components() (*ojson.Object, error) {
	out := &ojson.Object{}
	for _, t := range shapes() {
		s, err := jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: known(t)})
		if err != nil {
			return nil, fmt.Errorf("schema of %s: %w", t.Name(), err)
		}
		tidy(s)
		refine(t, s)
		data, err := json.Marshal(s)
		if err != nil {
			return nil, fmt.Errorf("schema of %s: %w", t.Name(), err)
		}
		o, err := ojson.DecodeObject(data)
		if err != nil {
			return nil, fmt.Errorf("schema of %s: %w", t.Name(), err)
		}
		out.Set(t.Name(), o)
	}
	return out, nil
}

// known returns the schemas of types inside t: references to other shapes, closed vocabularies,
// free objects.
func known(t reflect.Type) map[reflect.Type]*jsonschema.Schema {
	m := map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[ojson.Object]():          {Type: "object"},
		reflect.TypeFor[alx.RunEventType]():      {Type: "string", Enum: anys(alx.RunEventTypes())},
		reflect.TypeFor[alx.TimelineEventType](): {Type: "string", Enum: anys(alx.TimelineEventTypes())},
		reflect.TypeFor[alx.SessionStatus]():     {Type: "string", Enum: anys(alx.SessionStatuses())},
		reflect.TypeFor[alx.StepStatus](): {
			Type: "string",
			Enum: anys([]alx.StepStatus{alx.StepAccepted, alx.StepRejected}),
		},
	}
	embedded := map[reflect.Type]bool{t: true}
	for _, f := range reflect.VisibleFields(t) {
		if f.Anonymous {
			embedded[f.Type] = true
		}
	}
	for _, shape := range shapes() {
		if !embedded[shape] {
			m[shape] = &jsonschema.Schema{Ref: "#/components/schemas/" + shape.Name()}
		}
	}
	return m
}

func anys[S ~[]E, E ~string](list S) []any {
	out := make([]any, len(list))
	for i, e := range list {
		out[i] = string(e)
	}
	return out
}

// tidy makes an inferred schema match our encoder: unknown members are allowed (WG-07), lists are
// never null, and what may be null is left out instead unless it is required.
func tidy(s *jsonschema.Schema) {
	s.AdditionalProperties = nil
	for name, p := range s.Properties {
		if slices.Contains(p.Types, "null") {
			rest := slices.DeleteFunc(slices.Clone(p.Types), func(t string) bool { return t == "null" })
			p.Types = nil
			if len(rest) > 0 {
				p.Type = rest[0]
			}
			if p.Type != "array" && slices.Contains(s.Required, name) {
				s.Properties[name] = &jsonschema.Schema{Description: p.Description, AnyOf: []*jsonschema.Schema{
					{Ref: p.Ref, Type: p.Type}, {Type: "null"},
				}}
			}
		}
		if p.Items != nil {
			tidy(p.Items)
		}
	}
}

// refine adds what a Go type cannot express.
func refine(t reflect.Type, s *jsonschema.Schema) {
	share := func(name string) {
		s.Properties[name].Minimum, s.Properties[name].Maximum = new(0.0), new(1.0)
	}
	digest := func(name string) { s.Properties[name].Pattern = "^[0-9a-f]{64}$" }
	switch t {
	case reflect.TypeFor[alx.FailureResponse]():
		no := any(false)
		s.Properties["ok"].Const = &no
		s.Properties["error"] = &jsonschema.Schema{
			Ref:         "#/components/schemas/Error",
			Description: s.Properties["error"].Description,
		}
	case reflect.TypeFor[alx.SolveRequest]():
		s.Properties["intent"].MinLength, s.Properties["intent"].MaxLength = new(1),
			jsonschema.Ptr(alx.MaxIntentRunes)
		for _, name := range []string{"userId", "idempotencyKey"} {
			s.Properties[name].MaxLength = jsonschema.Ptr(alx.MaxIDBytes)
		}
		s.Properties["sessionId"].Pattern = "^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$"
	case reflect.TypeFor[alx.Protocol]():
		// In a request either member may be missing.
		s.Required = nil
	case reflect.TypeFor[alx.SolveResponse]():
		share("confidence")
		share("confidenceScore")
	case reflect.TypeFor[alx.SessionResponse](), reflect.TypeFor[alx.SessionItem]():
		share("progress")
	case reflect.TypeFor[alx.KnowledgeBlock]():
		digest("kbHash")
	case reflect.TypeFor[alx.BlockArtifact]():
		digest("sha256")
	case reflect.TypeFor[alx.BlockSource]():
		digest("sha256")
		digest("kbHash")
	case reflect.TypeFor[alx.RunEvent]():
		// WG-09 and WG-10.
		for _, kind := range []alx.RunEventType{alx.RunCompleted, alx.RunFailed} {
			name := any(string(kind))
			want, _ := kind.RequiredOK()
			ok := any(want)
			s.AllOf = append(s.AllOf, &jsonschema.Schema{
				If: &jsonschema.Schema{Properties: map[string]*jsonschema.Schema{"type": {Const: &name}}},
				Then: &jsonschema.Schema{
					Properties: map[string]*jsonschema.Schema{"ok": {Const: &ok}},
					Required:   []string{"ok"},
				},
			})
		}
	}
}
