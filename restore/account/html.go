// The page as one HTML file: no script, nothing loaded, everything escaped.

package account

import (
	"bytes"
	"fmt"
	"html"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/git-agentxchain/git-agentxchain/internal/timeline"
)

// htmlHead comes before the title. The policy forbids everything the page does not need, in case something slips
// through: it only needs its own style.
const htmlHead = `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<title>`

func (p *page) html() []byte {
	w := &htmlWriter{}
	w.raw(htmlHead)
	w.text(p.title + " · AgentXchain governance report")
	w.raw("</title>\n<style>\n" + htmlStyle + timeline.CSS +
		"</style>\n</head>\n<body>\n<header>\n<p class=\"kicker\">AgentXchain governance report</p>\n<h1 dir=\"auto\">")
	w.text(p.title)
	w.raw("</h1>\n<p class=\"lead\" dir=\"auto\">")
	w.text(p.lead)
	w.raw("</p>\n<p class=\"verdict ")
	w.raw(string(p.verdict.tone))
	w.raw("\">Artifact verification: <strong>")
	w.text(p.verdict.text)
	w.raw("</strong></p>\n")
	if len(p.cards) > 0 {
		w.raw("<ul class=\"cards\">\n")
		for _, c := range p.cards {
			w.raw("<li><span class=\"label\">")
			w.text(c.label)
			w.raw("</span> <span class=\"figure\">")
			w.cell(c.cell)
			w.raw("</span></li>\n")
		}
		w.raw("</ul>\n")
	}
	w.raw("</header>\n")
	w.contents(p)
	w.raw("<main>\n")
	for i := range p.sections {
		w.section(&p.sections[i], 2, "s"+strconv.Itoa(i))
	}
	w.raw("<section>\n<h2 id=\"about\">About</h2>\n")
	w.facts(p.head)
	w.raw("</section>\n</main>\n<footer>")
	w.text(p.footer)
	w.raw("</footer>\n</body>\n</html>\n")
	return w.b.Bytes()
}

// htmlWriter keeps our own markup apart from other people's text.
type htmlWriter struct{ b bytes.Buffer }

func (w *htmlWriter) raw(markup string) { w.b.WriteString(markup) }

func (w *htmlWriter) text(s string) { w.b.WriteString(html.EscapeString(s)) }

func (w *htmlWriter) contents(p *page) {
	if len(p.sections) < 4 {
		return
	}
	w.raw("<nav aria-label=\"Contents\"><ul>\n")
	for i := range p.sections {
		w.raw("<li><a href=\"#s" + strconv.Itoa(i) + "\">")
		w.text(p.sections[i].title)
		w.raw("</a></li>\n")
	}
	w.raw("<li><a href=\"#about\">About</a></li>\n</ul></nav>\n")
}

func (w *htmlWriter) cell(c cell) {
	tag := "span"
	if c.code {
		tag = "code"
	}
	if c.text == "" {
		w.raw("<span class=\"none\">—</span>")
		return
	}
	class := ""
	if c.tone != neutral {
		class = "badge " + string(c.tone)
	}
	if utf8.RuneCountInString(c.text) <= 24 {
		class = strings.TrimSpace(class + " short") // must not be broken
	}
	w.raw("<" + tag)
	if class != "" {
		w.raw(" class=\"" + class + "\"")
	}
	w.raw(" dir=\"auto\">")
	w.text(c.text)
	w.raw("</" + tag + ">")
	if c.share > 0 {
		fmt.Fprintf(&w.b,
			"<span class=\"bar\" aria-hidden=\"true\"><i class=\"%s\" style=\"width:%.1f%%\"></i></span>", c.tone,
			100*min(c.share, 1))
	}
}

func (w *htmlWriter) facts(facts []fact) {
	if len(facts) == 0 {
		return
	}
	w.raw("<dl>\n")
	for _, f := range facts {
		w.raw("<div><dt>")
		w.text(f.label)
		w.raw("</dt><dd>")
		w.cell(f.cell)
		w.raw("</dd></div>\n")
	}
	w.raw("</dl>\n")
}

func (w *htmlWriter) section(s *section, level int, id string) {
	h := "h" + strconv.Itoa(min(level, 6))
	w.raw("<section>\n<" + h + " id=\"" + id + "\" dir=\"auto\">")
	w.text(s.title)
	w.raw("</" + h + ">\n")
	w.facts(s.facts)
	if s.note != "" {
		w.raw("<p class=\"note\">")
		w.text(s.note)
		w.raw("</p>\n")
	}
	if s.drawing != nil {
		w.raw("<p class=\"note\">")
		w.text(s.drawing.Line())
		w.raw("</p>\n<div class=\"picture\">" + s.drawing.SVG(timeline.Look{ID: id + "-tl"}) +
			"</div>\n<details><summary>The same as a table</summary>\n")
		w.table(pictureTable(s.drawing))
		w.raw("</details>\n")
	}
	if len(s.items) > 0 {
		w.raw("<ul>\n")
		for _, c := range s.items {
			w.raw("<li>")
			w.cell(c)
			w.raw("</li>\n")
		}
		w.raw("</ul>\n")
	}
	if s.table != nil {
		w.table(s.table)
	}
	for i := range s.parts {
		w.section(&s.parts[i], level+1, id+"-"+strconv.Itoa(i))
	}
	w.raw("</section>\n")
}

// table labels every cell with its column: on narrow screens rows become blocks.
func (w *htmlWriter) table(t *table) {
	w.raw("<table>\n<thead><tr>")
	for _, h := range t.head {
		w.raw("<th scope=\"col\">")
		w.text(h)
		w.raw("</th>")
	}
	w.raw("</tr></thead>\n<tbody>\n")
	for _, row := range t.rows {
		w.raw("<tr>")
		for i, c := range row {
			w.raw("<td")
			if i < len(t.head) {
				w.raw(" data-label=\"")
				w.text(t.head[i])
				w.raw("\"")
			}
			if !c.code && utf8.RuneCountInString(c.text) > 40 {
				w.raw(" class=\"text\"") // on its own line on a telephone
			}
			w.raw(">")
			w.cell(c)
			w.raw("</td>")
		}
		w.raw("</tr>\n")
	}
	w.raw("</tbody>\n</table>\n")
}
