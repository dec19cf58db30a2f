// Markdown safety of foreign text, and previews.

package dispatch

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

func TestFenceHoldsAnyBody(t *testing.T) {
	body := rapid.StringOf(rapid.SampledFrom([]rune("``````~# a\n\r\t")))
	rapid.Check(t, func(rt *rapid.T) {
		in := body.Draw(rt, "body")
		out := fenced("json", in)
		open, rest, _ := strings.Cut(out, "\n")
		fence := strings.TrimSuffix(open, "json")
		inner, ok := strings.CutSuffix(rest, fence)
		if !ok || len(fence) < 3 || strings.Trim(fence, "`") != "" {
			rt.Fatalf("not a code block: %q", out)
		}
		if strings.Contains(inner, fence) {
			rt.Fatalf("the body can close the fence %q: %q", fence, inner)
		}
		if inner != in && inner != in+"\n" {
			rt.Fatalf("body %q became %q", in, inner)
		}
	})
}

func TestCodeSpanHoldsAnyName(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		name := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 20), func(b []byte) string {
			return string(b)
		}),
			rapid.StringMatching("[`a]{0,9}")).Draw(rt, "name")
		out := code(name)
		mark := out[:len(out)-len(strings.TrimLeft(out, "`"))]
		inner, ok := strings.CutSuffix(strings.TrimPrefix(out, mark), mark)
		if !ok || mark == "" || !utf8.ValidString(out) || strings.ContainsAny(out, "\n\r\x00\x1b") {
			rt.Fatalf("code(%q) = %q", name, out)
		}
		for run := range strings.FieldsFuncSeq(inner, func(r rune) bool { return r != '`' }) {
			if len(run) == len(mark) {
				rt.Fatalf("code(%q) = %q ends early", name, out)
			}
		}
	})
}

