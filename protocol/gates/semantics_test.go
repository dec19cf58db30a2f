// Tests of the semantic evaluators (docs/spec/gates.md#semantic-evaluators).

package gates

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/git-agentxchain/git-agentxchain/internal/testrepo"
	"github.com/git-agentxchain/git-agentxchain/protocol/config"
)

const (
	reasonNoApproval  = "PM signoff must declare `Approved: YES` in .planning/PM_SIGNOFF.md."
	reasonNoVerdict   = "Ship verdict must declare an affirmative `## Verdict:` line in .planning/ship-verdict.md."
	reasonNoHeader    = "Acceptance matrix must preserve the `| Req # |` requirement table header in .planning/acceptance-matrix.md."
	reasonNoRows      = "Acceptance matrix has no real requirement verdict rows. Replace the scaffold placeholder with QA-owned requirement results before requesting ship approval."
	matrixFailsPrefix = "Acceptance matrix still has non-passing requirement rows in .planning/acceptance-matrix.md: "
	matrixFailsSuffix = ". Mark every requirement row with a passing Status before requesting ship approval."
)

func notApproved(v string) string {
	return `PM signoff is not approved. Found "Approved: ` + v +
		`" in .planning/PM_SIGNOFF.md; set it to "Approved: YES".`
}

func notAffirmative(v string) string {
	return `Ship verdict is not affirmative. Found "## Verdict: ` + v +
		`" in .planning/ship-verdict.md; use "## Verdict: YES".`
}

func specHollow(sections string) string {
	return sections +
		" in .planning/SYSTEM_SPEC.md still contains only scaffold placeholder text. Replace placeholder content with real spec content before planning can exit."
}

