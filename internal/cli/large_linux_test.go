// Input larger or deeper than that of any run: a command answers, or reports the problem with a code of its own, in
// bounded memory and in time that grows no faster than the input.

package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
)

// largeKind is a kind of large file, measured in bytes, rows or levels.
type largeKind struct {
	name  string
	unit  int // of the short form: tens of thousands of rows, megabytes
	long  int
	write func(w io.Writer, n int)
}

func repeat(w io.Writer, text string, n int) {
	block := strings.Repeat(text, max(1, (64<<10)/len(text)))
	for each := len(block) / len(text); n >= each; n -= each {
		_, _ = io.WriteString(w, block)
	}
	_, _ = io.WriteString(w, strings.Repeat(text, n))
}

// largeRow is an entry of each of the ledgers.
const largeRow = `{"event_id":"e%07d","event_type":"turn_dispatched","timestamp":"2026-01-01T00:00:00.000Z","run_id":"run_1","phase":"build","status":"active","turn":null,"payload":{"turn_id":"turn_%07d","role":"dev","runtime":"manual"},"id":"DEC-%07d","category":"scope","statement":"It is so.","rationale":"Why not."}` + "\n"

func writeRows(w io.Writer, n int) {
	for i := range n {
		_, _ = fmt.Fprintf(w, largeRow, i, i, i)
	}
}

// used is the time and memory that a command took.
type used struct {
	code   int
	error  string
	memory int // bytes, at most
	time   time.Duration
}

// measured runs a command with --json.
func measured(t *testing.T, dir string, args ...string) used {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	program := os.Getenv("AGENTXCHAIN_TEST_PROGRAM")
	if program == "" {
		program = "git-agentxchain"
	}
	cmd := exec.CommandContext(ctx, program, append([]string{"--json"}, args...)...)
	var complaint bytes.Buffer
	cmd.Dir, cmd.Stderr = dir, &complaint
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	head, _ := io.ReadAll(io.LimitReader(out, 64<<10))
	_, _ = io.Copy(io.Discard, out)
	_ = cmd.Wait()
	u := used{code: cmd.ProcessState.ExitCode(), time: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}
	if r, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		u.memory = int(r.Maxrss) << 10
	}
	var answer struct {
		Overall string // a report on an artifact uses the words of the reference
		Error   struct{ Code string }
	}
	_ = json.NewDecoder(bytes.NewReader(head)).Decode(&answer)
	u.error = answer.Error.Code
	if u.error == "" {
		u.error = answer.Overall
	}
	if u.code < 0 || strings.Contains(complaint.String(), "goroutine ") || u.error == "internal" ||
		u.code > 1 && u.error == "" {
		t.Errorf("%s: %v, code %q: %.2000s %.500s", strings.Join(args, " "), cmd.ProcessState, u.error, &complaint,
			head)
	}
	return u
}

