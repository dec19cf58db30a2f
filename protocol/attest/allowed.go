// The files allowed_signers and revoked_signers, as ssh-keygen(1) defines the first.

package attest

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/crypto/ssh"
)

// allowed is one line of allowed_signers.
type allowed struct {
	principals string // a pattern list
	key        []byte // in wire format
	authority  bool   // the key signs certificates
	namespaces *string
	after      time.Time // zero for no limit
	before     time.Time
}

// rows yields the lines that are neither blank nor comments, with their numbers.
func rows(data []byte, p *findings) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		n, used := 0, 0
		for line := range bytes.Lines(data) {
			n++
			text := strings.Trim(string(line), " \t\r\n")
			if text == "" || text[0] == '#' {
				continue
			}
			used++
			switch {
			case used > maxSignersRows:
				p.add(n, "only the first %d entries are read", maxSignersRows)
				return
			case len(text) > maxSignersLine || !utf8.ValidString(text) || strings.IndexByte(text, 0) >= 0:
				p.add(n, "the line is too long or is not text")
			case !yield(n, text):
				return
			}
		}
	}
}

func parseAllowed(data []byte, p *findings) []allowed {
	var out []allowed
	for n, text := range rows(data, p) {
		a, err := parseAllowedLine(text)
		if err != nil {
			p.add(n, "%s", err)
			continue
		}
		out = append(out, *a)
	}
	return out
}

func parseAllowedLine(text string) (*allowed, error) {
	a := &allowed{}
	var rest string
	var err error
	if a.principals, rest, err = firstField(text); err != nil {
		return nil, err
	}
	if a.principals == "" {
		return nil, errors.New("the line names no principal")
	}
	if rest == "" {
		return nil, errors.New("the line has no key")
	}
	key, keyErr := readKey(rest)
	if keyErr != nil {
		options, after := pastOptions(rest)
		if after == "" {
			return nil, keyErr
		}
		if err := a.setOptions(options); err != nil {
			return nil, err
		}
		if key, err = readKey(after); err != nil {
			return nil, err
		}
	}
	a.key = key.Marshal()
	return a, nil
}

// firstField cuts off the principals. As in OpenSSH, a double quote begins a part that may contain white space, and
// the closing quote ends the field.
func firstField(s string) (field, rest string, err error) {
	at := strings.IndexAny(s, " \t\"")
	if at < 0 {
		return s, "", nil
	}
	if s[at] == '"' {
		end := strings.IndexByte(s[at+1:], '"')
		if end < 0 {
			return "", "", errors.New("a double quote has no partner")
		}
		field, rest = s[:at]+s[at+1:at+1+end], s[at+end+2:]
	} else {
		field, rest = s[:at], s[at:]
	}
	return field, strings.TrimLeft(rest, " \t"), nil
}

// pastOptions separates options from what follows: only white space outside quotes counts.
func pastOptions(s string) (options, rest string) {
	quoted := false
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s) && s[i+1] == '"':
			i++
		case s[i] == '"':
			quoted = !quoted
		case !quoted && (s[i] == ' ' || s[i] == '\t'):
			return s[:i], strings.TrimLeft(s[i:], " \t")
		}
	}
	return s, ""
}

func (a *allowed) setOptions(s string) error {
	for {
		name, value, rest, err := option(s)
		if err != nil {
			return err
		}
		switch strings.ToLower(name) {
		case "cert-authority":
			if value != nil {
				return errors.New("cert-authority takes no value")
			}
			a.authority = true
		case "namespaces":
			if value == nil || a.namespaces != nil {
				return errors.New("namespaces must be there once, with a quoted value")
			}
			a.namespaces = value
		case "valid-after":
			if err := setTime(&a.after, name, value); err != nil {
				return err
			}
		case "valid-before":
			if err := setTime(&a.before, name, value); err != nil {
				return err
			}
		default:
			return fmt.Errorf("there is no option %.40q", name)
		}
		if rest == "" {
			break
		}
		s = rest
	}
	if !a.after.IsZero() && !a.before.IsZero() && !a.before.After(a.after) {
		return errors.New("valid-before is not later than valid-after")
	}
	return nil
}

// option takes the first of a list of options; value is nil for an option without one.
func option(s string) (name string, value *string, rest string, err error) {
	at := strings.IndexAny(s, "=,")
	if at < 0 {
		return s, nil, "", nil
	}
	name, rest = s[:at], s[at:]
	if rest[0] == '=' {
		if !strings.HasPrefix(rest, `="`) {
			return "", nil, "", fmt.Errorf("the value of %.40q must be quoted", name)
		}
		var b strings.Builder
		i := 2
		for ; i < len(rest) && rest[i] != '"'; i++ {
			if rest[i] == '\\' && i+1 < len(rest) && rest[i+1] == '"' {
				i++
			}
			b.WriteByte(rest[i])
		}
		if i == len(rest) {
			return "", nil, "", errors.New("a double quote has no partner")
		}
		v := b.String()
		value, rest = &v, rest[i+1:]
	}
	if rest == "" {
		return name, value, "", nil
	}
	if rest[0] != ',' || len(rest) == 1 {
		return "", nil, "", fmt.Errorf("unexpected text after the option %.40q", name)
	}
	return name, value, rest[1:], nil
}

