package restore

import (
	"bytes"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/gitstore"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

func TestAnExportHasItsPlaceInTheRun(t *testing.T) {
	src := newSource(t)
	first := src.artifact
	goOn(t, src.dir) // two operations
	_, second := exported(t, src.dir, ExportOptions{})

	// events changes the text of the events in an artifact that stays true to itself.
	events := func(change func([]byte) []byte) func(o *ojson.Object) {
		return func(o *ojson.Object) {
			path := wire.LedgerEvents.Path()
			data := change(mustRead(t, second, path))
			rows := []any{}
			for line := range bytes.Lines(data) {
				row, err := ojson.DecodeObject(line)
				if err != nil {
					t.Fatal(err)
				}
				rows = append(rows, row)
			}
			setFile(o, path, formatJSONL, string(data), rows)
		}
	}
	state := func(o *ojson.Object) {
		st := o.Object("state").Clone()
		st.Set("note", "planted")
		o.Set("state", st)
		setFile(o, statePath, formatJSON, string(ojson.Pretty(st)), st)
	}
	for _, x := range []struct {
		name         string
		artifact     []byte
		change       func(o *ojson.Object)
		state, code  string
		ahead, after int // after: 1 when rows are only in the artifact
	}{
		{name: "as recorded now", artifact: second, state: gitstore.RunEqual},
		{name: "as recorded before", artifact: first, state: gitstore.RunAhead, ahead: 2},
		{name: "the last event is gone", artifact: second, change: events(func(b []byte) []byte {
			return b[:bytes.LastIndexByte(b[:len(b)-1], '\n')+1]
		}), state: gitstore.RunDamaged, code: gitstore.CodeExportDiffers, ahead: 1},
		{name: "an event is changed", artifact: second, change: events(func(b []byte) []byte {
			return bytes.Replace(b, []byte(`"pm"`), []byte(`"qa"`), 1)
		}), state: gitstore.RunDamaged, code: gitstore.CodeExportDiffers, ahead: 3},
		{name: "a state nobody recorded", artifact: second, change: state, state: gitstore.RunDiverged},
		{name: "rows and state from elsewhere", artifact: second, change: func(o *ojson.Object) {
			state(o)
			events(func(b []byte) []byte { return append(bytes.Clone(b), b[bytes.LastIndexByte(b[:len(b)-1], '\n')+1:]...) })(o)
		}, state: gitstore.RunBehind, after: 1},
	} {
		t.Run(x.name, func(t *testing.T) {
			artifact := x.artifact
			if x.change != nil {
				o := parsed(t, artifact)
				x.change(o)
				artifact = ojson.Compact(o)
			}
			got, err := Against(t.Context(), src.dir, bytes.NewReader(artifact), "")
			if err != nil {
				t.Fatal(err)
			}
			if got.State != x.state || got.Code != x.code || got.Ahead != x.ahead || min(got.Behind, 1) != x.after && x.code == "" {
				t.Errorf("state %q, code %q (%s), ahead %d, behind %d; want %q, %q, %d, %d", got.State, got.Code, got.Why, got.Ahead, got.Behind,
					x.state, x.code, x.ahead, x.after)
			}
		})
	}
}

// mustRead is the content of a file in an artifact.
func mustRead(t *testing.T, artifact []byte, path string) []byte {
	t.Helper()
	in, err := receive(t.Context(), bytes.NewReader(artifact), VerifyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	data, err := (&placing{in: in}).read(path)
	if err != nil || data == nil {
		t.Fatalf("%s: %v", path, err)
	}
	return data
}
