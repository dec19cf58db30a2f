// The page: the content of every rendering for people, in plain text and in order.

package account

import (
	"fmt"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/ojson"
	"github.com/git-agentxchain/git-agentxchain/internal/text"
	"github.com/git-agentxchain/git-agentxchain/internal/timeline"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

// tone is the connotation of a value.
type tone string

const (
	neutral tone = ""
	good    tone = "good"
	warn    tone = "warn"
	bad     tone = "bad"
)

// cell is a value in plain text, already harmless. share, between 0 and 1, is drawn as a bar where bars are
// supported.
type cell struct {
	text  string
	tone  tone
	code  bool // an id, a path or a command
	share float64
}

type fact struct {
	label string
	cell
}

type table struct {
	head []string
	rows [][]cell
}

// section is a part of the page: a note, facts, items and a table, all optional.
type section struct {
	title string
	note  string
	facts []fact
	items []cell
	table *table
	parts []section

	drawing *timeline.Drawing
}

func (s *section) empty() bool {
	return len(s.facts) == 0 && len(s.items) == 0 && s.table == nil && len(s.parts) == 0 && s.drawing == nil
}

type page struct {
	title    string // of the run or the initiative
	lead     string // its status, in one or two sentences
	verdict  cell   // of the verification
	cards    []fact // the figures at the top
	head     []fact
	sections []section
	footer   string
}

// add adds a section unless it is empty.
func (p *page) add(s section) {
	if !s.empty() {
		p.sections = append(p.sections, s)
	}
}

// Limits of what people are shown; json contains everything.
const (
	maxShownRows = 500
	maxShownText = 4000
)

// rowsOf makes a table of objects; for long lists it shows the end.
func rowsOf(what string, list []*ojson.Object, head []string, row func(*ojson.Object) []cell) (*table, string) {
	if len(list) == 0 {
		return nil, ""
	}
	note := ""
	if n := len(list) - maxShownRows; n > 0 {
		list, note = list[n:], fmt.Sprintf("(%d earlier %s omitted; --format json has them)", n, what)
	}
	t := &table{head: head}
	for _, o := range list {
		t.rows = append(t.rows, row(o))
	}
	return t, note
}

func listing(title, what string, list []*ojson.Object, head []string, row func(*ojson.Object) []cell) section {
	t, note := rowsOf(what, list, head, row)
	return section{title: title, note: note, table: t}
}

// Plain formats any value of a report for people: on one line, of bounded length, without anything that drives a
// terminal or reorders text.
func Plain(v any) string { return say(v) }

// say formats a value of the model as plain text.
func say(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return harmless(v)
	case ojson.Number:
		return harmless(string(v))
	case bool:
		if v {
			return "yes"
		}
		return "no"
	case int:
		return fmt.Sprint(v)
	case []string:
		return harmless(strings.Join(v, ", "))
	case []any:
		var parts []string
		for i, x := range v {
			if i == 50 {
				parts = append(parts, fmt.Sprintf("… (%d more)", len(v)-i))
				break
			}
			parts = append(parts, say(x))
		}
		return harmless(strings.Join(parts, ", "))
	}
	return harmless(string(ojson.Compact(v)))
}

func plain(v any) cell { return cell{text: say(v)} }

func code(v any) cell { return cell{text: say(v), code: true} }

func toned(v any, t tone) cell { return cell{text: say(v), tone: t} }

// standing formats a status with its tone.
func standing(v any) cell {
	s := say(v)
	c := cell{text: s}
	switch s {
	case "completed", "passed", "pass", "approved", "satisfied", "done", "succeeded", "recovered", "healthy",
		"accepted", "clear":
		c.tone = good
	case "blocked", "failed", "fail", "error", "rejected", "exhausted", "critical", "crashed", "conflicted":
		c.tone = bad
	case "pending", "partially_satisfied", "paused", "needs_human", "unknown", "degraded", "mixed", "attention",
		"current":
		c.tone = warn
	}
	return c
}

// moment formats a time for people, in UTC because reports travel.
func moment(v any) cell {
	s, _ := v.(string)
	at, err := wire.ParseTime(s)
	if err != nil {
		return plain(v)
	}
	return cell{text: at.Format("2006-01-02 15:04:05")}
}

// money formats an amount in dollars; small amounts keep their digits.
func money(v any) string {
	n, ok := v.(ojson.Number)
	if !ok {
		return "—"
	}
	f, ok := n.Float64()
	switch {
	case !ok:
		return say(v)
	case f < 0:
		return "-" + money(ojson.Float(-f))
	case f != 0 && f < 0.01:
		return fmt.Sprintf("$%.4f", f)
	}
	return fmt.Sprintf("$%.2f", f)
}