func TestEvaluateSemantics(t *testing.T) {
	matrix := "| Req # | Case | Status |\n|-------|------|--------|\n"
	tests := []struct {
		name, kind, text string
		sections         []string
		reason           string
	}{
		{"signoff", config.SemanticsPMSignoff, "# Signoff\n\nApproved: YES\n", nil, ""},
		{"signoff case and space", config.SemanticsPMSignoff, "aPPROVED :\u00a0 yes \u3000\n", nil, ""},
		{"signoff crlf", config.SemanticsPMSignoff, "x\r\nApproved: YES\r\n", nil, ""},
		{"signoff after lone CR", config.SemanticsPMSignoff, "x\rApproved: YES\ry", nil, ""},
		{"signoff after U+2028", config.SemanticsPMSignoff, "x\u2028Approved: YES\u2029y", nil, ""},
		{"signoff value on a later line", config.SemanticsPMSignoff, "Approved:\n\n  YES\n", nil, ""},
		{"signoff colon on a later line", config.SemanticsPMSignoff, "Approved\n: YES\n", nil, ""},
		{"signoff no", config.SemanticsPMSignoff, "Approved: NO\n", nil, notApproved("NO")},
		{"signoff value quoted raw", config.SemanticsPMSignoff, "Approved:  yes  sir \n", nil,
			notApproved("yes  sir")},
		{"signoff first line counts", config.SemanticsPMSignoff, "Approved: NO\nApproved: YES\n", nil,
			notApproved("NO")},
		{"signoff absent", config.SemanticsPMSignoff, "# Signoff\n", nil, reasonNoApproval},
		{"signoff empty file", config.SemanticsPMSignoff, "", nil, reasonNoApproval},
		{"signoff empty value", config.SemanticsPMSignoff, "Approved: \n\n", nil, reasonNoApproval},
		{"signoff listed", config.SemanticsPMSignoff, "- Approved: YES\n", nil, reasonNoApproval},
		{"signoff bold", config.SemanticsPMSignoff, "**Approved:** YES\n", nil, reasonNoApproval},
		{"signoff indented", config.SemanticsPMSignoff, " Approved: YES\n", nil, reasonNoApproval},
		{"signoff after a byte order mark", config.SemanticsPMSignoff, "\ufeffApproved: YES\n", nil, reasonNoApproval},
		{"signoff longer label", config.SemanticsPMSignoff, "Approved by: YES\n", nil, reasonNoApproval},
		{"signoff NEL is no white space", config.SemanticsPMSignoff, "Approved:\u0085YES\n", nil,
			notApproved("\u0085YES")},
		{"signoff ill-formed bytes", config.SemanticsPMSignoff, "Approved: \xe2\x82 \xff\n", nil,
			notApproved("\ufffd \ufffd")},

		{"verdict yes", config.SemanticsShipVerdict, "## Verdict: YES\n", nil, ""},
		{"verdict ship", config.SemanticsShipVerdict, "##   verdict\t:ship", nil, ""},
		{"verdict ship it", config.SemanticsShipVerdict, "## Verdict: Ship \t It\r\n", nil, ""},
		{"verdict heading over two lines", config.SemanticsShipVerdict, "##\nVerdict: YES", nil, ""},
		{"verdict pending", config.SemanticsShipVerdict, "## Verdict: PENDING\n", nil, notAffirmative("PENDING")},
		{"verdict level three", config.SemanticsShipVerdict, "### Verdict: YES\n", nil, reasonNoVerdict},
		{"verdict without a space", config.SemanticsShipVerdict, "##Verdict: YES\n", nil, reasonNoVerdict},
		{"verdict section without value", config.SemanticsShipVerdict, "## Verdict\n\nYES\n", nil, reasonNoVerdict},

		{"spec", config.SemanticsSystemSpec, "## Purpose\np\n## Interface\ni\n## Acceptance Tests\n- [ ] run it\n",
			nil, ""},
		{"spec one missing", config.SemanticsSystemSpec, "## Purpose\np\n## Interface\ni\n", nil,
			".planning/SYSTEM_SPEC.md must define ## Acceptance Tests before planning can exit."},
		{"spec all missing", config.SemanticsSystemSpec, "", nil,
			".planning/SYSTEM_SPEC.md must define ## Purpose, ## Interface, ## Acceptance Tests before planning can exit."},
		{"spec placeholders", config.SemanticsSystemSpec,
			"## Purpose\n(what)\n\n## Interface\n(how)\n## Acceptance Tests\n- [ ] Name the executable checks here\n",
			nil, specHollow("## Purpose and ## Interface and ## Acceptance Tests")},
		{"spec parenthesis over a line separator is content", config.SemanticsSystemSpec,
			"## Purpose\n(a\u2028b)\n## Interface\n()\n## Acceptance Tests\nz\n", nil, specHollow("## Interface")},
		{"spec level three inside", config.SemanticsSystemSpec,
			"## Purpose\n### Why\n## Interface\ni\n## Acceptance Tests\nz\n", nil, ""},
		{"spec heading only inside lines", config.SemanticsSystemSpec, "### Purpose ## Interface ## Acceptance Tests",
			nil, ""},
		{"spec lone CR does not end a line", config.SemanticsSystemSpec,
			"## Purpose\rx\r## Interface\ry\r## Acceptance Tests\rz", nil, specHollow("## Purpose")},

		{"notes", config.SemanticsImplementationNotes, "## Changes\nc\n## Verification\nv\n", nil, ""},
		{"notes missing", config.SemanticsImplementationNotes, "# x\n", nil,
			".planning/IMPLEMENTATION_NOTES.md must define ## Changes and ## Verification before implementation can exit."},
		{"notes placeholder", config.SemanticsImplementationNotes,
			"## Changes\n\n(dev FILLS this during implementation)\n\n## Verification\nv\n", nil,
			"## Changes in .planning/IMPLEMENTATION_NOTES.md still contains only placeholder text. Dev must replace placeholder content with real implementation notes."},
		{"notes placeholder folds ASCII only", config.SemanticsImplementationNotes,
			"## Changes\n(Dev fill\u017f this during implementation)\n## Verification\nv\n", nil, ""},

		{"release", config.SemanticsReleaseNotes, "## User Impact\r\nu\r\n## Verification Summary\r\nv\r\n", nil, ""},
		{"release missing", config.SemanticsReleaseNotes, "## User Impact\nu\n", nil,
			".planning/RELEASE_NOTES.md must define ## Verification Summary before ship approval can be requested."},
		{"release placeholders", config.SemanticsReleaseNotes,
			"## User Impact\n(QA fills this during the QA phase)\n## Verification Summary\n", nil,
			"## User Impact and ## Verification Summary in .planning/RELEASE_NOTES.md still contains only placeholder text. QA must replace placeholder content with real release notes."},

		{"matrix", config.SemanticsAcceptanceMatrix,
			matrix + "| R1 | a | PASS |\n| R2 | b | passed |\n| R3 | c | Ok |\n| R4 | d | yes |\n", nil, ""},
		{"matrix crlf and nbsp", config.SemanticsAcceptanceMatrix,
			"|\u00a0req\t#|S|\r\n|:---:|---|\r\n|\u00a0R1|\u00a0pass\u00a0|\r\n", nil, ""},
		{"matrix no header", config.SemanticsAcceptanceMatrix, "| Requirement | Status |\n| R1 | pass |\n", nil,
			reasonNoHeader},
		{"matrix indented header", config.SemanticsAcceptanceMatrix, "  | Req # | Status |\n| R1 | pass |\n", nil,
			reasonNoHeader},
		{"matrix empty", config.SemanticsAcceptanceMatrix, "", nil, reasonNoHeader},
		{"matrix scaffold", config.SemanticsAcceptanceMatrix,
			matrix + "| (qa fills this from ROADMAP.md) | | PENDING |\n", nil, reasonNoRows},
		{"matrix header only", config.SemanticsAcceptanceMatrix, "| Req # |", nil, reasonNoRows},
		{"matrix failing", config.SemanticsAcceptanceMatrix,
			matrix + "| R1 | a | PASS |\n| R2 | b | FAIL |\n| R3 | c | |\n", nil,
			matrixFailsPrefix + "R2=FAIL, R3=missing" + matrixFailsSuffix},
		{"matrix open row", config.SemanticsAcceptanceMatrix, matrix + "| R1 | pass\n", nil,
			matrixFailsPrefix + "R1=R1" + matrixFailsSuffix},
		{"matrix text before the rows", config.SemanticsAcceptanceMatrix, "| Req # | S |\n\nnote\n| R1 | pass |\n",
			nil, ""},
		{"matrix earlier table", config.SemanticsAcceptanceMatrix, "| a |\n| FAIL |\n\n| Req # | S |\n| R1 | pass |\n",
			nil, ""},
		{"matrix rows behind its end", config.SemanticsAcceptanceMatrix,
			"| Req # | S |\n| R1 | pass |\n\n| R2 | FAIL |\n", nil, ""},
		{"matrix two dashes are a row", config.SemanticsAcceptanceMatrix, "| Req # | S |\n|--|--|\n", nil,
			matrixFailsPrefix + "--=--" + matrixFailsSuffix},
		{"matrix sharp s", config.SemanticsAcceptanceMatrix, "| Req # | S |\n| R1 | paß |\n", nil, ""},

		{"sections", config.SemanticsSectionCheck, "## A\nx\n## B\n(no placeholder of this check)\n",
			[]string{"## A", "## B"}, ""},
		{"sections none asked", config.SemanticsSectionCheck, "", nil, ""},
		{"sections missing", config.SemanticsSectionCheck, "## A\nx", []string{"## A", "## B", "## C"},
			"Document must contain sections: ## B, ## C"},
		{"sections hollow", config.SemanticsSectionCheck, "## A\n(content here.)\n## B\n(Operator fills this in.)\n",
			[]string{"## A", "## B"},
			"Sections still contain only scaffold placeholder text: ## A, ## B. Replace placeholder content before this gate can pass."},

		{"recovery", SemanticsRecoveryReport, "## Trigger\nt\n## Impact\ni\n## Mitigation\nm\n", nil, ""},
		{"recovery missing", SemanticsRecoveryReport, "## Trigger\nt\n", nil,
			"Recovery report must define ## Impact and ## Mitigation before resume."},
		{"recovery hollow", SemanticsRecoveryReport,
			"## Trigger\n(Operator fills this before running multi resume)\n## Impact\ni\n## Mitigation\n", nil,
			"Recovery report sections still contain placeholder text: ## Trigger, ## Mitigation. Replace placeholder content before running multi resume."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ok, reason, _ := EvaluateSemantics(tt.kind, "doc.md", []byte(tt.text), tt.sections)
			if reason != tt.reason || ok != (tt.reason == "") {
				t.Errorf("got %v %q, want %q", ok, reason, tt.reason)
			}
		})
	}
}

