// Times as the protocol writes and reads them (docs/spec/README.md#encoding).

package wire

import (
	"fmt"
	"time"
)

const wireTime = "2006-01-02T15:04:05.000Z"

// FormatTime returns t as written to the wire: RFC 3339 in UTC with exactly
// three fraction digits, e.g. 2026-01-02T03:04:05.678Z (docs/spec/README.md#encoding).
func FormatTime(t time.Time) string { return t.UTC().Format(wireTime) }

// ParseTime reads an ISO 8601 date or date-time as other implementations write it: with or without seconds,
// fraction and offset. A value without an offset is read as UTC. The result is in UTC.
func ParseTime(s string) (time.Time, error) {
	// The longest sensible spelling has nanoseconds and an offset (35 bytes).
	if len(s) < len("2006") || len(s) > 40 {
		return time.Time{}, fmt.Errorf("not an ISO-8601 time: %.40q", s)
	}
	for _, layout := range [...]string{
		time.RFC3339,
		"2006-01-02T15:04Z07:00",
		"2006-01-02T15:04:05",
		"2006-01-02T15:04",
		"2006-01-02",
		"2006-01",
		"2006",
	} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, fmt.Errorf("not an ISO-8601 time: %.40q", s)
}

// DurationMS returns the milliseconds from one wire time to another; false when
// either does not parse or the second is earlier.
func DurationMS(from, to string) (int64, bool) {
	a, err := ParseTime(from)
	if err != nil {
		return 0, false
	}
	b, err := ParseTime(to)
	if err != nil || b.Before(a) {
		return 0, false
	}
	return b.Sub(a).Milliseconds(), true
}
