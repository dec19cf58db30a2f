package runtimes_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/runner/runtimes"
)

func TestCommand(t *testing.T) {
	for text, want := range map[string]string{
		`{"command":["a","b c"]}`:                 `["a" "b c"]`,
		`{"command":["a  b","c"]}`:                `["a" "b" "c"]`,
		`{"command":"a b"}`:                       `["a b"]`,
		`{"command":"a","args":["b","c d"]}`:      `["a" "b" "c d"]`,
		`{"command":["a"],"args":["never used"]}`: `["a"]`,
		`{"command":" "}`:                         `[]`,
		`{"command":[]}`:                          `[]`,
		`{"command":[" "]}`:                       `[]`,
		`{"command":["a",1]}`:                     `[]`,
		`{"command":{}}`:                          `[]`,
		`{}`:                                      `[]`,
	} {
		doc, err := ojson.DecodeObject([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%q", runtimes.Command(doc)); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func TestPromptText(t *testing.T) {
	if got := string(runtimes.PromptText([]byte("p"), []byte("c"))); got != "p\n---\n\nc" {
		t.Errorf("%q", got)
	}
	if got := string(runtimes.PromptText([]byte("p"), []byte(" \n"))); got != "p" {
		t.Errorf("%q", got)
	}
}

func TestShown(t *testing.T) {
	for in, want := range map[string]string{
		"plain":                      "plain",
		"\x1b[1;31mred\x1b[0m":       "red",
		"\x1b]0;title\x07text":       "text",
		"\x1b]8;;http://x\x1b\\link": "link",
		"a\rb\x00c\u202ed\u2028e":    `a b^@c\u202ed e`,
		"tab\there":                  "tab here",
		"\xff\xfe":                   "\ufffd\ufffd",
		"\x1b":                       "",
		"\x1b[":                      "",
		strings.Repeat("é", 300):     strings.Repeat("é", 200),
	} {
		if got := runtimes.Shown([]byte(in)); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// TestProgress follows a turn through its file, second by second.
func TestProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		if err := os.Mkdir(dir+"/.agentxchain", 0o700); err != nil {
			t.Fatal(err)
		}
		root, err := os.OpenRoot(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = root.Close() }()
		read := func() *runtimes.Progress {
			t.Helper()
			p, err := runtimes.ReadProgress(root, "turn_1")
			if err != nil || p == nil {
				t.Fatal(p, err)
			}
			return p
		}
		tr := runtimes.Track(root, runtimes.Progress{
			TurnID:      "turn_1",
			RuntimeID:   "a",
			AdapterType: "local_cli",
			DriverPID:   7,
		}, time.Now)
		if p := read(); p.ActivityType != "starting" || p.FirstOutputAt != nil || p.PID != nil || p.DriverPID != 7 {
			t.Errorf("%+v", p)
		}
		tr.Note(runtimes.Activity{Type: "output", Stream: "stderr", Lines: 2, PID: 42})
		tr.Note(runtimes.Activity{Type: "heartbeat"})
		if p := read(); p.StderrLines != 0 {
			t.Errorf("written twice within a second: %+v", p)
		}
		time.Sleep(1100 * time.Millisecond)
		if p := read(); p.StderrLines != 2 || p.FirstOutputAt != nil || p.PID == nil || *p.PID != 42 {
			t.Errorf("stderr is no proof of life: %+v", p)
		}
		tr.Note(runtimes.Activity{Type: "output", Stream: "stdout", Lines: 3, Line: "hello"})
		time.Sleep(1100 * time.Millisecond)
		if p := read(); p.OutputLines != 3 || p.FirstOutputAt == nil || p.LastLine != "hello" || p.SilentSince != nil {
			t.Errorf("%+v", p)
		}
		time.Sleep(31 * time.Second)
		if p := read(); p.SilentSince == nil || p.ActivityType != "silent" {
			t.Errorf("%+v", p)
		}
		tr.Note(runtimes.Activity{Type: "output", Stream: "stdout", Lines: 1})
		time.Sleep(1100 * time.Millisecond)
		if p := read(); p.SilentSince != nil || p.OutputLines != 4 {
			t.Errorf("%+v", p)
		}
		tr.Close()
		tr.Close()
		tr.Note(runtimes.Activity{Type: "output"})
		time.Sleep(2 * time.Second)
		if p, err := runtimes.ReadProgress(root, "turn_1"); p != nil || err != nil {
			t.Errorf("%+v %v", p, err)
		}
		if left, _ := os.ReadDir(dir + "/.agentxchain"); len(left) != 0 {
			t.Errorf("left behind: %v", left)
		}
	})
}

func TestProgressOfOthers(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	if err := os.Mkdir(dir+"/.agentxchain", 0o700); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"../x", "a/b", "", "..", "a\x00b"} {
		if p, err := runtimes.ReadProgress(root, id); p != nil || err != nil && id != "" {
			t.Errorf("%q: %v %v", id, p, err)
		}
	}
	for _, text := range []string{"", "{", "[]", `{"pid":"x"}`, strings.Repeat(" ", 100_000)} {
		if err := os.WriteFile(dir+"/.agentxchain/dispatch-progress-turn_1.json", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := runtimes.ReadProgress(root, "turn_1"); err == nil {
			t.Errorf("%.20q was read", text)
		}
	}
}
