// The pages of a site: their sources and their places.

package main

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// repository is where files that are not pages are shown.
const repository = "https://github.com/git-agentxchain/git-agentxchain"

//go:embed assets
var assets embed.FS

// page is one page of the site.
type page struct {
	Source  string // file in the repository, "" for a manual page
	Path    string // below the version's directory, as in spec/index.html
	Title   string
	Body    template.HTML
	Heads   []heading // of the second level, for the contents of the page
	entries []entry   // for the search
}

// heading is a part of a page that can be linked to.
type heading struct{ ID, Text string }

// site is the documentation of one version.
type site struct {
	root    string
	version string
	pages   []*page
	byFile  map[string]*page // by Source
	files   map[string]bool  // other files that pages show, such as images
	groups  []group
}

// group is a part of the contents, in the order of docs/README.md.
type group struct {
	Title string
	Pages []*page
}

// outside lists pages outside docs that its index leads to.
var outside = []string{"README.md", "CHANGELOG.md", "CODE_OF_CONDUCT.md", "CONTRIBUTING.md", "SECURITY.md"}

func newSite(root, version string) (*site, error) {
	if version == "" || strings.Trim(version, "0123456789abcdefghijklmnopqrstuvwxyz.-") != "" ||
		strings.HasPrefix(version, ".") {
		return nil, fmt.Errorf("%q is not a version: use a number such as 0.1.0, or main", version)
	}
	s := &site{root: root, version: version, byFile: make(map[string]*page), files: make(map[string]bool)}
	sources := slices.Clone(outside)
	err := filepath.WalkDir(filepath.Join(root, "docs"), func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(name) != ".md" {
			return err
		}
		rel, err := filepath.Rel(root, name)
		sources = append(sources, filepath.ToSlash(rel))
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, source := range sources {
		p := &page{Source: source, Path: pathOf(source)}
		s.pages, s.byFile[source] = append(s.pages, p), p
	}
	for _, p := range s.pages {
		if err := s.render(p); err != nil {
			return nil, fmt.Errorf("%s: %w", p.Source, err)
		}
	}
	return s, s.contents()
}

// pathOf returns the place of a repository page in the site.
func pathOf(source string) string {
	if source == "README.md" {
		return "about.html"
	}
	name := strings.TrimSuffix(strings.TrimPrefix(source, "docs/"), ".md")
	if path.Base(name) == "README" {
		return path.Join(path.Dir(name), "index.html")
	}
	if !strings.Contains(source, "/") {
		name = strings.ToLower(name)
	}
	return name + ".html"
}

// relative returns the link from one page of the site to another.
func relative(from, to string) string {
	return strings.Repeat("../", strings.Count(from, "/")) + to
}

// link turns a link of a page in the repository into one of the site, and notes files to include.
func (s *site) link(p *page, to string) (string, error) {
	if to == "" || strings.HasPrefix(to, "#") || strings.Contains(to, "://") || strings.HasPrefix(to, "mailto:") {
		return to, nil
	}
	file, fragment, _ := strings.Cut(to, "#")
	file = path.Join(path.Dir(p.Source), file)
	if fragment != "" {
		fragment = "#" + fragment
	}
	for _, name := range []string{file, path.Join(file, "README.md")} {
		if there := s.byFile[name]; there != nil {
			return relative(p.Path, there.Path) + fragment, nil
		}
	}
	info, err := os.Stat(filepath.Join(s.root, filepath.FromSlash(file)))
	if err != nil {
		return "", err
	}
	rev := s.version
	if strings.ContainsAny(rev[:1], "0123456789") {
		rev = "v" + rev
	}
	switch {
	case info.IsDir():
		return repository + "/tree/" + rev + "/" + file, nil
	case strings.HasPrefix(file, "docs/images/"):
		s.files[file] = true
		return relative(p.Path, strings.TrimPrefix(file, "docs/")), nil
	}
	return repository + "/blob/" + rev + "/" + file + fragment, nil
}

// write writes the site, and replaces what was there of this version.
func (s *site) write(out string) error {
	layout, err := template.New("page.html").Funcs(template.FuncMap{"relative": relative}).ParseFS(assets,
		"assets/page.html")
	if err != nil {
		return err
	}
	if err := os.RemoveAll(out); err != nil {
		return err
	}
	for _, p := range s.pages {
		var b bytes.Buffer
		data := struct {
			*page
			Version string
			Groups  []group
			Up      string // to the version's directory
		}{p, s.version, s.groups, strings.Repeat("../", strings.Count(p.Path, "/"))}
		if err := layout.Execute(&b, data); err != nil {
			return err
		}
		if err := writeFile(out, p.Path, b.Bytes()); err != nil {
			return err
		}
	}
	for _, name := range []string{"style.css", "site.js"} {
		data, err := assets.ReadFile("assets/" + name)
		if err != nil {
			return err
		}
		if err := writeFile(out, name, data); err != nil {
			return err
		}
	}
	for file := range s.files {
		data, err := os.ReadFile(filepath.Join(s.root, filepath.FromSlash(file)))
		if err != nil {
			return err
		}
		if err := writeFile(out, strings.TrimPrefix(file, "docs/"), data); err != nil {
			return err
		}
	}
	return s.writeSearch(out)
}

func writeFile(dir, name string, data []byte) error {
	file := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return err
	}
	return os.WriteFile(file, data, 0o666)
}

// addVersion lists the version beside the existing ones, newest release first, and makes the entry page.
func addVersion(out, version string) error {
	file := filepath.Join(out, "versions.json")
	var versions []string
	data, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(data, &versions)
	} else if os.IsNotExist(err) {
		err = nil
	}
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	if !slices.Contains(versions, version) {
		versions = append(versions, version)
	}
	slices.SortFunc(versions, newerFirst)
	if data, err = json.Marshal(versions); err != nil {
		return err
	}
	if err := writeFile(out, "versions.json", append(data, '\n')); err != nil {
		return err
	}
	first := versions[0]
	return writeFile(out, "index.html",
		fmt.Appendf(nil, "<!doctype html>\n<meta charset=\"utf-8\">\n<title>git-agentxchain</title>\n"+
			"<meta http-equiv=\"refresh\" content=\"0; url=%s/index.html\">\n<a href=\"%[1]s/index.html\">Documentation</a>\n", first))
}

// newerFirst orders versions: releases before main, a higher number before a lower one.
func newerFirst(a, b string) int {
	x, y := numbers(a), numbers(b)
	if len(x) == 0 || len(y) == 0 {
		return len(y) - len(x)
	}
	return slices.Compare(y, x)
}

// numbers returns the numbers of a version; none for main.
func numbers(version string) []int {
	var out []int
	for part := range strings.FieldsFuncSeq(version, func(r rune) bool { return r == '.' || r == '-' }) {
		n := 0
		if _, err := fmt.Sscanf(part, "%d", &n); err != nil {
			break
		}
		out = append(out, n)
	}
	return out
}
