// The format date-time: RFC 3339, which the schemas name and this package asserts.

package check

import "time"

// isDateTime reports whether s is an RFC 3339 date and time. A leap second is allowed, and letters
// may be lower case.
func isDateTime(s string) bool {
	const shape = "dddd-dd-ddTdd:dd:dd"
	if len(s) < len(shape)+1 || !matches(s[:len(shape)], shape) {
		return false
	}
	num := func(from, to int) (n int) {
		for _, c := range []byte(s[from:to]) {
			n = n*10 + int(c-'0')
		}
		return n
	}
	year, month, day, hour, minute, second := num(0, 4), num(5, 7), num(8, 10), num(11, 13), num(14, 16), num(17, 19)
	if month < 1 || month > 12 || day < 1 || hour > 23 || minute > 59 || second > 60 {
		return false
	}
	if time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC).Day() != day {
		return false
	}
	zone := s[len(shape):]
	if zone[0] == '.' {
		n := 1
		for n < len(zone) && '0' <= zone[n] && zone[n] <= '9' {
			n++
		}
		if n == 1 {
			return false
		}
		zone = zone[n:]
	}
	offset := 0
	switch {
	case zone == "Z" || zone == "z":
	case len(zone) == 6 && (matches(zone, "+dd:dd") || matches(zone, "-dd:dd")):
		at := len(s) - 6
		if num(at+1, at+3) > 23 || num(at+4, at+6) > 59 {
			return false
		}
		offset = num(at+1, at+3)*60 + num(at+4, at+6)
		if zone[0] == '-' {
			offset = -offset
		}
	default:
		return false
	}
	// A minute has a 61st second only at the end of a UTC day.
	return second < 60 || (hour*60+minute-offset+48*60)%(24*60) == 23*60+59
}

// matches compares s with a shape of the same length, in which d is any digit and T may be lower
// case.
func matches(s, shape string) bool {
	for i := range len(shape) {
		switch c := s[i]; shape[i] {
		case 'd':
			if c < '0' || c > '9' {
				return false
			}
		case 'T':
			if c != 'T' && c != 't' {
				return false
			}
		default:
			if c != shape[i] {
				return false
			}
		}
	}
	return true
}
