// Pages: routes, their common parts, rendering.

package dashboard

import (
	"bytes"
	"cmp"
	"embed"
	"errors"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/git-agentxchain/git-agentxchain/internal/timeline"
	"github.com/git-agentxchain/git-agentxchain/protocol/wire"
)

//go:embed assets
var assets embed.FS

// pages holds the template, which is parsed when the first page is requested.
type pages struct {
	once sync.Once
	tmpl *template.Template
	err  error
}

func (p *pages) template() (*template.Template, error) {
	p.once.Do(func() {
		p.tmpl, p.err = template.New("").Funcs(template.FuncMap{
			"stamp":     func(t time.Time) string { return wire.FormatTime(t) },
			"clock":     clock,
			"cellClass": cellClass,
			"brief":     func(s string) string { return fit(s, 40) }, // a choice is as wide as its longest
		}).ParseFS(assets, "assets/page.html")
	})
	return p.tmpl, p.err
}

// view is one page.
type view struct {
	Title, Project string
	Head           []cell
	Lead           string
	Notices        []cell
	Blocks         []block
	Nav            []navItem
	In             bool // the reader may see the run
	Live           bool
	Version        uint64
	Query          string
	Foot           string
	Now            time.Time

	s   *snapshot
	m   *model
	q   url.Values
	r   *http.Request
	srv *Server
}

type navItem struct {
	Href, Name string
	Here       bool
}

// errMissing ends a page about something that does not exist.
type errMissing struct{ what string }

func (e errMissing) Error() string { return e.what }

// errBusy ends a page that would have to wait too long for others that read much.
var errBusy = errors.New("too much is being read just now; reload")

// routes registers all addresses.
func (s *Server) routes(mux *http.ServeMux) {
	page := func(pattern string, make func(*view) error) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { s.page(w, r, make) })
	}
	page("/{$}", overview)
	page("/timeline", timelinePage)
	page("/turns", turns)
	page("/turns/{id}", turnPage)
	page("/ops/{id}", opPage)
	page("/gates/{id}", gatePage)
	page("/runs", runsPage)
	page("/runs/{id}", runPage)
	page("/runs/compare", comparePage)
	page("/decisions", decisions)
	page("/event-log", events)
	page("/hooks", hooksPage)
	page("/integrity", integrity)
	page("/board", board)
	page("/delegations", delegations)
	page("/search", search)
	mux.HandleFunc(approvePath, s.approve)
	page("/", func(v *view) error { return errMissing{"There is no page at this address."} })
	mux.HandleFunc("/events", func(w http.ResponseWriter, r *http.Request) {
		s.model.hub.serve(w, r, s.model.now().Version, s.done)
	})
	mux.HandleFunc("/assets/{name}", s.asset)
	s.api(mux)
}

