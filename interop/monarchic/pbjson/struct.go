// Free-form objects: JSON objects here, google.protobuf.Struct there.

package pbjson

import (
	"slices"
	"strings"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/wire"
)

// StructOf returns the protobuf form of a free-form object. The error is
// wire.Problems: integers a double cannot hold and text that is no Unicode.
func StructOf(o *ojson.Object) (*structpb.Struct, error) {
	w := &writer{}
	s := w.structOf(o, "")
	if len(w.problems) > 0 {
		return nil, w.problems
	}
	return s, nil
}

// ObjectOf returns the JSON form of a free-form object, keys sorted; nil for nil.
func ObjectOf(s *structpb.Struct) *ojson.Object {
	if s == nil {
		return nil
	}
	o := &ojson.Object{}
	keys := make([]string, 0, len(s.GetFields()))
	for k := range s.GetFields() {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		o.Set(k, valueOf(s.GetFields()[k]))
	}
	return o
}

func valueOf(v *structpb.Value) ojson.Value {
	switch k := v.GetKind().(type) {
	case *structpb.Value_BoolValue:
		return k.BoolValue
	case *structpb.Value_StringValue:
		return k.StringValue
	case *structpb.Value_NumberValue:
		return double(k.NumberValue)
	case *structpb.Value_StructValue:
		if k.StructValue == nil {
			return &ojson.Object{}
		}
		return ObjectOf(k.StructValue)
	case *structpb.Value_ListValue:
		items := make([]any, len(k.ListValue.GetValues()))
		for i, e := range k.ListValue.GetValues() {
			items[i] = valueOf(e)
		}
		return items
	}
	return nil
}

func (w *writer) structOf(o *ojson.Object, at string) *structpb.Struct {
	s := &structpb.Struct{Fields: make(map[string]*structpb.Value, o.Len())}
	for k, v := range o.All() {
		s.Fields[w.text(k, at)] = w.value(v, wire.At(at, k))
	}
	return s
}

func (w *writer) value(v ojson.Value, at string) *structpb.Value {
	switch v := v.(type) {
	case bool:
		return structpb.NewBoolValue(v)
	case string:
		return structpb.NewStringValue(w.text(v, at))
	case ojson.Number:
		f, ok := v.Float64()
		switch {
		case !ok:
			w.fault(at, wire.RuleNumber, "is out of the range of a number")
		case losesDigits(v, f):
			w.fault(at, wire.RuleNumber, "is an integer that protobuf would round; send it as a string")
		}
		return structpb.NewNumberValue(f)
	case []any:
		list := &structpb.ListValue{Values: make([]*structpb.Value, len(v))}
		for i, e := range v {
			list.Values[i] = w.value(e, wire.Item(at, i))
		}
		return structpb.NewListValue(list)
	case *ojson.Object:
		return structpb.NewStructValue(w.structOf(v, at))
	}
	return structpb.NewNullValue()
}

// losesDigits reports whether n is an integer that would come back from f, its
// double, with other digits.
func losesDigits(n ojson.Number, f float64) bool {
	return len(n) > 15 && !strings.ContainsAny(string(n), ".eE") && ojson.Float(f) != n
}
