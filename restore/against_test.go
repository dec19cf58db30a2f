package restore

import (
	"bytes"
	"encoding/base64"
	"os"
	"path/filepath"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/gitstore/bundle"
	"github.com/git-agentxchain/git-agentxchain/gitstore/record"
	"github.com/git-agentxchain/git-agentxchain/gitstore/travel"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

func TestAnExportHasItsPlaceInTheRun(t *testing.T) {
	src := newSource(t)
	_, first := exported(t, src.dir, ExportOptions{})
	goOn(t, src.dir) // two operations
	_, second := exported(t, src.dir, ExportOptions{})

	// events changes the text of the events in an artifact and keeps it consistent.
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
		ahead, after int // after: 1 if only the artifact has these rows
	}{
		{name: "as recorded now", artifact: second, state: travel.RunEqual},
		{name: "as recorded before", artifact: first, state: travel.RunAhead, ahead: 2},
		{name: "the last event is gone", artifact: second, change: events(func(b []byte) []byte {
			return b[:bytes.LastIndexByte(b[:len(b)-1], '\n')+1]
		}), state: travel.RunDamaged, code: travel.CodeExportDiffers, ahead: 1},
		{name: "an event is changed", artifact: second, change: events(func(b []byte) []byte {
			return bytes.Replace(b, []byte(`"pm"`), []byte(`"qa"`), 1)
		}), state: travel.RunDamaged, code: travel.CodeExportDiffers, ahead: 3},
		{name: "a state that was never recorded", artifact: second, change: state, state: travel.RunDiverged},
		{name: "rows and state from elsewhere", artifact: second, change: func(o *ojson.Object) {
			state(o)
			events(func(b []byte) []byte {
				return append(bytes.Clone(b),
					b[bytes.LastIndexByte(b[:len(b)-1], '\n')+1:]...)
			})(o)
		}, state: travel.RunBehind, after: 1},
	} {
		t.Run(x.name, func(t *testing.T) {
			artifact := x.artifact
			if x.change != nil {
				o := parsed(t, artifact)
				x.change(o)
				artifact = ojson.Compact(o)
			}
			all, err := Against(t.Context(), src.dir, bytes.NewReader(artifact), "")
			if err != nil {
				t.Fatal(err)
			}
			if !all.Files || len(all.Runs) != 1 {
				t.Fatalf("%+v; want one run, of which the files were compared", all)
			}
			got := all.Runs[0]
			if got.State != x.state || got.Code != x.code || got.Ahead != x.ahead ||
				min(got.Behind, 1) != x.after && x.code == "" {
				t.Errorf("state %q, code %q (%s), ahead %d, behind %d; want %q, %q, %d, %d", got.State, got.Code,
					got.Why, got.Ahead, got.Behind,
					x.state, x.code, x.ahead, x.after)
			}
		})
	}
}

func TestTheRecordInAnExportIsJudged(t *testing.T) {
	testrepo.Serving(t)
	s := newSource(t)
	ref := runRef(t, s.artifact)
	_, older := exported(t, s.dir, ExportOptions{Record: true})
	restoreOK(t, s.clone, older, Options{})
	goOn(t, s.dir) // two operations
	_, artifact := exported(t, s.dir, ExportOptions{Record: true})
	tip := testGit(t, s.dir, "rev-parse", ref)
	goOn(t, s.clone) // the same two, made separately

	// carrying returns the artifact with other bytes for its record, with consistent claims.
	carrying := func(name string) []byte {
		op := testGit(t, s.dir, "rev-parse", name)
		file := filepath.Join(t.TempDir(), "bundle")
		testGit(t, s.dir, "update-ref", ref, op)
		testGit(t, s.dir, "bundle", "create", "-q", file, ref)
		testGit(t, s.dir, "update-ref", ref, tip)
		carried, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		o := parsed(t, artifact)
		o.Set("record", ojson.NewObject("format", recordFormat, "tip", op, "bytes", len(carried),
			"sha256", wire.SHA256(carried), "content_base64", base64.StdEncoding.EncodeToString(carried)))
		return ojson.Compact(o)
	}
	forged := testGit(t, s.dir, "commit-tree", "-p", tip, "-m", testGit(t, s.dir, "log", "-1", "--format=%B", tip),
		tip+"^{tree}")
	changed := parsed(t, artifact)
	state := changed.Object("state").Clone()
	state.Set("note", "planted")
	changed.Set("state", state)
	setFile(changed, statePath, formatJSON, string(ojson.Pretty(state)), state)

	for _, x := range []struct {
		name, dir     string
		artifact      []byte
		state, code   string
		ahead, behind int
	}{
		{"where it was made", s.dir, artifact, travel.RunEqual, "", 0, 0},
		{"an older one", s.dir, older, travel.RunAhead, "", 2, 0},
		{"where another went on", s.clone, artifact, travel.RunDiverged, "", 2, 2},
		{"a forged operation", s.dir, carrying(forged), travel.RunDamaged, record.CodeUnproven, 0, 0},
		{"the record of an older one", s.dir, carrying(tip + "~1"), travel.RunDamaged, travel.CodeExportDiffers, 1, 0},
		{"a state that it did not record", s.dir, ojson.Compact(changed), travel.RunDamaged, travel.CodeExportDiffers,
			0, 0},
	} {
		a, err := Against(t.Context(), x.dir, bytes.NewReader(x.artifact), "")
		if err != nil {
			t.Errorf("%s: %v", x.name, err)
			continue
		}
		if got := a.Runs[0]; a.Files || len(a.Runs) != 1 || got.State != x.state || got.Code != x.code ||
			got.Ahead != x.ahead || got.Behind != x.behind {
			t.Errorf("%s: files %v, state %q, code %q (%s), ahead %d, behind %d; want %q, %q, %d, %d", x.name, a.Files,
				got.State, got.Code, got.Why, got.Ahead, got.Behind, x.state, x.code, x.ahead, x.behind)
		}
	}
	half := parsed(t, artifact)
	carried, _ := base64.StdEncoding.DecodeString(half.Object("record").String("content_base64"))
	carried = carried[:len(carried)/2]
	half.Object("record").Set("bytes", len(carried))
	half.Object("record").Set("sha256", wire.SHA256(carried))
	half.Object("record").Set("content_base64", base64.StdEncoding.EncodeToString(carried))
	if _, err := Against(t.Context(), s.dir, bytes.NewReader(ojson.Compact(half)),
		""); codeIn(err) != bundle.CodeHistoryInvalid {
		t.Errorf("half of a record: %v; want %s", err, bundle.CodeHistoryInvalid)
	}
}

// mustRead returns the content of a file in an artifact.
func mustRead(t *testing.T, artifact []byte, path string) []byte {
	t.Helper()
	in, err := receive(t.Context(), bytes.NewReader(artifact), "", VerifyOptions{})
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
