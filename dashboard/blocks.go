// The parts of pages: blocks of facts, tables and text. A page builds them, one template renders
// them; nothing in them is markup.

package dashboard

import (
	"html/template"
	"net/url"
	"strings"
	"time"
)

// tone says how a value is meant, in words and colour.
type tone string

const (
	neutral tone = ""
	good    tone = "good"
	warn    tone = "warn"
	bad     tone = "bad"
)

// cell is one value.
type cell struct {
	Text string
	Href string // of this dashboard
	Code bool
	Tone tone
	Time time.Time // shown as a time; Text is then how long ago
}

// fact is a labelled value.
type fact struct {
	Label string
	Cell  cell
}

// table is rows under a head. Rows may be marked for the keyboard.
type table struct {
	Head []string
	Rows [][]cell
}

// item of a list; Parts make it a tree.
type item struct {
	Cells []cell
	Parts []item
}

// block is a part of a page.
type block struct {
	ID, Title string
	Note      string // a sentence below the title
	Empty     string // a sentence when there is nothing; then the rest is left out
	Lead      []cell // one line of values
	Facts     []fact
	Track     []stop
	Drawing   template.HTML // the picture of the run
	Meter     *meter
	Table     *table
	Tree      []item
	Pre       string // text as it is
	Diff      []diffLine
	Filter    *filter
	Ask       *answerForm
	Older     string // addresses of the neighbouring pages of a list
	Newer     string
	Plain     bool // the list is not in order of time: its pages are the next and the previous
	All       cell // leads to the whole list
	Parts     []block
	Folded    bool
}

// filled returns b with the rows of t, or as it is, with the sentence for nothing, if there are none.
func (b block) filled(t *table) block {
	if len(t.Rows) > 0 {
		b.Empty, b.Table = "", t
	}
	return b
}

// filter is a form above a list.
type filter struct {
	Action string
	Button string // what it does, "Filter" when empty
	Fields []field
}

// field is a field of a filter: a choice, or a text.
type field struct {
	Name, Label, Value string
	Choices            []string // nil for a text
}

func text(s string) cell          { return cell{Text: plain(s)} }
func value(v any) cell            { return cell{Text: plain(v)} }
func code(s string) cell          { return cell{Text: plain(s), Code: true} }
func toned(s string, t tone) cell { return cell{Text: plain(s), Tone: t} }

func link(s, href string) cell {
	c := code(s)
	if s != "" {
		c.Href = href
	}
	return c
}

func turnLink(id string) cell { return link(id, "/turns/"+url.PathEscape(id)) }

func decisionLink(id string) cell { return link(id, "/decisions?text="+url.QueryEscape(id)) }

func opLink(id string) cell {
	c := link(short(id), "/ops/"+url.PathEscape(id))
	return c
}

// moment returns a time for people: how long ago, with the time itself.
func (v *view) moment(at time.Time) cell {
	if at.IsZero() {
		return cell{}
	}
	d := v.Now.Sub(at)
	s := lasting(d) + " ago"
	if d < 0 {
		s = "in " + lasting(d)
	}
	return cell{Text: s, Time: at}
}

// clock returns the time itself, shown beside how long ago it was, when the two differ enough to
// need both: a reader of yesterday's run wants the date.
func clock(c cell) string {
	if strings.HasSuffix(c.Text, " ago") || strings.HasPrefix(c.Text, "in ") {
		return c.Time.Local().Format("2 Jan 15:04:05")
	}
	return ""
}

// standing returns a status with its tone.
func standing(s string) cell {
	t := neutral
	switch s {
	case "completed", "passed", "active", "accepted", "pass", "satisfied", "allowed", "clean", "delivered", "linked":
		t = good
	case "paused", "pending", "needs_human", "retrying", "warned", "warn", "partially_satisfied", "pending_gate",
		"stale", "behind":
		t = warn
	case "blocked", "failed", "fail", "failed_acceptance", "failed_start", "stalled", "rejected", "conflicted",
		"error", "overridden", "unreadable", "aborted":
		t = bad
	}
	return cell{Text: plain(words(s)), Tone: t}
}

// diffLine is a line of a patch, or several of one kind.
type diffLine struct {
	Class string // add, del, hunk, file, meta or ""
	Text  string
}

// Bounds of a patch on a page. Neighbouring lines of one kind are one element.
const (
	maxDiffLines = 4000
	maxDiffRuns  = 1000
)

// diffLines sorts the lines of a patch by kind; cutOff says that there were more.
func diffLines(patch string) (out []diffLine, cutOff bool) {
	body := false
	n := 0
	for line := range strings.Lines(patch) {
		if n++; n > maxDiffLines || len(out) == maxDiffRuns {
			return out, true
		}
		line = strings.TrimSuffix(line, "\n")
		class := ""
		switch {
		case strings.HasPrefix(line, "diff --git "):
			class, body = "file", false
		case strings.HasPrefix(line, "@@"):
			class, body = "hunk", true
		case body && strings.HasPrefix(line, "+"):
			class = "add"
		case body && strings.HasPrefix(line, "-"):
			class = "del"
		case !body:
			class = "meta"
		}
		line = longText(line, 2000)
		if last := len(out) - 1; last >= 0 && out[last].Class == class && class != "file" {
			out[last].Text += "\n" + line
			continue
		}
		out = append(out, diffLine{class, line})
	}
	return out, false
}
