// Statements and envelopes: round trips and refusals.

package attest

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var issued = time.Date(2026, 3, 4, 5, 6, 7, 89e6, time.UTC)

func example() *Statement {
	return &Statement{
		Decision:  Approve,
		Run:       "run_0011223344556677",
		Project:   "shop",
		Gate:      "qa_ship_verdict",
		GateType:  "run_completion",
		Phase:     "qa",
		Operation: strings.Repeat("1", 40),
		Config:    strings.Repeat("c", 64),
		Evidence:  []File{{Path: ".planning/ship-verdict.md", SHA256: strings.Repeat("e", 64)}},
		Commit:    strings.Repeat("2", 40),
		Tree:      strings.Repeat("3", 40),
		Principal: "maintainer@example.org",
		Reason:    "looked at it\nall of it",
		Nonce:     strings.Repeat("0", 32),
		IssuedAt:  issued,
		ExpiresAt: issued.Add(time.Hour),
		Asked:     AskedTerminal,
	}
}

func TestStatementBytes(t *testing.T) {
	data, err := example().Encode()
	if err != nil {
		t.Fatal(err)
	}
	want := `{"_type":"https://in-toto.io/Statement/v1","subject":[` +
		`{"name":".planning/ship-verdict.md","digest":{"sha256":"` + strings.Repeat("e", 64) + `"}},` +
		`{"name":"tree","digest":{"gitTree":"` + strings.Repeat("3", 40) + `"}},` +
		`{"name":"commit","digest":{"gitCommit":"` + strings.Repeat("2", 40) + `"}}],` +
		`"predicateType":"https://github.com/git-agentxchain/git-agentxchain/docs/spec/approvals/v1","predicate":{` +
		`"decision":"approve","run":"run_0011223344556677","project":"shop","gate":"qa_ship_verdict",` +
		`"gate_type":"run_completion","phase":"qa","to":"","operation":"` + strings.Repeat("1", 40) + `",` +
		`"config":"` + strings.Repeat("c", 64) + `","principal":"maintainer@example.org",` +
		`"reason":"looked at it\nall of it","nonce":"` + strings.Repeat("0", 32) + `","asked":"terminal",` +
		`"issued_at":"2026-03-04T05:06:07.089Z","expires_at":"2026-03-04T06:06:07.089Z"}}`
	if diff := cmp.Diff(want, string(data)); diff != "" {
		t.Error(diff)
	}
}

func TestStatementWithoutFiles(t *testing.T) {
	s := example()
	s.Decision, s.Evidence, s.Commit, s.Tree = TrustHooks, nil, "", ""
	data, err := s.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(data, []byte(`"subject":[{"uri":`)) {
		t.Errorf("no subject in %s", data)
	}
	if got, err := DecodeStatement(data); err != nil || !cmp.Equal(s, got) {
		t.Errorf("%v\n%s", err, cmp.Diff(s, got))
	}
}

func drawHex(t *rapid.T, label string, bytes int) string {
	return hex.EncodeToString(rapid.SliceOfN(rapid.Byte(), bytes, bytes).Draw(t, label))
}

func drawStatement(t *rapid.T) *Statement {
	text := rapid.StringMatching(`[a-zA-Zäöü@" <\\>._-]{1,20}`)
	id := func(label string) string {
		return drawHex(t, label, rapid.SampledFrom([]int{20, 32}).Draw(t, label+" length"))
	}
	s := &Statement{
		Decision: rapid.SampledFrom([]Decision{
			Approve, Deny, Withdraw, AdoptConfig, Unblock, Decline, AcceptWorking, TrustHooks,
		}).Draw(t, "decision"),
		Run:       text.Draw(t, "run"),
		Project:   text.Draw(t, "project"),
		Gate:      text.Draw(t, "gate"),
		GateType:  text.Draw(t, "type"),
		Phase:     rapid.StringMatching(`[a-z]{0,5}`).Draw(t, "phase"),
		Operation: id("operation"),
		Config:    drawHex(t, "config", 32),
		Principal: text.Draw(t, "principal"),
		Reason:    rapid.StringMatching("[a-z\n\t\"\u2028\U0001f600]{0,40}").Draw(t, "reason"),
		Nonce:     drawHex(t, "nonce", 16),
		IssuedAt:  issued.Add(time.Duration(rapid.Int64Range(0, 1e9).Draw(t, "issued")) * time.Millisecond),
		Asked:     rapid.SampledFrom([]Asked{AskedTerminal, AskedAutomation, AskedMCP}).Draw(t, "asked"),
	}
	s.ExpiresAt = s.IssuedAt.Add(time.Duration(rapid.Int64Range(1, 1e9).Draw(t, "life")) * time.Millisecond)
	if rapid.Bool().Draw(t, "released") {
		s.Commit, s.Tree = id("commit"), id("tree")
	}
	paths := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-zäö]{1,8}/[a-z]{1,8}`), 0, 6, rapid.ID).Draw(t, "paths")
	for _, p := range paths {
		s.Evidence = append(s.Evidence, File{
			Path:   p,
			SHA256: drawHex(t, "digest", 32),
		})
	}
	for _, r := range rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z_:-]{1,8}`), 0, 4, rapid.ID).Draw(t, "repositories") {
		s.Repositories = append(s.Repositories, Repository{ID: r, Operation: id("operation of a repository")})
	}
	return s
}

func TestStatementRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawStatement(t)
		data, err := s.Encode()
		if err != nil {
			t.Fatal(err)
		}
		got, err := DecodeStatement(data)
		if err != nil {
			t.Fatalf("%v in %s", err, data)
		}
		slices.SortFunc(s.Evidence, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
		slices.SortFunc(s.Repositories, func(a, b Repository) int { return strings.Compare(a.ID, b.ID) })
		if !cmp.Equal(s, got) {
			t.Fatal(cmp.Diff(s, got))
		}
		if again, err := got.Encode(); err != nil || !bytes.Equal(again, data) {
			t.Fatalf("%v: other bytes the second time", err)
		}
	})
}

func TestStatementRefused(t *testing.T) {
	good, err := example().Encode()
	if err != nil {
		t.Fatal(err)
	}
	files := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `{"name":"f%d","digest":{"sha256":"%064d"}},`, i, i)
		}
		return b.String()
	}
	for name, change := range map[string][2]string{
		"another type":           {"in-toto.io/Statement/v1", "in-toto.io/Statement/v0.1"},
		"another predicate":      {"approvals/v1", "approvals/v2"},
		"no project":             {`"project":"shop",`, ``},
		"an empty project":       {`"project":"shop"`, `"project":""`},
		"no gate":                {`"gate":"qa_ship_verdict"`, `"gate":""`},
		"a number for a text":    {`"phase":"qa"`, `"phase":7`},
		"null for a text":        {`"to":""`, `"to":null`},
		"a member twice":         {`"to":""`, `"to":"","to":"qa"`},
		"an unknown decision":    {`"approve"`, `"applaud"`},
		"asked by nothing known": {`"terminal"`, `"telepathy"`},
		"a time without ms":      {"05:06:07.089Z", "05:06:07Z"},
		"a time with an offset":  {"05:06:07.089Z", "05:06:07.089+00:00"},
		"no time":                {"2026-03-04T05:06:07.089Z", "never"},
		"expiry before issue":    {"2026-03-04T06", "2026-03-04T04"},
		"a short nonce":          {strings.Repeat("0", 32), "00"},
		"an upper case id":       {strings.Repeat("1", 40), strings.Repeat("A", 40)},
		"a short id":             {strings.Repeat("1", 40), strings.Repeat("1", 39)},
		"no subject":             {`"subject":[`, `"subjects":[`},
		"a file twice": {`"subject":[`,
			`"subject":[{"name":".planning/ship-verdict.md","digest":{"sha256":"` + strings.Repeat("e", 64) + `"}},`},
		"a tree twice": {`"subject":[`,
			`"subject":[{"name":"x","digest":{"gitTree":"` + strings.Repeat("4", 40) + `"}},`},
		"a repository twice": {`"subject":[`, `"subject":[` + strings.Repeat(
			`{"name":"repository:api","digest":{"gitCommit":"`+strings.Repeat("4", 40)+`"}},`, 2)},
		"a nameless repository": {`"subject":[`,
			`"subject":[{"name":"repository:","digest":{"gitCommit":"` + strings.Repeat("4", 40) + `"}},`},
		"a repository at no commit": {`"subject":[`,
			`"subject":[{"name":"repository:api","digest":{"gitCommit":"main"}},`},
		"a nameless file":        {`"name":".planning/ship-verdict.md",`, ``},
		"two digests":            {`{"sha256":`, `{"sha1":"00","sha256":`},
		"another digest":         {`{"gitTree":`, `{"sha1":`},
		"an empty digest":        {strings.Repeat("3", 40), ""},
		"a path out":             {".planning/ship-verdict.md", "../x"},
		"a path that is unclean": {".planning/ship-verdict.md", "./x"},
		"a control character":    {"maintainer@", `\u001b[2J@`},
		"a lone surrogate":       {"maintainer@", `\ud800@`},
		"too many files":         {`"subject":[`, `"subject":[` + files(MaxEvidence+2)},
		"too many bytes":         {`"reason":"`, `"reason":"` + strings.Repeat("x", MaxStatement)},
		"too deep":               {`"_type"`, `"x":` + strings.Repeat("[", 40) + strings.Repeat("]", 40) + `,"_type"`},
		"more after the end":     {`"}}`, `"}}{}`},
	} {
		bad := strings.Replace(string(good), change[0], change[1], 1)
		if bad == string(good) {
			t.Errorf("%s: nothing was changed", name)
		}
		if s, err := DecodeStatement([]byte(bad)); err == nil || err.Code != wire.CodeStatementInvalid || s != nil {
			t.Errorf("%s: %v, %v", name, s, err)
		}
	}
	extra := strings.Replace(string(good), `"predicate":{`, `"more":1,"predicate":{"later":{"x":[1]},`, 1)
	if got, err := DecodeStatement([]byte(extra)); err != nil || !cmp.Equal(got, example()) {
		t.Errorf("unknown members: %v", err)
	}
	s := example()
	s.Principal = "a\x00b"
	if _, err := s.Encode(); err == nil {
		t.Error("Encode takes what DecodeStatement would refuse")
	}
}

