// Finding secrets in text.

package secrets

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"sync"
)

// maxSecret is the maximum length of a secret, in bytes; a private key is longer than every token.
const maxSecret = 16 << 10

// Finding is one secret in a text. It never holds the value.
type Finding struct {
	Rule        string
	Line        int    // counted from 1
	Fingerprint string // 16 hex digits of the value's SHA-256: equal values have equal fingerprints

	from, to int
}

// Find returns the secrets of a text in order, never one inside another.
func Find(data []byte) []Finding {
	var out []Finding
	line, counted := 1, 0
	scan(data, 0, func(rule string, from, to int) {
		line += bytes.Count(data[counted:from], []byte{'\n'})
		counted = from
		sum := sha256.Sum256(data[from:to])
		out = append(out, Finding{
			Rule:        rule,
			Line:        line,
			Fingerprint: hex.EncodeToString(sum[:8]),
			from:        from,
			to:          to,
		})
	})
	return out
}

// pairs has the first two bytes of everything that a rule looks for, so that one lookup skips nearly all positions
// of a text. It is made on first use.
var pairs = sync.OnceValue(func() *[1 << 16]bool {
	var out [1 << 16]bool
	add := func(a, b byte) { out[int(a)<<8|int(b)] = true }
	for i := range shapes {
		add(shapes[i].prefix[0], shapes[i].prefix[1])
	}
	for _, n := range names {
		for _, a := range []byte{n[0], n[0] - 0x20} {
			add(a, n[1])
			add(a, n[1]-0x20)
		}
	}
	add('-', '-')
	add('e', 'y')
	add(':', '/')
	return &out
})

// names are the lower-case suffixes of names whose value is a secret.
var names = [...]string{"key", "secret", "token", "passwd", "password"}

// scan calls tell for every secret that begins at start or later.
func scan(data []byte, start int, tell func(rule string, from, to int)) {
	wanted := pairs()
	for i := start; i+1 < len(data); i++ {
		if !wanted[int(data[i])<<8|int(data[i+1])] {
			continue
		}
		rule, from, to := at(data, i)
		if to > 0 {
			tell(rule, from, to)
			i = to - 1
		}
	}
}

// at looks for a secret whose mark begins at i.
func at(data []byte, i int) (rule string, from, to int) {
	rest := data[i:]
	switch data[i] {
	case '-':
		if !bytes.HasPrefix(rest, []byte("-----BEGIN ")) {
			return "", 0, 0
		}
		head, _, ok := bytes.Cut(rest[:min(len(rest), 80)], []byte("KEY"))
		if !ok || !bytes.Contains(head, []byte("PRIVATE")) {
			return "", 0, 0
		}
		end := bytes.Index(rest[:min(len(rest), maxSecret)], []byte("-----END "))
		if end < 0 {
			return "private-key", i, min(len(data), i+maxSecret)
		}
		end += len("-----END ")
		if tail := bytes.Index(rest[end:min(len(rest), end+60)], []byte("-----")); tail >= 0 {
			end += tail + len("-----")
		}
		return "private-key", i, i + end
	case 'e':
		if bytes.HasPrefix(rest, []byte("eyJ")) {
			if end := jwt(data, i); end > 0 {
				return "json-web-token", i, end
			}
		}
		return "", 0, 0
	case ':':
		if bytes.HasPrefix(rest, []byte("://")) {
			if from, to := password(data, i); to > 0 {
				return "password-in-address", from, to
			}
		}
		return "", 0, 0
	}
	for k := range shapes {
		s := &shapes[k]
		if s.prefix[0] == data[i] && bytes.HasPrefix(rest, []byte(s.prefix)) {
			if end := s.match(data, i); end > 0 {
				return s.rule, i, end
			}
		}
	}
	for _, n := range names {
		if n[0] == data[i]|0x20 && len(rest) > len(n) && bytes.EqualFold(rest[:len(n)], []byte(n)) &&
			(i > 0 && (data[i-1] == '_' || data[i-1] == '-' || alnum(data[i-1])) || n != "key") {
			if from, to := assigned(data, i+len(n)); to > 0 && !bytes.HasPrefix(data[from:to], []byte(fencing)) {
				return "assigned-secret", from, to
			}
		}
	}
	return "", 0, 0
}

// fencing is the prefix of the fencing tokens of leases (docs/leases.md): they say which runner came later, and
// give no access.
const fencing = "fence-run_"

// Redact returns a text with its secrets and the known values replaced by the names of their rules.
func Redact(s string, known ...string) string {
	for _, v := range known {
		s = strings.ReplaceAll(s, v, mark("environment-value"))
	}
	found := Find([]byte(s))
	if len(found) == 0 {
		return s
	}
	var b bytes.Buffer
	last := 0
	for _, f := range found {
		b.WriteString(s[last:f.from])
		b.WriteString(mark(f.Rule))
		last = f.to
	}
	b.WriteString(s[last:])
	return b.String()
}

// mark returns the replacement for a secret.
func mark(rule string) string { return "[REDACTED " + rule + "]" }
