// Manual pages as HTML: the macros that the program's own pages use, and no others.

package main

import (
	"fmt"
	"html"
	"html/template"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-agentxchain/git-agentxchain/docs/anchor"
)

// addManual adds the manual pages of a directory, and a list of them.
func (s *site) addManual(dir string) error {
	files, err := filepath.Glob(filepath.Join(dir, "*.1"))
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return fmt.Errorf("the program wrote no manual pages")
	}
	list := &page{Path: "man/index.html", Title: "Manual pages"}
	var body strings.Builder
	body.WriteString("<h1 id=\"manual-pages\">Manual pages</h1>\n<p>As <code>man</code> shows them where the program is installed.</p>\n<ul>\n")
	slices.Sort(files)
	s.pages = append(s.pages, list)
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		name := strings.TrimSuffix(filepath.Base(file), ".1")
		p := &page{Path: "man/" + name + ".html", Title: name + "(1)"}
		r := &roff{page: p, at: entry{Page: p.Path, Title: p.Title}}
		if err := r.read(string(data)); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		s.pages = append(s.pages, p)
		fmt.Fprintf(&body, "<li><a href=\"%s.html\">%s</a>: %s</li>\n", name, html.EscapeString(p.Title),
			html.EscapeString(r.what))
	}
	body.WriteString("</ul>\n")
	list.Body = template.HTML(body.String())
	list.entries = []entry{{Page: list.Path, Title: list.Title}}
	s.groups = append(s.groups, group{Title: "Manual", Pages: []*page{list}})
	return nil
}

// roff turns one manual page into HTML.
type roff struct {
	page *page
	at   entry
	what string // what the command does, from the section NAME
	out  strings.Builder
	said strings.Builder
	open string // the open element: p, pre, dt, dd
	list bool   // a list of terms is open
	fill bool   // .fi has ended the lines of pre, unless more follow
}

func (r *roff) read(text string) error {
	fmt.Fprintf(&r.out, "<h1>%s</h1>\n", html.EscapeString(r.page.Title))
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		macro, rest, _ := strings.Cut(line, " ")
		switch macro {
		case ".TH", ".nh", ".ad", ".in":
		case ".SH":
			r.section(unescape(strings.Trim(rest, `"`)))
		case ".PP":
			r.close()
			r.endList()
		case ".TP":
			r.close()
			if !r.list {
				r.out.WriteString("<dl>\n")
			}
			r.list = true
			r.begin("dt")
		case ".nf":
			if r.open != "pre" {
				r.close()
				r.begin("pre")
			}
			r.fill = false
		case ".fi":
			r.fill = true
		default:
			if strings.HasPrefix(line, ".") {
				return fmt.Errorf("the macro %s is not known here: teach docs/site/man.go", macro)
			}
			r.text(line)
		}
	}
	r.close()
	r.endList()
	r.flush()
	r.page.Body = template.HTML(r.out.String())
	return nil
}

func (r *roff) section(title string) {
	r.close()
	r.endList()
	r.flush()
	id := anchor.Of(title)
	r.at = entry{Page: r.page.Path, Anchor: id, Title: r.page.Title + " " + title}
	r.page.Heads = append(r.page.Heads, heading{id, title})
	fmt.Fprintf(&r.out, "<h2 id=\"%s\">%s</h2>\n", id, html.EscapeString(title))
}

// text adds a line to the open element; the first line of a term is the term.
func (r *roff) text(line string) {
	if r.open == "pre" && r.fill {
		r.close()
	}
	if r.open == "" {
		r.begin("p")
	}
	plain := unescape(strings.NewReplacer(`\fB`, "", `\fR`, "").Replace(line))
	marked := html.EscapeString(unescape(strings.NewReplacer(`\fB`, "\x01", `\fR`, "\x02").Replace(line)))
	r.said.WriteString(plain + "\n")
	if r.at.Anchor == "name" {
		if _, what, ok := strings.Cut(plain, " - "); ok {
			r.what = what
		}
	}
	r.out.WriteString(strings.NewReplacer("\x01", "<strong>", "\x02", "</strong>").Replace(marked))
	if r.open == "dt" {
		r.close()
		r.begin("dd")
		return
	}
	r.out.WriteString("\n")
}

func (r *roff) begin(element string) {
	r.open = element
	r.out.WriteString("<" + element + ">")
}

func (r *roff) close() {
	if r.open != "" {
		r.out.WriteString("</" + r.open + ">\n")
	}
	r.open = ""
}

func (r *roff) endList() {
	if r.list {
		r.out.WriteString("</dl>\n")
	}
	r.list = false
}

// flush ends the search entry of the previous heading.
func (r *roff) flush() {
	r.at.Text = strings.Join(strings.Fields(r.said.String()), " ")
	if r.at.Text != "" {
		r.page.entries = append(r.page.entries, r.at)
	}
	r.said.Reset()
}

// unescape reads the escapes that the program writes.
func unescape(s string) string {
	return strings.NewReplacer(`\-`, "-", `\(dq`, `"`, `\&`, "", `\e`, `\`).Replace(s)
}
