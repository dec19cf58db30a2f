package webpost

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

func TestResolve(t *testing.T) {
	lookup := func(name string) (string, bool) {
		v, ok := map[string]string{"A": "1", "EMPTY": "", "NEST": "${A}"}[name]
		return v, ok
	}
	headers := ojson.NewObject("X-One", "a${A}b${A}", "X-Two", "${MISSING}-${A}-${GONE}", "X-Three", "${}${A",
		"X-Four", true, "X-Five", "${EMPTY}", "X-Six", "${NEST}")
	hs, missing := Resolve(headers, lookup)
	want := []Header{{"X-One", "a1b1"}, {"X-Two", "-1-"}, {"X-Three", "${}${A"}, {"X-Five", ""}, {"X-Six", "${A}"}}
	if d := cmp.Diff(want, hs); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"X-Two:MISSING", "X-Two:GONE"}, missing); d != "" {
		t.Error(d)
	}
	if hs, missing := Resolve(nil, lookup); hs != nil || missing != nil {
		t.Error(hs, missing)
	}
}

func TestExpandIsThePattern(t *testing.T) {
	re := regexp.MustCompile(`\$\{([^}]+)\}`)
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`([$][{]|[}]|[{]|[$]|a|b){0,12}`).Draw(t, "text")
		got, _ := expand(text, func(name string) (string, bool) { return "<" + name + ">", true })
		if want := re.ReplaceAllString(text, "<$1>"); got != want {
			t.Fatalf("%q: %q, want %q", text, got, want)
		}
	})
}

func TestRedact(t *testing.T) {
	r := Request{
		URL:     "https://us3rname:passw0rd@h.example/p?token=abcdef123&x=1",
		Headers: []Header{{"Authorization", "Bearer abcdefgh"}, {"X", "no"}},
	}
	got := r.Redact("no, abcdefgh was sent to https://us3rname:passw0rd@h.example/p?token=abcdef123&x=1 with passw0rd")
	for _, secret := range []string{"abcdef", "passw0rd", "us3rname"} {
		if strings.Contains(got, secret) {
			t.Errorf("%q in %q", secret, got)
		}
	}
	if !strings.HasPrefix(got, "no, *** was sent") {
		t.Error(got)
	}
	if got := (Request{
		URL: "https://hooks.example/T0/abcdefghijklmnop0123",
	}).Redact("no /T0/abcdefghijklmnop0123"); got != "no /T0/***" {
		t.Error(got)
	}
}

func FuzzHeader(f *testing.F) {
	f.Add("X", "${A}\r\n")
	f.Fuzz(func(t *testing.T, name, value string) {
		v, _ := expand(value, func(n string) (string, bool) { return n, n != "" })
		if (Header{name, v}).check() == nil && strings.ContainsAny(name+v, "\r\n\x00") {
			t.Fatalf("%q %q", name, v)
		}
	})
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for v, want := range map[string]time.Duration{
		"":                              0,
		"0":                             0,
		"7":                             7 * time.Second,
		"-1":                            0,
		"x":                             0,
		"99999999999":                   maxRetryAfter,
		"99999999999999999999999999":    maxRetryAfter,
		"Fri, 02 Jan 2026 03:04:15 GMT": 10 * time.Second,
		"Fri, 02 Jan 2026 03:04:00 GMT": 0,
		"Fri, 01 Jan 9999 00:00:00 GMT": maxRetryAfter,
	} {
		if got := RetryAfter(http.Header{"Retry-After": {v}}, now); got != want {
			t.Errorf("%q: %v, want %v", v, got, want)
		}
	}
}