func TestUnknownSemanticsDoNotPass(t *testing.T) {
	for _, kind := range []string{"", "no_such_check", "PM_SIGNOFF"} {
		if ok, reason, _ := EvaluateSemantics(kind, "x.md", []byte("Approved: YES"), nil); ok || reason == "" {
			t.Errorf("%q: got %v %q", kind, ok, reason)
		}
	}
}

func TestSemanticsWarnings(t *testing.T) {
	tests := []struct{ kind, text, want string }{
		{config.SemanticsPMSignoff, "Approved: YES\n", ""},
		{config.SemanticsPMSignoff, "Approved: YES\nApproved:  yes\n", ""},
		{config.SemanticsPMSignoff, "Approved:\nYES\n", "on a later line"},
		{config.SemanticsPMSignoff, "Approved: YES\nApproved: NO\n", "more than once"},
		{config.SemanticsShipVerdict, "## Verdict: YES\n## Verdict: YES\n## Verdict: NO\n", "more than once"},
		{config.SemanticsAcceptanceMatrix, "| Req # | S |\n| R1 | pass |\n", ""},
		{config.SemanticsAcceptanceMatrix, "| Req # | S | T |\n| R1 | pass | late\n", "do not end with a pipe"},
		{config.SemanticsAcceptanceMatrix, "| Req # | S |\n| R1 | pass |\n\n| R2 | FAIL |\n", "only the first table"},
		{config.SemanticsSystemSpec, "## Purpose\ra\n", "LF"},
		{config.SemanticsSystemSpec, "## Purpose\r\na\r\n", ""},
	}
	for _, tt := range tests {
		_, _, warnings := EvaluateSemantics(tt.kind, "d/doc.md", []byte(tt.text), nil)
		got := strings.Join(warnings, "\n")
		if tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
			t.Errorf("%s %q: warnings %q, want %q", tt.kind, tt.text, got, tt.want)
		}
		if got != "" && !strings.HasPrefix(got, "d/doc.md ") {
			t.Errorf("warning does not name the file: %q", got)
		}
	}
}

