// Counters, gauges and histograms, and the text form they are written in.

package prom

import (
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// contentType names version 0.0.4 of the text form, which every Prometheus reads.
const contentType = "text/plain; version=0.0.4; charset=utf-8"

// The kinds of metrics, as TYPE lines name them.
const (
	counter   = "counter"
	gauge     = "gauge"
	histogram = "histogram"
)

// family holds the metrics of one name, a series for each combination of label values. Many
// goroutines may count at once.
type family struct {
	name, help, kind string
	labels           []string      // in the order of their names
	bounds           []float64     // of a histogram, ascending, without +Inf
	count            func(*family) // sets gauges when they are requested; nil for what is counted as it happens

	mu   sync.Mutex
	rows map[string]*series // by their labels as text
}

type series struct {
	value   float64  // the sum, of a histogram
	buckets []uint64 // observations up to each bound, without those below the previous bound
	n       uint64   // observations
}

// at returns a series; the first call makes it. The caller holds mu.
func (f *family) at(values ...string) *series {
	var key strings.Builder
	for i, name := range f.labels {
		if i > 0 {
			key.WriteByte(',')
		}
		key.WriteString(name + `="` + escapeLabel(values[i]) + `"`)
	}
	s := f.rows[key.String()]
	if s == nil {
		s = &series{buckets: make([]uint64, len(f.bounds))}
		if f.rows == nil {
			f.rows = make(map[string]*series)
		}
		f.rows[key.String()] = s
	}
	return s
}

func (f *family) add(delta float64, values ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.at(values...).value += delta
}

// set sets a gauge to a present value.
func (f *family) set(v float64, values ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.at(values...).value = v
}

// observe adds a measurement to the histogram.
func (f *family) observe(v float64, values ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.at(values...)
	s.value += v
	s.n++
	if i, _ := slices.BinarySearch(f.bounds, v); i < len(s.buckets) {
		s.buckets[i]++
	}
}

// write appends the lines of the family: none while it has no series.
func (f *family) write(w io.StringWriter) {
	if f.count != nil {
		f.count(f)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.rows) == 0 {
		return
	}
	put(w, "# HELP ", f.name, " ", escapeHelp(f.help), "\n# TYPE ", f.name, " ", f.kind, "\n")
	for _, key := range slices.Sorted(maps.Keys(f.rows)) {
		s := f.rows[key]
		if f.kind != histogram {
			put(w, f.name, braced(key), " ", number(s.value), "\n")
			continue
		}
		comma := ""
		if key != "" {
			comma = ","
		}
		var sum uint64
		for i, bound := range f.bounds {
			sum += s.buckets[i]
			put(w, f.name, "_bucket{", key, comma, `le="`, number(bound), `"} `, strconv.FormatUint(sum, 10), "\n")
		}
		put(w, f.name, "_bucket{", key, comma, `le="+Inf"} `, strconv.FormatUint(s.n, 10), "\n")
		put(w, f.name, "_sum", braced(key), " ", number(s.value), "\n")
		put(w, f.name, "_count", braced(key), " ", strconv.FormatUint(s.n, 10), "\n")
	}
}

func put(w io.StringWriter, parts ...string) {
	for _, p := range parts {
		_, _ = w.WriteString(p) // into memory
	}
}

func braced(labels string) string {
	if labels == "" {
		return ""
	}
	return "{" + labels + "}"
}

func number(v float64) string {
	switch {
	case math.IsInf(v, 1):
		return "+Inf"
	case math.IsInf(v, -1):
		return "-Inf"
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// escapeLabel and escapeHelp escape what would end a value or a line, as the text form requires,
// and write U+FFFD for bytes that are not UTF-8.
func escapeLabel(s string) string {
	return strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`).Replace(strings.ToValidUTF8(s, "\uFFFD"))
}

func escapeHelp(s string) string {
	return strings.NewReplacer(`\`, `\\`, "\n", `\n`).Replace(strings.ToValidUTF8(s, "\uFFFD"))
}
