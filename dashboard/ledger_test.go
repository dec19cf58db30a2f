// A ledger is the same in whatever way it was read: at once, as it grew, after changes in place.

package dashboard

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func readAll(t interface {
	Fatal(...any)
	Cleanup(func())
}, dir string) *ledger {
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	l := newLedger(root, "l.jsonl", digestEvent)
	l.reset()
	if err := l.refresh(); err != nil {
		t.Fatal(err)
	}
	return l
}

func rowsOf(l *ledger) string {
	var b strings.Builder
	rows := l.entries()
	if err := l.each(rows, func(raw []byte) bool { fmt.Fprintf(&b, "%s\n", raw); return true }); err != nil {
		return err.Error()
	}
	bad, n := l.findings()
	for _, r := range rows {
		fmt.Fprintf(&b, "%s %s %s\n", r.Kind, r.Turn, r.Text)
	}
	return b.String() + fmt.Sprint(bad, n, len(rows))
}

func TestLedgerGrows(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp("", "agentxchain-ledger-")
		if err != nil {
			rt.Fatal(err)
		}
		defer func() { _ = os.RemoveAll(dir) }()
		path := filepath.Join(dir, "l.jsonl")
		l := readAll(rt, dir)
		var text string
		line := rapid.OneOf(
			rapid.Custom(func(rt *rapid.T) string {
				return fmt.Sprintf(`{"event_type":%q,"turn":{"turn_id":"turn_%d"},"payload":{"reason":%q}}`,
					rapid.StringMatching(`[a-z]{1,5}`).Draw(rt, "kind"), rapid.IntRange(0, 9).Draw(rt, "turn"),
					rapid.StringMatching(`[ -~]{0,40}`).Draw(rt, "reason"))
			}),
			rapid.SampledFrom([]string{"", "{", "null", "[1]", "\xff", "  "}),
		)
		for step := range rapid.IntRange(1, 12).Draw(rt, "steps") {
			switch rapid.IntRange(0, 9).Draw(rt, "what") {
			case 0: // rewritten
				text = strings.Join(rapid.SliceOfN(line, 0, 5).Draw(rt, "rows"), "\n") + "\n"
				if err := os.WriteFile(path+".new", []byte(text), 0o666); err != nil {
					rt.Fatal(err)
				}
				if err := os.Rename(path+".new", path); err != nil {
					rt.Fatal(err)
				}
			case 1: // its end amended in place
				if i := strings.LastIndexByte(strings.TrimSuffix(text, "\n"), '\n'); i >= 0 {
					text = text[:i+1] + line.Draw(rt, "amended") + strings.Repeat(" ", 60) + "\n"
				}
				if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
					rt.Fatal(err)
				}
			case 2: // a piece of a line
				text += strings.ReplaceAll(line.Draw(rt, "piece"), "\n", "")
				if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
					rt.Fatal(err)
				}
			case 3:
				text = ""
				_ = os.Remove(path)
			default:
				text += line.Draw(rt, "row") + "\n"
				if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
					rt.Fatal(err)
				}
			}
			// Two writes within the clock's resolution would pass for one.
			at := time.Unix(1_700_000_000+int64(step), 0)
			_ = os.Chtimes(path, at, at)
			if err := l.refresh(); err != nil {
				rt.Fatal(err)
			}
			if got, want := rowsOf(l), rowsOf(readAll(rt, dir)); got != want {
				rt.Fatalf("as it grew:\n%s\nat once:\n%s", got, want)
			}
		}
	})
}

func FuzzLedger(f *testing.F) {
	for _, s := range []string{"", "{}\n", `{"event_type":"x","turn":{"turn_id":"t"}}` + "\n", "{\n}\n", "[]\n\n\n",
		"\x00\n", `{"payload":{"reason":"` + strings.Repeat("x", 300) + `"}}` + "\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "l.jsonl"), data, 0o666); err != nil {
			t.Fatal(err)
		}
		for _, digest := range []func(*ledger){func(l *ledger) { l.digest = digestAny }, func(l *ledger) {
			l.digest = digestHistory
		}, func(l *ledger) { l.digest = digestDecision }, func(l *ledger) { l.digest = digestHook }} {
			l := readAll(t, dir)
			digest(l)
			l.reset()
			if err := l.refresh(); err != nil {
				t.Fatal(err)
			}
			n := 0
			if err := l.each(l.entries(), func(raw []byte) bool {
				n++
				if strings.ContainsRune(string(raw), '\n') {
					t.Errorf("a row of two lines: %q", raw)
				}
				return true
			}); err != nil || n != len(l.entries()) {
				t.Errorf("%d of %d rows, %v", n, len(l.entries()), err)
			}
		}
	})
}

// What is written as the watch begins, or as a turn does, is noticed without waiting for the next
// change.
func TestNothingIsMissedAtTheStart(t *testing.T) {
	rest := again
	again = time.Hour
	t.Cleanup(func() { again = rest })
	for range 5 {
		dir, turn := fresh(t)
		v := serve(t, Options{Dir: dir, Every: 50 * time.Millisecond})
		appendFile(t, dir, ".agentxchain/events.jsonl",
			`{"event_type":"early","timestamp":"2026-01-01T00:00:00.000Z"}`+"\n")
		writeFile(t, dir, ".agentxchain/staging/"+turn.TurnID+"/turn-result.json",
			`{"turn_id":"`+turn.TurnID+`","status":"completed","summary":"Done."}`)
		eventually(t, "what was written at the start", func() bool {
			return strings.Contains(v.page("/event-log"), "early") && strings.Contains(v.page("/"), "result staged")
		})
		v.stop()
	}
}
