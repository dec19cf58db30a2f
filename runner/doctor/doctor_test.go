// Tests of the doctor's judgements: the kinds of repositories, programs, locks.

package doctor

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
	"github.com/git-agentxchain/git-agentxchain/protocol/evidence"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/git-agentxchain/git-agentxchain/runner"
)

func examine(t *testing.T, r *runner.Runner, fix bool) *Examination {
	t.Helper()
	ex, err := Examine(context.Background(), r, Options{Fix: fix})
	if err != nil {
		t.Fatal(err)
	}
	return ex
}

// levels lists the findings of an area that are not ok.
func levels(ex *Examination, area string) []string {
	var out []string
	for _, f := range ex.Findings {
		if f.Area == area && f.Level != LevelOK {
			out = append(out, f.Level+": "+f.Message)
		}
	}
	return out
}

func TestExamineIsQuietOnEveryKindOfRepository(t *testing.T) {
	testrepo.Serving(t)
	for _, o := range []doctorKind{
		{}, {sub: "pkg/a b"}, {linked: true}, {format: "sha256"}, {unborn: true},
	} {
		t.Run(fmt.Sprintf("%+v", o), func(t *testing.T) {
			r, _ := doctorProject(t, o)
			ctx := context.Background()
			if _, err := r.AssignTurn(ctx, runner.AssignOptions{Role: "pm"}); err != nil {
				t.Fatal(err)
			}
			ex := examine(t, r, false)
			for _, f := range ex.Findings {
				if f.Level == LevelError || f.Level == LevelWarning {
					t.Errorf("%s %s: %s", f.Level, f.Area, f.Message)
				}
				if (f.Level == LevelError || f.Level == LevelWarning) && f.Fix == "" {
					t.Errorf("%q names no fix", f.Message)
				}
			}
			if ex.View == nil || ex.View.State.ActiveTurns.Len() != 1 {
				t.Error("the run was not read")
			}
		})
	}
}

func TestExamineChangesNothingWithoutFix(t *testing.T) {
	r, repo := doctorProject(t, doctorKind{})
	repo.Write(".gitignore", "node_modules/\n")
	repo.Write(wire.LockPath, `{"owner_pid": 2147483646, "acquired_at": "2020-01-01T00:00:00.000Z"}`)
	before := snapshotDir(t, repo.top)
	ex := examine(t, r, false)
	if got := snapshotDir(t, repo.top); got != before {
		t.Errorf("the doctor changed files:\n%s\nbefore:\n%s", got, before)
	}
	if ex.Worst() != LevelWarning || len(levels(ex, "lock")) != 1 || len(levels(ex, "ignore")) != 1 {
		t.Errorf("findings: %+v", ex.Findings)
	}
	ex = examine(t, r, true)
	for _, f := range ex.Findings {
		if f.Level != LevelOK && !f.Mended && f.Area != "guards" {
			t.Errorf("not mended: %+v", f)
		}
	}
	// Missing guards remain a note.
	if ex.Worst() != LevelNote {
		t.Errorf("worst after mending is %s", ex.Worst())
	}
	data, err := os.ReadFile(repo.Path(".gitignore"))
	if err != nil || !strings.HasPrefix(string(data), "node_modules/\n") {
		t.Errorf("the person's own lines are gone: %q, %v", data, err)
	}
}

