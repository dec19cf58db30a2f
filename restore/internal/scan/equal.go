// Comparing values: side by side as long as their spelling agrees, else by a digest that does not depend on the
// order of members.

package scan

import (
	"bytes"
	"crypto/sha256"
	"math"
	"math/big"
	"slices"
	"strconv"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
)

// Same compares the next values of two documents side by side and advances both while they agree. Member names must
// come in the same order: when the answer is false the values may still be equal by Sum, and both positions are
// somewhere inside. Integers past 2^53 may be rounded in a, as JavaScript rounds them.
func Same(a, b *Reader) (bool, error) {
	ca, err := a.Peek()
	if err != nil {
		return false, err
	}
	cb, err := b.Peek()
	if err != nil {
		return false, err
	}
	switch {
	case ca == '"' && cb == '"':
		return sameText(a, b)
	case ca == '{' && cb == '{':
		return sameObjects(a, b)
	case ca == '[' && cb == '[':
		return sameArrays(a, b)
	case ca == '"' || cb == '"' || ca == '{' || cb == '{' || ca == '[' || cb == '[':
		return false, nil
	}
	ta, err := a.plainToken(ca)
	if err != nil {
		return false, err
	}
	tb, err := b.plainToken(cb)
	if err != nil {
		return false, err
	}
	if bytes.Equal(ta, tb) {
		return true, nil
	}
	return isNumber(ca) && isNumber(cb) &&
		(bytes.Equal(canonicalNumber(ta), canonicalNumber(tb)) || rounded(ta, tb)), nil
}

// rounded reports whether a is the number b after JavaScript has read and written it: no other integer is.
func rounded(a, b []byte) bool {
	f, err := strconv.ParseFloat(string(b), 64)
	return err == nil && math.Abs(f) >= 1<<53 && string(a) == string(ojson.Float(f))
}

func isNumber(c byte) bool { return c == '-' || c >= '0' && c <= '9' }

func sameObjects(a, b *Reader) (bool, error) {
	if err := a.enter('{'); err != nil {
		return false, err
	}
	if err := b.enter('{'); err != nil {
		return false, err
	}
	for {
		ka, ma, err := a.key()
		if err != nil {
			return false, err
		}
		if ma && b.expect(ka) {
			if ok, err := Same(a, b); err != nil || !ok {
				return false, err
			}
			continue
		}
		kb, mb, err := b.key()
		if err != nil {
			return false, err
		}
		if ma != mb || !bytes.Equal(ka, kb) {
			return false, nil
		}
		if !ma {
			return true, nil
		}
		if ok, err := Same(a, b); err != nil || !ok {
			return false, err
		}
	}
}

// expect consumes the name of the next member if it is key, spelled plainly, and otherwise nothing. It does not
// remember the name: a caller that expects distinct names need not check for duplicates.
func (r *Reader) expect(key []byte) bool {
	if r.end-r.pos < len(key)+4 || plainRun(key) != len(key) {
		return false
	}
	top := &r.stack[len(r.stack)-1]
	b := r.buf[r.pos:r.end]
	space := func() {
		for len(b) > 0 && (b[0] == ' ' || b[0] == '\n' || b[0] == '\t' || b[0] == '\r') {
			b = b[1:]
		}
	}
	take := func(c byte) bool {
		space()
		if len(b) == 0 || b[0] != c {
			return false
		}
		b = b[1:]
		return true
	}
	if top.n > 0 && !take(',') || !take('"') || !bytes.HasPrefix(b, key) {
		return false
	}
	if b = b[len(key):]; len(b) == 0 || b[0] != '"' {
		return false
	}
	if b = b[1:]; !take(':') {
		return false
	}
	top.n++
	r.pos = r.end - len(b)
	return true
}

func sameArrays(a, b *Reader) (bool, error) {
	if err := a.enter('['); err != nil {
		return false, err
	}
	if err := b.enter('['); err != nil {
		return false, err
	}
	for {
		ma, err := a.item()
		if err != nil {
			return false, err
		}
		mb, err := b.item()
		if err != nil || ma != mb {
			return false, err
		}
		if !ma {
			return true, nil
		}
		if ok, err := Same(a, b); err != nil || !ok {
			return false, err
		}
	}
}

