// Enums: tokens in JSON, numbers and upper-case names in protobuf.

package wire

import (
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// Set describes the values of an enum (docs/monarchic.md#types).
type Set struct {
	Tokens  []string // JSON token by protobuf number; Tokens[0] means unspecified, "" when JSON has none
	Zero    string   // protobuf name of number 0
	Prefix  string   // of the other protobuf names
	Strings int      // how many tokens the schemas accept as strings, the later ones travel as numbers; 0 means all
	Free    bool     // an open object may have tokens that are not in the set
	Closed  bool     // numbers without a name are refused: an unknown state decides nothing
}

// Enum is a string type whose values are the tokens of one Set.
type Enum interface{ Set() *Set }

// Number returns the protobuf number of a token; false when it has none.
func (s *Set) Number(token string) (int32, bool) {
	if i := slices.Index(s.Tokens, token); i >= 0 && (i > 0 || token != "") {
		return int32(i), true
	}
	if token == "" || token == s.Zero {
		return 0, true
	}
	// A number without a name is represented by its digits.
	if n, err := strconv.ParseInt(token, 10, 32); err == nil {
		return int32(n), true
	}
	return 0, false
}

// Token returns the token of a protobuf number, digits when it has no name.
func (s *Set) Token(n int32) string {
	if n == 0 {
		return s.unspecified()
	}
	if n > 0 && int(n) < len(s.Tokens) {
		return s.Tokens[n]
	}
	return strconv.Itoa(int(n))
}

func (s *Set) unspecified() string {
	if s.Tokens[0] != "" {
		return s.Tokens[0]
	}
	return s.Zero
}

// Has reports whether a closed object may have the token.
func (s *Set) Has(token string) bool { return token != "" && slices.Contains(s.Tokens, token) }

// List names the tokens of the set for a message.
func (s *Set) List() string {
	return strings.Join(slices.DeleteFunc(slices.Clone(s.Tokens), func(t string) bool { return t == "" }), ", ")
}

// lenient reads a token, a protobuf name or a number (docs/monarchic.md).
func (s *Set) lenient(v ojson.Value) (string, bool) {
	switch v := v.(type) {
	case string:
		if s.Has(v) {
			return v, true
		}
		if v == s.Zero {
			return s.unspecified(), true
		}
		if rest, ok := strings.CutPrefix(v, s.Prefix); ok && rest != "" && rest == strings.ToUpper(rest) {
			// One pair is irregular: LEASE_REJECTION_EXPIRED is lease_expired.
			for _, t := range []string{strings.ToLower(rest), "lease_" + strings.ToLower(rest)} {
				if slices.Contains(s.Tokens[1:], t) {
					return t, true
				}
			}
		}
		// Digits mean a number without a name, so text must not look like one.
		return v, s.Free && strings.Trim(v, "-0123456789") != ""
	case ojson.Number:
		n, ok := v.Int64()
		if !ok || n < math.MinInt32 || n > math.MaxInt32 {
			return "", false
		}
		if s.Closed && (n < 0 || int(n) >= len(s.Tokens)) {
			return "", false
		}
		return s.Token(int32(n)), true
	}
	return "", false
}

// value returns the JSON form of a token of an open object.
func (s *Set) value(token string) ojson.Value {
	if token == "" {
		return s.unspecified()
	}
	i := slices.Index(s.Tokens, token)
	if s.Strings > 0 && i >= s.Strings {
		return ojson.Int(i)
	}
	if i < 0 {
		if n, err := strconv.ParseInt(token, 10, 32); err == nil && strconv.FormatInt(n, 10) == token {
			return ojson.Int(int(n))
		}
	}
	return token
}

var sets sync.Map // reflect.Type -> *Set; nil for types that are not enums

// SetOf returns the set of the enum type t, nil when t is not an enum.
func SetOf(t reflect.Type) *Set {
	if t.Kind() != reflect.String || t.PkgPath() == "" {
		return nil
	}
	if s, ok := sets.Load(t); ok {
		return s.(*Set)
	}
	var s *Set
	if e, ok := reflect.Zero(t).Interface().(Enum); ok {
		s = e.Set()
	}
	sets.Store(t, s)
	return s
}