func (s *Server) asset(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	kind := map[string]string{
		"style.css": "text/css; charset=utf-8",
		"live.js":   "text/javascript; charset=utf-8",
		"icon.svg":  "image/svg+xml",
	}[name]
	data, err := assets.ReadFile("assets/" + name)
	if err != nil || kind == "" {
		s.fail(w, r, http.StatusNotFound, "not_found", "There is no page at this address.")
		return
	}
	if name == "style.css" {
		data = append(slices.Clip(data), timeline.CSS...)
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Cache-Control", "private, max-age=300")
	_, _ = w.Write(data)
}

func (s *Server) newView(r *http.Request) *view {
	v := &view{
		s:    s.model.now(),
		m:    s.model,
		q:    r.URL.Query(),
		r:    r,
		srv:  s,
		In:   true,
		Live: s.opt.Replay == nil,
		Now:  s.opt.Now(),
	}
	v.Version = v.s.Version
	v.Foot = "As of " + v.s.At.Local().Format("15:04:05") + "."
	v.Nav = []navItem{
		{"/", "Overview", false},
		{"/timeline", "Timeline", false},
		{"/turns", "Turns", false},
		{"/decisions", "Decisions", false},
		{"/event-log", "Events", false},
		{"/hooks", "Hooks", false},
		{"/delegations", "Delegations", false},
		{"/integrity", "Integrity", false},
		{"/runs", "Runs", false},
	}
	if v.s.Initiative {
		v.Nav = append(v.Nav, navItem{"/board", "Board", false})
		if !v.s.Governed {
			v.Nav = []navItem{
				{"/board", "Board", false},
				{"/decisions", "Decisions", false},
				{"/hooks", "Hooks", false},
			}
		}
	}
	for i := range v.Nav {
		v.Nav[i].Here = v.Nav[i].Href == r.URL.Path
	}
	v.head()
	return v
}

// head fills in what every page says about the run.
func (v *view) head() {
	if p := v.srv.opt.Replay; p != nil {
		v.Foot = "A replay of " + plain(p.Artifact) + ". Nothing in it changes."
		v.Head = append(v.Head, toned("replay", warn))
	}
	switch si, in := v.s.Sight, v.s.Standing; {
	case si != nil:
		v.Project = plain(cmp.Or(si.View.Config.Project.Name, si.View.Config.Project.ID))
		v.Head = append(v.Head, standing(string(si.View.State.Status)))
		if si.View.State.Phase != "" && si.View.Run != "" {
			v.Head = append(v.Head, text("phase "+si.View.State.Phase))
		}
		if si.View.Run != "" {
			v.Head = append(v.Head, code(si.View.Run))
		}
	case in != nil:
		v.Project = plain(in.Config.ProjectName)
		v.Head = append(v.Head, standing(string(in.State.Status)), text("phase "+in.State.Phase),
			code(in.State.SuperRunID))
	}
}

// page makes and writes one page.
func (s *Server) page(w http.ResponseWriter, r *http.Request, make func(*view) error) {
	if len(r.URL.RawQuery) > 4096 {
		s.fail(w, r, http.StatusRequestURITooLong, "query_too_long", "This address is too long.")
		return
	}
	v := s.newView(r)
	status := http.StatusOK
	if err := make(v); err != nil {
		if errors.Is(err, errRefused) {
			status = http.StatusConflict
		} else if errors.Is(err, errBusy) {
			w.Header().Set("Retry-After", "2")
			status = http.StatusServiceUnavailable
			v.Title, v.Lead, v.Blocks = "One moment", "Too much is being read just now; reload.", nil
		} else if missing, ok := errors.AsType[errMissing](err); ok {
			status = http.StatusNotFound
			v.Title, v.Lead, v.Blocks = "Not here", missing.what, nil
		} else {
			status = http.StatusInternalServerError
			v.Title, v.Lead, v.Blocks = "This cannot be shown", "", []block{errorBlock(err)}
		}
	}
	s.render(w, r, status, v)
}

func (s *Server) render(w http.ResponseWriter, r *http.Request, status int, v *view) {
	var b bytes.Buffer
	t, err := s.pages.template()
	if err == nil {
		err = t.ExecuteTemplate(&b, "page", v)
	}
	if err != nil {
		if s.opt.Log != nil {
			s.opt.Log("a page could not be made: " + visible(err.Error()))
		}
		http.Error(w, "This page could not be made.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(b.Len()))
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(b.Bytes())
	}
}

// fail answers with an error: JSON for the API, a page for people.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, status int, id, message string) {
	if strings.HasPrefix(r.URL.Path, "/api/") || r.URL.Path == "/events" ||
		!strings.Contains(r.Header.Get("Accept"), "text/html") {
		apiError(w, status, id, message)
		return
	}
	v := &view{Title: "Not here", Lead: message}
	switch id {
	case "invalid_token":
		v.Title = "This dashboard is closed to you"
		v.Lead = "Open it with the address that was printed when it was started; the token in it lets you in. If you have lost it, end it with git agentxchain dashboard stop and start it again."
	case "internal":
		v.Title = "Something went wrong"
	}
	s.render(w, r, status, v)
}

// errorBlock tells people what is wrong and what to do.
func errorBlock(err error) block {
	b := block{ID: "problem", Title: "What is wrong", Lead: []cell{toned(err.Error(), bad)}}
	if e := protocolError(err); e != nil {
		b.Facts = []fact{{"Code", code(e.code)}}
		if e.hint != "" {
			b.Facts = append(b.Facts, fact{"What to do", text(e.hint)})
		}
	}
	return b
}

type codeAndHint struct{ code, hint string }

func protocolError(err error) *codeAndHint {
	var coded interface {
		ErrorCode() string
		ErrorHint() string
	}
	if errors.As(err, &coded) {
		return &codeAndHint{coded.ErrorCode(), coded.ErrorHint()}
	}
	return nil
}

// with returns the address of this page with some of its query replaced.
func (v *view) with(pairs ...string) string {
	q := url.Values{}
	for k, list := range v.q {
		if len(list) > 0 && list[0] != "" && !strings.HasSuffix(k, "before") && !strings.HasSuffix(k, "after") {
			q.Set(k, list[0])
		}
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		q.Set(pairs[i], pairs[i+1])
	}
	return v.r.URL.Path + "?" + q.Encode()
}

// listSize is how many rows a page of a list has: on a telephone they fit in less than 4,000 pixels.
const listSize = 25

// pageSize bounds anything else on a page, whatever the run's length.
const pageSize = 100

// window picks the rows of a page, newest first, out of n rows sorted by age: those before
// ?before=, or the ones after ?after=.
func (v *view) window(n int, keep func(i int) bool) (rows []int, older, newer string) {
	return v.windowOf("", listSize, n, keep)
}

// windowOf is window for one of several lists on a page, named in the address, with size rows.
func (v *view) windowOf(list string, size, n int, keep func(i int) bool) (rows []int, older, newer string) {
	before, err := strconv.Atoi(v.q.Get(list + "before"))
	if err != nil || before > n || before < 0 {
		before = n
	}
	if after, err := strconv.Atoi(v.q.Get(list + "after")); err == nil && after >= -1 {
		before = n
		found := 0
		for i := after + 1; i < n; i++ {
			if keep(i) {
				if found++; found == size {
					before = i + 1
					break
				}
			}
		}
	}
	for i := before - 1; i >= 0; i-- {
		if !keep(i) {
			continue
		}
		if len(rows) == size {
			older = v.with(list+"before", strconv.Itoa(rows[len(rows)-1]))
			break
		}
		rows = append(rows, i)
	}
	for i := before; i < n && len(rows) > 0; i++ {
		if keep(i) {
			newer = v.with(list+"after", strconv.Itoa(rows[0]))
			break
		}
	}
	return rows, older, newer
}

// choices returns the different values, sorted, at most 100; it leaves out those that cannot be
// shown as they are.
func choices(n int, of func(i int) string, also string) []string {
	seen := map[string]bool{}
	if also != "" && visible(also) == also {
		seen[also] = true
	}
	for i := range n {
		if s := of(i); s != "" && len(seen) < 100 && !seen[s] && visible(s) == s {
			seen[s] = true
		}
	}
	out := []string{}
	for s := range seen {
		out = append(out, s)
	}
	sort.Strings(out)
	return out
}

// holds reports whether one of the texts contains the searched text, ignoring case.
func holds(lower string, texts ...string) bool {
	return slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(strings.ToLower(t), lower) })
}