// TestSurviveLargeInput makes each command read files that are too large, too deep, or have very long lines.
func TestSurviveLargeInput(t *testing.T) {
	testrepo.Thorough(t)
	testrepo.InMemory()
	const (
		mostMemory = 640 << 20 // of a document or an artifact of any size
		// bytes for each byte of a ledger that a person or a tool has changed: both versions are compared
		ledgerMemory = 18
	)
	long := os.Getenv("AGENTXCHAIN_LONG_TESTS") != ""
	base := mcpProject(t)
	var assigned struct {
		Turn   string         `json:"turn_id"`
		Result map[string]any `json:"result_template"`
	}
	if err := json.Unmarshal([]byte(mustAt(t, base, "git-agentxchain", "--json", "assign", "dev")),
		&assigned); err != nil {
		t.Fatal(err)
	}
	artifact := filepath.Join(t.TempDir(), "run.json")
	mustAt(t, base, "git-agentxchain", "export", "--output", artifact)
	staged := ".agentxchain/staging/" + assigned.Turn + "/turn-result.json"
	bundle := ".agentxchain/dispatch/turns/" + assigned.Turn + "/"
	kinds := []largeKind{
		{"size", 8 << 20, 64 << 20, func(w io.Writer, n int) {
			_, _ = io.WriteString(w, `{"schema_version":"1.0","large":["`)
			repeat(w, `aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","`, n/56)
			_, _ = io.WriteString(w, `"]}`+"\n")
		}},
		{"rows", 10_000, 250_000, writeRows},
		{"line", 4 << 20, 16 << 20, func(w io.Writer, n int) {
			_, _ = io.WriteString(w, `{"schema_version":"1.0","large":"`)
			repeat(w, "a", n)
			_, _ = io.WriteString(w, `"}`+"\n")
		}},
		{"depth", 5_000, 25_000, func(w io.Writer, n int) {
			repeat(w, `{"a":[`, n)
			repeat(w, `]}`, n)
			_, _ = io.WriteString(w, "\n")
		}},
	}
	look := [][]string{{"status"}, {"validate"}, {"history"}, {"events"}, {"decisions"}, {"log"}, {"fsck"}, {"doctor"}}
	for _, c := range []struct {
		file     string
		commands [][]string
	}{
		{"agentxchain.json", append([][]string{{"assign", "dev"}, {"step"}}, look...)},
		{staged, [][]string{{"accept"}, {"verify", "turn"}, {"status"}, {"validate"}}},
		{".agentxchain/history.jsonl", append([][]string{{"accept"}}, look...)},
		{".agentxchain/decision-ledger.jsonl", [][]string{{"decisions"}, {"status"}, {"fsck"}}},
		{".agentxchain/events.jsonl", [][]string{{"events"}, {"status"}, {"fsck"}}},
		{".agentxchain/state.json", [][]string{{"status"}, {"fsck"}, {"doctor"}}},
		{".agentxchain/session.json", [][]string{{"status"}, {"fsck"}, {"doctor"}}},
		{bundle + "PROMPT.md", [][]string{{"turn", "show"}, {"verify", "bundle"}, {"status"}, {"accept"}}},
		{bundle + "ASSIGNMENT.json", [][]string{{"turn", "show"}, {"verify", "bundle"}, {"status"}, {"accept"}}},
		{"artifact.json", [][]string{{"verify", "export", "artifact.json"}, {"restore", "artifact.json"},
			{"report", "artifact.json"},
			{"diff", "artifact.json", "artifact.json"}, {"replay", "export", "artifact.json", "--json"}}},
	} {
		for _, k := range kinds {
			t.Run(k.name+" of "+c.file, func(t *testing.T) {
				n, most := k.unit, mostMemory
				if long {
					n = k.long
				}
				ledger := strings.HasSuffix(c.file, ".jsonl")
				for _, args := range c.commands {
					if !long && args[0] != c.commands[0][0] && crc32.ChecksumIEEE([]byte(t.Name()+args[0]))%4 != 0 {
						continue
					}
					var took [2]used
					for i, n := range []int{n, 4 * n} {
						dir := filepath.Join(t.TempDir(), "p")
						mustAt(t, filepath.Dir(dir), "cp", "-a", base, dir)
						size := plant(t, filepath.Join(dir, c.file), k, n)
						took[i] = measured(t, dir, args...)
						_ = os.RemoveAll(dir)
						if ledger {
							most = 256<<20 + ledgerMemory*size
						}
						if took[i].memory > most {
							t.Errorf("%v takes %d MiB for %d MiB", args, took[i].memory>>20, size>>20)
						}
					}
					t.Logf("%v: %s; four times as much: %s", args, took[0], took[1])
					// Quadratic growth takes sixteen times as much.
					if took[1].time > 8*max(took[0].time, 200*time.Millisecond) {
						t.Errorf("%v takes %v, and %v for four times as much", args, took[0].time, took[1].time)
					}
				}
			})
		}
	}
}

func (u used) String() string {
	return fmt.Sprintf("%d %s, %d MiB, %v", u.code, u.error, u.memory>>20, u.time.Round(10*time.Millisecond))
}

// plant writes the file and returns its size.
func plant(t *testing.T, path string, k largeKind, n int) (size int) {
	t.Helper()
	_ = os.MkdirAll(filepath.Dir(path), 0o777)
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriterSize(f, 1<<20)
	k.write(w, n)
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	fi, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return int(fi.Size())
}