func TestPathSemantics(t *testing.T) {
	for path, want := range map[string]string{
		".planning/PM_SIGNOFF.md":           config.SemanticsPMSignoff,
		".planning/SYSTEM_SPEC.md":          config.SemanticsSystemSpec,
		".planning/IMPLEMENTATION_NOTES.md": config.SemanticsImplementationNotes,
		".planning/acceptance-matrix.md":    config.SemanticsAcceptanceMatrix,
		".planning/ship-verdict.md":         config.SemanticsShipVerdict,
		".planning/RELEASE_NOTES.md":        config.SemanticsReleaseNotes,
		".planning/ROADMAP.md":              "",
		"./.planning/PM_SIGNOFF.md":         "",
		".planning/pm_signoff.md":           "",
	} {
		if got := config.PathSemantics(path); got != want {
			t.Errorf("%s: got %q, want %q", path, got, want)
		}
	}
}

// TestSemanticsHugeInput guards against rules whose cost grows faster than the document: each of these would take
// hours.
func TestSemanticsHugeInput(t *testing.T) {
	n := 1 << 20
	if !testrepo.All(t.Name()) {
		n = 1 << 14
	}
	for _, unit := range []string{"Approved ", "Approved\n", "Approved:\n", "##\n", "## Verdict\n", "## Verdict: NO\n",
		"|", "|\n", "| Req # |\n", "## Purpose\n", "(\n", "\xf0\x9f", " ", "\u2028"} {
		doc := bytes.Repeat([]byte(unit), n/len(unit))
		for _, kind := range allSemantics() {
			EvaluateSemantics(kind, "x.md", doc, []string{"## A", "## B"})
		}
	}
}

func allSemantics() []string {
	return []string{config.SemanticsPMSignoff, config.SemanticsSystemSpec, config.SemanticsImplementationNotes,
		config.SemanticsAcceptanceMatrix, config.SemanticsShipVerdict,
		config.SemanticsReleaseNotes, config.SemanticsSectionCheck, SemanticsRecoveryReport}
}