// setTime reads YYYYMMDD, YYYYMMDDHHMM or YYYYMMDDHHMMSS. ssh-keygen reads a time without Z as local time; here it
// is UTC, so that all machines agree.
func setTime(t *time.Time, name string, value *string) error {
	if value == nil || !t.IsZero() {
		return fmt.Errorf("%s must be there once, with a quoted value", strings.ToLower(name))
	}
	text := *value
	if n := len(text); n > 3 && strings.EqualFold(text[n-3:], "UTC") {
		text = text[:n-3]
	} else if n > 1 && strings.EqualFold(text[n-1:], "Z") {
		text = text[:n-1]
	}
	layouts := map[int]string{8: "20060102", 12: "200601021504", 14: "20060102150405"}
	at, err := time.Parse(layouts[len(text)], text)
	if err != nil || layouts[len(text)] == "" || at.Unix() <= 0 {
		return fmt.Errorf("%s is not a time of the form YYYYMMDD[HHMM[SS]][Z]", strings.ToLower(name))
	}
	*t = at
	return nil
}

// readKey reads "type base64 [comment]".
func readKey(s string) (ssh.PublicKey, error) {
	fields := strings.Fields(s)
	if len(fields) < 2 {
		return nil, errors.New("the line has no key")
	}
	blob, err := base64.StdEncoding.DecodeString(fields[1])
	if err != nil {
		return nil, errors.New("the key is not base64")
	}
	key, err := guard(func() (ssh.PublicKey, error) { return ssh.ParsePublicKey(blob) })
	if err != nil {
		return nil, errors.New("the key cannot be read")
	}
	if key.Type() != fields[0] {
		return nil, fmt.Errorf("the key says to be %.40q and is %s", fields[0], key.Type())
	}
	return key, usableKey(key)
}

// parseRevoked reads public keys and fingerprints, one per line.
func parseRevoked(data []byte, revoked map[string]bool, p *findings) {
	if bytes.HasPrefix(data, []byte("SSHKRL\n\x00")) {
		p.add(0,
			"the file is a binary key revocation list; write the revoked public keys out, one a line")
		return
	}
	for n, text := range rows(data, p) {
		id, _, _ := strings.Cut(text, " ")
		if fingerprint(id) {
			revoked[canonical(id)] = true
			continue
		}
		key, err := readRevoked(text)
		if err != nil {
			p.add(n, "neither a public key nor a fingerprint (SHA256:, openpgp: or x509:): %s", err)
			continue
		}
		revoked[key] = true
	}
}

// readRevoked reads a key that need not be acceptable for signing: weak keys can be revoked too.
func readRevoked(text string) (string, error) {
	fields := strings.Fields(text)
	if len(fields) < 2 {
		return "", errors.New("the line has no key")
	}
	blob, err := base64.StdEncoding.DecodeString(fields[1])
	if err != nil {
		return "", errors.New("the key is not base64")
	}
	key, err := guard(func() (ssh.PublicKey, error) { return ssh.ParsePublicKey(blob) })
	if err != nil {
		return "", errors.New("the key cannot be read")
	}
	if c, ok := key.(*ssh.Certificate); ok {
		key = c.Key
	}
	return ssh.FingerprintSHA256(key), nil
}

// fingerprint reports whether s is the identity of a key as Signature.KeyID spells it.
func fingerprint(s string) bool {
	switch {
	case strings.HasPrefix(s, "SHA256:"):
		b, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(s[len("SHA256:"):], "="))
		return err == nil && len(b) == 32
	case strings.HasPrefix(s, "openpgp:"):
		hex := strings.ToLower(s[len("openpgp:"):])
		return lowerHex(hex, 40) || lowerHex(hex, 64)
	case strings.HasPrefix(s, "x509:"):
		return lowerHex(strings.ToLower(s[len("x509:"):]), 64)
	}
	return false
}

func canonical(id string) string {
	if strings.HasPrefix(id, "SHA256:") {
		return strings.TrimRight(id, "=")
	}
	return strings.ToLower(id)
}

// matchList matches a name against a pattern list as ssh_config(5) defines it: a match
// with a negated pattern decides against the name.
func matchList(name, list string) bool {
	found := false
	for pattern := range strings.SplitSeq(list, ",") {
		pattern, negated := strings.CutPrefix(pattern, "!")
		if match(name, pattern) {
			if negated {
				return false
			}
			found = true
		}
	}
	return found
}

// match matches bytes against a pattern with * and ?, in time proportional to the product of their lengths.
func match(s, pattern string) bool {
	i, j, star, from := 0, 0, -1, 0
	for i < len(s) {
		switch {
		case j < len(pattern) && pattern[j] == '*':
			star, from = j, i
			j++
		case j < len(pattern) && (pattern[j] == '?' || pattern[j] == s[i]):
			i++
			j++
		case star >= 0:
			from++
			i, j = from, star+1
		default:
			return false
		}
	}
	return strings.Trim(pattern[j:], "*") == ""
}
