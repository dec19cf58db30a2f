// Foreign text that this package shows, checked against the table of hostile runes.

package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/dashboard"
	"github.com/git-agentxchain/git-agentxchain/internal/cli/term"
	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/internal/text/texttest"
)

func TestHostileRunes(t *testing.T) {
	texttest.Passes(t, "Clean", term.Clean)
	texttest.Passes(t, "OneLine", term.OneLine)
	texttest.Passes(t, "shownLine", func(s string) string { return "x" + term.Shown([]byte(s)) })
}

// hostileTexts returns texts that together contain the first and the last rune of every range of
// the table.
func hostileTexts() (texts []string) {
	var b strings.Builder
	n := 0
	var before rune = -2
	what := ""
	add := func(r rune) {
		b.WriteString("x" + string(r))
		if n++; n%24 == 0 {
			texts = append(texts, b.String()+"x")
			b.Reset()
		}
	}
	for r, w := range text.HostileRunes() {
		if w != what || r != before+1 {
			if before >= 0 {
				add(before)
			}
			add(r)
		}
		before, what = r, w
	}
	add(before)
	return append(texts, b.String()+"x")
}

// terminalRun runs a command as if at a terminal and returns what it printed there.
func terminalRun(t *testing.T, dir string, args ...string) (string, int) {
	t.Helper()
	var out bytes.Buffer
	env := OSEnv()
	env.Stdin, env.Stdout, env.Stderr, env.Dir = strings.NewReader(""), &out, &out, dir
	env.IsTerminal = func(any) bool { return true }
	env.Width = func(any) int { return 0 }
	status := Main(append([]string{"git-agentxchain"}, args...), env)
	return out.String(), status
}

// TestHostileRunesTravelNowhere hands in a turn whose result contains the table and looks
// everywhere such a text is shown: the terminal, commits, pages, and what the next agent reads.
func TestHostileRunesTravelNowhere(t *testing.T) {
	testrepo.Thorough(t)
	for k, v := range map[string]string{
		"GIT_CONFIG_GLOBAL":    os.DevNull,
		"GIT_CONFIG_SYSTEM":    os.DevNull,
		"HOME":                 t.TempDir(),
		"NO_COLOR":             "1",
		"GIT_AUTHOR_NAME":      "Ada",
		"GIT_AUTHOR_EMAIL":     "ada@example.org",
		"GIT_COMMITTER_NAME":   "Ada",
		"GIT_COMMITTER_EMAIL":  "ada@example.org",
		"AGENTXCHAIN_TURN_ID":  "",
		"AGENTXCHAIN_TRUST":    "",
		"AGENTXCHAIN_NO_PAGER": "1",
		"GIT_PAGER":            "cat",
	} {
		t.Setenv(k, v)
	}
	dir := filepath.Join(t.TempDir(), "p")
	if err := scriptProject([]string{dir}); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	shown := func(name, out string) {
		t.Helper()
		if name != "" && strings.TrimSpace(out) == "" {
			t.Errorf("%s shows nothing", name)
		}
		texttest.Clean(t, name, out)
	}
	command := func(args ...string) string {
		t.Helper()
		out, status := terminalRun(t, dir, append([]string{"--no-pager"}, args...)...)
		if status != 0 {
			t.Fatalf("%v: exit %d: %s", args, status, out)
		}
		shown(strings.Join(args, " "), out)
		return out
	}
	texts := hostileTexts()
	var decisions, objections []any
	for i, s := range texts {
		decisions = append(decisions,
			ojson.NewObject("id", fmt.Sprintf("DEC-%03d", i+1), "category", "scope", "statement", s, "rationale", s))
		objections = append(objections,
			ojson.NewObject("id", fmt.Sprintf("OBJ-%03d", i+1), "severity", "low", "statement", s))
	}
	command("assign", "pm")
	// The files of a turn are quoted to the next one too.
	if err := os.WriteFile(filepath.Join(dir, ".planning", "PM_SIGNOFF.md"),
		[]byte("Approved: NO\n"+strings.ReplaceAll(strings.Join(texts, "\n"), "\x00", "")), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := scriptStage([]string{
		"decisions=" + string(ojson.Compact(decisions)),
		"objections=" + string(ojson.Compact(objections)),
		"summary=" + string(ojson.Compact("done "+texts[1]+texts[2])),
		"proposed_next_role=eng_director",
		`files_changed=[".planning/PM_SIGNOFF.md"]`,
	}); err != nil {
		t.Fatal(err)
	}
	command("validate")
	if out := command("accept", "--checkpoint"); !strings.Contains(out, "done x") {
		t.Errorf("accept does not show the summary: %s", out)
	}
	for _, args := range [][]string{
		{"status"}, {"status", "--json"}, {"history"}, {"history", "--json"}, {"decisions"}, {"decisions", "--json"},
		{"events"}, {"log"}, {"log", "--json"}, {"show"}, {"show", "--json"}, {"why", ".planning/PM_SIGNOFF.md"},
		{"blame", ".planning/PM_SIGNOFF.md"},
		{"export"}, {"export", "--output", "../artifact.json"}, {"report", "../artifact.json"},
		{"report", "../artifact.json", "--format", "html"},
		{"report", "../artifact.json", "--format", "json"}, {"audit"}, {"fsck"},
	} {
		command(args...)
	}
	command("assign", "eng_director")
	command("turn", "show")
	messages, err := exec.Command("git", "log", "--all", "--format=%B").Output()
	if err != nil {
		t.Fatal(err)
	}
	shown("commit messages", string(messages))
	if !strings.Contains(string(messages), `\u202e`) && !strings.Contains(string(messages), `\u2066`) {
		t.Errorf("no commit message holds the summary: %s", messages)
	}
	prompts, err := filepath.Glob(filepath.Join(dir, ".agentxchain", "dispatch", "turns", "*", "*"))
	if err != nil || len(prompts) < 3 {
		t.Fatalf("%v %v", prompts, err)
	}
	quoted := ""
	for _, name := range prompts {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		shown(filepath.Base(name), string(data))
		quoted += string(data)
	}
	for _, want := range []string{`\u061c`, `\u200e`, `\u202e`, `\u2066`, `\ufeff`, `\U000e007f`, `\U000e0100`, `^[`} {
		if strings.Contains(want, "[") {
			continue // the last control of its range is another one
		}
		if !strings.Contains(quoted, want) {
			t.Errorf("the next agent is not shown %s", want)
		}
	}
	pages(t, dir, shown)
}

// pages looks at the dashboard.
func pages(t *testing.T, dir string, shown func(name, out string)) {
	t.Helper()
	s, err := dashboard.New(context.Background(), dashboard.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	l, err := s.Listen(0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	for _, path := range []string{"/", "/timeline", "/turns", "/decisions", "/event-log", "/integrity",
		"/search?q=x"} {
		req := httptest.NewRequest(http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d%s", s.Port(), path), nil)
		req.Header.Set("X-AgentXchain-Token", s.Token())
		rec := httptest.NewRecorder()
		s.Handler().ServeHTTP(rec, req)
		body, _ := io.ReadAll(rec.Body)
		if rec.Code != http.StatusOK {
			t.Errorf("%s: %d: %.200s", path, rec.Code, body)
		}
		shown(path, string(body))
	}
}
