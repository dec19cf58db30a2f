// Conformance compares verifiers: the reference's with its own adapter, and ours with our adapter,
// with and without a process for every fixture, over one corpus, alternating, in one run.
//
//	go run ./bench/compare/conformance -ours git-agentxchain -reference "node cli/bin/agentxchain.js" \
//	    -reference-target CHECKOUT -fixtures DIR
//
// The reference takes its fixtures from its own checkout; the counts of all
// reports must agree, or the comparison is refused. It prints medians, and the
// ratio of each pair of runs. No figure is asserted.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/git-agentxchain/git-agentxchain/bench/internal/measure"
)

// row is one way to verify.
type row struct {
	name   string
	spec   measure.Spec
	series measure.Series
	counts string
}

type options struct {
	ours, reference, target, fixtures, surface string
	runs                                       int
}

func main() {
	measure.Launched()
	var o options
	flag.StringVar(&o.ours, "ours", "git-agentxchain", "our `PROGRAM`")
	flag.StringVar(&o.reference, "reference", "",
		"the reference `COMMAND`, words separated by spaces; without it only ours is measured")
	flag.StringVar(&o.target, "reference-target", "",
		"the reference's checkout `DIR`, whose capabilities name its adapter")
	flag.StringVar(&o.fixtures, "fixtures", "", "the corpus `DIR`; by default the reference's, else ours")
	flag.StringVar(&o.surface, "surface", "", "one surface only, by `NAME`")
	flag.IntVar(&o.runs, "runs", 5, "runs of each")
	flag.Parse()
	if flag.NArg() > 0 || o.runs < 1 || (o.reference == "") != (o.target == "") {
		flag.Usage()
		os.Exit(2)
	}
	if err := compare(o); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func compare(o options) error {
	dir, err := os.MkdirTemp("", "agentxchain-conformance-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	rows, err := prepare(o, dir)
	if err != nil {
		return err
	}
	// One uncounted run of each warms the caches; then they alternate, so that a machine that slows
	// down slows all of them.
	for i := range o.runs + 1 {
		for _, r := range rows {
			c, out, err := measure.MustSucceed(r.spec)
			if err != nil {
				return err
			}
			counts, err := summary(out.Stdout)
			switch {
			case err != nil:
				return fmt.Errorf("%s: %w", r.name, err)
			case counts != rows[0].counts && rows[0].counts != "":
				return fmt.Errorf("%s reports %s, %s reports %s: not the same corpus", r.name, counts, rows[0].name,
					rows[0].counts)
			}
			r.counts = counts
			if i > 0 {
				r.series = append(r.series, c)
			}
		}
	}
	fmt.Printf("%s, %d runs each\n\n| verifier and adapter | median | fastest | processor | ratio, median |\n|---|---|---|---|---|\n",
		rows[0].counts, o.runs)
	for _, r := range rows {
		wall := r.series.Wall()
		fmt.Printf("| %s | %s | %s | %s | %.1f |\n", r.name, short(wall.Median), short(wall.Min),
			short(r.series.CPU().Median), measure.SpreadOf(measure.Ratios(rows[0].series, r.series)).Median)
	}
	return nil
}

func short(d time.Duration) string { return d.Round(100 * time.Microsecond).String() }

// prepare makes a target of our own in dir and lists what to run.
func prepare(o options, dir string) ([]*row, error) {
	ours, err := filepath.Abs(o.ours)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(ours); err != nil {
		ours = o.ours // on PATH
	}
	if _, _, err := measure.MustSucceed(measure.Spec{Argv: []string{ours, "conformance", "init", dir}}); err != nil {
		return nil, err
	}
	common := []string{"--tier", "3", "--format", "json"}
	if o.surface != "" {
		common = append(common, "--surface", o.surface)
	}
	fixtures := o.fixtures
	if fixtures == "" {
		fixtures = o.target
	}
	var rows []*row
	add := func(name string, argv ...string) {
		rows = append(rows, &row{name: name, spec: measure.Spec{Argv: append(argv, common...), Dir: dir}})
	}
	check := []string{"conformance", "check", "--target"}
	if o.reference != "" {
		target, err := filepath.Abs(o.target)
		if err != nil {
			return nil, err
		}
		words := strings.Fields(o.reference)
		for i, w := range words {
			// Its own script, seen from the scratch directory.
			if p, err := filepath.Abs(w); err == nil && i > 0 {
				if _, err := os.Stat(p); err == nil {
					words[i] = p
				}
			}
		}
		add("reference, its adapter", append(append(words, check...), target)...)
		add("reference, our adapter", append(append(slices.Clip(words), check...), dir)...)
	}
	mine := append(append([]string{ours}, check...), dir)
	if fixtures != "" {
		if fixtures, err = filepath.Abs(fixtures); err != nil {
			return nil, err
		}
		mine = append(mine, "--fixtures", fixtures)
	}
	mine = slices.Clip(mine)
	add("ours, a process for every fixture", append(mine, "--separate")...)
	add("ours, in-process", mine...)
	return rows, nil
}

// summary reads how many fixtures of each tier passed.
func summary(report []byte) (string, error) {
	var r struct {
		Overall string
		Results map[string]struct {
			Run    int `json:"fixtures_run"`
			Passed int `json:"fixtures_passed"`
		}
	}
	if err := json.Unmarshal(report, &r); err != nil {
		return "", fmt.Errorf("the report cannot be read: %w", err)
	}
	words := []string{r.Overall}
	for tier := 1; tier <= 3; tier++ {
		t := r.Results[fmt.Sprintf("tier_%d", tier)]
		words = append(words, fmt.Sprintf("%d/%d", t.Passed, t.Run))
	}
	return strings.Join(words, " "), nil
}