func TestCell(t *testing.T) {
	for in, want := range map[string]string{"a": "a", "a|b": `a\|b`, `a\|b`: `a\\\|b`, `a\b|`: `a\b\|`, "||": `\|\|`} {
		if got := cell(in); got != want {
			t.Errorf("cell(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestQuoteAndLine(t *testing.T) {
	if got := quote("# a\r\n\n```\n\x1b[31mred"); got != "> # a\n>\n> ```\n> ^[[31mred" {
		t.Errorf("quote: %q", got)
	}
	if got := line(" a\n\n## b\tc\x00 "); got != "a ## b c^@" {
		t.Errorf("line: %q", got)
	}
	if got := line(strings.Repeat("é", maxLineRunes+5)); !strings.HasSuffix(got, "é… (5 more characters left out)") {
		t.Errorf("cut: %q", got)
	}
	if got := line("a\xffb"); got != "a\ufffdb" {
		t.Errorf("invalid bytes: %q", got)
	}
}

func TestVerbatimClosesFences(t *testing.T) {
	for in, want := range map[string]string{
		"plain":               "plain",
		"```go\nx":            "```go\nx\n```",
		"```go\nx\n```":       "```go\nx\n```",
		"````\n```\nx":        "````\n```\nx\n````",
		"~~~\n```":            "~~~\n```\n~~~",
		"``` a`b":             "``` a`b",
		"```\n``` not closed": "```\n``` not closed\n```",
		"    ```\nindented":   "```\nindented\n```", // trimmed first
		"x\n    ```\ncode":    "x\n    ```\ncode",
	} {
		if got := verbatim(in); got != want {
			t.Errorf("verbatim(%q) = %q, want %q", in, got, want)
		}
	}
	if got := unheaded("a\n  ## b"); got != "a\n\\## b" {
		t.Errorf("unheaded: %q", got)
	}
}

func TestPreviewLimits(t *testing.T) {
	lines := func(n int) string { return strings.Repeat("x\n", n) }
	for name, tc := range map[string]struct {
		text string
		want string // note, "" for none
	}{
		"exact":         {lines(120), ""},
		"exact no feed": {strings.TrimSuffix(lines(120), "\n"), ""},
		"over":          {lines(121), "_Only the first 120 of 121 lines are shown; read the file for the rest._"},
		"over no feed": {lines(120) + "x",
			"_Only the first 120 of 121 lines are shown; read the file for the rest._"},
		"long and wide": {strings.Repeat(strings.Repeat("y", 1000)+"\n",
			200), "_Only the first 48 KiB are shown; read the file for the rest._"},
		"many and cut": {lines(maxPreviewBytes), "_Only the first 120 lines are shown; read the file for the rest._"},
		"one long line": {strings.Repeat("é",
			maxPreviewBytes), "_Only the first 48 KiB are shown; read the file for the rest._"},
		"binary":    {"a\x00b", "_Not text; no preview._"},
		"not utf-8": {"a\xff\xfeb", "_Not text; no preview._"},
		"empty":     {"", "_The file is empty._"},
	} {
		t.Run(name, func(t *testing.T) {
			in := newInput(wire.ReviewOnly, "manual")
			withFiles(&in, map[string]string{"f": tc.text})
			v, _ := newView(in)
			s, ok := v.sample("f")
			out := s.preview(changedLines)
			if !ok || !utf8.ValidString(out) || len(out) > maxPreviewBytes+200 {
				t.Fatalf("ok %v, %d bytes", ok, len(out))
			}
			note := out[strings.LastIndexByte(out, '\n')+1:]
			if tc.want == "" {
				tc.want = "```"
			}
			if note != tc.want {
				t.Errorf("ends %q, want %q", note, tc.want)
			}
		})
	}
}

func TestPreviewsStayInTheProject(t *testing.T) {
	in := fullInput(t, wire.ReviewOnly, "manual")
	paths := []any{"/etc/passwd", "../x", "a/../../x", ".git/config", "a/.GIT/config", `..\x`, "c:/x", "a\x00b", "",
		"./x"}
	in.LastRow.Set("files_changed", paths)
	asked := func(p string) {
		if !safePath(p) {
			t.Errorf("asked for %q", p)
		}
	}
	in.Read = func(p string, _ int) ([]byte, bool) { asked(p); return []byte("x"), true }
	in.Exists = func(p string) bool { asked(p); return true }
	in.Config.Gate("plan_gate").RequiresFiles = []string{"../gate", "/gate"}
	for _, p := range paths {
		in.LastRow.Set("files_changed", []any{p})
		_, _, context := build(t, in)
		if strings.Contains(context, "### Changed File Previews") {
			t.Errorf("a preview of %q", p)
		}
	}
}

func TestPreviewCounts(t *testing.T) {
	in := fullInput(t, wire.ReviewOnly, "manual")
	in.LastRow.Set("files_changed", []string{"1", "2", "3", "4", "5", "6", "7"})
	in.Read = func(p string, _ int) ([]byte, bool) { return []byte("x"), p != "2" }
	_, _, context := build(t, in)
	if !strings.Contains(context,
		"_1 of these files could not be read (deleted, not a regular file, or outside the project); 2 further files have no preview._") {
		t.Error("the context does not say which previews are missing")
	}
}

func TestLogExcerpt(t *testing.T) {
	long := strings.Repeat("y", logLineUnits+10)
	out := logExcerpt([]byte(strings.Repeat("early\n", 10) + strings.Repeat("late\n", 49) + "\x1b[1m" + long +
		"\xff\n\n"))
	if strings.Contains(out, "early") || strings.Count(out, "late\n") != 49 ||
		!strings.Contains(out, "\n"+long[:logLineUnits]+"…") || strings.Contains(out, "\x1b") ||
		!strings.Contains(out, "earlier output is left out") {
		t.Errorf("%.200q … %q", out, out[len(out)-120:])
	}
	if logExcerpt([]byte(" \n")) != "" {
		t.Error("an excerpt of a blank log")
	}
}

func TestLineValue(t *testing.T) {
	for _, tc := range []struct{ path, text, want string }{
		{".planning/PM_SIGNOFF.md", "Approved: YES", "Approved: YES"},
		{"x/pm_signoff.md", "x\napproved :\n\n yes\n", "Approved: YES"},
		{"PM_SIGNOFF.md", "Approved: NO\nApproved: YES", "approval not found"},
		{"PM_SIGNOFF.md", "- Approved: YES", "approval not found"},
		{"PM_SIGNOFF.md", " Approved: YES", "approval not found"},
		{"ship-verdict.md", "##  Verdict: ship  it", "Verdict: ship it"},
		{"ship-verdict.md", "## Verdict: HOLD", "verdict not affirmative"},
		{"ship-verdict.md", "", "verdict not affirmative"},
		{"other.md", "Approved: YES", ""},
	} {
		if got := annotation(tc.path, tc.text); got != tc.want {
			t.Errorf("annotation(%q, %q) = %q, want %q", tc.path, tc.text, got, tc.want)
		}
	}
}

func TestProposedFiles(t *testing.T) {
	got := proposedFiles(
		"# x\n- `no.go` — create\n## Files\n\n- `a b.go` — create\n- `c` — d.go` — modify\n- `e` — explode\n- `` — create\n## Decisions\n- `f` — delete\n")
	want := []proposedFile{{"a b.go", "create"}, {"c` — d.go", "modify"}}
	if len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("%q", got)
	}
}

func TestCapability(t *testing.T) {
	for _, tc := range []struct {
		runtime, raw, authority, path, owns string
	}{
		{"manual", `{}`, wire.ReviewOnly, "planning_only", "yes"},
		{"manual", `{}`, wire.Proposed, "patch_authoring", "yes"},
		{"local_cli", `{}`, wire.Authoritative, "direct", "yes"},
		{"local_cli", `{}`, wire.ReviewOnly, "invalid_review_only_binding", "invalid"},
		{"api_proxy", `{}`, wire.ReviewOnly, "review_artifact_only", "no"},
		{"remote_agent", `{}`, wire.Proposed, "proposal_apply_required", "proposal_apply_required"},
		{"api_proxy", `{}`, wire.Authoritative, "invalid_authoritative_binding", "invalid"},
		{"api_proxy", `{"capabilities":{"can_write_files":"direct"}}`, wire.Authoritative, "direct", "yes"},
		{"mcp", `{"transport":"streamable_http"}`, wire.Proposed, "tool_defined", "tool_defined"},
		{"mcp", `{"capabilities":{"workflow_artifact_ownership":"no"}}`, wire.Proposed, "tool_defined", "no"},
		{"else", `{}`, wire.Proposed, "unknown", "unknown"},
		{"manual", `{}`, "", "unknown", "unknown"},
	} {
		c := capabilityOf(tc.runtime, obj(t, tc.raw), tc.authority)
		if c.effectivePath != tc.path || c.effectiveOw != tc.owns {
			t.Errorf("%s %s: %s, %s", tc.runtime, tc.authority, c.effectivePath, c.effectiveOw)
		}
	}
}
