// Package secretstest makes secrets of every kind that package secrets knows, for tests that plant them and check
// where they turn up.
package secretstest

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"
)

// Token is a made-up secret as it would appear in a text.
type Token struct {
	Kind  string // its rule, and the beginning of the token where the rule has several
	Text  string // on one line except for a private key
	Value string // the part of Text that must stay hidden
}

// kinds lists rule, beginning, alphabet and length of the rest. The beginnings are split, so that no scanner
// mistakes this file for a leak.
var kinds = [...]struct {
	rule, begin, of string
	length          int
}{
	{"github-token", "gh" + "p_", alnum, 36}, {"github-token", "gh" + "o_", alnum, 36},
	{"github-token", "gh" + "u_", alnum, 36},
	{"github-token", "gh" + "s_", alnum, 36}, {"github-token", "gh" + "r_", alnum, 36},
	{"github-token", "github" + "_pat_", alnum, 60},
	{"gitlab-token", "gl" + "pat-", alnum, 20}, {"gitlab-token", "gl" + "dt-", alnum, 20},
	{"gitlab-token", "gl" + "rt-", alnum, 20},
	{"gitlab-token", "gl" + "ptt-", alnum, 40}, {"aws-access-key", "AK" + "IA", upper, 16},
	{"aws-access-key", "AS" + "IA", upper, 16},
	{"google-api-key", "AI" + "za", alnum, 35}, {"google-oauth-secret", "GOC" + "SPX-", alnum, 28},
	{"slack-token", "xo" + "xb-", alnum, 40}, {"slack-token", "xo" + "xp-", alnum, 40},
	{"slack-token", "xo" + "xa-", alnum, 40},
	{"slack-token", "xo" + "xs-", alnum, 40}, {"slack-token", "xa" + "pp-", alnum, 40},
	{"slack-webhook", "hooks.slack" + ".com/services/", alnum, 44}, {"stripe-key", "sk_" + "live_", alnum, 24},
	{"stripe-key", "rk_" + "live_", alnum, 24}, {"stripe-key", "sk_" + "test_", alnum, 24},
	{"anthropic-key", "sk-" + "ant-", alnum, 90},
	{"openai-key", "sk-" + "proj-", alnum, 48}, {"openai-key", "sk-" + "svcacct-", alnum, 48},
	{"openai-key", "sk-" + "admin-", alnum, 48},
	{"openai-key", "sk" + "-", alnum, 48}, {"npm-token", "np" + "m_", alnum, 36},
	{"pypi-token", "pypi" + "-AgE", alnum, 150},
	{"huggingface-token", "h" + "f_", alnum, 34}, {"sendgrid-key", "S" + "G.", alnum, 66},
	{"digitalocean-token", "dop" + "_v1_", hexa, 64},
	{"azure-storage-key", "Account" + "Key=", alnum, 86},
}

const (
	upper = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
	alnum = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	hexa  = "0123456789abcdef"
)

// Begins returns the distinct beginnings of the tokens that have one, by rule and beginning.
func Begins() map[[2]string]bool {
	out := make(map[[2]string]bool)
	for _, k := range kinds {
		out[[2]string{k.rule, k.begin}] = true
	}
	return out
}

// Tokens makes one token of each kind. The same seed gives the same tokens, different seeds different ones.
func Tokens(seed string) []Token {
	var out []Token
	for _, k := range kinds {
		value := k.begin + random(seed+k.begin, k.of, k.length)
		out = append(out, Token{k.rule + " " + k.begin, value, value[len(k.begin):]})
	}
	part := func(what string) string { return base64.RawURLEncoding.EncodeToString([]byte(what)) }
	jwt := part(`{"alg":"HS256"}`) + "." + part(`{"sub":"`+random(seed+"sub", alnum, 12)+`"}`) + "." +
		random(seed+"jwt", alnum, 43)
	out = append(out, Token{"json-web-token", jwt, jwt[strings.LastIndexByte(jwt, '.')+1:]})
	password := random(seed+"password", alnum, 16)
	out = append(out, Token{"password-in-address", "postgres://ada:" + password + "@db.internal/shop", password})
	for _, name := range []string{"API_KEY", "client_secret", "DB_PASSWORD", "accessToken"} {
		value := random(seed+name, alnum, 30) + "123"
		out = append(out, Token{"assigned-secret " + name, name + "=" + value, value})
	}
	line := random(seed+"key", alnum, 64)
	return append(out, Token{"private-key",
		"-----BEGIN OPENSSH " + "PRIVATE KEY-----\n" + line + "\n" + random(seed+"key2", alnum, 64) +
			"\n-----END OPENSSH " + "PRIVATE KEY-----", line})
}

// random returns a text of length characters from an alphabet, determined by the seed.
func random(seed, alphabet string, length int) string {
	var b strings.Builder
	for n := 0; b.Len() < length; n++ {
		for _, c := range sha256.Sum256(fmt.Appendf(nil, "%s %d", seed, n)) {
			if b.Len() < length {
				b.WriteByte(alphabet[int(c)%len(alphabet)])
			}
		}
	}
	return b.String()
}