// lasting formats a number of seconds for people.
func lasting(v any) string {
	n, ok := v.(ojson.Number)
	if !ok {
		return ""
	}
	f, _ := n.Float64()
	if f < 0 || f > 1e9 {
		return ""
	}
	d := time.Duration(f * float64(time.Second))
	switch {
	case f == 0: // the artifact's times are whole seconds
		return "less than 1 s"
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < 2*time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < 2*time.Hour:
		return fmt.Sprintf("%.0f min", d.Minutes())
	case d < 48*time.Hour:
		return fmt.Sprintf("%.1f h", d.Hours())
	}
	return fmt.Sprintf("%.1f days", d.Hours()/24)
}

// milliseconds is lasting for milliseconds.
func milliseconds(v any) string {
	n, ok := v.(ojson.Number)
	if !ok {
		return ""
	}
	f, _ := n.Float64()
	return lasting(ojson.Float(f / 1000))
}

// newPage lays a report out. The report may be any object.
func newPage(r *ojson.Object) *page {
	p := &page{title: "Governance report"}
	overall := r.String("overall")
	input := fact{"Input", code(r.Value("input"))}
	switch overall {
	case "pass":
	case "fail":
		p.verdict = cell{text: "FAIL", tone: bad}
		p.lead = say(r.Value("message"))
		p.head = []fact{input, {"Verification", p.verdict}, {"Message", plain(r.Value("message"))}}
		var items []cell
		list := r.Object("verification").Array("errors")
		note := ""
		for i, e := range list {
			if i == maxShownRows {
				note = fmt.Sprintf("(%d more errors omitted; --format json has them)", len(list)-i)
				break
			}
			items = append(items, cell{text: say(e), tone: bad})
		}
		p.add(section{title: "Errors", items: items, note: note})
		return p
	default:
		p.verdict = cell{text: "ERROR", tone: bad}
		p.lead = say(r.Value("message"))
		p.head = []fact{input, {"Status", p.verdict}, {"Message", plain(r.Value("message"))}}
		return p
	}
	p.verdict = cell{text: "PASS", tone: good}
	v := r.Object("verification")
	p.head = []fact{input, {"Export kind", code(r.Value("export_kind"))}, {"Verification", p.verdict}}
	p.footer = "Made " + moment(r.Value("generated_at")).text + " UTC"
	if at := moment(r.Value("exported_at")).text; at != "" {
		p.footer += " of an artifact exported " + at + " UTC"
	}
	p.footer += ". Times are UTC."
	subject := r.Object("subject")
	if subject.String("kind") == KindCoordinator {
		p.coordinator(subject)
	} else {
		p.run(subject)
	}
	if left := v.Strings("left_out"); len(left) > 0 {
		p.lead += " The artifact is incomplete: what was left out when it was made is not counted."
		p.head = append(p.head, fact{"Left out", toned(wire.ListSome(left, 8), warn)})
	}
	p.integrity(r, v)
	return p
}

// integrity says what can be relied on.
func (p *page) integrity(r, v *ojson.Object) {
	s := section{title: "Integrity", facts: []fact{{"Verification", p.verdict},
		{"Schema", plain(v.Value("schema_version"))}, {"Files", plain(v.Value("file_count"))}}}
	if n := count(v, "repo_count"); n > 0 {
		s.facts = append(s.facts, fact{"Repositories", plain(n)})
	}
	s.note = "Sizes and digests of the files, their decoded data and the summary were derived again from the content and agree."
	if list := v.Array("unproven"); len(list) > 0 {
		s.facts = append(s.facts, fact{"Taken on trust", toned(text.Count(len(list), "file", "files"), warn)})
		s.note += " The files below are in the artifact without their bytes, so their data is its word alone."
		for i, f := range list {
			if i == 50 {
				s.items = append(s.items, cell{text: fmt.Sprintf("and %d more", len(list)-i)})
				break
			}
			s.items = append(s.items, code(f))
		}
	}
	if c := r.Object("chain"); c != nil {
		t := good
		if !c.Bool("clean") {
			t = bad
		}
		s.facts = append(s.facts, fact{"Recorded operations", toned(c.Value("verdict"), t)})
		for _, f := range c.Strings("findings") {
			s.items = append(s.items, toned(f, bad))
		}
	}
	p.add(s)
}

// Formats returns the formats of Render.
func Formats() []string { return []string{"text", "json", "markdown", "html"} }

// Render writes a report, made by Build or Failure or any other object, in one of Formats. The result ends with a
// line feed.
func Render(report *ojson.Object, format string) []byte {
	switch format {
	case "json":
		return ojson.Pretty(report)
	case "markdown":
		return newPage(report).markdown()
	case "html":
		return newPage(report).html()
	}
	return newPage(report).text()
}
