// JSON to protobuf.

package pbjson

import (
	"math"
	"reflect"
	"strconv"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/wire"
)

type writer struct{ problems wire.Problems }

func (w *writer) fault(at, rule, text string) {
	w.problems.Add(at, rule, text)
}

func write(v any, msg proto.Message) error {
	t := reflect.TypeOf(v).Elem()
	if !isMessageOf(t, msg) {
		return wrongMessage(t)
	}
	o, ok := wire.Encode(v).(*ojson.Object)
	if !ok {
		return wrongMessage(t)
	}
	w := &writer{}
	proto.Reset(msg)
	w.message(o, t, msg.ProtoReflect(), "")
	if len(w.problems) > 0 {
		return w.problems
	}
	return nil
}

// message fills m from o, an object of the struct type t.
func (w *writer) message(o *ojson.Object, t reflect.Type, m protoreflect.Message, at string) {
	members := make(map[string]reflect.Type)
	for _, member := range wire.Members(t) {
		members[member.Name] = member.Type
	}
	fields := m.Descriptor().Fields()
	rest := &ojson.Object{}
	for key, v := range o.All() {
		goType, known := members[key]
		fd := fields.ByName(protoreflect.Name(fieldName(t, key)))
		switch {
		case v == nil && known:
			// Absent.
		case known && fd == nil && key == "extensions":
			w.fault(wire.At(at, key), wire.RuleUnknown, "has no place in the protobuf message "+t.Name())
		case !known || fd == nil:
			rest.Set(key, v)
		default:
			if beside, ok := w.member(v, goType, m, fd, wire.At(at, key)); !ok {
				rest.Set(key, beside)
			}
		}
	}
	if rest.Len() > 0 {
		w.rest(rest, m, at)
	}
}

// rest puts the members that have no field into the message's free object.
func (w *writer) rest(rest *ojson.Object, m protoreflect.Message, at string) {
	fd := restField(m.Descriptor())
	if fd == nil {
		for _, key := range rest.Keys() {
			w.fault(wire.At(at, key), wire.RuleUnknown, "has no place in the protobuf message "+string(m.Descriptor().Name()))
		}
		return
	}
	box := m.Mutable(fd).Message().Interface().(*structpb.Struct)
	if box.Fields == nil {
		box.Fields = make(map[string]*structpb.Value)
	}
	for key, v := range rest.All() {
		value := w.value(v, wire.At(at, key))
		if old, there := box.Fields[key]; there && !proto.Equal(old, value) {
			w.fault(wire.At(at, key), wire.RuleMatch, "differs from "+string(fd.Name())+"."+key+", where protobuf would put it")
			continue
		}
		box.Fields[w.text(key, at)] = value
	}
}

// restField is the Struct field that takes additional properties: extensions,
// or details where there are none.
func restField(md protoreflect.MessageDescriptor) protoreflect.FieldDescriptor {
	if fd := md.Fields().ByName("extensions"); fd != nil {
		return fd
	}
	if md.Name() == "FailureDetail" {
		return md.Fields().ByName("details")
	}
	return nil
}

// member sets one field. It returns false and the value when the field cannot
// hold it but extensions can: a token that protobuf has no number for.
func (w *writer) member(v ojson.Value, t reflect.Type, m protoreflect.Message, fd protoreflect.FieldDescriptor, at string) (ojson.Value, bool) {
	if fd.IsList() {
		items, ok := v.([]any)
		if !ok {
			w.fault(at, wire.RuleType, "must be an array")
			return nil, true
		}
		if len(items) == 0 {
			return nil, true
		}
		list := m.Mutable(fd).List()
		for i, item := range items {
			place := wire.Item(at, i)
			if fd.Kind() == protoreflect.MessageKind {
				w.nested(item, t.Elem(), list.AppendMutable().Message(), place)
			} else if sv, ok := w.scalar(item, t.Elem(), fd, place); ok {
				list.Append(sv)
			}
		}
		return nil, true
	}
	if fd.Kind() == protoreflect.MessageKind {
		w.nested(v, t, m.Mutable(fd).Message(), at)
		return nil, true
	}
	if set := wire.SetOf(t); set != nil {
		if token, ok := v.(string); ok {
			if _, numbered := set.Number(token); !numbered {
				return v, false
			}
		}
	}
	if sv, ok := w.scalar(v, t, fd, at); ok {
		m.Set(fd, sv)
	}
	return nil, true
}

func (w *writer) nested(v ojson.Value, t reflect.Type, m protoreflect.Message, at string) {
	o, ok := v.(*ojson.Object)
	if !ok {
		w.fault(at, wire.RuleType, "must be an object")
		return
	}
	if box, isStruct := m.Interface().(*structpb.Struct); isStruct {
		box.Fields = w.structOf(o, at).Fields
		return
	}
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	w.message(o, t, m, at)
}

func (w *writer) scalar(v ojson.Value, t reflect.Type, fd protoreflect.FieldDescriptor, at string) (protoreflect.Value, bool) {
	switch v := v.(type) {
	case bool:
		return protoreflect.ValueOfBool(v), fd.Kind() == protoreflect.BoolKind
	case string:
		switch fd.Kind() {
		case protoreflect.StringKind:
			return protoreflect.ValueOfString(w.text(v, at)), true
		case protoreflect.EnumKind:
			n, ok := wire.SetOf(t).Number(v)
			return protoreflect.ValueOfEnum(protoreflect.EnumNumber(n)), ok
		case protoreflect.DoubleKind: // NaN, Infinity, -Infinity
			f, err := strconv.ParseFloat(v, 64)
			return protoreflect.ValueOfFloat64(f), err == nil
		}
	case ojson.Number:
		return number(v, fd.Kind())
	}
	w.fault(at, wire.RuleType, "does not fit the protobuf field "+string(fd.FullName()))
	return protoreflect.Value{}, false
}

// number turns a number the codec accepted into a value of the kind.
func number(n ojson.Number, kind protoreflect.Kind) (protoreflect.Value, bool) {
	if kind == protoreflect.DoubleKind {
		f, ok := n.Float64()
		return protoreflect.ValueOfFloat64(f), ok
	}
	if kind == protoreflect.Uint64Kind {
		if u, err := strconv.ParseUint(string(n), 10, 64); err == nil {
			return protoreflect.ValueOfUint64(u), true
		}
	}
	i, ok := n.Int64()
	switch kind {
	case protoreflect.Uint64Kind:
		return protoreflect.ValueOfUint64(uint64(i)), ok && i >= 0
	case protoreflect.Uint32Kind:
		return protoreflect.ValueOfUint32(uint32(i)), ok && i >= 0 && i <= math.MaxUint32
	case protoreflect.Int64Kind:
		return protoreflect.ValueOfInt64(i), ok
	case protoreflect.EnumKind:
		return protoreflect.ValueOfEnum(protoreflect.EnumNumber(i)), ok && i >= math.MinInt32 && i <= math.MaxInt32
	}
	return protoreflect.Value{}, false
}

func (w *writer) text(s, at string) string {
	if !utf8.ValidString(s) {
		w.fault(at, wire.RuleText, "contains half of a surrogate pair, which protobuf cannot carry")
	}
	return s
}
