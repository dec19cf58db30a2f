// Bounded previews of project files whose contents cannot break out of them (docs/bundles.md#limits).

package dispatch

import (
	"bytes"
	"fmt"
	"github.com/git-agentxchain/git-agentxchain/internal/secrets"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"strings"
	"unicode/utf8"
)

// Limits of previews. The numbers of lines are the protocol's; the bytes are ours, as one minified line would
// otherwise fill the context.
const (
	changedFiles    = 5
	changedLines    = 120
	proposalLines   = 80
	gateLines       = 60
	logLines        = 50
	logLineUnits    = 8192 // UTF-16 units
	maxPreviewBytes = 48 << 10
)

// sample is the start of a file.
type sample struct {
	text   string // "" for binary files
	binary bool
	cut    bool // the file continues after text
}

// sample reads path; ok is false when it must not be previewed: outside the project, absent or unreadable.
func (v *view) sample(path string) (s sample, ok bool) {
	if v.Read == nil || !safePath(path) {
		return s, false
	}
	data, ok := v.Read(path, maxPreviewBytes+1)
	if !ok {
		return s, false
	}
	if len(data) > maxPreviewBytes {
		data, s.cut = data[:maxPreviewBytes], true
		// Do not judge or show a partial character at the cut.
		for range utf8.UTFMax - 1 {
			if utf8.Valid(data) {
				break
			}
			data = data[:len(data)-1]
		}
	}
	if bytes.IndexByte(data, 0) >= 0 || !utf8.Valid(data) {
		s.binary = true
		return s, true
	}
	s.text = text.Visible(secrets.Redact(strings.ReplaceAll(string(data), "\r\n", "\n")))
	return s, true
}

// preview formats a sample as a code block of at most limit lines, followed by a note on what it leaves out.
func (s sample) preview(limit int) string {
	if s.binary {
		return "_Not text; no preview._"
	}
	if s.text == "" {
		return "_The file is empty._"
	}
	text, truncated := s.text, false
	for i, n := 0, 0; i < len(text); i++ {
		if text[i] == '\n' {
			if n++; n == limit && i+1 < len(text) {
				text, truncated = text[:i+1], true
				break
			}
		}
	}
	out := fenced("", text)
	switch {
	case truncated && s.cut:
		out += fmt.Sprintf("\n\n_Only the first %d lines are shown; read the file for the rest._", limit)
	case truncated:
		total := strings.Count(strings.TrimSuffix(s.text, "\n"), "\n") + 1
		out += fmt.Sprintf("\n\n_Only the first %d of %d lines are shown; read the file for the rest._", limit, total)
	case s.cut:
		out += fmt.Sprintf("\n\n_Only the first %d KiB are shown; read the file for the rest._", maxPreviewBytes>>10)
	}
	return out
}

// previews formats the first files of paths below headings, and says how many it skipped.
func (v *view) previews(paths []string, heading func(path string) string, at func(path string) string) []string {
	var blocks []string
	shown, skipped := 0, 0
	for _, p := range paths[:min(len(paths), changedFiles)] {
		s, ok := v.sample(at(p))
		if !ok {
			skipped++
			continue
		}
		shown++
		blocks = append(blocks, "#### "+heading(p), s.preview(changedLines))
	}
	if shown == 0 {
		return nil
	}
	var left []string
	if skipped > 0 {
		left = append(left, fmt.Sprintf(
			"%d of these files could not be read (deleted, not a regular file, or outside the project)", skipped,
		))
	}
	if n := len(paths) - changedFiles; n > 0 {
		left = append(left, fmt.Sprintf("%d further files have no preview", n))
	}
	if len(left) > 0 {
		blocks = append(blocks, "_"+strings.Join(left, "; ")+"._")
	}
	return blocks
}

// logExcerpt returns the end of a captured log, or "".
func logExcerpt(log []byte) string {
	tail := strings.TrimRight(strings.ReplaceAll(strings.ToValidUTF8(string(log), "\ufffd"), "\r\n", "\n"), "\n")
	if strings.TrimSpace(tail) == "" {
		return ""
	}
	lines := strings.Split(secrets.Redact(tail), "\n")
	left := max(0, len(lines)-logLines)
	lines = lines[left:]
	for i, l := range lines {
		lines[i] = clipUnits(text.Visible(text.Uncoloured(l)), logLineUnits)
	}
	out := fenced("", strings.Join(lines, "\n"))
	if left > 0 {
		out += fmt.Sprintf("\n\n_The last %d lines; earlier output is left out._", logLines)
	}
	return out
}

// clipUnits cuts a line to n UTF-16 units when it is longer than n bytes.
func clipUnits(s string, n int) string {
	if short := text.CutUnits(s, n); len(short) < len(s) {
		return short + "…"
	}
	return s
}