func sameText(a, b *Reader) (bool, error) {
	if err := a.openString(); err != nil {
		return false, err
	}
	if err := b.openString(); err != nil {
		return false, err
	}
	var ta, tb []byte
	doneA, doneB := false, false
	for {
		var err error
		if len(ta) == 0 && !doneA {
			if ta, doneA, err = a.piece(); err != nil {
				return false, err
			}
		}
		if len(tb) == 0 && !doneB {
			if tb, doneB, err = b.piece(); err != nil {
				return false, err
			}
		}
		n := min(len(ta), len(tb))
		if !bytes.Equal(ta[:n], tb[:n]) {
			return false, nil
		}
		ta, tb = ta[n:], tb[n:]
		switch {
		case doneA && doneB && len(ta) == 0 && len(tb) == 0:
			return true, nil
		case doneA && len(ta) == 0 && len(tb) > 0, doneB && len(tb) == 0 && len(ta) > 0:
			return false, nil
		}
	}
}

// Digest identifies a value: equal values have equal digests, whatever the order of their members and the spelling
// of their strings and numbers.
type Digest = [sha256.Size]byte

// Sum consumes the next value and returns its digest.
func Sum(r *Reader) (Digest, error) {
	c, err := r.Peek()
	if err != nil {
		return Digest{}, err
	}
	switch {
	case c == '"':
		h := sha256.New()
		h.Write([]byte{'s'})
		if err := r.Text(func(p []byte) error { h.Write(p); return nil }); err != nil {
			return Digest{}, err
		}
		return Digest(h.Sum(nil)), nil
	case c == '[':
		if err := r.enter('['); err != nil {
			return Digest{}, err
		}
		h := sha256.New()
		h.Write([]byte{'a'})
		for {
			more, err := r.item()
			if err != nil {
				return Digest{}, err
			}
			if !more {
				return Digest(h.Sum(nil)), nil
			}
			d, err := Sum(r)
			if err != nil {
				return Digest{}, err
			}
			h.Write(d[:])
		}
	case c == '{':
		return sumObject(r)
	}
	t, err := r.plainToken(c)
	if err != nil {
		return Digest{}, err
	}
	if isNumber(c) {
		t = canonicalNumber(t)
	}
	return sha256.Sum256(append([]byte{'v'}, t...)), nil
}

func sumObject(r *Reader) (Digest, error) {
	if err := r.enter('{'); err != nil {
		return Digest{}, err
	}
	type member struct{ name, value Digest }
	var members []member
	for {
		k, more, err := r.key()
		if err != nil {
			return Digest{}, err
		}
		if !more {
			break
		}
		m := member{name: sha256.Sum256(k)}
		if m.value, err = Sum(r); err != nil {
			return Digest{}, err
		}
		members = append(members, m)
	}
	slices.SortFunc(members, func(a, b member) int { return bytes.Compare(a.name[:], b.name[:]) })
	h := sha256.New()
	h.Write([]byte{'o'})
	for i := range members {
		h.Write(members[i].name[:])
		h.Write(members[i].value[:])
	}
	return Digest(h.Sum(nil)), nil
}

// canonicalNumber returns one spelling for all spellings of a number. Numbers are equal as doubles, -0 differs from
// 0, but integers past 2^53 are equal only when they are the same integer: as doubles, neighbours that other
// readers distinguish would be equal.
func canonicalNumber(t []byte) []byte {
	plain := len(t) <= 15
	for i := 0; plain && i < len(t); i++ {
		plain = t[i] >= '0' && t[i] <= '9' || t[i] == '-' && i == 0 && len(t) > 1 && t[1] != '0'
	}
	if plain {
		return t
	}
	f, err := strconv.ParseFloat(string(t), 64)
	switch {
	case err != nil: // past the largest double
		return t
	case f == 0 && math.Signbit(f):
		return []byte("-0")
	case math.Abs(f) < 1<<53 || f != math.Trunc(f):
		return strconv.AppendFloat(nil, f, 'g', -1, 64)
	}
	exact, ok := new(big.Rat).SetString(string(t)) // below 1.8e308, so not large
	if !ok {
		return t
	}
	if exact.IsInt() {
		return exact.Num().Append(nil, 10)
	}
	return strconv.AppendFloat(nil, f, 'g', -1, 64)
}
