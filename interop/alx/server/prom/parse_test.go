// A parser of the text form, from its grammar, which reads what the writer writes.

package prom

import (
	"fmt"
	"math"
	"net/http/httptest"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"
)

type sample struct {
	name   string
	labels map[string]string
	value  float64
}

type parsed struct {
	help, kind string
	samples    []sample
}

// parse reads a text of version 0.0.4: a HELP and a TYPE line before the samples of each
// family, all samples of a family together, every series once.
func parse(text string) (map[string]*parsed, error) {
	families := make(map[string]*parsed)
	if text != "" && !strings.HasSuffix(text, "\n") {
		return nil, fmt.Errorf("the last line has no end")
	}
	var current string
	seen := make(map[string]bool)
	for n, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		fail := func(why string) (map[string]*parsed, error) {
			return nil, fmt.Errorf("line %d: %s: %q", n+1, why, line)
		}
		if rest, ok := strings.CutPrefix(line, "# HELP "); ok {
			name, help, _ := strings.Cut(rest, " ")
			if families[name] != nil {
				return fail("a second HELP")
			}
			help, err := unescape(help, `\n`)
			if err != nil {
				return fail(err.Error())
			}
			families[name], current = &parsed{help: help}, name
			continue
		}
		if rest, ok := strings.CutPrefix(line, "# TYPE "); ok {
			name, kind, _ := strings.Cut(rest, " ")
			if name != current || families[name].kind != "" ||
				!slices.Contains([]string{"counter", "gauge", "histogram"}, kind) {
				return fail("TYPE without its HELP")
			}
			families[name].kind = kind
			continue
		}
		s, err := parseSample(line)
		if err != nil {
			return fail(err.Error())
		}
		f := families[current]
		if f == nil || f.kind == "" {
			return fail("a sample without a TYPE")
		}
		base := s.name
		if f.kind == "histogram" {
			base = regexp.MustCompile(`_(bucket|sum|count)$`).ReplaceAllString(s.name, "")
		}
		if base != current {
			return fail("a sample of another family than " + current)
		}
		key := fmt.Sprint(s.name, s.labels)
		if seen[key] {
			return fail("the series is there twice")
		}
		seen[key] = true
		f.samples = append(f.samples, s)
	}
	return families, nil
}

// parseSample reads name{label="value",...} number.
func parseSample(line string) (s sample, err error) {
	s.labels = make(map[string]string)
	end := strings.IndexAny(line, "{ ")
	if end < 1 {
		return s, fmt.Errorf("no name")
	}
	s.name = line[:end]
	if !regexp.MustCompile(`^[a-zA-Z_:][a-zA-Z0-9_:]*$`).MatchString(s.name) {
		return s, fmt.Errorf("not a name: %s", s.name)
	}
	rest := line[end:]
	if rest, ok := strings.CutPrefix(rest, "{"); ok {
		for {
			name, after, ok := strings.Cut(rest, `="`)
			if !ok || !regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*$`).MatchString(name) {
				return s, fmt.Errorf("not a label: %s", rest)
			}
			i := 0
			for i < len(after) && after[i] != '"' {
				if after[i] == '\\' {
					i++
				}
				i++
			}
			if i >= len(after) {
				return s, fmt.Errorf("a value without an end")
			}
			if _, double := s.labels[name]; double {
				return s, fmt.Errorf("label %s twice", name)
			}
			if s.labels[name], err = unescape(after[:i], `\n"`); err != nil {
				return s, err
			}
			rest = after[i+1:]
			if next, ok := strings.CutPrefix(rest, ","); ok {
				rest = next
				continue
			}
			if next, ok := strings.CutPrefix(rest, "}"); ok {
				return s.number(next)
			}
			return s, fmt.Errorf("neither , nor } after a value")
		}
	}
	return s.number(rest)
}

func (s sample) number(rest string) (sample, error) {
	text, ok := strings.CutPrefix(rest, " ")
	if !ok {
		return s, fmt.Errorf("no space before the number")
	}
	var err error
	s.value, err = strconv.ParseFloat(text, 64)
	return s, err
}

// unescape reads \\ and the escapes in allowed.
func unescape(text, allowed string) (string, error) {
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			out.WriteByte(text[i])
			continue
		}
		i++
		switch {
		case i == len(text) || text[i] != '\\' && !strings.Contains(allowed, text[i:i+1]):
			return "", fmt.Errorf("an escape that is not defined")
		case text[i] == 'n':
			out.WriteByte('\n')
		default:
			out.WriteByte(text[i])
		}
	}
	return out.String(), nil
}