// TestPAE compares the encoding with the example of the DSSE specification.
func TestPAE(t *testing.T) {
	got := string(PAE("http://example.com/HelloWorld", []byte("hello world")))
	if want := "DSSEv1 29 http://example.com/HelloWorld 11 hello world"; got != want {
		t.Errorf("%q, not %q", got, want)
	}
}

func TestEnvelope(t *testing.T) {
	payload, _ := example().Encode()
	e := &Envelope{
		Payload:   payload,
		Format:    FormatSSH,
		Signature: []byte("-----BEGIN SSH SIGNATURE-----\nAAAA\n-----END SSH SIGNATURE-----\n"),
		KeyID:     "SHA256:x",
	}
	data := e.EncodeDSSE()
	got, err := DecodeDSSE(data)
	if err != nil || !cmp.Equal(e, got) {
		t.Fatalf("%v\n%s", err, cmp.Diff(e, got))
	}
	for name, c := range map[string]struct{ old, with, code string }{
		"not JSON":        {"{", "[", wire.CodeEnvelopeInvalid},
		"another payload": {PayloadType, "text/plain", wire.CodeEnvelopeInvalid},
		"no signature":    {`"signatures":[`, `"signatures":[],"x":[`, wire.CodeEnvelopeInvalid},
		"two signatures":  {`"signatures":[`, `"signatures":[{},`, wire.CodeEnvelopeInvalid},
		"not an object":   {`"signatures":[`, `"signatures":["x"],"x":[`, wire.CodeEnvelopeInvalid},
		"no base64":       {`"payload":"`, `"payload":"!`, wire.CodeEnvelopeInvalid},
		"no payload":      {`"payload":"`, `"payload":"","x":"`, wire.CodeEnvelopeInvalid},
		"a long key id":   {`"keyid":"`, `"keyid":"` + strings.Repeat("x", maxName), wire.CodeEnvelopeInvalid},
		"too many bytes": {`"payload":"`, `"payload":"` + strings.Repeat("A", maxEnvelope),
			wire.CodeEnvelopeInvalid},
		"a format of no one": {`"sig":"`, `"sig":"AAAA`, wire.CodeSignatureFormat},
	} {
		bad := strings.Replace(string(data), c.old, c.with, 1)
		if _, err := DecodeDSSE([]byte(bad)); err == nil || err.Code != c.code {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzStatement(f *testing.F) {
	good, _ := example().Encode()
	f.Add(good)
	f.Add([]byte(`{"_type":"https://in-toto.io/Statement/v1"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := DecodeStatement(data)
		if (s == nil) == (err == nil) {
			t.Fatal("neither a statement nor a refusal, or both")
		}
		if s == nil {
			return
		}
		again, err := s.Encode()
		if err != nil {
			return // larger in our spelling than it was
		}
		slices.SortFunc(s.Evidence, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
		if back, err := DecodeStatement(again); err != nil || !cmp.Equal(s, back) {
			t.Fatalf("%v\n%s", err, cmp.Diff(s, back))
		}
	})
}

func FuzzDSSE(f *testing.F) {
	f.Add((&Envelope{
		Payload:   []byte("{}"),
		Signature: []byte("-----BEGIN CMS-----\n"),
	}).EncodeDSSE())
	f.Add(ojson.Compact(ojson.NewObject("payloadType", PayloadType)))
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := DecodeDSSE(data)
		if (e == nil) == (err == nil) {
			t.Fatal("neither an envelope nor a refusal, or both")
		}
		if e == nil {
			return
		}
		if back, err := DecodeDSSE(e.EncodeDSSE()); err != nil || !cmp.Equal(e, back) {
			t.Fatalf("%v\n%s", err, cmp.Diff(e, back))
		}
	})
}
