// Pages of the repository as HTML: links lead within the site, and headings have the anchors that repository hosts
// give them.

package main

import (
	"bytes"
	"fmt"
	"html/template"
	"os"
	"path/filepath"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"

	"github.com/git-agentxchain/git-agentxchain/docs/anchor"
)

// markdown reads the format of the documentation: CommonMark with tables.
var markdown = goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.Linkify),
	goldmark.WithParserOptions(parser.WithAttribute()))

// render reads a page and fills in its title, body, headings and search entries.
func (s *site) render(p *page) error {
	source, err := os.ReadFile(filepath.Join(s.root, filepath.FromSlash(p.Source)))
	if err != nil {
		return err
	}
	doc := markdown.Parser().Parse(text.NewReader(source))
	seen := make(map[string]int)
	at := entry{Page: p.Path}
	var words strings.Builder
	flush := func() {
		if at.Text = strings.Join(strings.Fields(words.String()), " "); at.Title != "" {
			p.entries = append(p.entries, at)
		}
		words.Reset()
	}
	err = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			if n.Type() == ast.TypeBlock {
				words.WriteByte(' ')
			}
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			flush()
			title := plain(n, source)
			id := anchor.Of(title)
			if seen[id]++; seen[id] > 1 {
				id = fmt.Sprintf("%s-%d", id, seen[id]-1)
			}
			n.SetAttributeString("id", []byte(id))
			at = entry{Page: p.Path, Anchor: id, Title: title}
			switch {
			case n.Level == 1 && p.Title == "":
				p.Title, at.Anchor = title, ""
			case n.Level == 2:
				p.Heads = append(p.Heads, heading{id, title})
			}
			return ast.WalkSkipChildren, s.links(p, n)
		case *ast.Link, *ast.Image:
			return ast.WalkContinue, s.follow(p, n)
		case *ast.Text:
			words.Write(n.Segment.Value(source))
			words.WriteByte(' ')
		case *ast.String:
			words.Write(n.Value)
		case *ast.FencedCodeBlock, *ast.CodeBlock:
			for i := range n.Lines().Len() {
				line := n.Lines().At(i)
				words.Write(line.Value(source))
			}
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		return err
	}
	flush()
	if p.Title == "" {
		return fmt.Errorf("the page has no heading of the first level")
	}
	var b bytes.Buffer
	if err := markdown.Renderer().Render(&b, source, doc); err != nil {
		return err
	}
	// Wide tables scroll by themselves, and the keyboard can reach them.
	html := strings.ReplaceAll(b.String(), "<table>",
		`<div class="wide" tabindex="0" role="region" aria-label="table"><table>`)
	p.Body = template.HTML(strings.ReplaceAll(html, "</table>", "</table></div>"))
	return nil
}

// links follows the links in a heading.
func (s *site) links(p *page, n ast.Node) error {
	return ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		return ast.WalkContinue, s.follow(p, n)
	})
}

// follow adapts a link or an image to the site.
func (s *site) follow(p *page, n ast.Node) error {
	var to *[]byte
	switch n := n.(type) {
	case *ast.Link:
		to = &n.Destination
	case *ast.Image:
		to = &n.Destination
	default:
		return nil
	}
	there, err := s.link(p, string(*to))
	*to = []byte(there)
	return err
}

// plain returns the text of a node without its markup.
func plain(n ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if t, ok := n.(*ast.Text); ok && entering {
			b.Write(t.Segment.Value(source))
			if t.SoftLineBreak() {
				b.WriteByte(' ')
			}
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}