// snapshotDir returns every path below dir with its size and content hash marker.
func snapshotDir(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(p string, e os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.Type().IsRegular() {
			data, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, "%s %x\n", p, evidence.NewBlob(data).Digest)
		} else {
			fmt.Fprintf(&b, "%s %s\n", p, e.Type())
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// A clock that is behind the run's times is reported, one that is slightly behind is not.
func TestExamineSeesAWrongClock(t *testing.T) {
	r, repo := doctorProject(t, doctorKind{})
	if _, err := r.AssignTurn(context.Background(), runner.AssignOptions{Role: "pm"}); err != nil {
		t.Fatal(err)
	}
	for behind, want := range map[time.Duration]int{0: 0, time.Minute: 0, 2 * time.Hour: 1} {
		late, err := runner.Open(context.Background(), repo.dir, runner.Options{
			Getenv: func(string) string { return "" },
			Now:    func() time.Time { return time.Now().Add(-behind) },
		})
		if err != nil {
			t.Fatal(err)
		}
		got := levels(examine(t, late, false), "clock")
		if len(got) != want || want > 0 && !strings.Contains(got[0], "made by Ada at ") {
			t.Errorf("%s behind: %q", behind, got)
		}
		_ = late.Close()
	}
}

func TestExamineSeesAnotherToolsChange(t *testing.T) {
	r, repo := doctorProject(t, doctorKind{})
	if _, err := r.AssignTurn(context.Background(), runner.AssignOptions{Role: "pm"}); err != nil {
		t.Fatal(err)
	}
	events := repo.Path(wire.LedgerEvents.Path())
	data, err := os.ReadFile(events)
	if err != nil {
		t.Fatal(err)
	}
	line := data[strings.LastIndexByte(strings.TrimSpace(string(data)), '\n')+1:]
	if err := os.WriteFile(events, append(data, line...), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := levels(examine(t, r, false), "state"); len(got) != 1 || !strings.HasPrefix(got[0], LevelNote) {
		t.Errorf("state findings: %q", got)
	}
	if ex := examine(t, r, true); ex.Worst() != LevelNote {
		t.Errorf("after --fix: %+v", ex.Findings)
	}
	if got := levels(examine(t, r, false), "state"); len(got) != 0 {
		t.Errorf("it comes back: %q", got)
	}
	// --fix does not handle tampering.
	if err := os.WriteFile(events, []byte("{}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if ex := examine(t, r, true); ex.Worst() != LevelError {
		t.Errorf("tampering passed: %+v", ex.Findings)
	}
}

func TestDoctorPrograms(t *testing.T) {
	r, repo := doctorProject(t, doctorKind{})
	repo.Write("tools/plain.sh", "#!/bin/sh\n")
	repo.Write("tools/run.sh", "#!/bin/sh\n")
	if err := os.Chmod(repo.Path("tools/run.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	d := &doctor{r: r, rec: r.Record()}
	for _, tt := range []struct{ word, cwd, want string }{
		{"git", "", ""},
		{"agentxchain-no-such-program", "", "agentxchain-no-such-program is not on PATH"},
		{"./tools/run.sh", "", ""},
		{"./run.sh", "tools", ""},
		{"./tools/plain.sh", "", "./tools/plain.sh is not executable"},
		{"./tools", "", "./tools is not a program"},
		{"./none.sh", "", "./none.sh does not exist"},
		{"/no/such/file", "", "/no/such/file does not exist"},
		{"{agent}", "", ""},
	} {
		rt := &config.Runtime{
			ID:   "a",
			Type: "local_cli",
			Raw:  ojson.NewObject("command", []string{tt.word}, "cwd", tt.cwd),
		}
		if got := d.runtimeProblem(rt); got != tt.want {
			t.Errorf("%q in %q: %q, want %q", tt.word, tt.cwd, got, tt.want)
		}
	}
	var err error
	d.r, err = runner.Open(t.Context(), repo.dir,
		runner.Options{Getenv: func(k string) string { return map[string]string{"SET": "1"}[k] }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.r.Close() })
	for value, want := range map[string]string{
		"plain":            "",
		"Bearer ${SET}":    "",
		"${A}":             "the environment variable A is not set",
		"${A}-${SET}-${B}": "the environment variables A, B are not set",
		"${open":           "",
		"${A}${A}":         "the environment variable A is not set",
	} {
		if got := d.unset(ojson.NewObject("h", value)); got != want {
			t.Errorf("unset(%q) = %q, want %q", value, got, want)
		}
	}
}

func TestDescribeLock(t *testing.T) {
	for in, want := range map[string]string{
		`{"owner_pid": 2147483646, "acquired_at": "T"}`:                               "process 2147483646, since T true",
		`{"owner_pid": 2147483646, "host": "elsewhere.example", "purpose": "accept"}`: "process 2147483646 on elsewhere.example (accept) false",
		`{"owner_pid": "x"}`: "an unnamed process false",
		`{`:                  "an unreadable owner false",
		fmt.Sprintf(`{"owner_pid": %d}`, os.Getpid()): fmt.Sprintf("process %d false", os.Getpid()),
	} {
		owner, dead := describeLock([]byte(in))
		if got := fmt.Sprint(owner, " ", dead); got != want {
			t.Errorf("%s: %q, want %q", in, got, want)
		}
	}
}

func FuzzDescribeLock(f *testing.F) {
	f.Add([]byte(`{"owner_pid": 1, "host": "h", "purpose": "p", "acquired_at": "t"}`))
	f.Add([]byte(`{"owner_pid": -1}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if owner, _ := describeLock(data); owner == "" {
			t.Error("nobody is named")
		}
	})
}

// Commands that the doctor tells people to paste must mean the file they name.
func TestShellWordSurvivesAShell(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no sh")
	}
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.StringMatching(`[ -~é\n\t]*`), 1, 20).Draw(t, "words")
		script := "printf '%s\\0'"
		for _, w := range words {
			script += " " + shellWord(w)
		}
		out, err := exec.Command(sh, "-c", script).Output()
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.TrimSuffix(string(out), "\x00"); got != strings.Join(words, "\x00") {
			t.Fatalf("%q became %q", words, got)
		}
	})
}
