// The rules: the formats of credentials.

package secrets

import (
	"bytes"
	"math"
)

// class is a set of bytes.
type class func(c byte) bool

func alnum(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}
func word(c byte) bool     { return alnum(c) || c == '_' || c == '-' }
func upper(c byte) bool    { return '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' }
func base64(c byte) bool   { return alnum(c) || c == '+' || c == '/' || c == '=' }
func lowerHex(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' }

// shape is a token with its own prefix: the prefix, then at least min bytes of the class. After max bytes, the next
// byte must not be of the class.
type shape struct {
	rule, prefix string
	of           class
	min, max     int
}

// shapes are the documented token formats.
var shapes = [...]shape{
	{"github-token", "ghp_", alnum, 36, 255},
	{"github-token", "gho_", alnum, 36, 255},
	{"github-token", "ghu_", alnum, 36, 255},
	{"github-token", "ghs_", alnum, 36, 255},
	{"github-token", "ghr_", alnum, 36, 255},
	{"github-token", "github_pat_", word, 60, 255},
	{"gitlab-token", "glpat-", word, 20, 300},
	{"gitlab-token", "gldt-", word, 20, 300},
	{"gitlab-token", "glrt-", word, 20, 300},
	{"gitlab-token", "glptt-", word, 20, 300},
	{"aws-access-key", "AKIA", upper, 16, 16},
	{"aws-access-key", "ASIA", upper, 16, 16},
	{"google-api-key", "AIza", word, 35, 35},
	{"google-oauth-secret", "GOCSPX-", word, 28, 28},
	{"slack-token", "xoxb-", word, 20, 300},
	{"slack-token", "xoxp-", word, 20, 300},
	{"slack-token", "xoxa-", word, 20, 300},
	{"slack-token", "xoxs-", word, 20, 300},
	{"slack-token", "xapp-", word, 20, 300},
	{"slack-webhook", "hooks.slack.com/services/", func(c byte) bool { return alnum(c) || c == '/' }, 40, 80},
	{"stripe-key", "sk_live_", alnum, 20, 255},
	{"stripe-key", "rk_live_", alnum, 20, 255},
	{"stripe-key", "sk_test_", alnum, 20, 255},
	{"anthropic-key", "sk-ant-", word, 24, 300},
	{"openai-key", "sk-proj-", word, 24, 300},
	{"openai-key", "sk-svcacct-", word, 24, 300},
	{"openai-key", "sk-admin-", word, 24, 300},
	{"openai-key", "sk-", alnum, 40, 100},
	{"npm-token", "npm_", alnum, 36, 36},
	{"pypi-token", "pypi-AgE", word, 50, 1000},
	{"huggingface-token", "hf_", alnum, 34, 40},
	{"sendgrid-key", "SG.", func(c byte) bool { return word(c) || c == '.' }, 60, 100},
	{"digitalocean-token", "dop_v1_", lowerHex, 64, 64},
	{"azure-storage-key", "AccountKey=", base64, 80, 100},
}

// match returns the end of a secret that begins with the shape's prefix at i, or 0.
func (s *shape) match(data []byte, i int) int {
	if i > 0 && alnum(data[i-1]) && alnum(s.prefix[0]) && !escaped(data, i) {
		return 0
	}
	at := i + len(s.prefix)
	end := at
	for end < len(data) && end-at < s.max && s.of(data[end]) {
		end++
	}
	if end-at < s.min || end < len(data) && end-at == s.max && s.of(data[end]) {
		return 0
	}
	if dull(data[at:end]) {
		return 0
	}
	return end
}

// escaped reports whether the bytes before i are the escape of a control character, such as the \n of a JSON
// string: its last byte does not belong to a word.
func escaped(data []byte, i int) bool {
	before := data[max(0, i-6):i]
	if n := len(before); n >= 2 && before[n-2] == '\\' && bytes.IndexByte([]byte("nrtbf"), before[n-1]) >= 0 {
		return true
	}
	return bytes.HasPrefix(before, []byte(`\u00`)) && len(before) == 6
}

// dull reports whether a value is an example, not a secret: it has few different bytes.
func dull(v []byte) bool {
	var seen [256]bool
	n := 0
	for _, c := range v {
		if !seen[c] {
			seen[c] = true
			n++
		}
	}
	return n < 6
}

// entropy returns the entropy of a value, in bits per byte.
func entropy(v []byte) float64 {
	var count [256]int
	for _, c := range v {
		count[c]++
	}
	sum := 0.0
	for _, n := range count {
		if n > 0 {
			p := float64(n) / float64(len(v))
			sum -= p * math.Log2(p)
		}
	}
	return sum
}

// jwt returns the end of a JSON web token at i: three parts in base64, of which the first two are objects.
func jwt(data []byte, i int) int {
	if i > 0 && word(data[i-1]) && !escaped(data, i) {
		return 0
	}
	at, dots, part := i, 0, 0
	for at < len(data) && at-i < maxSecret {
		switch c := data[at]; {
		case word(c):
			part++
		case c == '.' && dots < 2 && part >= 10:
			if dots == 0 && !bytes.HasPrefix(data[at+1:], []byte("ey")) {
				return 0
			}
			dots, part = dots+1, 0
		default:
			if dots == 2 && part >= 20 {
				return at
			}
			return 0
		}
		at++
	}
	if dots == 2 && part >= 20 {
		return at
	}
	return 0
}

// password returns the beginning and end of the password of user:password@ after "://" at i.
func password(data []byte, i int) (from, to int) {
	colon := -1
	for at := i + len("://"); at < len(data) && at-i < 512; at++ {
		switch c := data[at]; {
		case c == ':' && colon < 0:
			colon = at
		case c == '@':
			v := data[min(at, colon+1):at]
			if colon < 0 || len(v) < 6 || placeholder(v) {
				return 0, 0
			}
			return colon + 1, at
		case c <= ' ' || c == '/' || c == '"' || c == '\'' || c == '<' || c == '>' || c == '`':
			return 0, 0
		}
	}
	return 0, 0
}

// placeholder reports whether a value is a placeholder for a secret.
func placeholder(v []byte) bool {
	if dull(v) || v[0] == '$' || v[0] == '<' || v[0] == '{' || v[0] == '%' || bytes.HasPrefix(v, []byte("[REDACTED")) {
		return true
	}
	low := bytes.ToLower(v)
	for _, w := range []string{"example", "password", "changeme", "placeholder", "your_", "your-", "xxxx",
		"redacted"} {
		if bytes.Contains(low, []byte(w)) {
			return true
		}
	}
	return false
}

// assigned returns the beginning and end of the value assigned to a name that ends at i, such as API_KEY="...". The
// value must look random.
func assigned(data []byte, i int) (from, to int) {
	at := i
	skip := func(set string) {
		for at < len(data) && at-i < 16 && bytes.IndexByte([]byte(set), data[at]) >= 0 {
			at++
		}
	}
	skip("\"'` \t")
	if at == len(data) || data[at] != '=' && data[at] != ':' {
		return 0, 0
	}
	at++
	skip("=>\"'` \t")
	from = at
	for at < len(data) && at-from < 300 && (word(data[at]) || bytes.IndexByte([]byte("+/=.~"), data[at]) >= 0) {
		at++
	}
	v := data[from:at]
	digits := 0
	for _, c := range v {
		if '0' <= c && c <= '9' {
			digits++
		}
	}
	if len(v) < 20 || len(v) == 300 || digits < 3 || entropy(v) < 3.7 || placeholder(v) {
		return 0, 0
	}
	return from, at
}