// checkHistograms reports faults in the buckets of a family.
func checkHistograms(f *parsed) error {
	type state struct {
		last, bound, inf, count float64
		sum                     bool
	}
	rows := make(map[string]*state)
	for _, s := range f.samples {
		le, isBucket := s.labels["le"]
		delete(s.labels, "le")
		key := fmt.Sprint(s.labels)
		row := rows[key]
		if row == nil {
			row = &state{bound: math.Inf(-1), inf: -1, count: -2}
			rows[key] = row
		}
		switch {
		case strings.HasSuffix(s.name, "_bucket"):
			bound, err := strconv.ParseFloat(le, 64)
			if err != nil || !isBucket || bound <= row.bound || s.value < row.last {
				return fmt.Errorf("bucket %q of %s is out of order", le, key)
			}
			row.bound, row.last = bound, s.value
			if math.IsInf(bound, 1) {
				row.inf = s.value
			}
		case strings.HasSuffix(s.name, "_count"):
			row.count = s.value
		case strings.HasSuffix(s.name, "_sum"):
			row.sum = true
		}
	}
	for key, row := range rows {
		if row.inf != row.count || !row.sum {
			return fmt.Errorf("series %s: %+v", key, row)
		}
	}
	return nil
}

func TestEveryTextCanBeParsed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.OneOf(rapid.String(), rapid.StringMatching(`[\\"n\n{},=# ]{0,8}`)), 1, 6).Draw(t,
			"words")
		help := rapid.String().Draw(t, "help")
		count := &family{name: "a_total", help: help, kind: counter, labels: []string{"l", "m"}}
		times := &family{
			name:   "b_seconds",
			help:   help,
			kind:   histogram,
			labels: []string{"l"},
			bounds: []float64{-1, 0, 1e-9, 2.5, 1e21},
		}
		want := make(map[[2]string]float64)
		for _, w := range words {
			d := rapid.Float64Range(0, 1e22).Draw(t, "d")
			count.add(d, w, help)
			times.observe(d, w)
			want[[2]string{w, help}] += d
		}
		var text strings.Builder
		count.write(&text)
		times.write(&text)
		families, err := parse(text.String())
		if err != nil {
			t.Fatalf("%v\n%s", err, text.String())
		}
		if got := families["a_total"]; got.help != help || len(got.samples) != len(want) {
			t.Fatalf("help %q and %d series, want %q and %d", got.help, len(got.samples), help, len(want))
		}
		for _, s := range families["a_total"].samples {
			if w, ok := want[[2]string{s.labels["l"], s.labels["m"]}]; !ok || w != s.value {
				t.Fatalf("%q is %v, want %v", s.labels, s.value, w)
			}
		}
		if err := checkHistograms(families["b_seconds"]); err != nil {
			t.Fatalf("%v\n%s", err, text.String())
		}
	})
}

func TestScrapeCanBeParsed(t *testing.T) {
	for name, m := range map[string]*Meter{"new": New(), "measured": measured()} {
		_, text := scrape(t, m)
		families, err := parse(text)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for name, f := range families {
			if f.kind == histogram {
				if err := checkHistograms(f); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
	}
}

// TestPromtool lets Prometheus's own tool judge the metrics; .ci/run installs it.
func TestPromtool(t *testing.T) {
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("promtool is not installed")
	}
	_, text := scrape(t, measured())
	cmd := exec.Command(promtool, "check", "metrics")
	cmd.Stdin = strings.NewReader(text)
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("promtool check metrics: %v\n%s", err, out)
	}
	// It must refuse a bad text, which shows that it looks.
	cmd = exec.Command(promtool, "check", "metrics")
	cmd.Stdin = strings.NewReader(strings.Replace(text, `route="sessions",le="+Inf"`, `route=sessions,le="+Inf"`, 1))
	if err := cmd.Run(); err == nil {
		t.Error("promtool takes a label without quotes")
	}
}

// Many goroutines count while others read; nothing is lost, and no reading is torn.
func TestCountingAtOnce(t *testing.T) {
	m := New()
	h := m.Handler()
	var done sync.WaitGroup
	for range 4 {
		done.Go(func() {
			for range 500 {
				m.Answered("r", "GET", 200, time.Millisecond, true)
			}
		})
		done.Go(func() {
			for range 20 {
				w := httptest.NewRecorder()
				h.ServeHTTP(w, nil)
				if _, err := parse(w.Body.String()); w.Code == 200 && err != nil {
					t.Error(err)
				}
			}
		})
	}
	done.Wait()
	_, text := scrape(t, m)
	if !strings.Contains(text, `alx_http_requests_total{method="GET",route="r",status="200"} 2000`+"\n") ||
		!strings.Contains(text, `alx_http_request_duration_seconds_count{route="r"} 2000`+"\n") {
		t.Errorf("2000 requests were answered:\n%s", text)
	}
}