// genDocument draws text from the pieces that the evaluators look for.
func genDocument() *rapid.Generator[string] {
	piece := rapid.SampledFrom([]string{"Approved", ":", "YES", "NO", "## Verdict", "SHIP IT", "## Purpose",
		"## Interface", "## Acceptance Tests", "(x)", "- [ ] Name the executable checks",
		"## Changes", "## Verification", "(Dev fills this during implementation)", "| Req # |", "| Req # | S |",
		"|---|---|", "| R1 | pass |", "| R2 | no |", "|", "## A", "## ", "##",
		" ", "\t", "\u00a0", "\ufeff", "\n", "\n", "\n", "text", "ß", "\u017f"})
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.OneOf(piece, rapid.String()), 0, 30).Draw(t, "pieces"), "")
	})
}

func TestSemanticsProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom(allSemantics()).Draw(t, "kind")
		doc := strings.ReplaceAll(genDocument().Draw(t, "doc"), "\r", "")
		sections := []string{"## A", "## B"}[:rapid.IntRange(0, 2).Draw(t, "sections")]
		ok, reason, _ := EvaluateSemantics(kind, "x.md", []byte(doc), sections)
		if ok != (reason == "") {
			t.Fatalf("verdict %v with reason %q", ok, reason)
		}
		crOK, crReason, _ := EvaluateSemantics(kind, "x.md", []byte(strings.ReplaceAll(doc, "\n", "\r\n")), sections)
		if crOK != ok || crReason != reason {
			t.Fatalf("LF: %v %q, CRLF: %v %q", ok, reason, crOK, crReason)
		}
		if _, again, _ := EvaluateSemantics(kind, "other.md", []byte(doc), sections); again != reason {
			t.Fatalf("the reason depends on the path: %q, %q", reason, again)
		}
		if strings.HasSuffix(doc, "\n") || kind == config.SemanticsAcceptanceMatrix {
			return
		}
		if endOK, _, _ := EvaluateSemantics(kind, "x.md", []byte(doc+"\n"), sections); endOK != ok {
			t.Fatalf("a final line end changes the verdict from %v to %v", ok, endOK)
		}
	})
}

func TestDecodeText(t *testing.T) {
	tests := []struct{ in, want string }{
		{"", ""},
		{"plain ß €", "plain ß €"},
		{"\xff\xff", "\ufffd\ufffd"},
		{"\xe2\x82", "\ufffd"},
		{"\xe2\x82A", "\ufffdA"},
		{"\xf0\x9f\x98", "\ufffd"},
		{"\xf0\x8f\x98", "\ufffd\ufffd\ufffd"},
		{"\xed\xa0\x80", "\ufffd\ufffd\ufffd"},
		{"\xe0\x80", "\ufffd\ufffd"},
		{"\xf4\x90\x80\x80", "\ufffd\ufffd\ufffd\ufffd"},
		{"\xc3\xa9\xc3", "é\ufffd"},
		{"\xc1\xbf", "\ufffd\ufffd"},
	}
	for _, tt := range tests {
		if got := DecodeText([]byte(tt.in)); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.in, got, tt.want)
		}
	}
}

func FuzzSemantics(f *testing.F) {
	for _, s := range []string{"", "Approved: YES\n", "Approved:\r\n\r\n", "## Verdict: SHIP IT",
		"## Purpose\n(x)\n## Interface\n## Acceptance Tests\n",
		"| Req # | S |\n|---|---|\n| R1 | pass |\n", "|\n||\n|||", "\xf0\x9f\x98 Approved: \xff",
		"##\u2028Verdict\u2029:\u00a0YES"} {
		f.Add([]byte(s), "## A")
	}
	f.Fuzz(func(t *testing.T, data []byte, section string) {
		if text := DecodeText(data); !utf8.ValidString(text) {
			t.Errorf("decoded text is not valid UTF-8: %q", text)
		}
		for _, kind := range allSemantics() {
			ok, reason, warnings := EvaluateSemantics(kind, "x.md", data, []string{section})
			if ok != (reason == "") {
				t.Errorf("%s: verdict %v with reason %q", kind, ok, reason)
			}
			for _, w := range warnings {
				if !strings.HasPrefix(w, "x.md ") {
					t.Errorf("%s: warning %q", kind, w)
				}
			}
		}
	})
}
