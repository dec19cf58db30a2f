// Ten thousand messages of every type, through JSON and through protobuf.

package monarchic_test

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
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
	for i := range testrepo.Times(t.Name(), messages/10, messages) {
		name := names[i%len(names)]
		v := g.value(structs[i%len(names)])
		for form, write := range map[string]func(any) []byte{"canonical": wire.Canonical, "line": func(v any) []byte {
			return []byte(compact(v))
		}} {
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

// Reading keeps order and spelling of every program's documents, not only of those that we would
// write.
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
		if got := compact(task); got != text {
			t.Errorf("was %s\nis  %s", text, got)
		}
	}
}
