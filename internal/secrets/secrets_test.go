package secrets

import (
	"bytes"
	"strings"
	"testing"

	"github.com/git-agentxchain/git-agentxchain/internal/secrets/secretstest"
)

// tokens returns made-up tokens, assembled here so that no scanner mistakes this file for a leak.
func tokens() map[string]string {
	r := "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0u1V2w3X4y5Z6" + "b7C8d9E0f1G2h3J4"
	hex := "0123456789abcdef"
	return map[string]string{
		"github-token":       "ghp" + "_" + r[:36],
		"gitlab-token":       "glpat" + "-" + r[:20],
		"aws-access-key":     "AKI" + "A" + "Q3EGRX7TKZ5MWN2P",
		"google-api-key":     "AIz" + "a" + r[:35],
		"slack-token":        "xoxb" + "-" + "123456789012-" + r[:24],
		"stripe-key":         "sk_" + "live_" + r[:24],
		"anthropic-key":      "sk-" + "ant-" + "api03-" + r[:40],
		"openai-key":         "sk-" + "proj-" + r[:48],
		"npm-token":          "npm" + "_" + r[:36],
		"pypi-token":         "pypi-" + "AgE" + r + r,
		"huggingface-token":  "hf" + "_" + r[:34],
		"digitalocean-token": "dop_" + "v1_" + hex + hex + hex + hex,
		"json-web-token":     "ey" + "J" + r[:20] + ".ey" + "J" + r[:30] + "." + r[:43],
		"private-key": "-----BEGIN " + "RSA PRIVATE KEY-----\n" + r + "\n" + r +
			"\n-----END RSA PRIVATE KEY-----",
		"azure-storage-key":   "Account" + "Key=" + r + r[:20] + "==",
		"google-oauth-secret": "GOC" + "SPX-" + r[:28],
	}
}

func TestRules(t *testing.T) {
	for rule, value := range tokens() {
		for _, around := range [][2]string{
			{"", ""},
			{"x\nkey is ", " ok\n"},
			{`{"a":"`, `"}`},
			{"a=", "\n"},
			{"(", ")"},
			{`{"a":"x\n`, `\n"}`}, // in a string of a JSON document
			{`{"a":"x\u000a`, `"}`},
		} {
			in := around[0] + value + around[1]
			found := Find([]byte(in))
			if len(found) != 1 || found[0].Rule != rule && !strings.HasSuffix(rule, "-secret") {
				t.Errorf("%s in %q: %+v", rule, around, found)
				continue
			}
			if want := strings.Count(around[0], "\n") + 1; found[0].Line != want {
				t.Errorf("%s: line %d, want %d", rule, found[0].Line, want)
			}
			if out := Redact(in); strings.Contains(out, value[len(value)/2:]) {
				t.Errorf("%s: redacted to %q", rule, out)
			}
		}
	}
	for in, want := range map[string]string{
		"https://ada:" + "s3cr3tW0rd" + "@example.org/x": "https://ada:[REDACTED password-in-address]@example.org/x",
		`API_KEY="` + "q8Zt3vX9pL2mN7bR4kW6" + `"`:       `API_KEY="[REDACTED assigned-secret]"`,
		"client_secret: " + "q8Zt3vX9pL2mN7bR4kW6":       "client_secret: [REDACTED assigned-secret]",
	} {
		if got := Redact(in); got != want {
			t.Errorf("Redact(%q) = %q, want %q", in, got, want)
		}
	}
}

// TestEveryShape finds each kind that secretstest can plant, and checks that it can plant one of each shape.
func TestEveryShape(t *testing.T) {
	for _, k := range secretstest.Tokens("every shape") {
		for _, around := range [][2]string{{"", "\n"}, {`{"a":"it was\n`, `\nthen"}`}} {
			in := around[0] + k.Text + around[1]
			if out := Redact(in); strings.Contains(out, k.Value) {
				t.Errorf("%s: redacted to %q", k.Kind, out)
			}
		}
	}
	begins := secretstest.Begins()
	for _, s := range shapes {
		if !begins[[2]string{s.rule, s.prefix}] {
			t.Errorf("package secretstest makes no %s that begins with %s", s.rule, s.prefix)
		}
	}
}

func TestWhatIsNoSecret(t *testing.T) {
	for _, s := range []string{
		"plain text with a key: and a token = that are words",
		"sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
		`"turn_id": "turn_0123456789abcdef", "state_digest": "9f86d081884c7d659a2feaa0c55ad015"`,
		"ghp_" + strings.Repeat("x", 36),
		"https://example.org:8080/a@b", "https://user@example.org", "https://user:$PASSWORD@example.org",
		"API_KEY=$API_KEY", "token: <your-token-goes-right-here-0123>", "sk-learn and sk-image",
		"-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----", "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ",
		"eyJ not a token.",
	} {
		if found := Find([]byte(s)); len(found) > 0 {
			t.Errorf("%q: %+v", s, found)
		}
	}
}

// TestWriterInPieces writes every token split at every position.
func TestWriterInPieces(t *testing.T) {
	for rule, value := range tokens() {
		text := "before " + value + " after\nnext\n"
		for cut := range text {
			var out bytes.Buffer
			w := &Writer{To: &out}
			for _, part := range []string{text[:cut], text[cut:]} {
				if n, err := w.Write([]byte(part)); n != len(part) || err != nil {
					t.Fatal(n, err)
				}
			}
			if err := w.Flush(); err != nil {
				t.Fatal(err)
			}
			got := out.String()
			if strings.Contains(got, value[8:18]) || !strings.HasPrefix(got, "before [REDACTED ") ||
				!strings.HasSuffix(got, "next\n") {
				t.Fatalf("%s cut at %d: %q", rule, cut, got)
			}
		}
	}
}

func TestWriterBounds(t *testing.T) {
	var out bytes.Buffer
	w := &Writer{
		To:    &out,
		Known: FromEnvironment([]string{"MY_TOKEN=hunter2hunter2", "PATH=/usr/bin:/bin", "OTHER=plainplain"}, "OTHER"),
	}
	long := strings.Repeat("no line end here ", 10000)
	for i := 0; i < len(long); i += 1000 {
		_, _ = w.Write([]byte(long[i:min(len(long), i+1000)]))
		if len(w.held) > 2*heldMost {
			t.Fatalf("%d bytes wait", len(w.held))
		}
	}
	_ = w.Flush()
	if out.String() != long {
		t.Error("text was changed")
	}
	out.Reset()
	_, _ = w.Write([]byte("hunter2"))
	_, _ = w.Write([]byte("hunter2 plainplain /usr/bin\n"))
	if got, want := out.String(), "[REDACTED environment-value] [REDACTED environment-value] /usr/bin\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func BenchmarkFind(b *testing.B) {
	for name, s := range map[string]string{
		"prose": strings.Repeat("the quick brown fox jumps over the lazy dog: key, token and secret\n", 16<<10),
		"json": strings.Repeat(
			`{"turn_id":"turn_0123456789abcdef","status":"completed","summary":"did what was asked"}`+"\n", 12<<10,
		),
		"begins": strings.Repeat("ghp_sk-eyJ-----BEGIN ://", 40<<10),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(s)))
			for range b.N {
				Find([]byte(s))
			}
		})
	}
}
