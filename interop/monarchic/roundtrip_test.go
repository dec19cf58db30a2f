// Ten thousand messages of every type, through JSON and through protobuf.

package monarchic_test

import (
	"bytes"
	"reflect"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic"
	"github.com/git-agentxchain/git-agentxchain/interop/monarchic/wire"
)

const messages = 10_000

// typesOf returns the types that are objects, with their Go types.
func typesOf(t *testing.T) (names []monarchic.Type, structs []reflect.Type) {
	t.Helper()
	for _, name := range monarchic.Types() {
		if goType := reflect.TypeOf(monarchic.New(name)).Elem(); goType.Kind() == reflect.Struct {
			names, structs = append(names, name), append(structs, goType)
		}
	}
	return names, structs
}

func TestJSONRoundTripIsByteStable(t *testing.T) {
	t.Parallel()
	names, structs := typesOf(t)
	g := newGenerator(1)
	g.unknown = true
	for i := range messages {
		name := names[i%len(names)]
		v := g.value(structs[i%len(names)])
		for form, write := range map[string]func(any) []byte{"canonical": wire.Canonical, "line": wire.Line} {
			data := write(v)
			parsed, err := wire.Parse(data)
			if err != nil {
				t.Fatalf("message %d, %s: %v\n%s", i, name, err, data)
			}
			again, err := monarchic.Decode(name, parsed)
			if err != nil {
				t.Fatalf("message %d, %s, %s: %v\n%s", i, name, form, err, data)
			}
			if got := write(again); !bytes.Equal(got, data) {
				t.Fatalf("message %d, %s, %s changed\nwas %s\nis  %s", i, name, form, data, got)
			}
		}
	}
}

// Reading keeps order and spelling of what any program wrote, not only of what
// we would write.
func TestForeignSpellingsSurvive(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{"goal":"g","zz":[1.50,1e3,{"b":1,"a":2}],"role":"dev","task_id":"t","version":"v1","labels":null}`,
		`{"version":"v1","task_id":"t","role":"dev","goal":"g","gates_required":[],"inputs":{"n":1.0,"z":null,"a":-0}}`,
		`{"version":"v1","task_id":"t","role":"dev","goal":"g","role_id":"","run_context":null}`,
		`{"goal":"g"}`,
	} {
		v, err := wire.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		task, err := monarchic.Decode("task", v)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if got := string(bytes.TrimSpace(wire.Line(task))); got != text {
			t.Errorf("was %s\nis  %s", text, got)
		}
	}
}

func TestProtobufRoundTripIsByteStable(t *testing.T) {
	t.Parallel()
	g := newGenerator(2)
	pairs := pairings()
	for i := range messages {
		p := pairs[i%len(pairs)]
		v := g.value(p.goType)
		p.trim(v)
		data := wire.Canonical(v)
		msg := p.message()
		if err := p.from(v, msg); err != nil {
			t.Fatalf("message %d, %s: %v\n%s", i, p.goType, err, data)
		}
		binary, err := proto.Marshal(msg)
		if err != nil {
			t.Fatalf("message %d, %s: %v", i, p.goType, err)
		}
		received := p.message()
		if err := proto.Unmarshal(binary, received); err != nil {
			t.Fatalf("message %d, %s: %v", i, p.goType, err)
		}
		again, err := p.to(received)
		if err != nil {
			t.Fatalf("message %d, %s: %v\n%s", i, p.goType, err, data)
		}
		if got := wire.Canonical(again); !bytes.Equal(got, data) {
			t.Fatalf("message %d, %s changed\nwas %s\nis  %s", i, p.goType, data, got)
		}
	}
}

// Members nobody knows move into extensions on the way through protobuf, and
// stay there from then on.
func TestUnknownMembersTravelInExtensions(t *testing.T) {
	t.Parallel()
	g := newGenerator(3)
	g.unknown = true
	carried := 0
	for i := range 800 {
		p := pairings()[i%len(pairings())]
		v := g.value(p.goType)
		msg := p.message()
		if p.from(v, msg) != nil {
			continue // a message without a place for them says so
		}
		first, err := p.to(msg)
		if err != nil {
			t.Fatal(err)
		}
		before, after := wire.Encode(v).(*ojson.Object), wire.Encode(first).(*ojson.Object)
		for _, key := range before.Keys() {
			was, _ := before.Get(key)
			if after.Has(key) || key == "extensions" {
				continue
			} else if is, ok := after.Object("extensions").Get(key); ok && ojson.Equal(is, was) {
				carried++
			} else if is, ok = after.Object("details").Get(key); ok && ojson.Equal(is, was) {
				carried++
			} else if !ok {
				t.Fatalf("%s lost %s\nwas %s\nis  %s", p.goType, key, ojson.Compact(before), ojson.Compact(after))
			}
		}
		second := p.message()
		if err := p.from(first, second); err != nil {
			t.Fatal(err)
		}
		if !proto.Equal(msg, second) {
			t.Fatalf("%s is not stable:\n%v\n%v", p.goType, msg, second)
		}
	}
	if carried == 0 {
		t.Fatal("no unknown member was carried")
	}
}

// The JSON every protobuf library writes by itself (lowerCamel names, upper-case
// enums, 64-bit integers as strings) is read as what it means.
func TestProtobufsOwnJSONIsRead(t *testing.T) {
	t.Parallel()
	g := newGenerator(4)
	pairs := pairings()
	for i := range 800 {
		p := pairs[i%len(pairs)]
		if !wire.IsOpen(p.goType) {
			continue
		}
		v := g.value(p.goType)
		p.trim(v)
		msg := p.message()
		if err := p.from(v, msg); err != nil {
			t.Fatal(err)
		}
		for _, form := range []protojson.MarshalOptions{{}, {UseProtoNames: true}, {UseEnumNumbers: true}} {
			text, err := form.Marshal(msg)
			if err != nil {
				t.Fatal(err)
			}
			read := reflect.New(p.goType).Interface()
			if err := wire.Unmarshal(text, read); err != nil {
				t.Fatalf("%s: %v\n%s", p.goType, err, text)
			}
			again := p.message()
			if err := p.from(read, again); err != nil {
				t.Fatalf("%s: %v\n%s", p.goType, err, text)
			}
			if !proto.Equal(msg, again) {
				t.Fatalf("%s: read from %s\nas %v\nnot %v", p.goType, text, again, msg)
			}
		}
	}
}
