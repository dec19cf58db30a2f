// Protobuf to JSON.

package pbjson

import (
	"math"
	"reflect"
	"strconv"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/wire"
)

func read(msg proto.Message, dst any) error {
	t := reflect.TypeOf(dst).Elem()
	if !isMessageOf(t, msg) {
		return wrongMessage(t)
	}
	return wire.Decode(object(msg.ProtoReflect(), t), dst)
}

// object returns the JSON form of m as an object of the struct type t: members
// in the declared order of t, then fields t has no member for.
func object(m protoreflect.Message, t reflect.Type) *ojson.Object {
	o := &ojson.Object{}
	fields := m.Descriptor().Fields()
	box := freeObject(m)
	done := make(map[protoreflect.Name]bool)
	for _, member := range wire.Members(t) {
		fd := fields.ByName(protoreflect.Name(fieldName(t, member.Name)))
		if fd == nil {
			// A member that exists in JSON only travels in extensions.
			if v, ok := box.Get(member.Name); ok && restField(m.Descriptor()) != nil {
				o.Set(member.Name, declared(v, member.Type))
				box.Delete(member.Name)
			}
			continue
		}
		done[fd.Name()] = true
		if rest := restField(m.Descriptor()); rest != nil && rest.Name() == fd.Name() {
			if m.Has(fd) {
				o.Set(member.Name, nil) // its place; the value is known at the end
			}
			continue
		}
		if v, ok := field(m, fd, member); ok {
			o.Set(member.Name, beside(v, member, fd, m, box))
		}
	}
	for i := range fields.Len() {
		fd := fields.Get(i)
		if !done[fd.Name()] && m.Has(fd) {
			if rest := restField(m.Descriptor()); rest != nil && rest.Name() == fd.Name() {
				continue // the type has no member for free properties; see below
			}
			o.Set(string(fd.Name()), anonymous(m, fd))
		}
	}
	return settleBox(o, m, t, box)
}

// declared gives the members of an object that came out of a free-form one,
// where all order is lost, the declared order of the struct type t points to.
func declared(v ojson.Value, t reflect.Type) ojson.Value {
	o, ok := v.(*ojson.Object)
	if !ok || t.Kind() != reflect.Pointer || t.Elem().Kind() != reflect.Struct || t == reflect.TypeFor[*ojson.Object]() {
		return v
	}
	out := &ojson.Object{}
	for _, m := range wire.Members(t.Elem()) {
		if e, there := o.Get(m.Name); there {
			out.Set(m.Name, declared(e, m.Type))
		}
	}
	for k, e := range o.All() {
		if !out.Has(k) {
			out.Set(k, e)
		}
	}
	return out
}

// freeObject is a copy of the message's free properties.
func freeObject(m protoreflect.Message) *ojson.Object {
	if fd := restField(m.Descriptor()); fd != nil && m.Has(fd) {
		return ObjectOf(m.Get(fd).Message().Interface().(*structpb.Struct))
	}
	return &ojson.Object{}
}

// settleBox writes what is left of the free properties, or nothing when moving
// members out has emptied them.
func settleBox(o *ojson.Object, m protoreflect.Message, t reflect.Type, box *ojson.Object) *ojson.Object {
	fd := restField(m.Descriptor())
	if fd == nil || !m.Has(fd) {
		return o
	}
	had := len(m.Get(fd).Message().Interface().(*structpb.Struct).GetFields())
	if box.Len() == 0 && had > 0 {
		o.Delete(string(fd.Name()))
	} else {
		o.Set(string(fd.Name()), box)
	}
	return o
}

// beside returns the token a free enum left in extensions for want of a number.
func beside(v ojson.Value, member wire.Member, fd protoreflect.FieldDescriptor, m protoreflect.Message, box *ojson.Object) ojson.Value {
	set := wire.SetOf(member.Type)
	if set == nil || !set.Free || fd.Kind() != protoreflect.EnumKind || m.Get(fd).Enum() != 0 {
		return v
	}
	token, ok := box.Get(member.Name)
	if s, isText := token.(string); ok && isText {
		if _, numbered := set.Number(s); !numbered {
			box.Delete(member.Name)
			return s
		}
	}
	return v
}

// field returns the value of a field; false when it is not written.
func field(m protoreflect.Message, fd protoreflect.FieldDescriptor, member wire.Member) (ojson.Value, bool) {
	if fd.IsList() {
		list := m.Get(fd).List()
		items := make([]any, list.Len())
		for i := range items {
			items[i] = single(list.Get(i), fd, member.Type.Elem())
		}
		return items, len(items) > 0 || member.Always
	}
	if !m.Has(fd) {
		if fd.Message() != nil {
			return &ojson.Object{}, member.Always && fd.Message().FullName() == "google.protobuf.Struct"
		}
		if fd.HasPresence() || !member.Always {
			return nil, false
		}
	}
	return single(m.Get(fd), fd, member.Type), true
}

func single(v protoreflect.Value, fd protoreflect.FieldDescriptor, t reflect.Type) ojson.Value {
	switch fd.Kind() {
	case protoreflect.MessageKind:
		if s, ok := v.Message().Interface().(*structpb.Struct); ok {
			return ObjectOf(s)
		}
		if t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		return object(v.Message(), t)
	case protoreflect.EnumKind:
		token := wire.SetOf(t).Token(int32(v.Enum()))
		if n, err := strconv.Atoi(token); err == nil {
			return ojson.Int(n)
		}
		return token
	}
	return plain(v, fd.Kind())
}

func plain(v protoreflect.Value, kind protoreflect.Kind) ojson.Value {
	switch kind {
	case protoreflect.BoolKind:
		return v.Bool()
	case protoreflect.DoubleKind:
		return double(v.Float())
	case protoreflect.Uint32Kind, protoreflect.Uint64Kind:
		return ojson.Number(strconv.FormatUint(v.Uint(), 10))
	case protoreflect.Int64Kind:
		return ojson.Number(strconv.FormatInt(v.Int(), 10))
	}
	return v.String()
}

// anonymous is the value of a field the type has no member for: enough for the
// decoder to keep it (open objects) or to refuse it (closed ones).
func anonymous(m protoreflect.Message, fd protoreflect.FieldDescriptor) ojson.Value {
	if fd.IsList() || fd.Kind() == protoreflect.MessageKind {
		return &ojson.Object{}
	}
	if fd.Kind() == protoreflect.EnumKind {
		return ojson.Int(int(m.Get(fd).Enum()))
	}
	return plain(m.Get(fd), fd.Kind())
}

func double(f float64) ojson.Value {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 0):
		if f > 0 {
			return "Infinity"
		}
		return "-Infinity"
	}
	return ojson.Float(f)
}
