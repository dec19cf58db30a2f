// Printer: the text side of a command's result, with styles, tables and times.

package term

import (
	"fmt"
	"io"
	"math"
	"time"
)

// Printer writes text for people. Everything it prints goes through the
// command's buffered stdout; write errors surface when the command ends.
type Printer struct {
	Style
	w     io.Writer
	Now   func() time.Time
	width int
}

// Printf prints without adding a line end. Values from files must have gone through Clean or
// OneLine; format strings are ours.
func (p *Printer) Printf(format string, args ...any) { _, _ = fmt.Fprintf(p.w, format, args...) }

// Println prints its operands and a line end.
func (p *Printer) Println(args ...any) { _, _ = fmt.Fprintln(p.w, args...) }

// Write makes a Printer an io.Writer.
func (p *Printer) Write(b []byte) (int, error) { return p.w.Write(b) }

// Field prints one "label: value" line, labels padded to the same column.
func (p *Printer) Field(label, format string, args ...any) {
	p.Printf("%s %s\n", p.Dim(Pad(label+":", 14)), fmt.Sprintf(format, args...))
}

// Ago renders an instant relative to now: "3m ago", "in 2h", "just now".
func (p *Printer) Ago(t time.Time) string { return RelativeTime(p.Now(), t) }

// RelativeTime renders t as seen from now, coarsely, for people.
func RelativeTime(now, t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	d := now.Sub(t)
	format, near := "%s ago", 5*time.Second
	if d < 0 {
		d, format, near = -max(d, -math.MaxInt64), "in %s", time.Second // a future time has not been just now
		if d >= 90*time.Minute {
			d = d.Round(time.Hour) // two hours are still two hours a moment later
		}
	}
	if d < near {
		return "just now"
	}
	if d == math.MaxInt64 { // more than a Duration holds, 292 years
		return fmt.Sprintf(format, fmt.Sprintf("%dy", max(now.Year()-t.Year(), t.Year()-now.Year())))
	}
	return fmt.Sprintf(format, Age(d))
}

// Age renders a duration with one unit: 45s, 3m, 5h, 12d, 7w, 2y.
func Age(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d < 0:
		return "0s"
	case d < 90*time.Second:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < 90*time.Minute:
		return fmt.Sprintf("%dm", d/time.Minute)
	case d < 36*time.Hour:
		return fmt.Sprintf("%dh", d/time.Hour)
	case d < 60*day:
		return fmt.Sprintf("%dd", d/day)
	case d < 2*365*day:
		return fmt.Sprintf("%dw", d/(7*day))
	}
	return fmt.Sprintf("%dy", d/(365*day))
}

// Timestamp returns the JSON form of an instant: UTC, RFC 3339, milliseconds.
func Timestamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
